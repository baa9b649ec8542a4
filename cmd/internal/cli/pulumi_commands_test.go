package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// pulumiCommand is a command of the Pulumi CLI with its own flags.
type pulumiCommand struct {
	path  string
	flags []string
}

// pulumiCommands reads the recorded commands and flags of the Pulumi CLI; a test in test/plugins/life compares the
// record with the CLI.
func pulumiCommands(t *testing.T) []pulumiCommand {
	t.Helper()
	text, err := os.ReadFile("testdata/pulumi-commands.txt")
	require.NoError(t, err)
	var all []pulumiCommand
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		path, flags, found := strings.Cut(line, ":")
		require.True(t, found, line)
		all = append(all, pulumiCommand{path, strings.Fields(flags)})
	}
	require.Greater(t, len(all), 100)
	return all
}

// tableRow is a row of the table of commands in docs/migrate.md.
type tableRow struct{ grade, note string }

// commandTable returns the rows of the table by command.
func commandTable(t *testing.T) map[string]tableRow {
	t.Helper()
	page, err := os.ReadFile("../../../docs/migrate.md")
	require.NoError(t, err)
	rows := map[string]tableRow{}
	row := regexp.MustCompile("(?m)^\\| `pulumi( [a-z -]+)?` \\| (works|differs|not here) \\| (.*) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		path := strings.TrimSpace(m[1])
		require.NotContains(t, rows, path, "the table has %s twice", path)
		rows[path] = tableRow{m[2], m[3]}
	}
	return rows
}

// The table in docs/migrate.md has every command of the Pulumi CLI. A command that the table grades "works" or
// "differs" exists with every flag, except the flags that its note excludes. A command that is "not here" does not
// exist, and its note is what the program answers to it, also with flags behind it; a flag that is
// not here is answered too.
func TestTableOfPulumiCommands(t *testing.T) {
	t.Parallel()
	rows := commandTable(t)
	root := newRoot(&console.Console{World: console.World{AsPulumi: true}}, &profile{})
	missing, flagName := regexp.MustCompile("not here: (`--.*)|(`--output`): use"), regexp.MustCompile("`--([a-z-]+)`")
	known := map[string]bool{}
	for _, c := range pulumiCommands(t) {
		known[c.path] = true
		row, has := rows[c.path]
		if !has && c.path != "" { // the row of a missing group covers its commands
			for above := c.path; !has && strings.Contains(above, " "); {
				above = above[:strings.LastIndex(above, " ")]
				row, has = rows[above]
				has = has && row.grade == "not here"
			}
		}
		require.True(t, has, "the table lacks pulumi %s", c.path)
		found, rest, err := root.Find(strings.Fields(c.path))
		here := err == nil && len(rest) == 0 && (found != root || c.path == "") && !found.Hidden
		if row.grade == "not here" {
			require.False(t, here, "pulumi %s is here", c.path)
			continue
		}
		require.True(t, here, "pulumi %s is not here", c.path)
		var named []string
		for _, part := range missing.FindAllString(row.note, -1) {
			for _, m := range flagName.FindAllStringSubmatch(part, -1) {
				named = append(named, m[1])
			}
		}
		for _, flag := range c.flags {
			require.NotEqual(t, slices.Contains(named, flag), hasFlag(found, flag),
				"pulumi %s --%s: it is either here, or the table says that it is not", c.path, flag)
			if slices.Contains(named, flag) {
				err := console.FlagError(found, found.ParseFlags([]string{"--" + flag}))
				want := found.CommandPath() + " has no flag --" + flag
				if !someHas(root, flag) {
					want = "--" + flag + " is a flag of the Pulumi CLI that yamlhost does not have"
				}
				require.ErrorContains(t, err, want, c.path)
			}
		}
	}
	link := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	for path, row := range rows {
		require.True(t, known[path] || strings.Contains(row.note, "older versions"),
			"the table has pulumi %s, which the Pulumi CLI does not have", path)
		if row.grade != "not here" {
			continue
		}
		note := link.ReplaceAllString(row.note, "$1")
		require.NotEmpty(t, note, path)
		for _, more := range []string{"", " --help", " some --flag=1 -x"} {
			x := newTerminal(t, onePet)
			require.Equal(t, console.CodeBadUsage, x.run(strings.Fields(path+more)...), path+more)
			require.Equal(t, "error: "+path+" is a command of the Pulumi CLI that yamlhost does not have: "+note+"\n",
				x.err.String())
			require.Empty(t, x.out.String())
		}
	}
	for _, name := range console.AbsentCommands() {
		require.Contains(t, rows, name, "the table lacks pulumi %s, which the program knows", name)
	}
}

// someHas reports whether any command has a flag.
func someHas(root *cobra.Command, name string) (has bool) {
	visit(root, "", func(cmd *cobra.Command, _ string) { has = has || hasFlag(cmd, name) })
	return has
}

// hasFlag reports whether a command takes a flag, its own or an inherited one.
func hasFlag(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil || name == "help" || name == "version"
}
