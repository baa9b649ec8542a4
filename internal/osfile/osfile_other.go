//go:build !windows

package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/google/renameio/v2/maybe"
)

var readerGone = []error{syscall.EPIPE, syscall.EBADF, syscall.EIO, os.ErrClosed, io.ErrClosedPipe}

// full are the errors of writes to a disk without room, and readOnly that of a write to a read-only disk.
var (
	full     = []error{syscall.ENOSPC, syscall.EDQUOT}
	readOnly = error(syscall.EROFS)
)

// ReadFile is os.ReadFile.
func ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// hindered reports whether the error passes: open files hinder nobody on these systems.
func hindered(error) bool { return false }

func writeFile(path string, text []byte, perm fs.FileMode) error {
	return maybe.WriteFile(path, text, perm)
}

func removeAll(path string) error { return os.RemoveAll(path) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
