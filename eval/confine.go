package eval

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// confine wraps the thunks of arguments that name files so that they refuse files outside the project (L6.23). The one
// exception is an absolute path that is literal in the program, since every reader of the program can see it.
func (c *builtinCall) confine() {
	for i, inner := range c.thunks {
		p := c.fn.Param(i)
		if p == nil || !p.Path && !p.URI || i >= len(c.args) || c.args[i] == nil {
			continue
		}
		arg, uri := c.args[i], p.URI
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
				if err := o.public(path, uri); err != nil {
					return value.Null, blame(diag.FileAccess, arg.Range(),
						"the run is --untrusted; it reads only files of the project and public addresses",
						"%s may not be read: %s", shown, err)
				}
				return v, nil
			}
			_, literal := arg.(*ast.String)
			if o.mayRead(path, uri, literal && !o.Confined) {
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

// file returns the absolute path of the file that a path or an address means, which is the one that is opened later. It
// is empty for an address that is not of a file.
func (o *Options) file(path string, uri bool) (string, error) {
	switch {
	case uri && fileurl.Is(path):
		return fileurl.Path(path)
	case uri:
		return "", nil
	case filepath.IsAbs(path):
		return path, nil
	}
	return filepath.Join(o.Cwd, path), nil
}

// public returns an error for a file or an address that an untrusted program may not read.
func (o *Options) public(text string, uri bool) error {
	path, err := o.file(text, uri)
	if err != nil {
		return err
	}
	if path == "" {
		u, err := url.Parse(text)
		if err != nil {
			return errors.New("it is not an address")
		}
		return confine.Host(u.Hostname())
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
func (o *Options) mayRead(text string, uri, literal bool) bool {
	path, err := o.file(text, uri)
	if err != nil { // what names no file opens none
		return true
	}
	if path == "" || literal && (uri || filepath.IsAbs(text)) {
		return true
	}
	return !errors.Is(confine.Path(o.folder(), path), confine.ErrOutside) // a missing file cannot leak
}
