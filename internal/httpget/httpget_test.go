package httpget

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answers holds the responses of a server in order: a status, or 0 for none.
type answers struct {
	statuses []int
	asked    int
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status := a.statuses[min(a.asked, len(a.statuses)-1)]
	a.asked++
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status),
		Body: io.NopCloser(strings.NewReader("content")), Request: r}, nil
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int
		asked    int
		problem  string
	}{
		"at once":               {[]int{200}, 1, ""},
		"after faults":          {[]int{0, 500, 429, 503, 200}, 5, ""},
		"never":                 {[]int{503}, 5, "read http://host/x: the server answered Service Unavailable"},
		"out of reach":          {[]int{0}, 5, "read http://host/x: connection refused"},
		"what will not change":  {[]int{404, 200}, 1, "read http://host/x: the server answered Not Found"},
		"first a fault of time": {[]int{500, 403}, 2, "read http://host/x: the server answered Forbidden"},
	} {
		server := &answers{statuses: c.statuses}
		body, err := Open(t.Context(), &http.Client{Transport: server}, "http://host/x", time.Nanosecond)
		require.Equal(t, c.asked, server.asked, name)
		if c.problem != "" {
			require.EqualError(t, err, c.problem, name)
			continue
		}
		require.NoError(t, err, name)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Equal(t, "content", string(text))
		require.NoError(t, body.Close())
	}
	_, err := Open(t.Context(), nil, "http://a b/", time.Nanosecond)
	require.EqualError(t, err, "read http://a b/: the URL is malformed")
}

func TestRepeatEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	called := 0
	err := Repeat(ctx, time.Hour, func() error { called++; cancel(); return errors.New("no") })
	require.EqualError(t, err, "no")
	require.Equal(t, 1, called)
}

// A host that is not found is named, and the address of a request is not repeated.
func TestPlain(t *testing.T) {
	t.Parallel()
	lookup := &net.DNSError{Err: "no such host", Name: "a.invalid", IsNotFound: true}
	require.Equal(t, "the host a.invalid is not found: there is no network, or the name is wrong",
		Plain(&url.Error{Op: "Get", URL: "https://a.invalid/x", Err: lookup}).Error())
	other := errors.New("connection refused")
	require.Equal(t, other, Plain(&url.Error{Op: "Get", URL: "https://a.invalid/x", Err: other}))
}
