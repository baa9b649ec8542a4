package cli

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// everyCommand calls fn for each visible command, with its path without the program's name.
func everyCommand(fn func(cmd *cobra.Command, path string)) {
	root := newRoot(&console.Console{}, &profile{})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		fn(cmd, strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "yamlhost"), " "))
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// Help fits the terminal, except for examples, usage lines and quoted input. --help has each flag once, and -h only some
// of those.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	widest := map[int]int{}
	for _, terminal := range []int{0, 80, 100, 200} {
		a := &console.Console{Streams: Streams{Size: func() (int, int) { return terminal, 24 }}}
		width := helpColumns(terminal)
		visit(newRoot(a, &profile{}), "", func(cmd *cobra.Command, path string) {
			if cmd.Hidden {
				return
			}
			var shown [2][]string
			for i, asked := range []string{"-h", "--help"} {
				var out bytes.Buffer
				cmd.SetOut(&out)
				cmd.HelpFunc()(cmd, []string{asked})
				shown[i] = helpedFlag.FindAllString(out.String(), -1)
				examples := false
				for line := range strings.Lines(out.String()) {
					line = strings.TrimRight(line, "\n")
					examples = line == "Examples:" || examples && strings.HasPrefix(line, " ")
					if examples || strings.HasPrefix(line, "  yamlhost ") || strings.HasPrefix(line, "    ") &&
						strings.Contains(line, `"`) {
						continue
					}
					length := utf8.RuneCountInString(line)
					widest[terminal] = max(widest[terminal], length)
					require.LessOrEqual(t, length, width, "%s: %s", path, line)
				}
			}
			var flags []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
			cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
			for _, name := range slices.Compact(slices.Sorted(slices.Values(flags))) {
				f := cmd.Flag(name)
				listed := 0
				for _, line := range shown[1] {
					if strings.TrimLeft(line, "\n ,-") != line && strings.HasSuffix(line, "--"+name) {
						listed++
					}
				}
				require.Equal(t, !f.Hidden, listed == 1, "%s --%s is listed %d times", path, name, listed)
			}
			require.Subset(t, shown[1], shown[0], path)
		})
	}
	require.Greater(t, widest[100], widest[80])
	require.Greater(t, widest[200], widest[100])
}

// helpedFlag matches the beginning of a flag's entry in the help.
var helpedFlag = regexp.MustCompile(`\n  (?:-., |    )--[a-z-]+`)

// Every flag that has a heading is a flag of some command.
func TestFlagsOfGroupsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	everyCommand(func(cmd *cobra.Command, _ string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	})
	for _, g := range flagGroups {
		for _, name := range g.flags {
			require.True(t, known[name], name)
		}
	}
}

// The usage of a flag has no backquotes and no line breaks: pflag takes text between backquotes for the name of the
// value, and a line break disturbs the columns of the help.
func TestFlagsReadWell(t *testing.T) {
	t.Parallel()
	everyCommand(func(cmd *cobra.Command, path string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			require.NotContains(t, f.Usage, "`", "%s --%s", path, f.Name)
			require.NotContains(t, f.Usage, "\n", "%s --%s", path, f.Name)
		})
	})
}

// Every command has at least two examples, and each is a valid command line.
func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	seen, byPath := map[string]bool{}, examples()
	everyCommand(func(cmd *cobra.Command, path string) {
		seen[path] = true
		list := byPath[path]
		require.GreaterOrEqual(t, len(list), 2, "examples of %q", path)
		for _, e := range list {
			require.Contains(t, cmd.Example, "  # "+e.does+"\n  "+commandLine(e.line), path)
			require.Less(t, len(e.does), 100, e.does)
			requireCommand(t, path, e)
		}
	})
	for path := range byPath {
		require.True(t, seen[path], "there is no command %q, but there are examples of it", path)
	}
}

// requireCommand requires that an example names an existing command and existing flags, with valid arguments. It
// ignores the rest of the line after a shell operator.
func requireCommand(t *testing.T, path string, e example) {
	t.Helper()
	line := commandLine(e.line)
	i := strings.Index(line, "yamlhost ")
	if i < 0 || strings.Contains(line, "node deploy.js") {
		require.True(t, strings.HasPrefix(e.line, "$ "), "%s: an example calls the program", line)
		return
	}
	var words []string
	for _, word := range strings.Fields(line[i+len("yamlhost "):]) {
		if strings.ContainsAny(word[:1], "|<>)") {
			break
		}
		words = append(words, strings.Trim(strings.TrimSuffix(word, ")"), "'"))
	}
	if len(words) == 1 && words[0] == "--version" {
		return
	}
	root := newRoot(&console.Console{}, &profile{})
	cmd, rest, err := root.Find(words)
	require.NoError(t, err, line)
	found := strings.TrimPrefix(cmd.CommandPath(), "yamlhost")
	require.True(t, strings.HasPrefix(found+" ", strings.TrimSuffix(" "+path, " ")+" "), "%q is an example of %q", line,
		path)
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden {
			t.Errorf("%s: --%s is not for people", line, f.Name)
		}
	})
}

// Every visible command is in a group, and every group has commands.
func TestHelpIsGrouped(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("--help"))
	for _, g := range groups {
		require.Contains(t, x.out.String(), "\n"+g.title+"\n  ")
	}
	require.NotContains(t, x.out.String(), "Additional Commands")
	for _, cmd := range newRoot(&console.Console{}, &profile{}).Commands() {
		require.True(t, cmd.Hidden || cmd.GroupID != "", cmd.Name())
	}
}

// The error for a wrong number of arguments names the arguments that the command takes.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	for _, c := range []struct{ line, want string }{
		{"stack rename", "error: yamlhost stack rename lacks NAME\nUsage: yamlhost stack rename NAME"},
		{"stack rename a b", "error: yamlhost stack rename takes NAME and nothing more\nUsage: yamlhost stack rename NAME"},
		{"config set", "error: yamlhost config set lacks KEY [VALUE]\n"},
		{"stack ls a", "error: yamlhost stack ls takes no arguments, but there is \"a\"\n"},
		{"explain a b", "error: yamlhost explain takes [CODE] and nothing more\n"},
		{"completion tcsh", "error: there is no command \"completion tcsh\""},
	} {
		require.Equal(t, console.CodeBadUsage, x.run(strings.Fields(c.line)...), c.line)
		require.Contains(t, x.err.String(), c.want, c.line)
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("version"))
	want := x.out.String()
	require.Equal(t, 0, x.run("--version"), x.err.String())
	require.Equal(t, want, x.out.String())
}
