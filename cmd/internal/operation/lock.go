package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// lockInterval is how often a lock that another run holds is asked for again.
const lockInterval = 500 * time.Millisecond

// heardInterval is lockInterval where the store tells when a lock is given back. The Pulumi CLI tells nobody, and a
// lease runs out without a word.
const heardInterval = 4 * lockInterval

// beginSession takes the lock of a stack. It waits so long for another run that holds it, and tells that on out; an
// interrupt ends the waiting.
func beginSession(ctx context.Context, out io.Writer, s *console.Stack, wait time.Duration,
	o backend.BeginOptions) (*backend.Session, error) {
	limit, end := context.WithTimeout(ctx, wait)
	defer end()
	told := false
	interval := lockInterval
	var wakes <-chan struct{}
	for {
		session, err := s.Backend.Begin(ctx, s.Ref, o)
		var locked *backend.LockedError
		var held *backend.HeldUpError
		if err == nil || wait <= 0 || !errors.As(err, &locked) && !errors.As(err, &held) {
			return session, err
		}
		if !told {
			told = true
			who := "another run"
			if locked != nil && len(locked.Locks) > 0 {
				who = fmt.Sprintf("%s@%s (process %d)", locked.Locks[0].User, locked.Locks[0].Host, locked.Locks[0].PID)
			}
			fmt.Fprintf(out, "Waiting up to %s for %s, which holds the stack %s.\n", wait, who, s.Ref.Stack)
			var stop func()
			if wakes, stop = s.Backend.Wakes(limit, s.Ref); wakes != nil {
				interval = heardInterval
			}
			defer stop()
			continue // it may have been given back before anybody listened
		}
		timer := time.NewTimer(interval)
		select {
		case <-timer.C:
		case <-wakes:
			timer.Stop()
		case <-limit.Done():
			timer.Stop()
			return nil, err
		}
	}
}
