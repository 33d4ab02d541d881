package event

import "strings"

// isoCountries are the 249 officially assigned ISO 3166-1 alpha-2 codes, as the tz database's iso3166.tab lists them
// (public domain). golang.org/x/text mixes in reserved codes (EA, IC, UN), which would make slices that nobody asks for.
const isoCountries = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ
BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ
DE DJ DK DM DO DZ
EC EE EG EH ER ES ET
FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY
HK HM HN HR HT HU
ID IE IL IM IN IO IQ IR IS IT
JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ
LA LB LC LI LK LR LS LT LU LV LY
MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
NA NC NE NF NG NI NL NO NP NR NU NZ
OM
PA PE PF PG PH PK PL PM PN PR PS PT PW PY
QA
RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ
TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG UM US UY UZ
VA VC VE VG VI VN VU
WF WS
YE YT
ZA ZM ZW
`

// userCountry is Kosovo: not assigned by ISO, but taken from its user-assigned range by the EU, CLDR and geolocation
// databases alike, so views from there have no other code.
const userCountry = " XK "

// formerCountries are the withdrawn codes of ISO 3166-3 that were not given to another country. Recorded data carries them:
// names ending in .su are in every web log of the 1990s.
const formerCountries = `AN BU CS CT DD DY FQ FX HV JT MI NH NQ NT PC PU PZ RH SU TP VD WK YD YU ZR`

// countries is a bit for each pair of capital letters.
var countries = func() (table [26 * 26]bool) {
	for code := range strings.FieldsSeq(isoCountries + userCountry + formerCountries) {
		table[int(code[0]-'A')*26+int(code[1]-'A')] = true
	}
	return table
}()

func isCountry(code []byte) bool {
	if len(code) != 2 || code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' {
		return false
	}
	return countries[int(code[0]-'A')*26+int(code[1]-'A')]
}
