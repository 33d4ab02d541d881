package clickhouse_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/enginetest"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	defer func() {
		if shared != nil {
			shared.Kill()
		}
		if err := os.RemoveAll(sharedDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}()
	return binary.Run(m)
}

var (
	shared     *enginetest.ClickHouse
	sharedDir  string
	sharedOnce sync.Once
)

// instance is a process that tests share when they leave nothing behind but tables of their own.
func instance(t *testing.T) *enginetest.ClickHouse {
	t.Helper()
	sharedOnce.Do(func() {
		var err error
		sharedDir, err = os.MkdirTemp("", "topk-clickhouse-")
		require.NoError(t, err)
		shared = enginetest.NewClickHouse(&lasting{TB: t}, "")
		shared.Start(t)
	})
	return shared
}

// lasting is a test whose directories and cleanups outlive it; run ends the process and removes them.
type lasting struct{ testing.TB }

func (l *lasting) Cleanup(func()) {}

func (l *lasting) TempDir() string {
	dir, err := os.MkdirTemp(sharedDir, "")
	require.NoError(l.TB, err)
	return dir
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of the request, or of reading the body
}

type call struct {
	method string // POST when empty
	path   string
	query  url.Values
	header map[string]string
	body   io.Reader
	addr   string
}

// do sends a request without touching the encodings of either body.
func do(t *testing.T, c call) answer {
	t.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	request, err := http.NewRequest(c.method, "http://"+c.addr+c.path+"?"+c.query.Encode(), c.body)
	require.NoError(t, err)
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: string(body), err: err}
}

// post runs a statement with URL parameters given as name=value.
func post(t *testing.T, addr, statement string, parameters ...string) answer {
	t.Helper()
	return do(t, call{addr: addr, query: values(parameters), body: strings.NewReader(statement)})
}

func values(parameters []string) url.Values {
	query := url.Values{}
	for _, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		query.Set(name, value)
	}
	return query
}
