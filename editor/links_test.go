package editor_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// manyOpener opens all files of a folder as one program. file is the path of its main text.
type manyOpener struct {
	opener
	parts map[string]string // by name
}

func (manyOpener) Name(path string) string {
	name, _ := filepath.Rel(filepath.Dir(file), path)
	return name
}

func (o manyOpener) Open(ctx context.Context, _ string, open func(string) *parser.Document) (*editor.Project, error) {
	p, err := o.opener.Open(ctx, file, open)
	p.Parse.Include = func(pattern string) ([]*diag.Source, error) {
		var found []*diag.Source
		for name, text := range o.parts {
			if ok, _ := filepath.Match(pattern, name); !ok {
				continue
			}
			if d := open(filepath.Join(filepath.Dir(file), name)); d != nil {
				found = append(found, d.Source())
				continue
			}
			found = append(found, diag.NewSource(name, []byte(text)))
		}
		slices.SortFunc(found, func(a, b *diag.Source) int { return strings.Compare(a.Name(), b.Name()) })
		return found, nil
	}
	p.Files = func(string) []string { return []string{"a.txt"} }
	p.Check.Stat = func(path string) (fs.FileInfo, error) {
		if path == "/project/parts/PulumiPlugin.yaml" {
			return nil, nil
		}
		return nil, fs.ErrNotExist
	}
	return p, err
}

// TestLinks finds the paths of files and folders in programs.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		wants []string // text -> target
	}{
		"included": {"include: [one.yaml, \"t*.yaml\", '*.yaml']\n", []string{"one.yaml -> /project/one.yaml",
			"t*.yaml -> /project/two.yaml"}},
		"included, alone": {"include:\n  - one.yaml\n", []string{"one.yaml -> /project/one.yaml"}},
		"packages": {"packages:\n  a: ./parts\n  b: {source: ../other}\n  c: random@1.0.0\n  d: [1]\n",
			[]string{"./parts -> /project/parts/PulumiPlugin.yaml", "../other -> /other"}},
		"functions": {"variables:\n  a:\n    fn::readFile: ./x/motd.txt\n  b: ${readFile(\"/etc/motd\")}\n  c:\n    " +
			"fn::fileAsset: \"a.txt\"\n" +
			"  d:\n    fn::readFile: ${a}\n  e:\n    fn::toUpper: no.txt\n",
			[]string{"./x/motd.txt -> /project/x/motd.txt", "/etc/motd -> /etc/motd", "a.txt -> /project/a.txt"}},
		"dynamic": {"dynamic:\n  Label:\n    provider: ./label.ts\n  Other:\n    provider: src/many.py:Other\n",
			[]string{"./label.ts -> /project/label.ts", "src/many.py:Other -> /project/src/many.py"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := editor.NewSession(manyOpener{newOpener(), map[string]string{"one.yaml": "variables:\n  x: 1\n",
				"two.yaml": "variables:\n  y: 1\n"}})
			session.Open(file, c.text)
			found, err := editor.Links(t.Context(), session.Snapshot(), file)
			require.NoError(t, err)
			var links []string
			for _, l := range found {
				links = append(links, l.At.Text()+" -> "+l.Target)
			}
			require.Equal(t, c.wants, links)
		})
	}
}

// TestPathArguments checks that each argument of a function that is a path is a link, and that completion offers files
// for it and for no other argument.
func TestPathArguments(t *testing.T) {
	t.Parallel()
	paths := 0
	for _, f := range builtins.Table() {
		for _, param := range f.Params {
			if f.Shape == builtins.Positional || f.Shape == builtins.Fields && param.Optional {
				continue
			}
			argument := "a.txt"
			if f.Shape == builtins.Fields {
				argument = "{" + param.Name + ": a.txt}"
			}
			text := "variables:\n  a: {fn::" + f.Name + ": " + argument + "}\n"
			session := editor.NewSession(manyOpener{newOpener(), map[string]string{"a.txt": ""}})
			session.Open(file, text)
			found, err := editor.Links(t.Context(), session.Snapshot(), file)
			require.NoError(t, err)
			require.Equal(t, param.Path, len(found) == 1 && found[0].Target == "/project/a.txt", text)
			offers, err := editor.Complete(t.Context(), session.Snapshot(), file, strings.Index(text, ".txt"))
			require.NoError(t, err)
			require.Equal(t, param.Path, slices.ContainsFunc(offers.Items, func(item editor.Item) bool {
				return item.Kind == editor.FileItem
			}), text)
			if !param.Path {
				continue
			}
			paths++
			if f.Shape == builtins.Whole {
				text = "variables:\n  a: ${" + f.Name + "(\"a.txt\")}\n"
				session.Open(file, text)
				found, err = editor.Links(t.Context(), session.Snapshot(), file)
				require.NoError(t, err)
				require.Len(t, found, 1, text)
			}
		}
	}
	require.Equal(t, 6, paths)
}

// TestLinksOfPart checks that the links of an included file belong to that file only, and that their targets are
// relative to the program.
func TestLinksOfPart(t *testing.T) {
	t.Parallel()
	const part = "/project/parts/one.yaml"
	session := editor.NewSession(manyOpener{newOpener(), map[string]string{"parts/one.yaml": ""}})
	session.Open(file, "include: parts/*.yaml\nvariables:\n  a:\n    fn::readFile: a.txt\n")
	session.Open(part, "variables:\n  b:\n    fn::readFile: b.txt\n")
	found, err := editor.Links(t.Context(), session.Snapshot(), file)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, part, found[0].Target)
	require.Equal(t, "/project/a.txt", found[1].Target)
	found, err = editor.Links(t.Context(), session.Snapshot(), part)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "b.txt", found[0].At.Text())
	require.Equal(t, "/project/b.txt", found[0].Target)
	tokens, err := tokensOf(t.Context(), session.Snapshot(), part, 0, 100)
	require.NoError(t, err)
	require.Len(t, tokens, 3) // variables, b and fn::readFile
}
