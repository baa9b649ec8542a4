//go:build !js

package embedded

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/yamlhost/yamlhost/internal/confine"
)

// fetchTime is the time limit for fetching a server's certificates.
const fetchTime = 30 * time.Second

// fetch connects to a server and returns its certificate chain, the server's own certificate first.
func (c certificates) fetch(ctx context.Context, address string, verify bool) ([]*x509.Certificate, error) {
	target, err := url.Parse(address)
	if err != nil || target.Hostname() == "" || target.Scheme != "https" && target.Scheme != "tls" {
		return nil, fmt.Errorf("url must be such as https://example.com or tls://example.com:5671, not %q", address)
	}
	port := target.Port()
	switch {
	case port == "" && target.Scheme == "tls":
		return nil, fmt.Errorf("url needs a port, such as tls://%s:443", target.Hostname())
	case port == "":
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	dialer := &net.Dialer{}
	if c.Confined != "" {
		if c.proxy.set {
			return nil, errors.New("an untrusted program may not choose a proxy")
		}
		if err := confine.Host(target.Hostname()); err != nil {
			return nil, err
		}
		dialer = confine.Dialer()
	}
	settings := &tls.Config{InsecureSkipVerify: !verify, Time: c.Now}
	if target.Scheme == "https" && c.proxy.set {
		return c.fetchThroughProxy(ctx, target, settings)
	}
	conn, err := (&tls.Dialer{NetDialer: dialer, Config: settings}).DialContext(ctx, "tcp",
		net.JoinHostPort(target.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", target.Host, err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates, nil
}

// fetchThroughProxy returns the certificate chain after a HEAD request, or after a GET request if HEAD fails.
func (c certificates) fetchThroughProxy(ctx context.Context, target *url.URL,
	settings *tls.Config) ([]*x509.Certificate, error) {
	transport := &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true, Proxy: c.proxy.choose(c.Options)}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var last error
	for _, method := range [...]string{http.MethodHead, http.MethodGet} {
		request, err := http.NewRequestWithContext(ctx, method, target.String(), http.NoBody)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			last = withoutURL(err)
			continue
		}
		response.Body.Close()
		if response.TLS != nil && len(response.TLS.PeerCertificates) > 0 {
			return response.TLS.PeerCertificates, nil
		}
		last = errors.New("the server sent no certificates")
	}
	return nil, fmt.Errorf("connect to %s through the proxy: %w", target.Host, last)
}

// withoutURL removes the URL from an error, because a proxy's URL may contain a password.
func withoutURL(err error) error {
	if located, ok := errors.AsType[*url.Error](err); ok {
		return located.Err
	}
	return err
}

// choose returns the function that selects the proxy of a request: the configured proxy, or the one in the environment
// variables that curl uses.
func (p proxySettings) choose(o Options) func(*http.Request) (*url.URL, error) {
	if p.url != nil {
		return http.ProxyURL(p.url)
	}
	get := func(names ...string) string {
		for _, name := range names {
			if v := o.environment(name); v != "" {
				return v
			}
		}
		return ""
	}
	choose := (&httpproxy.Config{
		HTTPProxy: get("HTTP_PROXY", "http_proxy"), HTTPSProxy: get("HTTPS_PROXY", "https_proxy"),
		NoProxy: get("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}
