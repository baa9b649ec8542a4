package cli

import (
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
	"github.com/yamlhost/yamlhost/diag"
)

// declaredCodes are the codes of package diag, as its text has them.
func declaredCodes(t *testing.T) []diag.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../diag/code.go", nil, 0)
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

// Every code has a page and every page a code, and no code is without a case: TestExplanations runs the cases of the pages.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	declared := declaredCodes(t)
	require.Greater(t, len(declared), 40)
	require.ElementsMatch(t, declared, diag.Codes())
}

// examplesNeed are schemas that examples need besides the built-in ones.
var examplesNeed = map[diag.Code]string{diag.BadDiscriminator: "../../../check/testdata/corpus/azure-native.json"}

// TestExplanations runs what the pages of yamlhost explain show: the wrong example has the finding and no other, the right
// one has none. What is said about the wrong one is kept in testdata/explain, as text, as JSON and as SARIF.
// YAMLHOST_UPDATE rewrites it.
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
				golden.Files = append(golden.Files, txtar.File{Name: format, Data: []byte(x.out.String())})
			}
			var found struct{ Diagnostics []diag.Record }
			require.NoError(t, json.Unmarshal(golden.Files[1].Data, &found))
			require.Len(t, found.Diagnostics, 1)
			require.Equal(t, code, found.Diagnostics[0].Code)
			compareGolden(t, "testdata/explain/"+string(code)+".txtar", txtar.Format(&golden))
		})
	}
}

// explainRun is for what is found only while a program runs.
func explainRun(t *testing.T, page diag.Page) {
	x := newTerminal(t, "")
	writeExample(t, x, page.Right)
	require.Equal(t, 0, x.run("run", "--stack", "right", "--color", "never"), x.err.String())
	require.NotContains(t, x.err.String(), "error[")

	x = newTerminal(t, "")
	writeExample(t, x, page.Wrong)
	require.Equal(t, 1, x.run("run", "--stack", "wrong", "--color", "never"))
	text := x.err.String()
	begin := strings.Index(text, "error["+string(page.Code)+"]")
	require.GreaterOrEqual(t, begin, 0, text)
	require.Equal(t, 1, strings.Count(text, "error["), text)
	begin = strings.LastIndexByte(text[:begin], '\n') + 1
	shown, _, _ := strings.Cut(text[begin:], "\n\n")
	golden := txtar.Archive{Files: []txtar.File{{Name: "text", Data: []byte(shown + "\n")}}}
	compareGolden(t, "testdata/explain/"+string(page.Code)+".txtar", txtar.Format(&golden))
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
	var page pageRecord
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
	x := newTerminal(t, "name: f # kept  \r\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPte\n    properties: {lenght: 3, prefx: a}\n"+
		"outputs:\n  a: ${pte.id}-${pte.lenght}\n  b: ${nothing}\n")
	require.Equal(t, 1, x.run("check", "--fix"))
	require.Contains(t, x.out.String(), "Pulumi.yaml:9:8: error[Y200]: nothing is called `nothing`")
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.Equal(t, "name: f # kept  \r\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n    properties: {length: 3, prefix: a}\n"+
		"outputs:\n  a: ${pet.id}-${pet.length}\n  b: ${nothing}\n", string(text))
}
