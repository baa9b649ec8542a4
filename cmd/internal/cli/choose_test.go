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

// The destination of a move is chosen from the other stacks, those of the same project first.
func TestDestinationsAreChosen(t *testing.T) {
	t.Parallel()
	x, do := chooser(t)
	code, screen := do("\r", "state", "move")
	require.Equal(t, 1, code, screen)
	require.Contains(t, screen, "there is no other stack to move to; `yamlhost stack init NAME`")
	require.Equal(t, 0, x.run("stack", "init", "zeta", "--no-select"), x.err.String())
	require.Equal(t, 0, x.run("stack", "init", "organization/alpha/dev", "--no-select"), x.err.String())
	for _, c := range []struct{ keys, stack, at string }{
		{"\rword\ryes\n", "zeta", "zeta"}, {"alp\roth\ryes\n", "alpha/dev", "organization/alpha/dev"},
	} {
		code, screen := do(c.keys, "state", "move")
		require.Equal(t, 0, code, screen)
		require.True(t, strings.HasPrefix(screen, "stack to move to: "+c.stack+"\nresource to move: "), screen)
		require.Contains(t, screen, "1 resource moved from ")
	}
	code, screen = do("\x1b", "state", "move")
	require.Equal(t, 1, code)
	require.Equal(t, "stack to move to:\ndeclined, nothing was changed", screen)
	require.Equal(t, 11, x.run("state", "move", "--non-interactive", "--yes", "pet-0"), x.err.String())
	require.Contains(t, x.err.String(), "missing --dest, the stack to move to")
}

// What import is not given is asked: the type is chosen from those of the packages, or entered; then the name and the
// ID.
func TestImportAsks(t *testing.T) {
	t.Parallel()
	x, do := chooser(t)
	for _, c := range []struct {
		keys, args, screen string
		code               int
	}{
		{"rando stri\rtoken\nabcd\nyes\n", "", "", 0},
		{"token2\nabcd\nyes\n", "random:RandomString", "", 0},
		{"abcde\nno\n", "random:RandomString token3", "ID of the existing resource: Prev", 1},
		{"none:at:All\rx\ny\n", "", "type: none:at:All\nname in the program: ID of the existing resource: ", 14},
		{"\r\n", "", "type: random:RandomBytes\nname in the program: error: import takes a type, a name and an ID", 11},
		{"\n", "random:RandomString x", "ID of the existing resource: error: missing ID: import TYPE NAME ID", 11},
		{"\x03", "", "type:\ndeclined, nothing was changed", 1},
	} {
		code, screen := do(c.keys, append([]string{"import"}, strings.Fields(c.args)...)...)
		require.Equal(t, c.code, code, screen)
		require.True(t, strings.HasPrefix(screen, c.screen), "%q\n%s", c.keys, screen)
	}
	require.Equal(t, 0, x.run("stack"))
	require.Regexp(t, `(?s) token +random:RandomString protected.* token2 +random:RandomString protected`, x.out.String())
	require.NotContains(t, x.out.String(), "token3")
	require.Equal(t, 11, x.run("import", "--non-interactive", "--yes"))
	require.Contains(t, x.err.String(), "import takes a type, a name and an ID")
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
