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
func ownFolder(in string) (dir string, release func() error, err error) {
	if in == "" {
		in = os.TempDir()
	}
	removeDead(in)
	for range 10 {
		if dir, err = os.MkdirTemp(in, workerPrefix); err != nil {
			return "", nil, err
		}
		lock := flock.New(filepath.Join(dir, lockName))
		locked, fault := lock.TryLock()
		if locked {
			return dir, func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }, nil
		}
		err = fmt.Errorf("lock %s: %w", dir, errors.Join(fault, lock.Close()))
		_ = os.RemoveAll(dir) // perhaps another worker that begins has taken it for a dead one's, and does so as well
	}
	return "", nil, err
}

// removeDead removes the folders of workers that died. What cannot be locked or removed is somebody else's.
func removeDead(in string) {
	entries, _ := filepath.Glob(filepath.Join(in, workerPrefix+"*"))
	for _, dir := range entries {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		lock := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_RDWR)) // and does not make one
		locked, err := lock.TryLock()
		_ = lock.Close()
		if err == nil && locked {
			_ = os.RemoveAll(dir)
		}
	}
}
