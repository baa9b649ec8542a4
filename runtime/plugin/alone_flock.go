//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package plugin

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// alone waits until no other process installs the plugin with this folder, by the lock file beside it that the Pulumi
// CLI takes as well (F2.28), and keeps others away until release.
func alone(ctx context.Context, dir string) (release func(), err error) {
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { _ = f.Close() }, nil // a file system without locks is no reason not to install
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			_ = f.Close()
			return nil, ctx.Err()
		}
	}
}
