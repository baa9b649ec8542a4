//go:build unix

package filelock

import (
	"os"

	"github.com/gofrs/flock"
)

// hold locks the folder itself, so that no file stays behind, if nobody has locked it. A file system without locks is
// no reason not to edit: there a folder is always free.
func hold(dir string) (release func(), free bool) {
	lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryLock()
	return func() { _ = lock.Close() }, free || err != nil
}
