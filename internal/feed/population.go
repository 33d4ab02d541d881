package feed

import "math/bits"

// population names the items by their rank of popularity and gives each its category. Names do not depend on the seed,
// so the most popular item is the same in every run.
type population struct {
	types [][]byte // `,"item_type":"video","item_id":"` a type
}

func newPopulation(itemTypes []string) *population {
	p := &population{}
	for _, itemType := range itemTypes {
		prefix := append(appendString([]byte(`,"item_type":`), itemType), `,"item_id":"`...)
		p.types = append(p.types, prefix)
	}
	return p
}

// typeOf is the index of an item's type: items are dealt to the types in turn.
func (p *population) typeOf(rank uint64) int { return int((rank - 1) % uint64(len(p.types))) }

const (
	idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idDigits   = 7
	idSpace    = 62 * 62 * 62 * 62 * 62 * 62 * 62
	// idStride scatters consecutive ranks over the names. It has no factor in common with idSpace, so no two ranks share a
	// name.
	idStride = 1_618_033_988_751
)

// appendItemID appends the id of the item at a rank, such as v_9HJw3SB.
func appendItemID(dst []byte, rank uint64) []byte {
	hi, lo := bits.Mul64(rank, idStride)
	name := bits.Rem64(hi, lo, idSpace)
	var digits [idDigits]byte
	for i := idDigits - 1; i >= 0; i-- {
		digits[i] = idAlphabet[name%62]
		name /= 62
	}
	return append(append(dst, 'v', '_'), digits[:]...)
}

// share is a part of a whole in 1,024ths.
type share struct {
	parts int
	json  string
}

// origins are countries with languages, by a rough guess at who watches videos. The rest of the whole is unknown.
var origins = spread([]share{
	{140, `,"country":"IN","language":"hi"`}, {50, `,"country":"IN","language":"en"`}, {30, `,"country":"IN","language":"ta"`},
	{150, `,"country":"US","language":"en"`}, {25, `,"country":"US","language":"es"`},
	{80, `,"country":"BR","language":"pt"`}, {65, `,"country":"ID","language":"id"`},
	{50, `,"country":"MX","language":"es"`}, {45, `,"country":"JP","language":"ja"`},
	{35, `,"country":"DE","language":"de"`}, {35, `,"country":"GB","language":"en"`},
	{30, `,"country":"VN","language":"vi"`}, {28, `,"country":"PH","language":"fil"`},
	{28, `,"country":"TR","language":"tr"`}, {25, `,"country":"FR","language":"fr"`},
	{22, `,"country":"KR","language":"ko"`}, {20, `,"country":"EG","language":"ar"`},
	{18, `,"country":"TH","language":"th"`}, {18, `,"country":"IT","language":"it"`},
	{15, `,"country":"ES","language":"es"`}, {14, `,"country":"PL","language":"pl"`},
	{12, `,"country":"NG","language":"en"`}, {10, `,"country":"CA","language":"en"`},
	{6, `,"country":"CA","language":"fr"`}, {8, `,"country":"AU","language":"en"`},
	{6, `,"country":"NL","language":"nl"`}, {4, `,"country":"CH","language":"de"`},
	{3, `,"country":"IE","language":"en"`}, {2, `,"country":"IS","language":"is"`},
})

// categories of items; the rest of the whole is unknown.
var categories = spread([]share{
	{230, `,"category":"music"`}, {180, `,"category":"gaming"`}, {160, `,"category":"entertainment"`},
	{110, `,"category":"comedy"`}, {80, `,"category":"sports"`}, {70, `,"category":"news"`},
	{60, `,"category":"education"`}, {45, `,"category":"film"`}, {30, `,"category":"howto"`},
	{20, `,"category":"science"`}, {15, `,"category":"travel"`}, {10, `,"category":"pets"`},
})

// spread lays shares out in a table, so that ten random bits choose one.
func spread(shares []share) (table [1024]string) {
	i := 0
	for _, s := range shares {
		for range s.parts {
			table[i] = s.json
			i++
		}
	}
	return table
}

// categoryOf is the category of the item at a rank.
func categoryOf(rank uint64) string { return categories[rank*0x9E3779B97F4A7C15>>54] }
