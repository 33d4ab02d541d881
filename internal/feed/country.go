package feed

import "strings"

// isoCodes are the codes that ISO 3166-1 assigns, and SU, which it keeps reserved and recorded data from before 1993's
// renaming of domains still holds.
const isoCodes = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT " +
	"BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI " +
	"FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ " +
	"IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK " +
	"ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN " +
	"PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SU SV SX SY SZ TC TD TF TG " +
	"TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"

var knownCodes = func() map[string]bool {
	codes := map[string]bool{}
	for _, code := range strings.Fields(isoCodes) {
		codes[code] = true
	}
	return codes
}()

// countryNames maps the names in the Online Retail recording. Channel Islands, European Community and Unspecified are
// no country of ISO 3166: they are unknown.
var countryNames = map[string]string{
	"Australia":            "AU",
	"Austria":              "AT",
	"Bahrain":              "BH",
	"Belgium":              "BE",
	"Brazil":               "BR",
	"Canada":               "CA",
	"Cyprus":               "CY",
	"Czech Republic":       "CZ",
	"Denmark":              "DK",
	"EIRE":                 "IE",
	"Finland":              "FI",
	"France":               "FR",
	"Germany":              "DE",
	"Greece":               "GR",
	"Hong Kong":            "HK",
	"Iceland":              "IS",
	"Israel":               "IL",
	"Italy":                "IT",
	"Japan":                "JP",
	"Lebanon":              "LB",
	"Lithuania":            "LT",
	"Malta":                "MT",
	"Netherlands":          "NL",
	"Norway":               "NO",
	"Poland":               "PL",
	"Portugal":             "PT",
	"RSA":                  "ZA",
	"Saudi Arabia":         "SA",
	"Singapore":            "SG",
	"Spain":                "ES",
	"Sweden":               "SE",
	"Switzerland":          "CH",
	"United Arab Emirates": "AE",
	"USA":                  "US",
	"United Kingdom":       "GB",
}

// noteUnknownCountry counts the rows whose country was left out.
const noteUnknownCountry = "unknown country"

// countryCode turns a recorded country, a code or a name, into its code. What it does not know becomes "", with a note.
func countryCode(recorded string) (code, note string) {
	if recorded == "" || knownCodes[recorded] {
		return recorded, ""
	}
	if code, ok := countryNames[recorded]; ok {
		return code, ""
	}
	return "", noteUnknownCountry
}
