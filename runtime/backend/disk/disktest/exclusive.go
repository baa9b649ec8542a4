package disktest

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// ErrOpen is returned by an exclusive disk for a rename or removal of a file that is open.
var ErrOpen = errors.New("the file is open")

// Exclusive returns d as a process of Windows sees it: a file that the process has open can be neither renamed,
// replaced nor removed. Files that were opened through another disk do not count.
func Exclusive(d disk.Disk) disk.Disk { return &exclusiveDisk{Disk: d, handles: map[string]int{}} }

type exclusiveDisk struct {
	disk.Disk
	mu      sync.Mutex // guards handles
	handles map[string]int
}

// opened counts a handle of a file and returns what takes it back.
func (d *exclusiveDisk) opened(path string) (closed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles[path]++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.handles[path]--
	})
}

// refuse returns an error if one of the files is open.
func (d *exclusiveDisk) refuse(do string, paths ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range paths {
		if d.handles[path] > 0 {
			return &fs.PathError{Op: do, Path: path, Err: ErrOpen}
		}
	}
	return nil
}

func (d *exclusiveDisk) Open(path string) (io.ReadSeekCloser, error) {
	f, err := d.Disk.Open(path)
	if err != nil {
		return nil, err
	}
	return exclusiveReader{f, d.opened(path)}, nil
}

func (d *exclusiveDisk) Create(path string) (journal.File, error) {
	f, err := d.Disk.Create(path)
	if err != nil {
		return nil, err
	}
	return exclusiveFile{f, d.opened(path)}, nil
}

func (d *exclusiveDisk) Append(path string) (journal.File, error) {
	f, err := d.Disk.Append(path)
	if err != nil {
		return nil, err
	}
	return exclusiveFile{f, d.opened(path)}, nil
}

func (d *exclusiveDisk) Rename(from, to string) error {
	if err := d.refuse("rename", from, to); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *exclusiveDisk) Remove(path string) error {
	if err := d.refuse("remove", path); err != nil {
		return err
	}
	return d.Disk.Remove(path)
}

type exclusiveReader struct {
	io.ReadSeekCloser
	closed func()
}

func (r exclusiveReader) Close() error {
	r.closed()
	return r.ReadSeekCloser.Close()
}

type exclusiveFile struct {
	journal.File
	closed func()
}

func (f exclusiveFile) Close() error {
	f.closed()
	return f.File.Close()
}
