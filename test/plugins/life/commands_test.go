package life

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// menu is a command in the Pulumi CLI's description of itself.
type menu struct {
	Flags    map[string]struct{ Name string }
	Commands map[string]menu
}

// lines returns a command and its subcommands in the form of cmd/internal/cli/testdata/pulumi-commands.txt, without
// commands that the help of their parent does not list.
func (m menu) lines(s *sandbox, path string) []string {
	var flags []string
	for name := range m.Flags {
		if name != "help" && name != "version" {
			flags = append(flags, name)
		}
	}
	slices.Sort(flags)
	all := []string{strings.TrimSpace(path + ": " + strings.Join(flags, " "))}
	if len(m.Commands) == 0 {
		return all
	}
	help := s.pulumi(append(strings.Fields(path), "--help")...)
	for name, sub := range m.Commands {
		if strings.Contains(help, "\n  "+name+" ") && name != "help" {
			all = append(all, sub.lines(s, strings.TrimSpace(path+" "+name))...)
		}
	}
	slices.Sort(all)
	return all
}

// TestCommandsOfPulumi compares the record of the Pulumi CLI's commands with the CLI that the tests build. Another test
// compares the table in docs/migrate.md with the record. YAMLHOST_UPDATE rewrites the record.
func TestCommandsOfPulumi(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	var spec menu
	require.NoError(t, json.Unmarshal([]byte(s.pulumi("generate-cli-spec")), &spec))
	now := "# The commands of the Pulumi CLI with their own flags, without those that it hides.\n" +
		strings.Join(spec.lines(s, ""), "\n") + "\n"
	const record = "../../../cmd/internal/cli/testdata/pulumi-commands.txt"
	if os.Getenv("YAMLHOST_UPDATE") != "" {
		require.NoError(t, os.WriteFile(record, []byte(now), 0o644))
	}
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	require.Equal(t, string(text), now)
}
