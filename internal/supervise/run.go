package supervise

import (
	"context"
	"os/exec"
	"sync"
)

// Run starts cmd as Start does and waits for it to end. If ctx ends first, Run kills the command and all processes that
// it has started, and returns ctx's error.
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
