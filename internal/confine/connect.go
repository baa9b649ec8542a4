//go:build !js

package confine

import (
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Dialer returns a dialer that connects to public addresses only, whatever a name resolves to.
func Dialer() *net.Dialer {
	return &net.Dialer{Timeout: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		dst, err := netip.ParseAddrPort(address)
		if err != nil || !Public(dst.Addr()) {
			return &AddressError{address}
		}
		return nil
	}}
}

// Client returns a client that reads from public addresses only. It uses no proxy, because a proxy could connect
// anywhere. Redirects are checked like the first address.
func Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: Dialer().DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute,
		ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}
