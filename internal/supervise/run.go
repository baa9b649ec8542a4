package supervise

import (
	"context"
	"os/exec"
	"sync"
)

// Run starts cmd in the manner of Start and waits until it has ended. When ctx ends before, the command is killed with
// what it has started, and the error is that of ctx.
func Run(ctx context.Context, cmd *exec.Cmd, supervisor []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	child, err := Start(cmd, supervisor)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ended:
		case <-ctx.Done():
			child.Kill()
		}
	})
	child.Wait()
	close(ended)
	watching.Wait()
	if err := child.Finish(); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}
