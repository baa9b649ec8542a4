package plugin

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/gofrs/flock"
)

// alone locks the folder of a plugin for its installation, with the lock file beside it that the Pulumi CLI uses too
// (F2.28). It blocks while another process holds the lock, until release is called.
func alone(ctx context.Context, dir string) (release func(), err error) {
	lock := flock.New(dir + ".lock")
	_, err = lock.TryLockContext(ctx, 50*time.Millisecond)
	var missing *fs.PathError
	if ctx.Err() != nil || errors.As(err, &missing) {
		_ = lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // install without a lock if the file system has none
}
