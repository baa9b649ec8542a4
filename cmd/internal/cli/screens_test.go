package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// situation is a section of docs/screens.md: a version of the program, and the commands to run on it.
type situation struct {
	name, title, kind, more string
	commands                []string // the last one is shown
}

var situations = []situation{
	{"a first preview", "red", "small", "", []string{"preview"}},
	{"a first run", "red", "small", "", []string{"up --yes --skip-preview"}},
	{"nothing to do", "red", "small", "", []string{"up --yes --skip-preview"}},
	{"a value that changes", "blue", "small", "", []string{"preview"}},
	{"a text of many lines that changes", `"port: 80\nhost: a\n"`, "small", "",
		[]string{"up --yes --skip-preview", "=port: 8080\\nhost: a\\n", "preview"}},
	{"a replacement, and what forces it", "red", "large", "", []string{"preview"}},
	{"a mistake in the program", "red", "small", "  bad: {type: drawer:Item, properties: {titel: t, kind: k}}",
		[]string{"preview"}},
	{"a resource that cannot be created", "red", "small", // after the others, which would else be not started at times
		"  x-create: {type: drawer:Item, properties: {title: \"${lid.title}\", kind: k}}\n" +
			"  more: {type: drawer:Item, properties: {title: \"${x-create.title}\", kind: k}}",
		[]string{"up --yes --skip-preview"}},
	{"a stack that is missing", "red", "small", "", []string{"preview --stack prod"}},
	{"what exists", "red", "small", "", []string{"stack"}},
	{"nothing is named", "red", "small", "", []string{"state protect"}},
	{"nothing to do, after the plan", "red", "small", "", []string{"up --yes"}},
	{"taking all down", "red", "small", "", []string{"destroy --yes --skip-preview"}},
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// volatile matches the parts of screens that differ from run to run.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(Managed by|Last updated:) .*`), `$1 …`},
	{regexp.MustCompile(` in \d+(\.\d)?s`), ``}, {regexp.MustCompile(` \(\d+(\.\d)?s\)`), ``},
}

// onScreen runs a command on a terminal of the given width and returns the text on the screen.
func (x *terminal) onScreen(t *testing.T, width int, args ...string) string {
	t.Helper()
	term := vt10x.New(vt10x.WithSize(width, 60))
	var screen bytes.Buffer
	before := x.streams
	x.streams.Out, x.streams.Err, x.streams.OutTerminal = &screen, &screen, true
	x.streams.In = strings.NewReader("no\n")
	asked := ""
	if args[0] == "state" { // a menu, as it is before the first key
		x.streams.Keys = func() (func(), error) { return func() {}, nil }
		x.streams.In = readerFunc(func(key []byte) (int, error) {
			asked = screen.String()
			return copy(key, "\x03"), nil
		})
	}
	x.streams.Size = func() (int, int) { return width, 60 }
	x.run(args...)
	x.streams = before
	_, err := io.WriteString(term, strings.ReplaceAll(cmp.Or(asked, screen.String()), "\n", "\r\n"))
	require.NoError(t, err)
	var lines []string
	for line := range strings.SplitSeq(term.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

// TestScreensPage compares the captures on docs/screens.md with the output of the program. UPDATE_GOLDENS=1 writes
// them.
func TestScreensPage(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	for i, v := range x.world.Env {
		if v == "TERM=dumb" {
			x.world.Env[i] = "TERM=xterm"
		}
	}
	x.world.Signals = nil
	var got strings.Builder
	capture := func(heading, command string, width int) {
		fmt.Fprintf(&got, "\n### %s\n\n`yamlhost %s`\n\n```text\n%s\n```\n", heading, command,
			x.onScreen(t, width, strings.Fields(command)...))
	}
	for i, s := range situations {
		x.program(t, s.title, s.kind, s.more)
		for _, command := range s.commands[:len(s.commands)-1] {
			if title, found := strings.CutPrefix(command, "="); found {
				x.program(t, `"`+title+`"`, s.kind, s.more)
				continue
			}
			require.Equal(t, 0, x.run(strings.Fields(command)...), x.err.String())
		}
		capture(fmt.Sprintf("%d. %s", i+1, strings.ToUpper(s.name[:1])+s.name[1:]), s.commands[len(s.commands)-1], 80)
		if s.name == "a text of many lines that changes" {
			x.program(t, "red", "small", "")
			require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
		}
	}
	got.WriteString("\n## One plan at four widths\n")
	x.program(t, "red", "small", "  a-box-with-a-long-name-for-the-customers-of-the-east: "+
		"{type: drawer:Item, properties: {title: t, kind: k}}\n"+
		"  a-box-with-a-long-name-for-the-customers-of-the-west: {type: drawer:Item, properties: {title: t, kind: k}}")
	for _, width := range []int{40, 80, 120, 200} {
		capture(fmt.Sprintf("%d columns", width), "preview", width)
	}

	const path, begin = "../../../docs/screens.md", "<!-- captures: written by TestScreensPage -->\n"
	page, err := os.ReadFile(filepath.FromSlash(path))
	require.NoError(t, err)
	head, captures, found := strings.Cut(string(page), begin)
	require.True(t, found)
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, os.WriteFile(filepath.FromSlash(path), []byte(head+begin+got.String()), 0o644))
		return
	}
	require.Equal(t, captures, got.String(), "write the page anew with UPDATE_GOLDENS=1")
}
