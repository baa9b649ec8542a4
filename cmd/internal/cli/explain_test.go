package cli

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	explaincmd "github.com/yamlhost/yamlhost/cmd/internal/cli/explain"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// forms names the files of a golden: the finding as text, JSON and SARIF, and the explanation of the code.
var forms = []string{"text", "json", "sarif", "explain"}

// Every declared code has a golden with every form, and every golden belongs to a declared code.
func TestEveryCodeHasGoldens(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/explain/*.txtar")
	require.NoError(t, err)
	kept := make(map[diag.Code][]string)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		code := diag.Code(strings.TrimSuffix(filepath.Base(path), ".txtar"))
		for _, file := range archive.Files {
			require.NotEmpty(t, file.Data, "%s: %s", code, file.Name)
			if file.Name != "explain" {
				require.Contains(t, string(file.Data), string(code))
			}
			kept[code] = append(kept[code], file.Name)
		}
	}
	want := make(map[diag.Code][]string)
	for _, code := range declaredCodes(t) {
		want[code] = forms
	}
	require.Equal(t, want, kept)
}

// declaredCodes returns the codes that the source text of package diag declares.
func declaredCodes(t *testing.T) []diag.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../internal/diag/code.go", nil, 0)
	require.NoError(t, err)
	var codes []diag.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, v := range spec.Values {
				if text, err := strconv.Unquote(v.(*ast.BasicLit).Value); err == nil {
					codes = append(codes, diag.Code(text))
				}
			}
		}
		return true
	})
	return codes
}

// Every code has a page, and every page has a code. TestExplanations runs the examples of every page.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	declared := declaredCodes(t)
	require.Greater(t, len(declared), 40)
	require.ElementsMatch(t, declared, diag.Codes())
}

// examplesNeed holds the schemas that examples need besides the built-in ones.
var examplesNeed = map[diag.Code]string{diag.BadDiscriminator: "../../../check/testdata/corpus/azure-native.json",
	diag.UnwrittenOrder: "../../../workspace/crd/testdata/kubernetes.json"}

// TestExplanations runs the examples of yamlhost explain: the wrong one has the finding of the page and no other, the
// right one has none. testdata/explain has the findings of the wrong one in all forms. YAMLHOST_UPDATE=1 rewrites them.
func TestExplanations(t *testing.T) {
	t.Parallel()
	for _, code := range diag.Codes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			page, ok := diag.Explain(code)
			require.True(t, ok)
			require.NotEmpty(t, page.Title)
			require.NotEmpty(t, page.Command)
			require.NotEmpty(t, page.Summary())
			args := strings.Fields(page.Command)
			if args[0] == "run" {
				explainRun(t, page)
				return
			}
			if path := examplesNeed[code]; path != "" {
				absolute, err := filepath.Abs(path)
				require.NoError(t, err)
				args = append(args, "--schema", absolute)
			}

			x := newTerminal(t, "")
			writeExample(t, x, page.Right)
			require.Equal(t, 0, x.run(args...), x.out.String()+x.err.String())
			require.Equal(t, "0 errors, 0 warnings\n", x.out.String())

			x = newTerminal(t, "")
			writeExample(t, x, page.Wrong)
			var golden txtar.Archive
			for _, format := range []string{"text", "json", "sarif"} {
				x.run(append(args, "--format", format)...)
				require.Empty(t, x.err.String())
				golden.Files = append(golden.Files, txtar.File{Name: format, Data: bytes.Clone(x.out.Bytes())})
			}
			golden.Files = append(golden.Files, explained(t, code))
			var found struct{ Diagnostics []diag.Record }
			require.NoError(t, json.Unmarshal(golden.Files[1].Data, &found))
			require.Len(t, found.Diagnostics, 1)
			require.Equal(t, code, found.Diagnostics[0].Code)
			compareGolden(t, "testdata/explain/"+string(code)+".txtar", txtar.Format(&golden))
		})
	}
}

// explainRun runs the examples of a page whose finding occurs only during a run.
func explainRun(t *testing.T, page diag.Page) {
	x := newTerminal(t, "")
	writeExample(t, x, page.Right)
	require.Equal(t, 0, x.run("run", "--stack", "right", "--color", "never"), x.err.String())
	require.NotContains(t, x.err.String(), "error[")

	x = newTerminal(t, "")
	writeExample(t, x, page.Wrong)
	var found diag.Diagnostics
	x.world.Found = func(d diag.Diagnostic) {
		if d.Code != "" && d.Severity == diag.Error { // ignores the failed operation and warnings
			found.Add(d)
		}
	}
	require.Contains(t, []int{console.CodeProgram, console.CodeConfig, console.CodeFailed},
		x.run("run", "--stack", "wrong", "--color", "never"))
	text := x.err.String()
	begin := strings.Index(text, "error["+string(page.Code)+"]")
	require.GreaterOrEqual(t, begin, 0, text)
	require.Equal(t, 1, strings.Count(text, "error["), text)
	begin = strings.LastIndexByte(text[:begin], '\n') + 1
	shown, _, _ := strings.Cut(text[begin:], "\n\n")
	require.Len(t, found, 1)
	require.Equal(t, page.Code, found[0].Code)
	var asJSON, asSARIF bytes.Buffer
	require.NoError(t, diag.WriteJSON(&asJSON, found))
	require.NoError(t, diag.WriteSARIF(&asSARIF, found, diag.Tool{Name: "yamlhost", Version: x.world.Version}))
	// plain removes the path of the example's folder, which differs between runs.
	plain := func(text []byte) []byte {
		dir := filepath.ToSlash(x.world.Dir) + "/"
		return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("file://"+dir), nil), []byte(dir), nil)
	}
	golden := txtar.Archive{Files: []txtar.File{{Name: "text", Data: []byte(shown + "\n")},
		{Name: "json", Data: plain(asJSON.Bytes())}, {Name: "sarif", Data: plain(asSARIF.Bytes())}, explained(t, page.Code)}}
	compareGolden(t, "testdata/explain/"+string(page.Code)+".txtar", txtar.Format(&golden))
}

// explained returns the output of yamlhost explain for a code.
func explained(t *testing.T, code diag.Code) txtar.File {
	t.Helper()
	x := newTerminal(t, "")
	require.Equal(t, 0, x.run("explain", string(code)))
	return txtar.File{Name: "explain", Data: x.out.Bytes()}
}

func writeExample(t *testing.T, x *terminal, files []diag.Example) {
	t.Helper()
	require.NotEmpty(t, files)
	for _, f := range files {
		path := filepath.Join(x.world.Dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f.Text), 0o644))
	}
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if os.Getenv("YAMLHOST_UPDATE") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with YAMLHOST_UPDATE=1 to write it")
	require.Equal(t, string(want), string(got))
}

func TestExplainCommand(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "")
	require.Equal(t, 0, x.run("explain", "y210"))
	require.Contains(t, x.out.String(), "# Y210: there is no such property\n")
	require.Equal(t, 0, x.run("explain", "--json", "[Y210]"))
	var page explaincmd.PageRecord
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &page))
	require.Equal(t, "yamlhost check", page.Found)
	require.Equal(t, "Pulumi.yaml", page.Wrong[0].File)
	require.Equal(t, 0, x.run("explain"))
	require.Equal(t, len(diag.Codes()), strings.Count(x.out.String(), "\n"))
	require.Equal(t, 1, x.run("explain", "Y219x"))
	require.Contains(t, x.err.String(), "Y219")
}

func TestCheckFix(t *testing.T) {
	t.Parallel()
	x := newTerminal(t,
		"name: f # kept  \r\nruntime: yaml\nresources:\n  pet:\n    type: random:Randompet\n    properties: {Length: 3, "+
			"prefx: a}\n"+
			"outputs:\n  a: ${pte.id}-${pet.Length}\n  b: ${nothing}\n")
	require.Equal(t, 12, x.run("check", "--fix"))
	require.Contains(t, x.out.String(), "Pulumi.yaml:9:8: error[Y200]: `nothing` is not declared")
	require.Contains(t, x.out.String(), "has no input `prefx`", "a property that is a letter away may be another one")
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.Equal(t,
		"name: f # kept  \r\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n    properties: {length: 3, "+
			"prefx: a}\n"+
			"outputs:\n  a: ${pet.id}-${pet.length}\n  b: ${nothing}\n", string(text))
}
