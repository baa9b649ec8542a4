package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/testing/pulumi-test-language/tests"
)

// fixtureHost is the host from which one test fetches two files of the suite. A proxy serves them from the suite's
// module, so that the suite needs no network.
const fixtureHost = "raw.githubusercontent.com"

// fixtures is the proxy with the environment for processes that use it.
type fixtures struct {
	listener net.Listener
	server   *http.Server
	env      []string
}

// serveFixtures starts the proxy. It writes the certificate for the host to dir.
func serveFixtures(dir string) (*fixtures, error) {
	certificate, authority, err := selfSigned(fixtureHost)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	bundle := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(bundle, authority, 0o644); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := "http://" + listener.Addr().String()
	f := &fixtures{listener: listener, env: []string{"HTTPS_PROXY=" + address, "SSL_CERT_FILE=" + bundle,
		"NO_PROXY=127.0.0.1,localhost"}}
	f.server = &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodConnect || r.URL.Hostname() != fixtureHost {
				http.Error(w, "only "+fixtureHost+" is served", http.StatusForbidden)
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
				_ = conn.Close()
				return
			}
			inner := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
			_ = http.Serve(&single{conn: inner, done: make(chan struct{})}, http.HandlerFunc(serveFixture))
		})}
	go func() { _ = f.server.Serve(listener) }() // ends when f.server is closed
	return f, nil
}

func (f *fixtures) close() { _ = f.server.Close() }

// serveFixture returns a file of the suite's test data.
func serveFixture(w http.ResponseWriter, r *http.Request) {
	_, name, found := strings.Cut(path.Clean(r.URL.Path), "/tests/testdata/")
	if !found {
		http.NotFound(w, r)
		return
	}
	text, err := fs.ReadFile(tests.LanguageTestdata, "testdata/"+name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(text)
}

// single is a listener with one existing connection.
type single struct {
	conn  net.Conn
	given bool
	done  chan struct{}
}

func (s *single) Accept() (net.Conn, error) {
	if s.given {
		<-s.done
		return nil, net.ErrClosed
	}
	s.given = true
	return &closing{s.conn, s}, nil
}

func (s *single) Close() error   { return s.conn.Close() }
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

// closing is a connection that closes its listener too.
type closing struct {
	net.Conn
	of *single
}

func (c *closing) Close() error {
	select {
	case <-c.of.done:
	default:
		close(c.of.done)
	}
	return c.Conn.Close()
}

// selfSigned returns a certificate for a host, and the same as a file of authorities.
func selfSigned(host string) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: der}), nil
}
