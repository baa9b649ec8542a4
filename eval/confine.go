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

// confine wraps the thunks of arguments that name files so that they refuse files outside the project (L6.23). The one
// exception is an absolute path that is literal in the program, since every reader of the program can see it.
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
			_, literal := arg.(*ast.String)
			if o.mayRead(path, literal && !o.Confined) {
				return v, nil
			}
			if o.Confined {
				return value.Null, blame(diag.FileAccess, arg.Range(), "copy the file into the folder of the pack",
					"%s is outside of the policy pack, which reads no other files", shown)
			}
			return value.Null, blame(diag.FileAccess, arg.Range(),
				"the run restricts paths; copy the file into the project, or write an absolute path",
				"%s is outside of the project", shown)
		}
	}
}

// public returns an error for a file that an untrusted program may not read.
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

// door returns the door for the files of the program. With RestrictPaths it is open: a path that is written out may
// lead anywhere, and confine has refused others.
func (o *Options) door() confine.Door {
	if o.Confined || o.Untrusted {
		return confine.Door{Folder: o.folder()}
	}
	return confine.Door{}
}

// folder returns the folder that contains the program's files.
func (o *Options) folder() string { return cmp.Or(o.RootDirectory, o.Cwd) }

// mayRead reports whether a path, or the address of a file, lies inside the project after symbolic links are resolved.
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
	return !errors.Is(confine.Path(o.folder(), path), confine.ErrOutside) // a missing file cannot leak
}
