package controlplane

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// front is a proxy of the API server that may intercept changes of config maps. It is safe for concurrent use.
type front struct {
	url    string
	mu     sync.Mutex // guards meddle and met
	meddle func(w http.ResponseWriter, r *http.Request, n int) (answered bool)
	met    int // number of changes since meddle was set
}

func (p *plane) front(t *testing.T) *front {
	f := &front{}
	target, err := url.Parse(p.url)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // flushes at once, for watches
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.as("me").Transport.(*http.Transport).
		TLSClientConfig.RootCAs}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	cert, err := tls.LoadX509KeyPair(p.ca.path("server.crt"), p.ca.path("server.key"))
	require.NoError(t, err)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.url = server.URL
	return f
}

// set makes meddle handle changes. n is the number of the change, from 1; meddle reports whether it has answered.
func (f *front) set(meddle func(w http.ResponseWriter, r *http.Request, n int) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meddle, f.met = meddle, 0
}

func (f *front) seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met
}

func (f *front) answers(w http.ResponseWriter, r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.meddle == nil || r.Method == http.MethodGet || r.URL.Query().Has("dryRun") || !strings.Contains(r.URL.Path, "/configmaps") {
		return false
	}
	f.met++
	return f.meddle(w, r, f.met)
}

// throttled responds like an overloaded API server.
func throttled(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 429,
 "message": "Too many requests, please try again later.", "reason": "TooManyRequests", "details": {"retryAfterSeconds": 1}}`)
}
