package life

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMigrateTellsTheTruth has the Pulumi CLI, with its own language host, make a stack of each program, and compares
// what `migrate --check` says of it with what then happens: a stack that is called ready is previewed without a change,
// unless the Pulumi CLI would change something itself, and one that is not called ready is not. It prints how many there were of each.
func TestMigrateTellsTheTruth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the Pulumi CLI some 80 times: not in short mode")
	}
	base := newStack(t)
	turn := make(chan struct{}, 2)
	made, ready := make(chan string, 1000), make(chan string, 1000)
	t.Run("programs", func(t *testing.T) {
		for _, p := range hostPrograms(t) {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				turn <- struct{}{}
				defer func() { <-turn }()
				s := base.sandbox(t, p, "stock")
				up := exec.Command(filepath.Join(s.bin, "pulumi"), "up", "--yes", "--skip-preview", "--stack", "dev",
					"--non-interactive")
				up.Dir, up.Env = s.dir, s.env
				if text, err := up.CombinedOutput(); err != nil {
					t.Skipf("the Pulumi CLI makes no stack of it: %s", text)
				}
				made <- p.name
				check := exec.Command(filepath.Join(s.bin, "yamlhost"), "migrate", "--check", "--format", "json", "--stack", "dev")
				check.Dir, check.Env = s.dir, s.env
				report, err := check.Output()
				var told struct {
					Ready    bool
					Findings []struct{ Part, Grade, Text, Way string }
				}
				require.NoError(t, json.Unmarshal(report, &told), string(report))
				require.Equal(t, told.Ready, err == nil)
				again := exec.Command(filepath.Join(s.bin, "pulumi"), "preview", "--expect-no-changes", "--stack", "dev",
					"--non-interactive")
				again.Dir, again.Env = s.dir, s.env
				theirs, fault := again.CombinedOutput()
				shown, empty := s.try("preview", "--expect-no-changes", "--stack", "dev")
				if p.name == "resource-read-gone" { // what is read and is not there is an error here (E2.49)
					require.False(t, empty, shown)
					require.Contains(t, shown, "does not exist")
					return
				}
				require.Equal(t, told.Ready && fault == nil, empty, "%s\n%s\nthe Pulumi CLI: %s", report, shown, theirs)
				if told.Ready {
					ready <- p.name
				} else {
					t.Logf("%s", report)
				}
			})
		}
	})
	t.Logf("%d programs, %d of them ready", len(made), len(ready))
	require.Greater(t, len(ready), 20)
}
