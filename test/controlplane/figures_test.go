package controlplane

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFigures measures and prints times of 300 and 1,000 objects with yamlhost and the Pulumi CLI, with the same
// provider on the same server.
func TestFigures(t *testing.T) {
	bin := os.Getenv("YAMLHOST_CONTROLPLANE")
	if _, err := os.Stat(filepath.Join(bin, "pulumi")); err != nil {
		t.Skip("no Pulumi CLI beside the servers: `make controlplane-figures` builds one")
	}
	p := newPlane(t)
	for _, n := range []int{300, 1000} {
		for _, tool := range []string{"yamlhost", "pulumi"} {
			s := p.sandbox(t, tool+"-"+map[int]string{300: "few", 1000: "many"}[n])
			for _, value := range []string{"first", "first", "second"} {
				s.program(several(n, value))
				s.timed(n, tool, "up", "--yes", "--skip-preview")
				require.Equal(t, n, s.maps(value))
			}
			s.timed(n, tool, "destroy", "--yes", "--skip-preview")
			require.Zero(t, s.maps("second"))
		}
	}
}

// timed runs a program and prints its costs, including those of the provider.
func (s *sandbox) timed(n int, tool string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, tool), args...)
	cmd.Dir, cmd.Env = s.project, s.env
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, string(out))
	u := cmd.ProcessState
	s.t.Logf("%5d objects  %-8s  %-7s  %7.2f s  %6.2f s of CPU", n, tool, args[0], time.Since(begin).Seconds(),
		(u.UserTime() + u.SystemTime()).Seconds())
}
