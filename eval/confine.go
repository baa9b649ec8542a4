package eval

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/value"
)

// confined makes the thunks of arguments that name files refuse those outside of the project (L6.23). An absolute path that
// the program writes out is the one exception: whoever reads the program sees it.
func (s *scope) confined(f *builtins.Func, args []ast.Expr, thunks []builtins.Thunk) {
	for i, inner := range thunks {
		if p := f.Param(i); p == nil || !p.Path || i >= len(args) || args[i] == nil {
			continue
		}
		arg := args[i]
		thunks[i] = func(ctx context.Context) (value.Value, error) {
			v, err := inner(ctx)
			if err != nil {
				return v, err
			}
			path, ok := v.AsString()
			if _, literal := arg.(*ast.String); !ok || s.e.mayRead(path, literal) {
				return v, nil
			}
			shown := "the path"
			if !v.IsSecret() {
				shown = "`" + path + "`"
			}
			return value.Null, blame(diag.FileAccess, arg.Range(), "the run restricts paths; copy the file into the project, or write an absolute path out",
				"%s is outside of the project", shown)
		}
	}
}

// mayRead reports whether a path, or an address of a file, lies inside of the project, also behind symbolic links.
func (e *evaluator) mayRead(path string, literal bool) bool {
	if scheme, rest, isURI := strings.Cut(path, "://"); isURI {
		if !strings.EqualFold(scheme, "file") {
			return true
		}
		path = filepath.FromSlash(rest)
	}
	if filepath.IsAbs(path) {
		if literal {
			return true
		}
	} else {
		path = filepath.Join(e.options.Cwd, path)
	}
	root := e.options.RootDirectory
	if root == "" {
		root = e.options.Cwd
	}
	if !inside(root, path) {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // what is not there is not read either
	}
	if realRoot, err := filepath.EvalSymlinks(root); err == nil {
		root = realRoot
	}
	return inside(root, target)
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
