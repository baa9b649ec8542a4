// Package disktest has a disk for tests of crashes, bad disks and interference between calls.
package disktest

import (
	"io/fs"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// Fault is called before every change on a disk, and again after it with done set. Its error replaces the change, or
// the report of its success. do is mkdir, create, append, write, sync, rename, link, remove, syncdir, or look, which
// changes nothing. For a rename and a link, path is the target. It is called concurrently.
type Fault func(do, path string, done bool) error

// Around calls act between the two calls of the fault.
func (f Fault) Around(do, path string, act func() error) error {
	if err := f(do, path, false); err != nil {
		return &fs.PathError{Op: do, Path: path, Err: err}
	}
	if err := act(); err != nil {
		return err
	}
	if err := f(do, path, true); err != nil {
		return &fs.PathError{Op: do, Path: path, Err: err}
	}
	return nil
}

// Faulty returns a disk that calls f around every change of d.
func Faulty(d disk.Disk, f Fault) disk.Disk { return faultyDisk{d, f} }

type faultyDisk struct {
	disk.Disk
	fault Fault
}

// ReadUnless counts as a look: the holder of a lock checks the lock file with it.
func (d faultyDisk) ReadUnless(path string, seen disk.Stamp) (text []byte, now disk.Stamp, err error) {
	err = d.fault.Around("look", path, func() error { text, now, err = d.Disk.ReadUnless(path, seen); return err })
	return text, now, err
}

func (d faultyDisk) Mkdir(path string) error {
	return d.fault.Around("mkdir", path, func() error { return d.Disk.Mkdir(path) })
}

func (d faultyDisk) Create(path string) (f journal.File, err error) {
	err = d.fault.Around("create", path, func() error { f, err = d.Disk.Create(path); return err })
	if err != nil && f != nil {
		_ = f.Close()
	}
	return faultyFile{d.fault, f, path}, err
}

func (d faultyDisk) Append(path string) (f journal.File, err error) {
	err = d.fault.Around("append", path, func() error { f, err = d.Disk.Append(path); return err })
	if err != nil && f != nil {
		_ = f.Close()
	}
	return faultyFile{d.fault, f, path}, err
}

func (d faultyDisk) Rename(from, to string) error {
	return d.fault.Around("rename", to, func() error { return d.Disk.Rename(from, to) })
}

func (d faultyDisk) Link(from, to string) error {
	return d.fault.Around("link", to, func() error { return d.Disk.Link(from, to) })
}

func (d faultyDisk) Remove(path string) error {
	return d.fault.Around("remove", path, func() error { return d.Disk.Remove(path) })
}

func (d faultyDisk) SyncDir(path string) error {
	return d.fault.Around("syncdir", path, func() error { return d.Disk.SyncDir(path) })
}

type faultyFile struct {
	fault Fault
	f     journal.File
	path  string
}

func (f faultyFile) Write(p []byte) (n int, err error) {
	err = f.fault.Around("write", f.path, func() error { n, err = f.f.Write(p); return err })
	return n, err
}

func (f faultyFile) Sync() error { return f.fault.Around("sync", f.path, f.f.Sync) }

func (f faultyFile) Close() error { return f.f.Close() }
