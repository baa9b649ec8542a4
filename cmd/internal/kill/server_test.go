//go:build linux && !lean

package kill

import (
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// server is a listening program in a separate process that tests can kill and restart.
type server struct {
	t       *testing.T
	dir     string
	address string
	command func() *exec.Cmd

	mu      sync.Mutex // guards process and serializes start and stop
	process *exec.Cmd
}

// init chooses a folder and a free port.
func (s *server) init(t *testing.T, command func() *exec.Cmd) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.t, s.dir, s.address, s.command = t, t.TempDir(), l.Addr().String(), command
	require.NoError(t, l.Close())
}

// start starts the process and waits until it listens.
func (s *server) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = s.command()
	if err := s.process.Start(); err != nil {
		s.t.Error(err)
		return
	}
	for range 3000 {
		if c, err := net.Dial("tcp", s.address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Error("the server does not answer")
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
