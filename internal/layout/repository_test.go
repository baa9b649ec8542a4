package layout

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

const root = "../.."

// read returns the text of a file, whose path is from the root.
func read(t *testing.T, name string) string {
	t.Helper()
	return testfile.Text(t, filepath.Join(root, filepath.FromSlash(name)))
}

// listed returns the paths of the files of the repository, from the root and with slashes: all but hidden ones, what is
// built and what Node.js installs.
var listed = sync.OnceValues(func() (paths []string, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || name == "bin"):
			return fs.SkipDir
		case !d.IsDir():
			paths = append(paths, name)
		}
		return nil
	})
	return paths, err
})

// files returns the paths of the files with one of some endings.
func files(t *testing.T, endings ...string) (found []string) {
	t.Helper()
	all, err := listed()
	require.NoError(t, err)
	for _, name := range all {
		if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) }) {
			found = append(found, name)
		}
	}
	return found
}

// file is a source file.
type file struct {
	path    string // from the root, with slashes
	pkg     string // its folder
	test    bool
	text    string
	tree    *ast.File
	imports []string          // paths
	names   map[string]string // the imports by the name that the file uses for them
}

// positions are those of all trees.
var positions = token.NewFileSet()

// parsed returns the Go files of this module. Those in folders with a go.mod or in testdata are none.
var parsed = sync.OnceValues(func() (found []file, err error) {
	all, err := listed()
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for _, name := range all {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			modules[path.Dir(name)] = true
		}
	}
	foreign := func(name string) bool {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if modules[dir] || path.Base(dir) == "testdata" {
				return true
			}
		}
		return false
	}
	for _, name := range all {
		if !strings.HasSuffix(name, ".go") || foreign(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(positions, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		f := file{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), text: string(text),
			tree: tree, names: map[string]string{}}
		for _, i := range tree.Imports {
			full, _ := strconv.Unquote(i.Path.Value)
			f.imports = append(f.imports, full)
			if i.Name != nil {
				f.names[i.Name.Name] = full
			} else {
				f.names[path.Base(full)] = full
			}
		}
		found = append(found, f)
	}
	if len(found) < 20 {
		err = errors.New("there are few Go files: the test looks in the wrong place")
	}
	return found, err
})

// sources returns the Go files of this module.
func sources(t *testing.T) []file {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	return all
}

// code returns the Go files of this module that are no tests.
func code(t *testing.T) (found []file) {
	t.Helper()
	for _, f := range sources(t) {
		if !f.test {
			found = append(found, f)
		}
	}
	return found
}
