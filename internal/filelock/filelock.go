// Package filelock keeps two processes of one machine from editing the files of a folder at the same moment: project,
// stack and lock files, credentials and what is selected. Each of them is read, changed and written whole, so that
// without a lock the one that writes last takes away what the other has written in between.
//
// The kernel gives a lock back when its process ends. A lock is a promise between processes of yamlhost only: other
// programs do not ask for it.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Patience is how long to wait before busy is called: edits take a few milliseconds.
const Patience = 2 * time.Second

// pause is how long to wait between two tries.
const pause = 5 * time.Millisecond

// Folder waits until nobody else holds the lock of a folder, and takes it. If that takes longer than Patience it
// calls busy once, unless that is nil. A cancelled ctx ends the waiting with its error. A folder that does not exist
// has the lock of the nearest existing folder above it. On a file system without locks, nothing is locked and release
// does nothing. A lock is not reentrant: the caller must release it before it asks again.
func Folder(ctx context.Context, dir string, busy func()) (release func(), err error) {
	began, told := time.Now(), busy == nil
	for {
		target, flag, err := targetOf(dir)
		if err != nil {
			return nil, err
		}
		lock := flock.New(target, flock.SetFlag(flag))
		locked, err := lock.TryLock()
		if err != nil { // a file system without locks is no reason not to edit
			_ = lock.Close()
			return func() {}, nil
		}
		if locked {
			// Somebody may have made the folder meanwhile, which others lock from now on.
			if now, _, err := targetOf(dir); err == nil && now == target {
				return func() { _ = lock.Close() }, nil
			}
		}
		_ = lock.Close()
		if !told && time.Since(began) > Patience {
			told = true
			busy()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// existing is a folder by its real name, or the nearest one above it that exists.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("lock the folder %s: %w", dir, err)
	}
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return real, nil
		}
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			return "", fmt.Errorf("lock the folder %s: %w", dir, err)
		}
		dir = above
	}
}
