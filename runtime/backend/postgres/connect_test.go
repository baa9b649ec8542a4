//go:build !lean

package postgres

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// certificate creates a self-signed certificate for 127.0.0.1, and returns the paths of the files with it and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "here"},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

// TestNetwork signs in with passwords over TLS, configured in every way that libpq accepts.
func TestNetwork(t *testing.T) { // F6.18
	t.Parallel()
	if programs == "" {
		postgrestest.Start(t, programs) // skips the test with a reason
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	cert, key := certificate(t)
	server := postgrestest.Start(t, programs, port, cert, key)
	const password = "s3'cr\\et?"
	c := func(statement string) []string { return sqlAt(t, "host="+server.Dir+" port="+port, statement) }
	c("CREATE ROLE ann LOGIN PASSWORD 's3''cr\\et?'")
	c("CREATE DATABASE states OWNER ann")

	home := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	path := "127.0.0.1:" + port
	encrypted := `SELECT CASE WHEN ssl THEN 'encrypted' ELSE 'plain' END FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ann'`
	// The server ends a session some time after its connection has been closed. The statement waits for that.
	alone := func() { c("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'ann'") }
	works := func(rawURL string, variables map[string]string) {
		t.Helper()
		alone()
		o, err := Open(context.Background(), rawURL, lookupIn(variables))
		require.NoError(t, err)
		defer o.(*Store).Close()
		_, err = o.Get(t.Context(), ".pulumi/none")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, []string{"encrypted"}, c(encrypted))
	}
	fails := func(rawURL string, variables map[string]string, says string) {
		t.Helper()
		o, err := Open(context.Background(), rawURL, lookupIn(variables))
		if err == nil {
			defer o.(*Store).Close()
			_, err = o.Get(t.Context(), ".pulumi/none")
		}
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "cr\\et")
		require.NotContains(t, err.Error(), "wr0ng")
	}
	escaped := url.QueryEscape(password)
	works("postgres://ann:"+escaped+"@"+path+"/states", nil)
	works("postgres://ann@"+path+"/states?sslmode=verify-full&sslrootcert="+cert,
		map[string]string{"PGPASSWORD": password})
	works("postgres:///states", map[string]string{"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "ann",
		"PGPASSWORD": password, "PGSSLMODE": "verify-full", "PGSSLROOTCERT": cert})
	write(".pgpass", "127.0.0.1:*:states:ann:s3'cr\\\\et?\n")
	works("postgres://ann@"+path+"/states", map[string]string{"HOME": home})
	write(".pg_service.conf", "[there]\nhost=127.0.0.1\nport="+port+
		"\nuser=ann\ndbname=states\nsslmode=verify-ca\nsslrootcert="+cert+"\n")
	works("postgres:///?service=there", map[string]string{"HOME": home})
	works("postgres://ann@/states?host=127.0.0.1,127.0.0.1&port=1,"+port, map[string]string{"HOME": home})

	fails("postgres://ann:wr0ng@"+path+"/states", nil, "password authentication failed")
	fails("postgres://ann:"+escaped+"@"+path+"/states?sslmode=verify-full", nil, "certificate")
	fails("postgres://ann:"+escaped+"@localhost:"+port+"/states?sslmode=verify-full&sslrootcert="+cert, nil, "certificate")
	alone()
	// The server also accepts unencrypted connections, but only sslmode=disable makes one.
	plain, err := Open(context.Background(), "postgres://ann:"+escaped+"@"+path+"/states?sslmode=disable", nil)
	require.NoError(t, err)
	defer plain.(*Store).Close()
	_, err = plain.Get(t.Context(), ".pulumi/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, []string{"plain"}, c(encrypted))
}

// TestPooler checks that a pooler that may give each transaction another session is detected, and that one in session
// mode works.
func TestPooler(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
		if _, err := os.Stat(program); err != nil {
			t.Skip("needs pgbouncer: apt-get install pgbouncer")
		}
	}
	server := postgrestest.Start(t, programs)
	for i, c := range []struct {
		mode string
		size int
	}{{"session", 20}, {"session", 3}, {"transaction", 20}, {"transaction", 1}, {"statement", 20}} {
		mode, port := c.mode, fmt.Sprint(6440+i) // the port names a socket in the server's folder
		config := filepath.Join(server.Dir, port+".ini")
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil,
			"[databases]\npostgres = host=%s user=postgres\n[pgbouncer]\nlisten_addr =\nlisten_port = %s\n"+
				"unix_socket_dir = %s\nauth_type = any\npool_mode = %s\ndefault_pool_size = %d\n", server.Dir, port, server.Dir,
			mode, c.size), 0o644))
		arguments := []string{config}
		if os.Geteuid() == 0 {
			arguments = []string{"-u", "postgres", config}
		}
		pooler := exec.Command(program, arguments...)
		require.NoError(t, pooler.Start())
		t.Cleanup(func() {
			_ = pooler.Process.Kill()
			_ = pooler.Wait()
		})
		require.Eventually(t, func() bool { // the socket file exists before the pooler listens
			c, err := net.Dial("unix", filepath.Join(server.Dir, ".s.PGSQL."+port))
			return err == nil && c.Close() == nil
		}, time.Minute, 10*time.Millisecond)
		s := openAt(t, server.URL("pooled")+"&port="+port)
		_, err := s.Put(t.Context(), ".pulumi/meta.yaml", nil, backend.Condition{})
		if mode == "session" {
			t.Log(mode, c.size)
			require.NoError(t, err)
			held, err := s.Hold(t.Context(), "a", 1)
			require.NoError(t, err)
			held.Release()
			continue
		}
		require.ErrorIs(t, err, backend.ErrRefused, mode)
		require.ErrorContains(t, err, "a connection pooler in transaction mode stands before the database",
			strings.ToUpper(mode))
	}
}
