package eval

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/value"
)

// confine makes the thunks of arguments that name files refuse those outside of the project (L6.23). An absolute path
// that the program writes out is the one exception: anyone who reads the program sees it.
func (c *builtinCall) confine() {
	for i, inner := range c.thunks {
		if p := c.fn.Param(i); p == nil || !p.Path || i >= len(c.args) || c.args[i] == nil {
			continue
		}
		arg := c.args[i]
		c.thunks[i] = func(ctx context.Context) (value.Value, error) {
			v, err := inner(ctx)
			if err != nil {
				return v, err
			}
			path, ok := v.AsString()
			if !ok {
				return v, nil
			}
			if c.e.options.Untrusted {
				return v, c.e.stranger(path, v.IsSecret(), arg)
			}
			if _, literal := arg.(*ast.String); c.e.mayRead(path, literal) {
				return v, nil
			}
			shown := "the path"
			if !v.IsSecret() {
				shown = "`" + path + "`"
			}
			return value.Null, blame(diag.FileAccess, arg.Range(),
				"the run restricts paths; copy the file into the project, or write an absolute path",
				"%s is outside of the project", shown)
		}
	}
}

// stranger decides what an untrusted program may read: files of the project, and public addresses (D13). Its error is
// nil for those.
func (e *evaluator) stranger(path string, secret bool, arg ast.Expr) error {
	err := e.public(path)
	if err == nil {
		return nil
	}
	shown := "the path"
	if !secret {
		shown = "`" + path + "`"
	}
	return blame(diag.FileAccess, arg.Range(),
		"the run is --untrusted; it reads only files of the project and public addresses",
		"%s may not be read: %s", shown, err)
}

func (e *evaluator) public(path string) error {
	if scheme, rest, isURI := strings.Cut(path, "://"); isURI {
		if !strings.EqualFold(scheme, "file") {
			at, err := url.Parse(path)
			if err != nil {
				return errors.New("it is not an address")
			}
			return confine.Host(at.Hostname())
		}
		path = filepath.FromSlash(rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.options.Cwd, path)
	}
	return confine.Tree(e.folder(), path) // of a file, the file
}

// folder is the folder that a program's files are in.
func (e *evaluator) folder() string {
	if e.options.RootDirectory == "" {
		return e.options.Cwd
	}
	return e.options.RootDirectory
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
	return !errors.Is(confine.Path(e.folder(), path), confine.ErrOutside) // what is not there is not read either
}
