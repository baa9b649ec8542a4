package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Commit ends a session. A state that cannot be written is saved to a rescue file, in the first folder with room for
// it.
func Commit(ctx context.Context, a *console.Console, s *console.Stack, session *backend.Session,
	final *state.Snapshot, record *backend.Record) error {
	err := session.Commit(context.WithoutCancel(ctx), final, record)
	var unreadable *backend.UnreadableError
	if !errors.As(err, new(*backend.FileError)) && !errors.As(err, &unreadable) || session.Written() {
		return err
	}
	text, complete, failed := session.Rescue(final)
	if failed != nil {
		return errors.Join(err, fmt.Errorf("make a rescue file of the state: %w", failed))
	}
	name := fmt.Sprintf("%s.%s.rescue-%d.json", s.Project.Name.Text, s.Ref.Stack, a.Now().Unix())
	for _, dir := range []string{s.Project.Dir, a.World.Dir, a.World.Home, os.TempDir()} {
		path := filepath.Join(dir, name)
		if dir == "" || writeRescue(path, text) != nil {
			continue
		}
		out := a.Streams.Err
		fmt.Fprintf(out, "The state could not be written. It is kept, secrets sealed, in the rescue file\n  %s\n", path)
		switch {
		case errors.Is(err, backend.ErrChanged):
			fmt.Fprintf(out,
				"Another program has written the state meanwhile, without a lock. Compare both states and keep "+
					"one; this one is restored with: yamlhost stack import --file %s\n", path)
		case unreadable != nil:
			fmt.Fprintf(out,
				"The state file is what it was before this run, and the journal stays. This is a fault of yamlhost: keep both "+
					"files and report it. The next run tries again; until it succeeds, the rescue file has the current state.\n")
		case complete:
			fmt.Fprintf(out,
				"Nothing is lost: the journal has it too. Correct the problem with the folder, and run the next "+
					"command as usual.\n")
		default:
			fmt.Fprintf(out,
				"Correct the problem with the folder, and restore the state before you run anything else: yamlhost stack "+
					"import --file %s\n", path)
			if file, ok := errors.AsType[*backend.FileError](err); ok {
				return errors.New(file.Reason()) // without the advice to run the command again
			}
		}
		return err
	}
	return errors.Join(err, errors.New("a rescue file could not be written either"))
}

func writeRescue(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = osfile.Remove(path) // remove an incomplete rescue file
	}
	return err
}

// lockInterval is the interval of attempts to take a lock that another run holds.
const lockInterval = 500 * time.Millisecond

// heardInterval is lockInterval for stores that report released locks. The Pulumi CLI does not report them, and neither
// does an expired lease.
const heardInterval = 4 * lockInterval

// beginSession takes the lock of a stack. If another run holds it, beginSession waits for at most wait.
func beginSession(ctx context.Context, out io.Writer, s *console.Stack, wait time.Duration,
	o backend.BeginOptions) (session *backend.Session, err error) {
	err = awaitLock(ctx, out, s, wait, func() error {
		session, err = s.Backend.Begin(ctx, s.Ref, o)
		return err
	})
	return session, err
}

// awaitLock calls try, which takes the lock of a stack, repeatedly while another run holds the lock, for at most wait.
// It reports the waiting on out; an interrupt ends it.
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
			run := "another run"
			if locked != nil && len(locked.Locks) > 0 {
				run = fmt.Sprintf("%s@%s (process %d)", locked.Locks[0].User, locked.Locks[0].Host, locked.Locks[0].PID)
			}
			fmt.Fprintf(out, "Waiting up to %s for %s, which holds the stack %s.\n", wait, run, s.Ref.Stack)
			var stop func()
			if wakes, stop = s.Backend.Wakes(limit, s.Ref); wakes != nil {
				interval = heardInterval
			}
			defer stop()
			continue // it may have been released before the listener started
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

// createMissing creates a missing stack. It waits at most wait for another run that holds the stack's lock and creates
// the stack, or was interrupted doing so.
func createMissing(ctx context.Context, a *console.Console, s *console.Stack, chosen bool, wait time.Duration) error {
	err := awaitLock(ctx, a.Streams.Err, s, wait, func() error { return a.Stacks().CreateMissing(ctx, s, chosen) })
	if exists := (*backend.ExistsError)(nil); wait > 0 && errors.As(err, &exists) {
		s.Missing, err = false, nil
	}
	return err
}
