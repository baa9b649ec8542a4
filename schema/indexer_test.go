package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

// bothWays reads a text in memory and as a stream of single bytes, and fails unless both accept it or both refuse it.
func bothWays(t *testing.T, text []byte) (whole, indexed *schema.Package) {
	t.Helper()
	whole, errWhole := schema.Parse(text)
	index, errIndex := schema.BuildIndex(iotest.OneByteReader(bytes.NewReader(text)), "s")
	require.Equal(t, errWhole == nil, errIndex == nil, "%s: %v, %v", text, errWhole, errIndex)
	if errWhole != nil {
		return nil, nil
	}
	indexed, err := schema.OpenIndexed(index, bytes.NewReader(text), int64(len(text)), "s")
	require.NoError(t, err)
	return whole, indexed
}

// A stream has the same grammar as a text in memory, however it is divided (F8.1).
func TestIndexerTakesWhatParseTakes(t *testing.T) {
	t.Parallel()
	zoo := testfile.Bytes(t, "testdata/zoo.json")
	for end := range len(zoo) + 1 {
		whole, _ := schema.Parse(zoo[:end])
		_, err := schema.BuildIndex(bytes.NewReader(zoo[:end]), "s")
		require.Equal(t, whole == nil, err != nil, "cut at %d", end)
		require.Equal(t, json.Valid(zoo[:end]), err == nil, "cut at %d", end)
	}
	taken := []string{"white space around", "section null", "escapes", "number at the end"}
	for name, text := range map[string]string{
		"empty":               ``,
		"white space":         " \n",
		"a word":              `null`,
		"a list":              `[]`,
		"no name":             `{}`,
		"white space around":  " {\"name\" : \"n\"\t,\"types\"\n:\r{ } } \n",
		"text behind":         `{"name": "n"} x`,
		"no comma":            `{"name": "n" "types": {}}`,
		"a comma too many":    `{"name": "n",}`,
		"no colon":            `{"name" "n"}`,
		"no value":            `{"name": }`,
		"no value in section": `{"name": "n", "types": {"n:index:T": }}`,
		"section of no kind":  `{"name": "n", "types": 1}`,
		"section null":        `{"name": "n", "types": null}`,
		"section nul":         `{"name": "n", "types": nul}`,
		"name is a number":    `{"name": 5}`,
		"escapes":             `{"name": "n\"\\", "types": {"n\\:\":{": {"type": "string\\"}}}`,
		"number at the end":   `{"name": "n", "x": 1}`,
		"word at the end":     `{"name": "n", "x": true`,
		"bad module format":   `{"name": "n", "meta": {"moduleFormat": "("}}`,
		"provider of no kind": `{"name": "n", "provider": [}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, indexed := bothWays(t, []byte(text))
			require.Equal(t, slices.Contains(taken, name), whole != nil)
			if whole != nil {
				require.Equal(t, whole.Name, indexed.Name)
				require.Equal(t, whole.TypeTokens(), indexed.TypeTokens())
			}
		})
	}
}

// The last of repeated members applies, and the first of several resources with the same alias (L7.4).
func TestIndexerOfRepetitions(t *testing.T) {
	t.Parallel()
	whole, indexed := bothWays(t, []byte(`{"name": "n",
	  "functions": {"n:index:gone": {}},
	  "functions": {"n:index:f": {"description": "first"}, "n:index:F": {}, "n:index:f": {"description": "last"}},
	  "resources": {
	    "n:index:A": {"aliases": [{"type": "n:index:Lost"}]},
	    "n:index:B": {"aliases": [{"type": "n:index:Old"}, "n:index:OLD"]},
	    "n:index:A": {"aliases": [{"type": "n:index:Older"}]},
	    "n:index:C": {"aliases": [{"type": "n:index:Old"}]}}}`))
	for name, pkg := range map[string]*schema.Package{"whole": whole, "indexed": indexed} {
		require.Equal(t, []string{"n:index:f", "n:index:F"}, pkg.FunctionTokens(), name)
		f, err := pkg.Function("n:index:f")
		require.NoError(t, err, name)
		require.Equal(t, "last", f.Description, name)
		for old, want := range map[string]string{"n:index:Old": "n:index:B", "n:index:OLD": "n:index:B",
			"n:index:Older": "n:index:A", "n:index:Lost": ""} {
			token, _ := pkg.ResourceByAlias(old)
			require.Equal(t, want, token, "%s: %s", name, old)
		}
	}
}

// A definition may be longer than the buffer.
func TestIndexerOfLongDefinitions(t *testing.T) {
	t.Parallel()
	text := fmt.Appendf(nil,
		`{"name": "n", "resources": {"n:index:A": {"description": "%s"}, "n:index:B": {"description": "short"}}}`,
		strings.Repeat(`\\\"{`, 300_000))
	_, indexed := bothWays(t, text)
	a, err := indexed.Resource("n:index:A")
	require.NoError(t, err)
	require.Len(t, a.Description, 900_000)
	b, err := indexed.Resource("n:index:B")
	require.NoError(t, err)
	require.Equal(t, "short", b.Description)
}

func TestIndexerOfTextThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `{"name"`, `{"name": "n", "types": {"a": {`, `{"name": "n"}`,
		`{"name": "n", "x": 1`} {
		_, err := schema.BuildIndex(iotest.DataErrReader(&failing{strings.NewReader(text)}), "s")
		require.ErrorIs(t, err, iotest.ErrTimeout, text)
	}
}

// failing returns an error at the end of the text.
type failing struct{ text *strings.Reader }

func (f *failing) Read(dst []byte) (int, error) {
	if f.text.Len() == 0 {
		return 0, iotest.ErrTimeout
	}
	return f.text.Read(dst)
}

// Files of killed writers are removed when the next index is written; files that others are writing now stay.
func TestLeftoversGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, indexPath := filepath.Join(dir, "zoo.json"), filepath.Join(dir, "sub", "zoo.index")
	data, err := os.ReadFile("testdata/zoo.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o644))
	require.NoError(t, os.Mkdir(filepath.Dir(indexPath), 0o755))
	long := time.Now().Add(-2 * time.Hour)
	for name, old := range map[string]bool{".index-1": true, ".zoo.json123": true, ".index-2": false,
		"other.index": true} {
		file := filepath.Join(dir, "sub", name)
		require.NoError(t, os.WriteFile(file, []byte("x"), 0o644))
		if old {
			require.NoError(t, os.Chtimes(file, long, long))
		}
	}
	_, err = schema.OpenFile(path, indexPath)
	require.NoError(t, err)
	entries, err := os.ReadDir(filepath.Dir(indexPath))
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.Equal(t, []string{".index-2", "other.index", "zoo.index"}, names)
}

// An open package reports that its file was damaged. Once the file is restored, it opens again.
func TestDamagedPackageSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, indexPath := filepath.Join(dir, "zoo.json"), filepath.Join(dir, "zoo.index")
	data := testfile.Bytes(t, "testdata/zoo.json")
	for name, spoil := range map[string]func() error{
		"cut":     func() error { return os.Truncate(path, 100) },
		"removed": func() error { return os.Remove(path) },
	} {
		require.NoError(t, os.WriteFile(path, data, 0o644))
		pkg, err := schema.OpenFile(path, indexPath)
		require.NoError(t, err, name)
		_, err = pkg.Resource("zoo:index:Echo")
		require.NoError(t, err, name)
		require.False(t, pkg.Damaged(), name)
		require.NoError(t, spoil())
		_, err = pkg.ResolveResource("zoo:Typed")
		require.Error(t, err, name)
		require.True(t, pkg.Damaged(), name)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		pkg, err = schema.OpenFile(path, indexPath)
		require.NoError(t, err, name)
		_, err = pkg.ResolveResource("zoo:Typed")
		require.NoError(t, err, name)
	}
}

func FuzzIndexer(f *testing.F) {
	zoo := testfile.Bytes(f, "testdata/zoo.json")
	f.Add(zoo)
	f.Add([]byte(`{"name": "n\"\\", "types": {"n\\:\":{": {"type": "string\\"}}, "resources": null, "x": 1.5e3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if whole, indexed := bothWays(t, text); whole != nil {
			require.Equal(t, whole.ResourceTokens(), indexed.ResourceTokens())
			require.Equal(t, whole.FunctionTokens(), indexed.FunctionTokens())
		}
	})
}

// The stored index belongs to the text that was read, even if another process overwrites the file. A failure to store
// it is not an error. An invalid schema is not stored.
func TestKeepIndexed(t *testing.T) {
	t.Parallel()
	const text = `{"name": "p", "resources": {"p:index:A": {"inputProperties": {"first": {"type": "string"}}}}}`
	when := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	dir := t.TempDir()
	path, index := filepath.Join(dir, "p.json"), filepath.Join(dir, "p.index")

	kept, err := schema.KeepIndexed(strings.NewReader(text), path, index, when)
	require.NoError(t, err)
	require.True(t, kept)
	_, err = schema.OpenKept(path, index)
	require.NoError(t, err)
	other := strings.Replace(text, "first", "worst", 1)
	require.NoError(t, os.WriteFile(path, []byte(other), 0o644))
	require.NoError(t, os.Chtimes(path, when, when))
	p, err := schema.OpenKept(path, index)
	require.NoError(t, err)
	_, _ = p.Resource("p:index:A")
	require.True(t, p.Damaged(), "what was written over is not taken for the schema")

	kept, err = schema.KeepIndexed(strings.NewReader(text[:40]), path, index, when)
	require.Error(t, err)
	require.False(t, kept)
	left := testfile.Text(t, path)
	require.Equal(t, other, left)

	kept, err = schema.KeepIndexed(strings.NewReader(text), filepath.Join(path, "below a file"), index, when)
	require.NoError(t, err)
	require.False(t, kept)
	names := testfile.Match(t, filepath.Join(dir, ".*"))
	require.Empty(t, names)
}
