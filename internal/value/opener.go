package value

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/fileurl"
)

// DirOpener opens files, with relative paths resolved against Dir, and remote objects.
type DirOpener struct {
	Dir string
	// Door opens the files.
	Door confine.Door
	// Fetch gets an http or https object, and may retry; nil means that remote objects are not available.
	Fetch func(uri string) (io.ReadCloser, error)
}

var _ Opener = DirOpener{}

// Open opens a file or directory.
func (d DirOpener) Open(path string) (fs.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.Dir, path)
	}
	return d.Door.Open(path)
}

// OpenURI opens a file, http or https URI (F1.21).
func (d DirOpener) OpenURI(uri string) (io.ReadCloser, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "http", "https":
		if d.Fetch == nil {
			return nil, errors.New("remote content is not available here")
		}
		return d.Fetch(uri)
	case "file":
		path, err := fileurl.PathOf(u)
		if err != nil {
			return nil, err
		}
		return d.Door.Open(path)
	}
	return nil, fmt.Errorf("%q is not a scheme of a remote asset; use http, https or file", u.Scheme)
}
