package disk

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// Disk is the file system under a backend. Tests use one that loses data that was not synced.
type Disk interface {
	ReadFile(path string) ([]byte, error)
	Open(path string) (io.ReadSeekCloser, error) // reads a file piece by piece
	ReadDir(path string) ([]string, error)       // names, sorted; folders end in a slash
	ModTime(path string) (time.Time, error)
	// ReadUnless reads a file unless its stamp equals seen; then the text is nil. now is the stamp before the read.
	// A zero stamp identifies no content: such a file is always read.
	ReadUnless(path string, seen Stamp) (text []byte, now Stamp, err error)
	Mkdir(path string) error
	Create(path string) (journal.File, error) // empties a file that is there
	// Append opens a file that was synced when it was closed, to write at its end.
	Append(path string) (journal.File, error)
	// Rename and Remove must not be called while this process has one of the files open: Windows refuses that.
	Rename(from, to string) error
	// Link gives a regular file a second name, which must be free. If Link returns an error, there is no second name.
	Link(from, to string) error
	Remove(path string) error
	SyncDir(path string) error
	// Guard locks a folder against the Guard of other processes, as far as the system supports that. It waits for a
	// limited time; free is false if another process still holds the guard. The caller must call release in any case.
	Guard(folder string) (release func(), free bool)
	// Guarding returns the ID of the process that holds the guard of a folder; 0 if there is none or it is unknown.
	Guarding(folder string) (pid int)
}

// guardLimit is how long Guard waits. Taking a lock or removing a file takes a few milliseconds: a process that holds
// the guard longer is stopped, or its disk hangs.
const guardLimit = 10 * time.Second

// Stamp is the identity of a file's content.
type Stamp struct {
	Device, File      uint64
	Size              int64 // bytes
	Modified, Changed int64 // Unix nanoseconds
}

// stampAge is the least age of a file's last change for its stamp to be used.
const stampAge = 100 * time.Millisecond

func pathFault(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// Real is the file system of this machine.
type Real struct{}

var _ Disk = Real{}

func (Real) ReadFile(path string) ([]byte, error) { return osfile.ReadFile(path) }

func (Real) Open(path string) (io.ReadSeekCloser, error) { return osfile.Open(path) }

func (Real) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, e := range entries {
		if names[i] = e.Name(); e.IsDir() {
			names[i] += "/"
		}
	}
	return names, err
}

func (Real) ModTime(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (Real) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (Real) Create(path string) (journal.File, error) {
	f, err := osfile.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{File: f}, nil
}

// Append opens a file for writing at its end.
func (Real) Append(path string) (journal.File, error) {
	f, err := osfile.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return &file{File: f, synced: true}, nil
}

// file is a file that is being written. Its first Sync makes data and metadata durable. Later ones leave out the file
// times, which is cheaper: a journal is synced for nearly every step.
type file struct {
	*os.File
	synced bool
}

// Sync makes earlier writes durable. It is not safe for concurrent use.
func (f *file) Sync() (err error) {
	if f.synced {
		return syncData(f.File)
	}
	if err = f.File.Sync(); err == nil {
		f.synced = true
	}
	return err
}

// Rename follows a symbolic link at to: the link stays, and its target gets the content.
func (Real) Rename(from, to string) error {
	info, err := os.Lstat(to)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return osfile.Rename(from, to)
	}
	target, err := filepath.EvalSymlinks(to)
	if err != nil {
		return err
	}
	data, err := osfile.ReadFile(from)
	if err != nil {
		return err
	}
	// The target may be on another file system, and a file cannot be renamed across file systems.
	if err := WriteThrough(Real{}, Temporary(target), target, data, true); err != nil {
		return err
	}
	return errors.Join(Real{}.SyncDir(filepath.Dir(target)), osfile.Remove(from))
}

// Link refuses symbolic links, because their targets may change.
func (Real) Link(from, to string) error {
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.ErrUnsupported)
	}
	return os.Link(from, to)
}

func (Real) Remove(path string) error { return osfile.Remove(path) }

func (Real) SyncDir(path string) error { return osfile.SyncDir(path) }

// MkdirAll makes a folder and its missing parents. With sync, the folders that it makes survive a crash of the machine.
// It never syncs a folder that exists already.
func MkdirAll(d Disk, path string, sync bool) error {
	err := d.Mkdir(path)
	switch {
	case err == nil && sync:
		return d.SyncDir(filepath.Dir(path))
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path:
		return err
	}
	if err := MkdirAll(d, filepath.Dir(path), sync); err != nil {
		return err
	}
	return MkdirAll(d, path, sync)
}

// TemporarySuffix marks the temporary file, in the same folder, that holds the next content of a file while it is
// written. Listings ignore such files.
const TemporarySuffix = ".yamlhost-tmp-"

// Temporary returns an unused file name in the folder of path.
func Temporary(path string) string { return path + TemporarySuffix + rand.Text() }

// WriteDurably replaces the content of a file. A crash at any moment leaves either the old content or the new; once
// WriteDurably has returned, the new.
func WriteDurably(d Disk, path string, data []byte) error {
	if err := WriteWhole(d, path, data, true); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}

// WriteWhole replaces the content of a file so that a reader sees either the old content or the new. Without sync,
// which is for copies, a crash of the machine may lose both.
func WriteWhole(d Disk, path string, data []byte, sync bool) error {
	if err := MkdirAll(d, filepath.Dir(path), sync); err != nil {
		return err
	}
	return WriteThrough(d, Temporary(path), path, data, sync)
}

// SameAs makes path a hard link to file, which nobody may write to any more. Without hard links it writes a copy, as
// WriteWhole does without sync. data is the content of file; if it is nil, SameAs reads file when it needs the content.
func SameAs(d Disk, file, path string, data []byte) error {
	if err := MkdirAll(d, filepath.Dir(path), false); err != nil {
		return err
	}
	tmp := Temporary(path)
	if err := d.Link(file, tmp); err != nil {
		if data == nil {
			if data, err = d.ReadFile(file); err != nil {
				return err
			}
		}
		return WriteThrough(d, Temporary(path), path, data, false)
	}
	err := d.Rename(tmp, path)
	// if path is a link to file already, Rename leaves tmp
	if removed := d.Remove(tmp); removed == nil || !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// Holds reports whether a file has the given content. It reads the file piece by piece, and not at all if the sizes
// differ.
func Holds(d Disk, path string, content []byte) (bool, error) {
	f, err := d.Open(path)
	if err != nil {
		return false, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	same := err == nil && size == int64(len(content))
	piece := make([]byte, min(len(content), 64<<10))
	for same && len(content) > 0 {
		piece = piece[:min(len(content), len(piece))]
		if _, err = io.ReadFull(f, piece); err != nil {
			break
		}
		same = bytes.Equal(piece, content[:len(piece)])
		content = content[len(piece):]
	}
	return same && err == nil, errors.Join(err, f.Close())
}

// WriteThrough is WriteWhole with tmp as the temporary file, in any folder of the same file system. The folder of path
// must exist.
func WriteThrough(d Disk, tmp, path string, data []byte, sync bool) error {
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

// RemoveDurably removes a file if it is there.
func RemoveDurably(d Disk, path string) error {
	switch err := d.Remove(path); {
	case err == nil:
		return d.SyncDir(filepath.Dir(path))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// RemoveIfThere removes a file if it is there. A crash of the machine may bring it back.
func RemoveIfThere(d Disk, path string) error {
	if err := d.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
