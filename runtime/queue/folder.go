//go:build !lean

package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const (
	workerPrefix = "yamlhost-worker-"
	lockName     = "lock"
)

// ownFolder makes a folder for the files of a worker's jobs, in another one. Those of workers that died there are
// removed. release removes the folder. A lock that the kernel gives back with the process tells which workers live.
func ownFolder(input string) (dir string, release func() error, err error) {
	if input == "" {
		input = os.TempDir()
	}
	removeDead(input)
	for range 10 {
		if dir, err = os.MkdirTemp(input, workerPrefix); err != nil {
			return "", nil, err
		}
		lock := flock.New(filepath.Join(dir, lockName))
		locked, fault := lock.TryLock()
		if locked {
			return dir, func() error { return removeFolder(dir, lock) }, nil
		}
		err = fmt.Errorf("lock %s: %w", dir, errors.Join(fault, lock.Close()))
		_ = os.RemoveAll(dir) // perhaps another worker that begins has taken it for a dead one's, and does so as well
	}
	return "", nil, err
}

// removeDead removes the folders of workers that died. A folder that cannot be locked or removed belongs to another
// process.
func removeDead(input string) {
	entries, _ := filepath.Glob(filepath.Join(input, workerPrefix+"*"))
	for _, dir := range entries {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		lock := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_RDWR)) // and does not make one
		if locked, err := lock.TryLock(); err == nil && locked {
			_ = removeFolder(dir, lock)
		} else {
			_ = lock.Close()
		}
	}
}

// removeFolder removes a folder whose lock is held. The lock's file goes last: what is left of a removal that was cut
// off is still a dead worker's folder.
func removeFolder(dir string, lock *flock.Flock) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(err, lock.Close(), os.RemoveAll(dir))
}
