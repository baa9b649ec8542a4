package life

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestMigrateTellsTheTruth creates a stack of each program with the Pulumi CLI and its own language host, and compares
// the result of `migrate --check` with a preview: a stack that is called ready must show no change, unless the Pulumi
// CLI would change something itself, and any other stack must. testdata/foretold.yaml lists the exceptions with their
// reasons, which only a run can detect. The test prints the number of each.
func TestMigrateTellsTheTruth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the Pulumi CLI some 80 times: not in short mode")
	}
	base := newStack(t)
	turn := make(chan struct{}, 2)
	made, ready, unforetold := make(chan string, 1000), make(chan string, 1000), make(chan string, 1000)
	named := map[string]string{}
	text, err := os.ReadFile("testdata/foretold.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &named))
	t.Run("programs", func(t *testing.T) {
		for _, p := range append(hostPrograms(t), archived(t)...) {
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
				check := exec.Command(filepath.Join(s.bin, "yamlhost"), "migrate", "--check", "--format", "json", "--stack", "dev")
				check.Dir, check.Env = s.dir, s.env
				report, err := check.Output()
				var told struct {
					Ready    bool
					Stacks   []struct{ Resources int }
					Findings []struct{ Part, Grade, Text, Way string }
				}
				require.NoError(t, json.Unmarshal(report, &told), string(report))
				require.Equal(t, told.Ready, err == nil)
				if len(told.Stacks) == 1 && told.Stacks[0].Resources == 0 {
					t.Skip("the Pulumi CLI runs no program of it: the project names no runtime")
				}
				made <- p.name
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
				agrees := (told.Ready && fault == nil) == empty
				if why := named[p.name]; why != "" {
					require.False(t, agrees, "it is foretold now; take it out of testdata/foretold.yaml")
					t.Logf("not foretold: %s", why)
					unforetold <- p.name
					return
				}
				require.True(t, agrees, "%s\n%s\nthe Pulumi CLI: %s", report, shown, theirs)
				if told.Ready {
					ready <- p.name
				} else {
					t.Logf("%s", report)
				}
			})
		}
	})
	t.Logf("%d programs, %d of them ready, %d that change what nothing has foretold", len(made), len(ready), len(unforetold))
	require.Greater(t, len(ready), 20)
}

// archived returns the examples and the programs of all archives of the repository if YAMLHOST_MIGRATE is set, as by
// `make migrate-test`. It installs their provider zoo beside the other plugins. It omits projects whose project file is
// broken on purpose, because the Pulumi CLI creates no stack of them.
func archived(t *testing.T) (list []hostProgram) {
	t.Helper()
	if os.Getenv("YAMLHOST_MIGRATE") == "" {
		return nil
	}
	bin, err := binaries()
	require.NoError(t, err)
	same := filepath.Join(bin, "same")
	build := exec.Command("go", "build", "-o", same, "./tools/bench/same")
	build.Dir = "../../.."
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	schema, err := os.ReadFile("../../../eval/testdata/zoo.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "zoo.json"), schema, 0o644))
	link := filepath.Join(bin, "pulumi-resource-zoo")
	if err := os.Remove(link); err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.NoError(t, os.Symlink(same, link))
	names, err := exec.Command(same, "-tree", "../../..", "-unpack", t.TempDir()).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(names)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if text, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml")); err == nil && yaml.Unmarshal(text, new(any)) != nil {
			t.Logf("%s is left out: its project file is no YAML", name)
			continue
		}
		list = append(list, hostProgram{name, dir})
	}
	require.NotEmpty(t, list)
	return list
}
