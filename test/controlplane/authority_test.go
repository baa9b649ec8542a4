package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs the certificates of one control plane: NAME.crt and NAME.key in its folder.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	a := &authority{dir: dir}
	a.key = a.newKey(t, "authority")
	a.cert = &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	a.cert = a.sign(t, "authority", a.cert, a.key)
	return a
}

// path returns the path of a file, such as NAME.crt.
func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) newKey(t *testing.T, name string) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	a.write(t, name+".key", "EC PRIVATE KEY", der)
	return key
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	require.NoError(t, os.WriteFile(a.path(name), text, 0o600))
}

func (a *authority) sign(t *testing.T, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	cert.SerialNumber = big.NewInt(time.Now().UnixNano())
	cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	a.write(t, name+".crt", "CERTIFICATE", der)
	signed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return signed
}

// issue creates a certificate for a server on the loopback and for a client in the group.
func (a *authority) issue(t *testing.T, name, group string) {
	a.sign(t, name, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: []string{group}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.newKey(t, name))
}
