package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// chooser returns a terminal of 80 columns and 24 lines whose cursor moves, with a stack dev of six resources, and a
// function that types keys to a command and returns the screen at its end.
func chooser(t *testing.T) (*terminal, func(keys string, args ...string) (code int, screen string)) {
	t.Helper()
	x := newTerminal(t, "name: pick\nruntime: yaml\nresources:\n  pet: {type: random:RandomPet, forEach: 3}\n"+
		"  word: {type: random:RandomString, properties: {length: 4}}\n  other: {type: random:RandomPet}\n")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	x.world.Env = append(slices.DeleteFunc(x.world.Env, func(v string) bool { return v == "TERM=dumb" }), "TERM=xterm")
	x.streams.Size = func() (int, int) { return 80, 24 }
	return x, func(keys string, args ...string) (int, string) {
		raw := 0
		x.streams.In = strings.NewReader(keys)
		x.streams.Keys = func() (func(), error) { raw++; return func() { raw-- }, nil }
		code := x.run(args...)
		require.Zero(t, raw, "the terminal is as it was")
		term := vt10x.New(vt10x.WithSize(80, 24))
		_, err := io.WriteString(term, strings.ReplaceAll(x.err.String()+x.out.String(), "\n", "\r\n"))
		require.NoError(t, err)
		var lines []string
		for line := range strings.SplitSeq(term.String(), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		return code, strings.TrimRight(strings.Join(lines, "\n"), "\n")
	}
}

// Commands that edit resources in the state offer those that there are, if a person names none.
func TestResourcesAreChosen(t *testing.T) {
	t.Parallel()
	x, do := chooser(t)
	const pet = "urn:pulumi:dev::pick::random:index/randomPet:RandomPet::"
	for _, c := range []struct {
		keys, command, screen string
		code                  int
	}{
		{"pet 2\r", "state protect", "resource to protect: pet-2\n  " + pet + "pet-2\n1 resource protected", 0},
		{"pet-2\x7f\x151\r", "state protect", "resource to protect: pet-1\n  " + pet + "pet-1\n1 resource protected", 0},
		{"pet-\x1b[B\r", "state taint", "", 0},
		{"\x1b[B\x1b[Ax", "state delete", "resource to delete from the state:\nerror: missing URN", 11},
		{"\x1b", "state delete", "resource to delete from the state:\ndeclined, nothing was changed", 1},
		{"oth\x03", "state untaint", "resource to untaint:\ndeclined, nothing was changed", 1},
		{"nothing of the kind\r\x15other\rnew\nyes\n", "state rename", "resource to rename: other\n  " + pet +
			"other\nnew name: The program has to use the new name too, or else the resource is replaced. Go on? (yes/no): " +
			pet + "other is named new now", 0},
		{"word\ryes\n", "state delete", "", 0},
	} {
		code, screen := do(c.keys, strings.Fields(c.command)...)
		require.Equal(t, c.code, code, screen)
		if got := strings.ReplaceAll(screen, "\n", ""); c.screen != "" {
			require.True(t, strings.HasPrefix(got, strings.ReplaceAll(c.screen, "\n", "")), "%s:\n%s", c.command, screen)
		}
	}
	require.Equal(t, 0, x.run("stack"))
	require.Regexp(t, `(?s)pet-1 +random:RandomPet protected.*pet-2 +random:RandomPet protected`, x.out.String())
	require.Contains(t, x.out.String(), "tainted")
	require.NotContains(t, x.out.String(), "word")

	_, screen := do("\x1b[B", "state", "unprotect")
	require.NotContains(t, screen, "pet-0", "only what is protected can be unprotected")
	for _, command := range []string{"protect", "unprotect", "taint", "untaint", "delete", "move --dest b"} {
		code := x.run(append(append([]string{"state"}, strings.Fields(command)...), "--non-interactive", "--yes")...)
		require.Equal(t, 11, code, command)
		require.Contains(t, x.err.String(), "missing URN")
	}
}

// Without a selected stack, a person chooses one, also where there are more of them than lines.
func TestStacksAreChosen(t *testing.T) {
	t.Parallel()
	x, do := chooser(t)
	for i := range 60 {
		require.Equal(t, 0, x.run("stack", "init", fmt.Sprintf("s%02d", i), "--no-select"), x.err.String())
	}
	require.Equal(t, 0, x.run("stack", "unselect"))
	code, screen := do(strings.Repeat("\x1b[B", 58)+"\r", "stack", "select")
	require.Equal(t, 0, code, screen)
	require.Equal(t, "stack: s57", screen)
	code, screen = do("", "stack", "--show-name")
	require.Equal(t, "s57", screen, code)
	code, screen = do("fresh\ryes\n", "stack", "select")
	require.Equal(t, 0, code, screen)
	require.Equal(t, 0, x.run("stack", "--show-name"))
	require.Equal(t, "fresh\n", x.out.String())
	require.Equal(t, 0, x.run("stack", "unselect"))
	code, screen = do("de\r", "preview")
	require.Equal(t, 0, code, screen)
	require.True(t, strings.HasPrefix(screen, "stack: dev\nPreviewing update of stack dev\n"), screen)
	require.Equal(t, 2, x.run("stack", "select", "--non-interactive"), x.err.String())
}

// The template of a new project is chosen from the same list; a folder is named by its path.
func TestTemplatesAreChosen(t *testing.T) {
	t.Parallel()
	x, do := chooser(t)
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "Pulumi.yaml")))
	code, screen := do("./none\r\x15he\r"+strings.Repeat("\n", 4), "new", "--force")
	require.Equal(t, 0, code, screen)
	require.FileExists(t, filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.Contains(t, x.err.String(), "template: hello")
}
