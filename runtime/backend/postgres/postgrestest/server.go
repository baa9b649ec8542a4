// Package postgrestest starts servers of PostgreSQL, for tests.
package postgrestest

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Server is a server in processes of its own, on a socket in a temporary folder. One goroutine at a time may stop and
// start it.
type Server struct {
	Dir string // the folder of the socket
	bin string
	t   testing.TB
}

// Start starts a server that ends with the test. bin is the folder of the programs of PostgreSQL; without it the test
// is skipped. args may be a port of this machine to listen on as well, the file of a certificate, and that of its key.
func Start(t testing.TB, bin string, args ...string) *Server {
	t.Helper()
	if bin == "" {
		t.Skip(
			"needs the programs of a server of PostgreSQL: make postgres-test finds them and says where they are " +
				"(YAMLHOST_POSTGRES)")
	}
	s := &Server{bin: bin, t: t}
	s.Dir = strings.TrimSpace(s.run("start", args...))
	t.Cleanup(func() { s.run("remove", s.Dir) })
	return s
}

func (s *Server) run(do string, args ...string) string {
	cmd := exec.Command("test/tools/postgres", append([]string{do, s.bin}, args...)...)
	cmd.Dir = root(s.t)
	out, err := cmd.Output()
	if err != nil {
		text := ""
		if ended, ok := err.(*exec.ExitError); ok {
			text = string(ended.Stderr)
		}
		s.t.Errorf("postgres %s: %v: %s", do, err, text)
	}
	return string(out)
}

// root returns the folder of the module.
func root(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// Stop shuts the server down in order, which cuts all connections.
func (s *Server) Stop() { s.run("stop", s.Dir) }

// Crash ends the server at once, without shutting it down.
func (s *Server) Crash() { s.run("crash", s.Dir) }

// Again starts the server after Stop or Crash.
func (s *Server) Again() { s.run("again", s.Dir) }

// URL returns the URL of a table in the database postgres.
func (s *Server) URL(table string) string {
	return "postgres:///postgres?" + url.Values{"host": {s.Dir}, "user": {"postgres"}, "table": {table}}.Encode()
}
