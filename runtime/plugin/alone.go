package plugin

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/gofrs/flock"
)

// alone waits until no other process installs the plugin with this folder, by the lock file beside it that the Pulumi
// CLI takes as well (F2.28), and keeps others away until release.
func alone(ctx context.Context, dir string) (release func(), err error) {
	lock := flock.New(dir + ".lock")
	_, err = lock.TryLockContext(ctx, 50*time.Millisecond)
	var missing *fs.PathError
	if ctx.Err() != nil || errors.As(err, &missing) {
		_ = lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // a file system without locks is no reason not to install
}
