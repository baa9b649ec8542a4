//go:build !lean

package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

const (
	workerPrefix = "yamlhost-worker-"
	lockName     = "lock"
)

// ownFolder creates a folder for a worker's files in input, and removes the folders of dead workers. release removes
// the new folder. A file lock, which ends with the process, shows that a worker is alive.
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
		_ = osfile.RemoveAll(dir) // another starting worker may also remove it as a dead worker's folder
	}
	return "", nil, err
}

// removeDead removes the folders of dead workers. A folder that cannot be locked or removed belongs to another process.
func removeDead(input string) {
	entries, _ := os.ReadDir(input)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), workerPrefix) || !entry.IsDir() {
			continue
		}
		dir := filepath.Join(input, entry.Name())
		lock := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_RDWR)) // without creating the file
		if locked, err := lock.TryLock(); err == nil && locked {
			_ = removeFolder(dir, lock)
		} else {
			_ = lock.Close()
		}
	}
}

// removeFolder removes a folder; the caller has locked it. The lock file is removed last, so that after an interrupted
// removal the folder still counts as a dead worker's.
func removeFolder(dir string, lock *flock.Flock) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.Name() != lockName {
			err = errors.Join(err, osfile.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(err, lock.Close(), osfile.RemoveAll(dir))
}
