package eval

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
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
			shown, o := "the path", &c.e.options
			if !v.IsSecret() {
				shown = "`" + path + "`"
			}
			if o.Untrusted { // it may read files of the project, and public addresses (D13)
				if err := o.public(path); err != nil {
					return value.Null, blame(diag.FileAccess, arg.Range(),
						"the run is --untrusted; it reads only files of the project and public addresses",
						"%s may not be read: %s", shown, err)
				}
				return v, nil
			}
			if _, literal := arg.(*ast.String); o.mayRead(path, literal) {
				return v, nil
			}
			return value.Null, blame(diag.FileAccess, arg.Range(),
				"the run restricts paths; copy the file into the project, or write an absolute path",
				"%s is outside of the project", shown)
		}
	}
}

// public returns an error for what an untrusted program may not read.
func (o *Options) public(path string) error {
	if scheme, rest, isURI := strings.Cut(path, "://"); isURI {
		if !strings.EqualFold(scheme, "file") {
			u, err := url.Parse(path)
			if err != nil {
				return errors.New("it is not an address")
			}
			return confine.Host(u.Hostname())
		}
		path = filepath.FromSlash(rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Cwd, path)
	}
	return confine.Tree(o.folder(), path) // of a file, the file
}

// folder is the folder that a program's files are in.
func (o *Options) folder() string { return cmp.Or(o.RootDirectory, o.Cwd) }

// mayRead reports whether a path, or an address of a file, lies inside of the project, also behind symbolic links.
func (o *Options) mayRead(path string, literal bool) bool {
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
		path = filepath.Join(o.Cwd, path)
	}
	return !errors.Is(confine.Path(o.folder(), path), confine.ErrOutside) // what is not there is not read either
}
