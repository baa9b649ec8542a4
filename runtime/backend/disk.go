package backend

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// disk is what the package asks of a file system. Tests put one in its place that loses what was not synced.
type disk interface {
	ReadFile(path string) ([]byte, error)
	Open(path string) (io.ReadSeekCloser, error) // reads a file piece by piece
	ReadDir(path string) ([]string, error)       // names, sorted; folders end in a slash
	ModTime(path string) (time.Time, error)
	// Stamp tells one content of a file from another without reading it. The zero stamp says that nobody can tell.
	Stamp(path string) (stamp, error)
	Mkdir(path string) error
	Create(path string) (journal.File, error) // empties a file that is there
	Rename(from, to string) error
	// Link gives a regular file a second name, which nobody has yet. An error means that there is none.
	Link(from, to string) error
	Remove(path string) error
	SyncDir(path string) error
	// Guard keeps other processes from being between Guard and release with the same folder, as far as the system can. It
	// waits for them, but not for ever: free says that there was none any more. release must be called in any case.
	Guard(folder string) (release func(), free bool)
	// Guarding is the process that is between Guard and release with a folder; 0 if nobody is, or nobody can tell.
	Guarding(folder string) (pid int)
}

// stamp is the identity of a file's content.
type stamp struct {
	device, file      uint64
	size              int64 // bytes
	modified, changed int64 // Unix nanoseconds
}

// stampAge is how long ago a file has to be changed for its stamp to count.
const stampAge = 100 * time.Millisecond

func pathFault(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// inMemory is a file that was read already.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

type realDisk struct{}

func (realDisk) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (realDisk) Open(path string) (io.ReadSeekCloser, error) { return os.Open(path) }

func (realDisk) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, e := range entries {
		if names[i] = e.Name(); e.IsDir() {
			names[i] += "/"
		}
	}
	return names, err
}

func (realDisk) ModTime(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (realDisk) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (realDisk) Create(path string) (journal.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// Rename follows a link at to: a file that is linked stays so, and what it links to gets the content.
func (realDisk) Rename(from, to string) error {
	info, err := os.Lstat(to)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return os.Rename(from, to)
	}
	target, err := filepath.EvalSymlinks(to)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	// The target may be on another file system, where nothing can be renamed to from here.
	if err := writeThrough(realDisk{}, temporary(target), target, data, true); err != nil {
		return err
	}
	return errors.Join(realDisk{}.SyncDir(filepath.Dir(target)), os.Remove(from))
}

// Link leaves symbolic links alone: what they stand for may change.
func (realDisk) Link(from, to string) error {
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.ErrUnsupported)
	}
	return os.Link(from, to)
}

func (realDisk) Remove(path string) error { return os.Remove(path) }

func (realDisk) SyncDir(path string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there, and renaming is durable by itself
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// mkdirAll makes a folder and what is missing above it, durably.
func mkdirAll(d disk, path string) error {
	err := d.Mkdir(path)
	switch {
	case err == nil:
		return d.SyncDir(filepath.Dir(path))
	case errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path:
		return err
	}
	if err := mkdirAll(d, filepath.Dir(path)); err != nil {
		return err
	}
	return mkdirAll(d, path)
}

// temporarySuffix is in the names of files whose next content is being written, beside them. No listing looks for it.
const temporarySuffix = ".yamlhost-tmp-"

func temporary(path string) string { return path + temporarySuffix + rand.Text() }

// writeDurably puts data in a file so that after a crash at any moment there is either the old content or the new, and
// after the return the new.
func writeDurably(d disk, path string, data []byte) error {
	if err := writeWhole(d, path, data, true); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// writeWhole puts data in a file so that a reader sees either the old content or the new. Without sync a crash of the
// machine may lose both; it is for copies.
func writeWhole(d disk, path string, data []byte, sync bool) error {
	if err := mkdirAll(d, filepath.Dir(path)); err != nil {
		return err
	}
	return writeThrough(d, temporary(path), path, data, sync)
}

// sameAs makes path another name of a file that is never written to, whose content is data. Where files have one name
// only, it writes a copy in the manner of writeWhole without sync.
func sameAs(d disk, file, path string, data []byte) error {
	if err := mkdirAll(d, filepath.Dir(path)); err != nil {
		return err
	}
	tmp := temporary(path)
	if err := d.Link(file, tmp); err != nil {
		return writeThrough(d, temporary(path), path, data, false)
	}
	err := d.Rename(tmp, path)
	// both were names of the file already
	if removed := d.Remove(tmp); removed == nil || !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// writeThrough is writeWhole by way of a temporary file in another folder of the same file system; path's has to exist.
func writeThrough(d disk, tmp, path string, data []byte, sync bool) error {
	f, err := d.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(tmp, path)
	}
	if err != nil {
		_ = d.Remove(tmp) // best effort: the fault that matters is err
	}
	return err
}

// removeDurably removes a file if it is there.
func removeDurably(d disk, path string) error {
	if err := d.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}
