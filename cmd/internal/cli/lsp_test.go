package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	checkcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/check"
	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// TestEditorFindsWhatCheckFinds opens every program of the archives in an editor: its findings must equal those of
// check, with the same positions, texts and fixes.
func TestEditorFindsWhatCheckFinds(t *testing.T) {
	t.Parallel()
	programs := 0
	for _, pattern := range []string{"../../../parser/testdata/*.txtar", "../../../eval/testdata/*.txtar",
		"../../../eval/testdata/*/*.txtar", "../../../check/testdata/*/*.txtar", "../../../runtime/engine/testdata/*.txtar",
		"testdata/*/*.txtar"} {
		archives, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, archives)
		for _, path := range archives {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			dir := t.TempDir()
			for _, f := range archive.Files {
				place := filepath.Join(dir, f.Name)
				require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
				require.NoError(t, os.WriteFile(place, f.Data, 0o644))
			}
			for _, f := range archive.Files {
				if !programName.MatchString(filepath.Base(f.Name)) && !strings.Contains(path, "corpus") {
					continue
				}
				programs++
				sameInEditor(t, path, filepath.Join(dir, f.Name))
			}
		}
	}
	examples, err := filepath.Glob("../../../examples/*/*")
	require.NoError(t, err)
	for _, path := range examples {
		if programName.MatchString(filepath.Base(path)) {
			path, err := filepath.Abs(path)
			require.NoError(t, err)
			programs++
			sameInEditor(t, "example", path)
		}
	}
	require.Greater(t, programs, 350)
}

// programName matches the names of program files.
var programName = regexp.MustCompile(`^(Pulumi|Main|PulumiPlugin)\.(yaml|yml|json)$`)

func sameInEditor(t *testing.T, name, path string) {
	t.Helper()
	root := filepath.Dir(path)
	a := &console.Console{World: console.World{Dir: root, Home: t.TempDir()}}
	opener := &lspcmd.ProgramOpener{Console: a, Loaders: map[string]*lspcmd.KeptSchemas{}}
	defer opener.Close()
	a.World.Dir = opener.Root(path)
	_, checked, err := checkcmd.CheckTarget(t.Context(), a, path, "", nil, operation.Careful)
	text, readErr := os.ReadFile(path)
	require.NoError(t, readErr)
	session := editor.NewSession(opener)
	session.Open(path, strings.TrimPrefix(string(text), "\uFEFF"))
	found, failed := editor.Diagnostics(t.Context(), session.Snapshot(), path)
	require.Equal(t, err == nil, failed == nil, "%s: %v, %v", name, err, failed)
	if err != nil {
		return
	}
	var shown, same diag.Diagnostics
	for _, d := range checked.Sorted() {
		if d.Severity <= diag.Info {
			shown.Add(d)
		}
	}
	packaged := strings.HasPrefix(filepath.Base(path), "PulumiPlugin.")
	for file, list := range found {
		if !packaged || confine.Within(root, file) { // check looks at the package alone, an editor at its program too
			same.Add(list...)
		}
	}
	require.Equal(t, listed(t, shown), listed(t, same), "%s: %s", name, path)
}

// listed returns findings as the items of the JSON that check writes.
func listed(t *testing.T, ds diag.Diagnostics) []any {
	t.Helper()
	var b strings.Builder
	require.NoError(t, diag.WriteJSON(&b, ds.Sorted()))
	var list any
	require.NoError(t, json.Unmarshal([]byte(b.String()), &list))
	if items, ok := list.([]any); ok {
		return items
	}
	return []any{list}
}

// TestBytesForOtherPrograms expects carriage returns in the output for other programs.
func TestBytesForOtherPrograms(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	body := `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`
	exit := `{"jsonrpc":"2.0","method":"exit"}`
	framed := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	x.streams.In, x.streams.InTerminal = strings.NewReader(framed(body)+framed(exit)), false
	require.Equal(t, 0, x.run("lsp"), x.err.String())
	require.Regexp(t, `^Content-Length: \d+\r\n\r\n\{`, x.out.String())
	x.streams.In = strings.NewReader("name:   one\r\nruntime: yaml\r\n")
	require.Equal(t, 0, x.run("fmt", "-"), x.err.String())
	require.Equal(t, "name: one\r\nruntime: yaml\r\n", x.out.String())
}

// TestEditorChecksFilesOfStacks opens a stack's settings file in an editor: it has the finding that `check --stack`
// reports, and no finding once an edit corrects the value.
func TestEditorChecksFilesOfStacks(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\nconfig:\n  size: {type: integer}\n  password: {type: string, secret: true}\n"+
		"outputs:\n  a: ${size}\n")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary-passphrase")
	for _, args := range [][]string{{"stack", "init", "dev"}, {"config", "set", "--secret", "password", "canary"},
		{"config", "set", "size", "3"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
	}
	path := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"3"`, "many", 1)), 0o600))
	require.NotEqual(t, 0, x.run("check", "--stack", "dev"))
	require.Contains(t, x.err.String()+x.out.String(), "Pulumi.dev.yaml")
	checked := x.err.String() + x.out.String()
	settings := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world, Streams: x.streams},
		Loaders: map[string]*lspcmd.KeptSchemas{}}
	defer opener.Close()
	session := editor.NewSession(opener)
	text, err = os.ReadFile(settings)
	require.NoError(t, err)
	session.Open(settings, string(text))
	found, err := editor.Diagnostics(t.Context(), session.Snapshot(), settings)
	require.NoError(t, err)
	require.Len(t, found[settings], 1)
	require.Contains(t, checked, found[settings][0].Summary)
	require.Contains(t, checked, string(found[settings][0].Code))
	i := strings.Index(string(text), "many")
	session.Edit(settings, parser.Edit{Start: i, End: i + len("many"), Text: "3"})
	found, err = editor.Diagnostics(t.Context(), session.Snapshot(), settings)
	require.NoError(t, err)
	require.Empty(t, found[settings])
}
