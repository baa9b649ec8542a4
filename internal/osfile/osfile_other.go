//go:build !windows

package osfile

import (
	"errors"
	"io/fs"
	"os"
)

// ReadFile is os.ReadFile.
func ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// hindered reports whether the error passes: open files hinder nobody on these systems.
func hindered(error) bool { return false }

func removeAll(path string) error { return os.RemoveAll(path) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
