package backend

import (
	"io/fs"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// Fault is told of every change that a backend is about to make in its folder, and of every one that it has made; an
// error makes the change, or the report of its success, fail. It exists for tests of crashes and of bad disks: nothing
// but a test sets it. do is mkdir, create, write, sync, rename, link, remove or syncdir; of a rename and a link, path
// is where to. It is called concurrently.
type Fault func(do, path string, done bool) error

// faultyDisk is a disk behind a Fault.
type faultyDisk struct {
	disk
	fault Fault
}

func (d faultyDisk) around(do, path string, act func() error) error {
	if err := d.fault(do, path, false); err != nil {
		return &fs.PathError{Op: do, Path: path, Err: err}
	}
	if err := act(); err != nil {
		return err
	}
	if err := d.fault(do, path, true); err != nil {
		return &fs.PathError{Op: do, Path: path, Err: err}
	}
	return nil
}

func (d faultyDisk) Mkdir(path string) error {
	return d.around("mkdir", path, func() error { return d.disk.Mkdir(path) })
}

func (d faultyDisk) Create(path string) (f journal.File, err error) {
	err = d.around("create", path, func() error { f, err = d.disk.Create(path); return err })
	if err != nil && f != nil {
		_ = f.Close()
	}
	return faultyFile{d, f, path}, err
}

func (d faultyDisk) Rename(from, to string) error {
	return d.around("rename", to, func() error { return d.disk.Rename(from, to) })
}

func (d faultyDisk) Link(from, to string) error {
	return d.around("link", to, func() error { return d.disk.Link(from, to) })
}

func (d faultyDisk) Remove(path string) error {
	return d.around("remove", path, func() error { return d.disk.Remove(path) })
}

func (d faultyDisk) SyncDir(path string) error {
	return d.around("syncdir", path, func() error { return d.disk.SyncDir(path) })
}

type faultyFile struct {
	d    faultyDisk
	f    journal.File
	path string
}

func (f faultyFile) Write(p []byte) (n int, err error) {
	err = f.d.around("write", f.path, func() error { n, err = f.f.Write(p); return err })
	return n, err
}

func (f faultyFile) Sync() error { return f.d.around("sync", f.path, f.f.Sync) }

func (f faultyFile) Close() error { return f.f.Close() }
