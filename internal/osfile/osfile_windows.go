package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/windows"
)

var readerGone = []error{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED,
	windows.ERROR_INVALID_HANDLE, os.ErrClosed, io.ErrClosedPipe}

// full are the errors of writes to a disk without room, and readOnly that of a write to a read-only disk.
var (
	full     = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
	readOnly = error(windows.ERROR_WRITE_PROTECT)
)

// ReadFile is os.ReadFile, but other processes may rename and remove the file meanwhile.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, max(info.Size(), 0)+1)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
	}
}

// openFile opens a file as package os does, and with FILE_SHARE_DELETE.
func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	fault := func(err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, fault(err)
	}
	var access uint32
	switch {
	case flag&os.O_RDWR != 0:
		access = windows.GENERIC_READ | windows.GENERIC_WRITE
	case flag&os.O_WRONLY != 0:
		access = windows.GENERIC_WRITE
	default:
		access = windows.GENERIC_READ
	}
	if flag&os.O_APPEND != 0 { // without the right to write elsewhere, Windows writes at the end
		access = access&^windows.GENERIC_WRITE | windows.FILE_GENERIC_WRITE&^windows.FILE_WRITE_DATA
	}
	disposition := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		disposition = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		disposition = windows.OPEN_ALWAYS
	}
	attributes := uint32(windows.FILE_ATTRIBUTE_NORMAL)
	if flag&os.O_CREATE != 0 && perm&0o200 == 0 {
		attributes = windows.FILE_ATTRIBUTE_READONLY
	}
	handle, err := windows.CreateFile(name, access,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, disposition, attributes, 0)
	if err != nil {
		return nil, fault(err)
	}
	f := os.NewFile(uintptr(handle), path)
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

func writeFile(path string, text []byte, perm fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the fault that matters is err
	}
	return err
}

// hindered reports whether the error passes once other processes close the file: they opened it without letting others
// rename it, or it is being removed.
func hindered(err error) bool {
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true
	}
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return false
	}
	// A folder cannot be opened or replaced as a file, however long one waits.
	paths := []string{}
	if fault := (*fs.PathError)(nil); errors.As(err, &fault) && fault.Op == "open" {
		paths = append(paths, fault.Path)
	}
	if fault := (*os.LinkError)(nil); errors.As(err, &fault) {
		paths = append(paths, fault.New)
	}
	return !slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
}

// removeAll is os.RemoveAll, and goes without the removal that systems before Windows 10 and Wine do not have.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return err
	}
	var found []string
	err = filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			found = append(found, path)
		}
		return err
	})
	for _, path := range slices.Backward(found) {
		if removed := os.Remove(path); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func syncDir(string) error { return nil }
