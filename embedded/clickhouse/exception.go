package clickhouse

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"topk/embedded/clickhouse/internal/statement"
)

// Codes of ClickHouse's ErrorCodes.cpp that this package itself answers with.
const (
	codeBadArguments          = 36
	codeNotImplemented        = 48
	codeSyntaxError           = 62
	codeIncorrectData         = 117
	codeReadonly              = 164
	codeSessionNotFound       = 372
	codeSessionIsLocked       = 373
	codeInvalidSessionTimeout = 374
	codeTooManyQueries        = 202
	codeQueryWithSameID       = 216
	codeQueryWasCancelled     = 394
	codeTooManyBytes          = 396
	codeUnknownException      = 1002
	codeAuthenticationFailed  = 516
)

// Exception is an error as ClickHouse words it: "Code: 60. DB::Exception: ...".
type Exception struct {
	Code int
	Text string
}

func (e *Exception) Error() string { return e.Text }

func exception(code int, format string, args ...any) *Exception {
	return &Exception{Code: code, Text: fmt.Sprintf("Code: %d. DB::Exception: %s", code, fmt.Sprintf(format, args...))}
}

func tooManyQueries(running int) *Exception {
	return exception(codeTooManyQueries, "Too many simultaneous queries. Maximum: %d. (TOO_MANY_SIMULTANEOUS_QUERIES)", running)
}

var codePrefix = regexp.MustCompile(`^\s*Code: (\d+)\. DB::Exception: `)

// asException gives every error a code. The library repeats the prefix each time it passes an error on.
func asException(err error) *Exception {
	var known *Exception
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, statement.ErrMulti) {
		return exception(codeSyntaxError, "Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)")
	}
	if errors.Is(err, statement.ErrOutfile) || errors.Is(err, statement.ErrInfile) || errors.Is(err, statement.ErrInput) {
		return exception(codeNotImplemented, "%s. (NOT_IMPLEMENTED)", err)
	}
	text := strings.TrimSpace(err.Error())
	match := codePrefix.FindStringSubmatch(text)
	if match == nil {
		return exception(codeUnknownException, "%s. (UNKNOWN_EXCEPTION)", text)
	}
	code, _ := strconv.Atoi(match[1])
	for codePrefix.MatchString(text[len(match[0]):]) {
		text = text[len(match[0]):]
	}
	return &Exception{Code: code, Text: strings.TrimSpace(text)}
}

// readonlyHint says why a GET was refused.
func readonlyHint(r *http.Request, err error) error {
	problem := asException(err)
	if problem.Code != codeReadonly || r.Method == http.MethodPost {
		return problem
	}
	return &Exception{Code: problem.Code, Text: problem.Text + " For queries over HTTP, method GET implies readonly. " +
		"You should use method POST for modifying queries."}
}

// status maps a code as ClickHouse's exceptionCodeToHTTPStatus does, except that a full queue is 503: a client that
// waits and tries again does the right thing.
func (e *Exception) status() int {
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

var statuses = statusTable(map[int][]int{
	http.StatusUnauthorized:          {194},
	http.StatusForbidden:             {192, 193, 497, 516, 512},
	http.StatusBadRequest:            {36, 427, 6, 25, 26, 38, 41, 72, 441, 675, 676, 27, 376, 15, 44, 8, 167, 168, 62, 117, 53, 321},
	http.StatusNotFound:              {60, 46, 47, 50, 56, 81, 115, 73, 336, 78, 511},
	http.StatusRequestEntityTooLarge: {229},
	http.StatusNotImplemented:        {48},
	http.StatusServiceUnavailable:    {209, 76, 439, codeTooManyQueries},
	http.StatusLengthRequired:        {381},
	http.StatusRequestTimeout:        {159},
})

func statusTable(codes map[int][]int) map[int]int {
	table := map[int]int{}
	for status, list := range codes {
		for _, code := range list {
			table[code] = status
		}
	}
	return table
}
