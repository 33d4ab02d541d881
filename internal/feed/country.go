package feed

import "topk/internal/event"

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
	if event.CheckCountry([]byte(recorded)) == nil {
		return recorded, ""
	}
	if code, ok := countryNames[recorded]; ok {
		return code, ""
	}
	return "", noteUnknownCountry
}
