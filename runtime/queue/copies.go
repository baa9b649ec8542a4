//go:build !lean

package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// copies is a pool of folders with the files of sources, so that a worker does not fetch and unpack the same files for
// each of hundreds of jobs. One job uses a folder at a time, and the next job finds it unchanged: added files are
// removed, and a folder with other changes is discarded. The pool has at most as many folders as the worker has
// parallel jobs. It is safe for concurrent use.
type copies struct {
	folder string // parent of all folders
	most   int    // maximum number of folders, including those in use
	fetch  func(ctx context.Context, s Source, dir string) error

	mu    sync.Mutex
	idle  []*copied // least recently used first; guarded by mu
	inUse int       // guarded by mu
}

// copied is a folder with the files of a source.
type copied struct {
	source  Source
	dir     string
	entries map[string]entry // by path in dir
}

// entry holds the properties of a file or folder that show whether it has changed. All files get the same modification
// time in the past, so that every write is visible.
type entry struct {
	mode   fs.FileMode
	size   int64  // of a file
	target string // of a symbolic link
}

var untouched = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// take returns a folder with the files of a source. The caller must pass it to give afterwards.
func (c *copies) take(ctx context.Context, s Source) (*copied, error) {
	found, surplus := c.choose(s)
	if surplus != nil {
		surplus.remove()
	}
	if found != nil {
		if found.restore() == nil { // a process left behind by the last job may have written since
			return found, nil
		}
		found.remove()
	}
	made, err := c.make(ctx, s)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.inUse--
	}
	return made, err
}

// choose removes an idle folder of the source from the list. If there is none and the limit is exceeded, it removes
// another idle folder, surplus, which the caller deletes.
func (c *copies) choose(s Source) (found, surplus *copied) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inUse++
	if i := slices.IndexFunc(c.idle, func(x *copied) bool { return x.source == s }); i >= 0 {
		found = c.idle[i]
		c.idle = slices.Delete(c.idle, i, i+1)
	} else if len(c.idle) > 0 && len(c.idle)+c.inUse > c.most {
		surplus = c.idle[0]
		c.idle = slices.Delete(c.idle, 0, 1)
	}
	return found, surplus
}

func (c *copies) make(ctx context.Context, s Source) (made *copied, err error) {
	dir, err := os.MkdirTemp(c.folder, "job-")
	if err != nil {
		return nil, err
	}
	made = &copied{source: s, dir: dir, entries: map[string]entry{}}
	defer func() {
		if err != nil {
			made.remove()
		}
	}()
	if err = c.fetch(ctx, s, dir); err == nil {
		err = made.note()
	}
	return made, err
}

// give returns a folder to the pool after a job, or deletes it if the job has changed its files.
func (c *copies) give(x *copied) {
	fault := x.restore()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inUse--
	if fault != nil {
		x.remove()
		return
	}
	c.idle = append(c.idle, x)
}

// remove deletes the folder. Files that cannot be deleted now are deleted with the worker's folder.
func (x *copied) remove() { _ = osfile.RemoveAll(x.dir) }

// note resets the time of all files and records the properties of all entries.
func (x *copied) note() error {
	return filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			if err := os.Chtimes(path, untouched, untouched); err != nil {
				return err
			}
		}
		x.entries[path], _, err = look(path, d)
		return err
	})
}

// look returns the properties of an entry. same reports whether its modification time is unchanged.
func look(path string, d fs.DirEntry) (e entry, same bool, err error) {
	info, err := d.Info()
	if err != nil {
		return e, false, err
	}
	e.mode = info.Mode()
	switch {
	case e.mode.IsRegular():
		e.size = info.Size()
		return e, info.ModTime().Equal(untouched), nil
	case e.mode&fs.ModeSymlink != 0:
		e.target, err = os.Readlink(path)
	}
	return e, true, err
}

var errChanged = errors.New("files have changed")

// restore removes entries that were added to the folder. It returns an error if others are missing or changed.
func (x *copied) restore() error {
	found := 0
	err := filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		before, known := x.entries[path]
		if !known {
			if err := osfile.RemoveAll(path); err != nil {
				return err
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		found++
		now, same, err := look(path, d)
		if err == nil && (!same || now != before) {
			err = fmt.Errorf("%s: %w", path, errChanged)
		}
		return err
	})
	if err == nil && found < len(x.entries) {
		err = errChanged
	}
	return err
}
