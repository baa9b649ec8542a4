// Package filelock keeps two processes of one machine from editing the files of a folder at the same moment: project,
// stack and lock files, credentials and the stack selection. Each file is read, changed and rewritten as a whole, so
// that without a lock the last writer would discard the changes of the other process.
//
// The kernel gives a lock back when its process ends. A lock is a promise between processes of yamlhost only: other
// programs do not ask for it.
package filelock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Patience is how long to wait before busy is called: edits take a few milliseconds.
const Patience = 2 * time.Second

// pause is how long to wait between two tries.
const pause = 5 * time.Millisecond

// Folder waits until nobody else holds the lock of a folder, and takes it. If that takes longer than Patience it
// calls busy once, unless that is nil. A cancelled ctx ends the waiting with its error. A folder that does not exist is
// made first, readable for all that the umask lets in, so that everybody locks the same one. On a file system without
// locks, nothing is locked and release does nothing. A lock is not reentrant: the caller must release it before it asks
// again.
func Folder(ctx context.Context, dir string, busy func()) (release func(), err error) {
	began, told := time.Now(), busy == nil
	for {
		target, err := made(dir)
		if err != nil {
			return nil, err
		}
		release, free := hold(target)
		if free {
			// Somebody may have removed the folder meanwhile and made it again, which others lock from now on.
			if now, err := made(dir); err == nil && now == target {
				return release, nil
			}
		}
		release()
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

// made returns a folder by its real name, and makes it first if it is missing.
func made(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("lock the folder %s: %w", dir, err)
	}
	return dir, nil
}
