package clickhouse

import (
	"crypto/subtle"
	"net/http"
)

// user is the only one the library has.
const user = "default"

// refuseForeignPages keeps web pages of other sites away from an interface on loopback that asks for no password. Every
// browser says where a request comes from; other clients send no such header.
func refuseForeignPages(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return exception(codeAuthenticationFailed, "Requests from pages of other sites are refused. (AUTHENTICATION_FAILED)")
	}
	return nil
}

// authenticate checks a request where a password is set. Basic authentication, X-ClickHouse headers and URL parameters
// are read in ClickHouse's order.
func authenticate(r *http.Request, password string) error {
	if err := refuseForeignPages(r); err != nil {
		return err
	}
	name, given, basic := r.BasicAuth()
	query := r.URL.Query()
	switch {
	case r.Header.Get("X-ClickHouse-User") != "" || r.Header.Get("X-ClickHouse-Key") != "":
		name, given = r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	case !basic:
		name, given = query.Get("user"), query.Get("password")
	}
	if name == "" {
		name = user
	}
	known := subtle.ConstantTimeCompare([]byte(name), []byte(user)) == 1
	right := subtle.ConstantTimeCompare([]byte(given), []byte(password)) == 1
	if known && (right || password == "") {
		return nil
	}
	return exception(codeAuthenticationFailed, "%s: Authentication failed: password is incorrect, or there is no user with such name. "+
		"(AUTHENTICATION_FAILED)", name)
}
