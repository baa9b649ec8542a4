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

// internet is all that a process of its own sees of the world: hosts by their real names, over real TLS, through a
// proxy. The libraries of some services take neither another address nor a client of ours, but they heed HTTPS_PROXY
// and SSL_CERT_FILE, which are read once per process: so the test starts itself again.
type internet struct {
	certificate []byte   // of the hosts and their own authority, as PEM
	hosts       []string // that there are
	server      *httptest.Server
	proxy       *httptest.Server

	mu        sync.Mutex
	reached   []string // hosts that somebody wanted to reach, in order
	strayed   []string // requests that did not ask for a tunnel, or for a host that there is not
	tunnelled bytes.Buffer
	exchanges []*exchange
}

// exchange is a request and its answer, as they are inside of TLS.
type exchange struct {
	what   string // host and path
	text   []byte // of both
	sealed bool   // a question to the key service that has to carry the data key
}

// newInternet makes an internet of some hosts. The handler gets the request's body, and tells whether it was a question
// that has to carry the data key.
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

// answer keeps what is answered.
type answer struct {
	http.ResponseWriter
	text *[]byte
}

func (a *answer) Write(p []byte) (int, error) {
	*a.text = append(*a.text, p...)
	return a.ResponseWriter.Write(p)
}

// identity is one certificate for all hosts.
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

// tunnel connects to the server, whatever the host, and keeps what an eavesdropper would see.
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
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, io.TeeReader(from, n)) // ends when either side has closed
		_, _ = to.Close(), from.Close()
	}
	go pass(far, near)
	go pass(near, far)
}

// Write keeps what went through a tunnel.
func (n *internet) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tunnelled.Write(p)
}

// What a child is asked to do, and where it says what came of it.
const (
	childKey     = "KEYSERVICE_TEST_KEY"
	childRefused = "KEYSERVICE_TEST_REFUSED_KEY"
	childReport  = "KEYSERVICE_TEST_REPORT"
)

// refusals are what a child was told about the key that it may not use.
type refusals struct{ Encrypt, Decrypt string }

// isChild does what a child has to do, in one.
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

// refusedData is what a child wants wrapped with the key that it may not use.
const refusedData = "what nobody may wrap nor unwrap."

// visit runs this test once more, in a process that sees nothing but this internet and these variables.
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

// requireKept holds that the stack's secret went nowhere, the data key only where it has to, that credentials reached
// the host that they are for and no other, and that who listens reads none of them.
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

// carries reports whether there is data in a text, in one of the usual spellings.
func carries(text, data []byte) bool {
	for _, spelling := range []string{string(data), hex.EncodeToString(data), base64.RawStdEncoding.EncodeToString(data),
		base64.RawURLEncoding.EncodeToString(data)} {
		if bytes.Contains(text, []byte(spelling)) {
			return true
		}
	}
	return false
}

// inverted is how the services of tests wrap and unwrap: every bit is inverted.
func inverted(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0xff
	}
	return out
}
