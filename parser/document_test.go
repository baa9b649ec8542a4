package parser

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// programs returns the texts of all programs in the archives and examples of the repository, by unique names.
func programs(t testing.TB) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for _, pattern := range []string{"testdata/*.txtar", "../check/testdata/*.txtar", "../eval/testdata/*/*.txtar",
		"../eval/testdata/*.txtar",
		"../cmd/internal/cli/testdata/*/*.txtar", "../cmd/internal/cli/testdata/*/*/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			for _, f := range archive.Files {
				if ext := filepath.Ext(f.Name); ext == ".yaml" || ext == ".json" || ext == ".yml" {
					texts[path+"/"+f.Name] = f.Data
				}
			}
		}
	}
	paths, err := filepath.Glob("../examples/*/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = text
	}
	require.Greater(t, len(texts), 100)
	return texts
}

func pluginText(name string) bool { return strings.HasSuffix(name, "PulumiPlugin.yaml") }

// told formats a tree and its findings, with positions in the whole text.
func told(t testing.TB, file *ast.File, diags diag.Diagnostics) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, asttest.Dump(&b, file))
	return b.String() + strings.Join(file.Lost, ",") + "\n" + listed(file.Origins.Findings(diags))
}

// TestDocumentEqualsParse parses every program in blocks and as a whole. Trees, positions and findings must be equal.
func TestDocumentEqualsParse(t *testing.T) {
	t.Parallel()
	byBlocks := 0
	for name, text := range programs(t) {
		options := Options{Plugin: pluginText(name), Declared: []string{"p:size", "size"}}
		src := diag.NewSource("x", text)
		whole, found := Parse(src, options)
		document := NewDocument(diag.NewSource("x", text))
		if document.set != nil {
			byBlocks++
		}
		file, diags := document.File(options)
		require.Equal(t, told(t, whole, found), told(t, file, diags), name)
	}
	require.Greater(t, byBlocks, 100)
}

// TestEditInsideOfAnEntryReadsThatAlone edits lines of one entry. All other declarations must keep their pointers and
// have their new positions.
func TestEditInsideOfAnEntryReadsThatAlone(t *testing.T) {
	t.Parallel()
	text := strings.Join(resourcesOf(20), "\n") + "\n"
	document := NewDocument(diag.NewSource("x", []byte(text)))
	before, _ := document.File(Options{})
	for _, c := range []struct {
		old, text string
		alone     bool
	}{
		{"    properties:\n      value: x\n      other: ${r0.value}\n  r8:",
			"    properties:\n      value: y z\n\n      # more\n      other: ${nope}\n  r8:", true},
		{"      value: x\n      other: ${r0.value}\n  r8:", "      value: x\n    options: {protct: true}\n  r8:", true},
		{"  r8:\n", "  r99:\n", false},
		{"      other: ${r0.value}\n  r8:", "  other: ${r0.value}\n  r8:", false},
	} {
		i := strings.Index(text, c.old)
		next := document.Edit(Edit{Start: i, End: i + len(c.old), Text: c.text})
		require.Equal(t, c.alone, &next.set.sections[0] == &document.set.sections[0], c.text)
		_, _, patched := next.shared.patched(next.set, next.src, Options{})
		require.Equal(t, c.alone, patched, c.text)
		document.File(Options{})
		file, diags := next.File(Options{})
		require.Same(t, before.Resources[0], file.Resources[0])
		require.Equal(t, c.alone, before.Resources[19] == file.Resources[19] && before.Resources[7] != file.Resources[7])
		whole, found := Parse(diag.NewSource("x", next.Source().Text()), Options{})
		require.Equal(t, told(t, whole, found), told(t, file, diags))
		document.File(Options{})
	}
}

var (
	edits = flag.Int("edits", 8, "how many random edits to make of each program")
	seed  = flag.Uint64("seed", 1, "what the random edits begin with")
)

// edit returns a random edit of a text.
func edit(random *rand.Rand, text []byte) Edit {
	start, end, replacement := corpus.Edit(random, text)
	return Edit{Start: start, End: end, Text: replacement}
}

// TestBlocksOfOddTexts parses texts that lines alone do not divide into blocks, in blocks and as a whole. The results
// must be equal.
func TestBlocksOfOddTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"outputs:\n uts:\n  plain: 1\n  other: 2\nvariables:\n  a: 3\n", // the entries belong to one with less indentation
		"variables:\n  a: 1\noutputs:\n uts: 2\n  plain: 1\n  other: 2\n",
		"resources:\n  pair:\n  pair:\n    type: a:B\n", // the second declaration has the fields
		"variables:\n  a:\n  a:\n  a: 3\n  a: 4\n",
		"dynamic:\ndynamic:\n  Label: {provider: ./label.ts}\n",
	} {
		whole, found := Parse(diag.NewSource("x", []byte(text)), Options{})
		file, diags := NewDocument(diag.NewSource("x", []byte(text))).File(Options{})
		require.Equal(t, told(t, whole, found), told(t, file, diags), text)
	}
}

// TestEditInsideOfAnEntryDeclaredTwice edits an entry whose name is declared twice. The duplicate must still be
// reported.
func TestEditInsideOfAnEntryDeclaredTwice(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "    type: x:Y\n"} {
		text := "resources:\n  a:\n    type: x:Y\n  b:\n" + first + "  b:\n    type: x:Z\noutputs:\n  o: 1\n"
		i := strings.Index(text, "Z")
		document := NewDocument(diag.NewSource("x", []byte(text)))
		document.File(Options{})
		document = document.Edit(Edit{Start: i, End: i, Text: "y"})
		file, diags := document.File(Options{})
		whole, found := Parse(diag.NewSource("x", document.Source().Text()), Options{})
		require.Len(t, found, 1)
		require.Equal(t, told(t, whole, found), told(t, file, diags))
	}
}

// TestEditEqualsFresh makes random edits. The result must equal that of a new document with the same text.
func TestEditEqualsFresh(t *testing.T) {
	t.Parallel()
	t.Logf("-edits %d -seed %d", *edits, *seed)
	for name, text := range programs(t) {
		if len(text) > 20_000 {
			continue
		}
		random := rand.New(rand.NewPCG(uint64(len(text)), *seed))
		options := Options{Plugin: pluginText(name), Declared: []string{"p:size", "size"}}
		document := NewDocument(diag.NewSource("x", text))
		for n := range *edits {
			if n%5 == 0 {
				document = NewDocument(diag.NewSource("x", text))
			}
			e := edit(random, document.Source().Text())
			document = document.Edit(e)
			edited := document.Source().Text()
			file, diags := document.File(options)
			fresh, found := NewDocument(diag.NewSource("x", edited)).File(options)
			require.Equal(t, told(t, fresh, found), told(t, file, diags), "%s, edit %d: %+v of\n%s", name, n, e, edited)
			whole, all := Parse(diag.NewSource("x", edited), options)
			require.Equal(t, told(t, whole, all), told(t, file, diags), "%s, edit %d: %+v of\n%s", name, n, e, edited)
		}
	}
}
