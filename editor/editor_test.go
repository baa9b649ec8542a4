package editor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// opener opens each file as a separate program, with the packages of the checker's tests.
type opener struct{ schemas schema.Loader }

func newOpener() opener {
	return opener{schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		data, err := os.ReadFile(filepath.Join("../check/testdata", d.PackageName()+".json"))
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("package %s: %w", d.PackageName(), schema.ErrNotFound)
		}
		return data, err
	})}
}

func (opener) Name(path string) string { return filepath.Base(path) }

func (opener) Forget() {}

func (o opener) Open(_ context.Context, path string, open func(string) *parser.Document) (*editor.Project, error) {
	return &editor.Project{Main: path, Document: open(path), Check: check.Options{Project: "p", Schemas: o.schemas},
		Join:     func(found diag.Diagnostics) diag.Diagnostics { return found },
		Path:     func(name string) string { return filepath.Join(filepath.Dir(path), name) },
		Packages: func() []string { return []string{"random", "zoo"} }}, nil
}

const file = "/project/Pulumi.yaml"

// opened returns a snapshot with a text and the offset of the mark | in it.
func opened(t *testing.T, marked string) (*editor.Snapshot, int) {
	t.Helper()
	before, after, found := strings.Cut(marked, "|")
	require.True(t, found)
	s := editor.NewSession(newOpener())
	s.Open(file, before+after)
	return s.Snapshot(), len(before)
}

func labels(t *testing.T, marked string) []string {
	t.Helper()
	s, offset := opened(t, marked)
	c, err := editor.Complete(t.Context(), s, file, offset)
	require.NoError(t, err)
	var names []string
	for _, item := range c.Items {
		names = append(names, item.Label)
	}
	return names
}

// TestComplete checks the first completions at the mark.
func TestComplete(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pet:\n    type: random:RandomPet\n    properties:\n      length: 2\n"
	for name, c := range map[string]struct {
		text  string
		wants []string
	}{
		"sections":   {"reso|", []string{"resources"}},
		"packages":   {"resources:\n  a:\n    type: ran|", []string{"random"}},
		"types":      {"resources:\n  a:\n    type: random:RandomPe|", []string{"random:RandomPet"}},
		"fields":     {"resources:\n  a:\n    |\n", []string{"type", "properties", "options"}},
		"properties": {pet + "      sep|\n", []string{"separator"}},
		"properties, none yet": {"resources:\n  pet:\n    type: random:RandomPet\n    properties:\n      |\noutputs:\n  o: " +
			"1\n", []string{"length", "prefix"}},
		"in braces": {"resources:\n  pet: {type: random:RandomPet, properties: {len|}}\n", []string{"length"}},
		"options": {"resources:\n  a:\n    type: random:RandomPet\n    options:\n      prot|",
			[]string{"protect"}},
		"booleans": {"resources:\n  a:\n    type: random:RandomPet\n    options:\n      protect: |",
			[]string{"false", "true"}},
		"names":            {pet + "outputs:\n  o: ${pe|", []string{"pet"}},
		"steps":            {pet + "outputs:\n  o: ${pet.|", []string{"id", "length", "urn"}},
		"steps, closed":    {pet + "outputs:\n  o: ${pet.le|}\n", []string{"length"}},
		"functions":        {"variables:\n  a:\n    fn::joi|", []string{"fn::join"}},
		"calls":            {"variables:\n  a: ${joi|", []string{"join"}},
		"transforms":       {"transforms:\n  - |\n", []string{"match", "when", "properties", "arguments"}},
		"what they match":  {"transforms:\n  - match:\n      |\n", []string{"type", "name", "function"}},
		"types they match": {"transforms:\n  - match:\n      type: random:RandomPe|\n", []string{"random:RandomPet"}},
		"their options":    {"transforms:\n  - match: {name: x}\n    options:\n      ign|\n", []string{"ignoreChanges"}},
		"transforms, option": {"resources:\n  a:\n    type: random:RandomPet\n    options:\n      transforms:\n        - " +
			"|\n", []string{"match", "properties"}},
		"rules of policies": {"policies:\n  a:\n    config:\n      size: {mini|}\n", []string{"minimum"}},
		"configuration":     {"config:\n  a:\n    type: str|", []string{"string"}},
		"references": {pet + "  other:\n    type: random:RandomPet\n    options:\n      dependsOn:\n        - |",
			[]string{"${pet}"}},
		"broken elsewhere": {"variables:\n  x: [1\n" + pet + "      sep|\n", []string{"separator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := labels(t, c.text)
			for _, want := range c.wants {
				require.Contains(t, got, want)
			}
		})
	}
}

const names = "config:\n  size: {type: integer, default: 3}\nvariables:\n  twice: ${size * 2}\nresources:\n  pet:\n  " +
	"  type: random:RandomPet\n" +
	"    properties:\n      length: ${twice}\noutputs:\n  one: ${pet.length}\n  two: \"${twice} ${pet.id}\"\n"

// TestNames finds declarations and uses.
func TestNames(t *testing.T) {
	t.Parallel()
	i := strings.Index(names, "${twice}") + 3
	s, offset := opened(t, names[:i]+"|"+names[i:])
	found, err := editor.Definition(t.Context(), s, file, offset)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "twice", found[0].At.Text())
	require.Equal(t, strings.Index(names, "twice:"), int(found[0].At.Start))
	uses, err := editor.References(t.Context(), s, file, offset, true)
	require.NoError(t, err)
	require.Len(t, uses, 3)
	for _, use := range uses {
		require.Equal(t, "twice", use.At.Text())
	}
}

// TestHover explains names, types, properties and functions.
func TestHover(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"twice}": "variable twice", "pet:": "resource pet: random:RandomPet",
		"random:":    "resource random:RandomPet",
		"length: ${": "length: ", "length}": "pet.length: ", "size:": "config size: integer"} {
		i := strings.Index(names, word) + 1
		s, offset := opened(t, names[:i]+"|"+names[i:])
		hover, err := editor.HoverAt(t.Context(), s, file, offset)
		require.NoError(t, err)
		require.NotNil(t, hover, word)
		require.Contains(t, hover.Text, want)
	}
}

func renamed(t *testing.T, marked, name string) string {
	t.Helper()
	s, offset := opened(t, marked)
	edits, err := editor.Rename(t.Context(), s, file, offset, name)
	require.NoError(t, err)
	text := string(s.Text(file).Source().Text())
	list := edits[file]
	slices.SortStableFunc(list, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
	for _, e := range list {
		text = text[:e.Range.Start] + e.Text + text[e.Range.End:]
	}
	return text
}

// TestRename renames declarations with all of their uses. A renamed resource gets an alias.
func TestRename(t *testing.T) {
	t.Parallel()
	require.Equal(t, "variables:\n  b: 1\noutputs:\n  o: \"${b} ${b + 1}\"\n",
		renamed(t, "variables:\n  |a: 1\noutputs:\n  o: \"${a} ${a + 1}\"\n", "b"))
	for name, c := range map[string]struct{ text, wants string }{
		"no options": {"resources:\n  |a:\n    type: random:RandomPet\noutputs:\n  o: ${a.id}\n",
			"resources:\n  b:\n    type: random:RandomPet\n    options:\n      aliases: [{name: a}]\noutputs:\n  o: ${b.id}\n"},
		"options": {"resources:\n  |a:\n    type: random:RandomPet\n    options:\n      protect: true\n",
			"resources:\n  b:\n    type: random:RandomPet\n    options:\n      aliases: [{name: a}]\n      protect: true\n"},
		"options inline": {"resources:\n  |a: {type: random:RandomPet, options: {protect: true}}\n",
			"resources:\n  b: {type: random:RandomPet, options: {aliases: [{name: a}], protect: true}}\n"},
		"inline": {"resources:\n  |a: {type: random:RandomPet}\n",
			"resources:\n  b: {type: random:RandomPet, options: {aliases: [{name: a}]}}\n"},
		"aliases": {"resources:\n  |a:\n    type: random:RandomPet\n    options:\n      aliases:\n        - " +
			"name: z\n",
			"resources:\n  b:\n    type: random:RandomPet\n    options:\n      aliases:\n        - {name: a}\n        - name: " +
				"z\n"},
		"a name of its own": {"resources:\n  |a:\n    type: random:RandomPet\n    name: own\n",
			"resources:\n  b:\n    type: random:RandomPet\n    name: own\n"},
	} {
		require.Equal(t, c.wants, renamed(t, c.text, "b"), name)
	}
	for name, c := range map[string]struct{ text, wants string }{
		"variable": {`{"variables": {"|a": 1}, "outputs": {"o": "${a}"}}`,
			`{"variables": {"b": 1}, "outputs": {"o": "${b}"}}`},
		"resource": {`{"resources": {"|a": {"type": "random:RandomPet"}}}`,
			`{"resources": {"b": {"type": "random:RandomPet", "options": {"aliases": [{"name": "a"}]}}}}`},
		"empty options": {`{"resources": {"|a": {"type": "random:RandomPet", "options": {}}}}`,
			`{"resources": {"b": {"type": "random:RandomPet", "options": {"aliases": [{"name": "a"}]}}}}`},
		"quotes": {"variables:\n  '|a': 1\noutputs:\n  o: ${a}\n", "variables:\n  'b': 1\noutputs:\n  o: ${b}\n"},
	} {
		require.Equal(t, c.wants, renamed(t, c.text, "b"), "JSON and quotes: "+name)
	}
	s, offset := opened(t, "variables:\n  |a: 1\n  b: 2\n")
	_, err := editor.Rename(t.Context(), s, file, offset, "b")
	require.ErrorContains(t, err, "declared already")
	_, err = editor.Rename(t.Context(), s, file, offset, "b c")
	require.ErrorContains(t, err, "is not a name")
}

// TestEveryPrefixAndDeletion sends requests about every prefix of a program, and about the program without each of its
// characters. None may fail or return offsets outside of the text.
func TestEveryPrefixAndDeletion(t *testing.T) {
	t.Parallel()
	try := func(text string, offset int) {
		s := editor.NewSession(newOpener())
		s.Open(file, text)
		c, err := editor.Complete(t.Context(), s.Snapshot(), file, offset)
		require.NoError(t, err)
		require.LessOrEqual(t, 0, c.Start)
		require.LessOrEqual(t, c.Start, offset)
		require.LessOrEqual(t, offset, c.End)
		require.LessOrEqual(t, c.End, len(text))
		_, err = editor.HoverAt(t.Context(), s.Snapshot(), file, offset)
		require.NoError(t, err)
		_, err = editor.Symbols(t.Context(), s.Snapshot(), file)
		require.NoError(t, err)
		tokens, err := tokensOf(t.Context(), s.Snapshot(), file, 0, len(text))
		require.NoError(t, err)
		for i, token := range tokens {
			require.Less(t, token.Start, token.End)
			require.LessOrEqual(t, int(token.End), len(text))
			require.True(t, i == 0 || tokens[i-1].End <= token.Start)
		}
		around, err := editor.Selection(t.Context(), s.Snapshot(), file, offset)
		require.NoError(t, err)
		require.Equal(t, text, around[len(around)-1].Text())
		for _, f := range editor.Folds(s.Snapshot(), file) {
			require.Less(t, f.First, f.Last)
		}
	}
	for i := range names {
		try(names[:i], i)
		try(names[:i]+names[i+1:], i)
	}
}
