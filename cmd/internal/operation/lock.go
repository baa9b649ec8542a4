package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// lockInterval is how often a lock that another run holds is asked for again.
const lockInterval = 500 * time.Millisecond

// beginSession takes the stack's lock. With --lock-timeout it waits for another run that holds it; an interrupt ends
// the waiting.
func (p *Pipeline) beginSession(ctx context.Context, o backend.BeginOptions) (*backend.Session, error) {
	limit, end := context.WithTimeout(ctx, p.options.LockTimeout)
	defer end()
	told := false
	for {
		session, err := p.Stack.Backend.Begin(ctx, p.Stack.Ref, o)
		var locked *backend.LockedError
		var held *backend.HeldUpError
		if err == nil || p.options.LockTimeout <= 0 || !errors.As(err, &locked) && !errors.As(err, &held) {
			return session, err
		}
		if !told {
			told = true
			who := "another run"
			if locked != nil && len(locked.Locks) > 0 {
				who = fmt.Sprintf("%s@%s (process %d)", locked.Locks[0].User, locked.Locks[0].Host, locked.Locks[0].PID)
			}
			fmt.Fprintf(p.Console.Streams.Err, "Waiting up to %s for %s, which holds the stack %s.\n", p.options.LockTimeout,
				who, p.Stack.Ref.Stack)
		}
		timer := time.NewTimer(lockInterval)
		select {
		case <-timer.C:
		case <-limit.Done():
			timer.Stop()
			return nil, err
		}
	}
}
