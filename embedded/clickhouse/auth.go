package clickhouse

import (
	"crypto/subtle"
	"net/http"
)

// user is the only one the library has.
const user = "default"

// authenticate checks a request where a password is set. Basic authentication, X-ClickHouse headers and URL parameters
// are read in ClickHouse's order.
func authenticate(r *http.Request, password string) error {
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
