package nohost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A host that is not found is named, however deep in the error of a client.
func TestIn(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]*net.DNSError{
		"no address":         {Err: "no such host", Name: "a.invalid", IsNotFound: true},
		"nobody answers":     {Err: "i/o timeout", Name: "a.invalid", IsTimeout: true, IsTemporary: true},
		"no network to send": {Err: "dial udp: network is unreachable", Name: "a.invalid"},
	} {
		lookup := &net.OpError{Op: "dial", Net: "tcp", Err: fault}
		for _, err := range []error{lookup, &url.Error{Op: "Get", URL: "https://a.invalid/x", Err: lookup}} {
			require.Equal(t, "a.invalid", In(err), name)
		}
	}
	require.Equal(t, "a.invalid", In(fmt.Errorf("it is away: %w", &Error{"a.invalid"})))
	for _, err := range []error{errors.New("connection refused"), nil,
		&net.DNSError{Err: "server misbehaving", Name: "a.invalid", IsTemporary: true},
		fmt.Errorf("%w: %w", context.Canceled, &net.DNSError{Err: "operation was canceled", Name: "a.invalid"})} {
		require.Empty(t, In(err), "%v", err)
	}
}
