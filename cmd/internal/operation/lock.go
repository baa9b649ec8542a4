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

// heardInterval is lockInterval where the store reports released locks. The Pulumi CLI reports none, and a
// lease runs out without a word.
const heardInterval = 4 * lockInterval

// beginSession takes the lock of a stack. It waits so long for another run that holds it.
func beginSession(ctx context.Context, out io.Writer, s *console.Stack, wait time.Duration,
	o backend.BeginOptions) (session *backend.Session, err error) {
	err = awaitLock(ctx, out, s, wait, func() error {
		session, err = s.Backend.Begin(ctx, s.Ref, o)
		return err
	})
	return session, err
}

// awaitLock tries what takes the lock of a stack, again and again for so long as another run holds it. It tells that on
// out; an interrupt ends the waiting.
func awaitLock(ctx context.Context, out io.Writer, s *console.Stack, wait time.Duration, try func() error) error {
	limit, end := context.WithTimeout(ctx, wait)
	defer end()
	told := false
	interval := lockInterval
	var wakes <-chan struct{}
	for {
		err := try()
		var locked *backend.LockedError
		if err == nil || wait <= 0 || !errors.As(err, &locked) && !errors.As(err, new(*backend.HeldUpError)) {
			return err
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
			return err
		}
	}
}

// realize creates a stack that does not exist yet. It waits so long for another run that holds the stack's lock: one
// that was cut off when it made the stack, or that makes it now.
func realize(ctx context.Context, a *console.Console, s *console.Stack, chosen bool, wait time.Duration) error {
	err := awaitLock(ctx, a.Streams.Err, s, wait, func() error { return a.Stacks().Realize(ctx, s, chosen) })
	if exists := (*backend.ExistsError)(nil); wait > 0 && errors.As(err, &exists) {
		s.Missing, err = false, nil
	}
	return err
}
