package cancel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// cancelOptions are the arguments and flags of cancel.
type cancelOptions struct {
	stack string
	yes   bool
}

// NewCancel returns the command cancel.
func NewCancel(a *console.Console) *cobra.Command {
	o := &cancelOptions{}
	cmd := &cobra.Command{
		Use: "cancel [STACK]", Short: "Remove the locks of a stack", Args: console.AtMostOne("the name of a stack"),
		Long: "cancel removes the locks of a stack, no matter who holds them, and reports whether their owners " +
			"still run. A run of yamlhost that loses its lock starts no further step and writes nothing more, " +
			"even if it is suspended now and resumes later. A provider call in flight finishes, and is a " +
			"pending operation for the next run. The Pulumi CLI does not notice that its lock is gone, and " +
			"continues: stop it first.",
		RunE: console.RunWith(a, cancel, o, &o.stack),
	}
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	return cmd
}

// cancel removes the locks of a stack.
func cancel(ctx context.Context, a *console.Console, o *cancelOptions) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("This will irreversibly cancel the currently running update for '%s'. Go on?", s.Ref.Stack)
	// Tools that call pulumi cancel pass no --yes, and have nobody to ask.
	unasked := a.World.AsPulumi && !a.Interactive() // the Pulumi CLI asks only at a terminal
	if err := a.Confirm(o.yes || unasked, "cancel", question); err != nil {
		return err
	}
	// The state is not read: a stack must be cancellable also when its state is damaged.
	cancelled, err := s.Backend.Cancel(s.Ref)
	if err != nil {
		return err
	}
	if len(cancelled.Locks) == 0 && cancelled.HeldUp == 0 {
		fmt.Fprintf(a.Streams.Err, "Nothing was canceled: there is no lock on the stack '%s'.\n", s.Ref.Stack)
		return nil
	}
	fmt.Fprintf(a.Streams.Err, "The currently running update for '%s' has been canceled! (%s removed)\n", s.Ref.Stack,
		diag.Count(len(cancelled.Locks), "lock"))
	for _, l := range cancelled.Locks {
		fmt.Fprintf(a.Streams.Err, "  %s\n", fateOf(l))
	}
	// The process has begun to change a file of the stack and makes no progress: no other run can take the lock before
	// it goes on or ends.
	if pid := cancelled.HeldUp; pid != 0 {
		fmt.Fprintf(a.Streams.Err,
			"  The process %d is stopped in the middle of a change. Before the next run, let it go on with 'kill -CONT %d', "+
				"or end it "+
				"with 'kill -9 %d'.\n", pid, pid, pid)
	}
	return nil
}

// fateOf describes the owner of a removed lock, and what the owner's run does from now on.
func fateOf(l backend.Lock) string {
	// Only a service names the operation; it refuses requests with the old lease by itself.
	if l.Operation != "" {
		return fmt.Sprintf("the %s of %s since %s: the service refuses what it sends from now on. A provider call in flight "+
			"finishes, and is a pending operation for the next run.", l.Operation, l.User, l.Timestamp.Format(time.RFC3339))
	}
	owner := fmt.Sprintf("%s@%s (pid %d, since %s)", l.User, l.Host, l.PID, l.Timestamp.Format(time.RFC3339))
	// The lock cannot be read, so its path is all that is known.
	if l.PID == 0 {
		owner = l.Path
	}
	fenced := "it starts no further step and writes nothing more. A provider call in flight finishes, and is a " +
		"pending operation for the next run."
	// A lock of another program, such as the Pulumi CLI, whose runs do not look at their lock again.
	if l.Foreign {
		fenced = "it does not notice that its lock is gone, and continues. Stop it before the next run."
	}
	switch l.Owner {
	case backend.OwnerGone:
		return owner + " has ended."
	case backend.OwnerRunning:
		return owner + " still runs: " + fenced
	case backend.OwnerStopped:
		return fmt.Sprintf(
			"%s is suspended. If it resumes, %s End it with 'kill -9 %d' before you resolve its pending "+
				"operations.",
			owner, strings.TrimSuffix(fenced, " Stop it before the next run."), l.PID)
	}
	return owner + " may still run; this cannot be checked from here. If it does, " + fenced
}
