//go:build !lean

package keyservice

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// internet is the whole network of a child process: hosts with their real names, over real TLS, through a proxy. The
// libraries of some services accept neither another address nor an HTTP client, but they use HTTPS_PROXY and
// SSL_CERT_FILE. These are read once per process, so the test starts itself again.
type internet struct {
	certificate []byte   // self-signed, of all hosts, as PEM
	hosts       []string // names of the known hosts
	server      *httptest.Server
	proxy       *httptest.Server

	mu        sync.Mutex
	reached   []string // hosts of the tunnels, in order
	strayed   []string // requests without a tunnel or for an unknown host
	tunnelled bytes.Buffer
	exchanges []*exchange
}

// exchange is a request and its response, decrypted.
type exchange struct {
	what   string // host and path
	text   []byte // request and response
	sealed bool   // sent to the key service, with the data key
}

// newInternet starts an internet with these hosts. handle gets the body of the request, and reports whether the request
// was one to the key service with the data key.
func newInternet(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body []byte) (sealed bool),
	hosts ...string) *internet {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("other systems than Linux have authorities that SSL_CERT_FILE does not replace")
	}
	n := &internet{hosts: hosts}
	n.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head, _ := httputil.DumpRequest(r, false)
		body, _ := io.ReadAll(r.Body)
		e := &exchange{what: r.Host + r.URL.Path, text: append(head, body...)}
		e.sealed = handle(&answer{w, &e.text}, r, body)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.exchanges = append(n.exchanges, e)
	}))
	n.server.EnableHTTP2 = true
	n.server.TLS = n.identity(t)
	n.server.StartTLS()
	t.Cleanup(n.server.Close)
	n.proxy = httptest.NewServer(http.HandlerFunc(n.tunnel))
	t.Cleanup(n.proxy.Close)
	return n
}

// answer appends the body of a response to text.
type answer struct {
	http.ResponseWriter
	text *[]byte
}

func (a *answer) Write(p []byte) (int, error) {
	*a.text = append(*a.text, p...)
	return a.ResponseWriter.Write(p)
}

// identity returns the TLS configuration of all hosts, with one certificate.
func (n *internet) identity(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of a test"},
		DNSNames:  n.hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	n.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}
}

// tunnel connects a client to the server, whichever known host it wants, and records the traffic as an eavesdropper
// sees it.
func (n *internet) tunnel(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	known := r.Method == http.MethodConnect && slices.Contains(n.hosts, host)
	n.mu.Lock()
	if known {
		n.reached = append(n.reached, host)
	} else {
		n.strayed = append(n.strayed, r.Method+" "+r.URL.String())
	}
	n.mu.Unlock()
	if !known {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	far, err := net.Dial("tcp", n.server.Listener.Addr().String())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	pass := func(dst, src net.Conn) {
		_, _ = io.Copy(dst, io.TeeReader(src, n)) // ends when either side has closed
		_, _ = dst.Close(), src.Close()
	}
	go pass(far, near)
	go pass(near, far)
}

// Write records traffic of a tunnel.
func (n *internet) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tunnelled.Write(p)
}

// Environment variables that give a child process its keys and the path of its report.
const (
	childKey     = "KEYSERVICE_TEST_KEY"
	childRefused = "KEYSERVICE_TEST_REFUSED_KEY"
	childReport  = "KEYSERVICE_TEST_REPORT"
)

// refusals has the errors of a child process for the key that it may not use.
type refusals struct{ Encrypt, Decrypt string }

// isChild reports whether this is the child process. If so, it does the work of the child.
func isChild(t *testing.T) bool {
	t.Helper()
	report := os.Getenv(childReport)
	if report == "" {
		return false
	}
	roundTrip(t, os.Getenv(childKey), Options{})
	key, err := Open(os.Getenv(childRefused), Options{})
	require.NoError(t, err)
	var said refusals
	_, err = key.Encrypt([]byte(refusedData))
	require.Error(t, err)
	said.Encrypt = err.Error()
	_, err = key.Decrypt([]byte(refusedData))
	require.Error(t, err)
	said.Decrypt = err.Error()
	text, err := json.Marshal(said)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(report, text, 0o600))
	return true
}

// refusedData is the data that the child tries to wrap and unwrap with the key that it may not use.
const refusedData = "what nobody may wrap nor unwrap."

// visit runs this test again in a child process that has only this internet and these variables, and returns its
// report.
func (n *internet) visit(t *testing.T, key, refused string, variables ...string) refusals {
	t.Helper()
	home := t.TempDir()
	authority, report := filepath.Join(home, "authority.pem"), filepath.Join(home, "report.json")
	require.NoError(t, os.WriteFile(authority, n.certificate, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
	child.Dir = home
	child.Env = append([]string{"HOME=" + home, "TMPDIR=" + home, "HTTPS_PROXY=" + n.proxy.URL, "HTTP_PROXY=" +
		n.proxy.URL, "SSL_CERT_FILE=" + authority, "SSL_CERT_DIR=" + filepath.Join(home, "none"),
		childKey + "=" + key, childRefused + "=" + refused, childReport + "=" + report},
		variables...)
	said, err := child.CombinedOutput()
	n.mu.Lock()
	defer n.mu.Unlock()
	require.NoError(t, err, "%s\nreached %q, strayed %q", said, n.reached, n.strayed)
	text, err := os.ReadFile(report)
	require.NoError(t, err, "%s", said)
	var r refusals
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// requireKept requires that the secret of the stack was sent nowhere, the data key only to the key service and the
// credential only to its authority, and that an eavesdropper cannot read any of them.
func (n *internet) requireKept(t *testing.T, dataKey []byte, credential, authority string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	require.Empty(t, n.strayed, "all requests go through tunnels to known hosts")
	require.Len(t, dataKey, 32)
	told, sealed := false, 0
	for _, e := range n.exchanges {
		require.False(t, carries(e.text, []byte(kept)), "the secret of the stack is in %s", e.what)
		if e.sealed {
			sealed++
		} else {
			for _, data := range [][]byte{dataKey, []byte(refusedData)} {
				require.False(t, carries(e.text, data), "the data key is in %s", e.what)
			}
		}
		if carries(e.text, []byte(credential)) {
			require.Equal(t, authority, e.what, "credentials are for the authority only")
			told = true
		}
	}
	require.True(t, told, "the authority was asked")
	require.Equal(t, 4, sealed, "wrapped once, unwrapped once, and refused twice")
	require.NotZero(t, n.tunnelled.Len())
	for _, text := range [][]byte{[]byte(kept), dataKey, []byte(refusedData), []byte(credential)} {
		require.False(t, carries(n.tunnelled.Bytes(), text), "somebody who listens has read it")
	}
}

// carries reports whether text contains data, as it is, in hex or in base64.
func carries(text, data []byte) bool {
	for _, spelling := range []string{string(data), hex.EncodeToString(data), base64.RawStdEncoding.EncodeToString(data),
		base64.RawURLEncoding.EncodeToString(data)} {
		if bytes.Contains(text, []byte(spelling)) {
			return true
		}
	}
	return false
}

// inverted returns b with all bits inverted: this is how the fake services wrap and unwrap.
func inverted(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0xff
	}
	return out
}
