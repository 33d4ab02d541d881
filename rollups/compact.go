package rollups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	// summaryItems are kept of a minute or more, tensItems of 10 seconds.
	summaryItems, tensItems = 10_000, 5000
	// manyLoose summaries that arrived after a bucket was combined make it worth another round; each is small.
	manyLoose = 32
	// maxCompactions bounds a round: after a long absence an hour is caught up over several.
	maxCompactions = 8
	// maxAbsorbed bounds the summaries of one combination: their names travel in the URL, 21 bytes each, where servers accept a
	// megabyte. The rest stays loose, which is slower and no less right.
	maxAbsorbed = 20_000
)

// grain is a length of time whose summaries are combined once it is over.
type grain struct {
	table  string
	length time.Duration
	keep   int           // items of a combination
	within time.Duration // of as_of: what is older is left as it is
}

var (
	// The ends of a window are read in tens of seconds, its middle in minutes.
	tensGrain   = grain{"topk_10s_combined", bucketLength, tensItems, 2 * time.Minute}
	minuteGrain = grain{"topk_minute", time.Minute, summaryItems, longestWindow() + time.Minute}

	grains = []grain{tensGrain, minuteGrain}
)

// arrived are the summaries of one item type for one bucket.
type arrived struct {
	itemType string
	bucket   time.Time
	blocks   []uint64
}

// compact combines the summaries of closed buckets of a grain, so that an hour is nominated from about sixty rows and not from
// thousands. Lists are right without it, only slower. It returns how many buckets it combined.
//
// Names are read first and rows by name, so it matters to nobody what else is written meanwhile. A bucket is always combined
// from all that arrived for it, never from its earlier combination: the newer row then stands for all that the older did.
func compact(ctx context.Context, conn driver.Conn, g grain, asOf time.Time) (done int, err error) {
	until := asOf.Truncate(g.length)
	closed := span{until.Add(-g.within), until}
	combined, err := combinations(ctx, conn, g.table, closed)
	if err != nil {
		return 0, err
	}
	loose, err := readLoose(ctx, conn, g.length, closed)
	if err != nil {
		return 0, err
	}
	buckets := worthwhile(combined, loose)
	for _, b := range buckets[:min(len(buckets), maxCompactions)] {
		if err := combine(ctx, conn, g.table, g.keep, span{b.bucket, b.bucket.Add(g.length)}, b.blocks); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// combine writes one summary of each item type in place of the named ones of s.
func combine(ctx context.Context, conn driver.Conn, target string, keep int, s span, blocks []uint64) error {
	p := parameters{"target": target, "slice": list.GlobalSlice, "bucket": s.from, "until": s.until, "keep": keep,
		"blocks": blocks[:min(len(blocks), maxAbsorbed)]}
	return execute(ctx, conn, "compact", p, questionBudget)
}

func readLoose(ctx context.Context, conn driver.Conn, length time.Duration, s span) ([]arrived, error) {
	var found []arrived
	p := parameters{"slice": list.GlobalSlice, "from": s.from, "until": s.until, "length": int(length.Seconds())}
	err := read(ctx, conn, "loose", p, questionBudget, func(r driver.Rows) error {
		var a arrived
		if err := r.Scan(&a.itemType, &a.bucket, &a.blocks); err != nil {
			return err
		}
		a.bucket = a.bucket.UTC()
		found = append(found, a)
		return nil
	})
	return found, err
}

// worthwhile are the buckets to combine, those with most loose summaries of one type first. Their blocks are of the types
// for which it pays.
func worthwhile(combined []combination, all []arrived) []arrived {
	taken := absorbed(combined)
	type key struct {
		itemType string
		bucket   int64
	}
	before := map[key]bool{}
	for _, c := range combined {
		before[key{c.itemType, c.bucket.Unix()}] = true
	}
	most := map[int64]int{}
	blocks := map[int64][]uint64{}
	for _, a := range all {
		loose := 0
		for _, block := range a.blocks {
			if !taken[block] {
				loose++
			}
		}
		at := a.bucket.Unix()
		if loose >= manyLoose || loose > 1 && !before[key{a.itemType, at}] {
			most[at] = max(most[at], loose)
			blocks[at] = append(blocks[at], a.blocks...)
		}
	}
	buckets := make([]arrived, 0, len(blocks))
	for at, names := range blocks {
		buckets = append(buckets, arrived{bucket: time.Unix(at, 0).UTC(), blocks: names})
	}
	slices.SortFunc(buckets, func(a, b arrived) int {
		return cmp.Or(cmp.Compare(most[b.bucket.Unix()], most[a.bucket.Unix()]), a.bucket.Compare(b.bucket))
	})
	return buckets
}
