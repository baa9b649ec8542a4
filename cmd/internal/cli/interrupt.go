package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// interrupts turns signals into a gentle end and, at the second, an immediate one (D10, E5.50, E5.51).
type interrupts struct {
	err       io.Writer
	first     chan struct{}
	second    chan struct{}
	done      chan struct{}
	finished  sync.WaitGroup
	announced string // what the first signal says, guarded by mu
	mu        sync.Mutex
}

// watch starts to listen for signals; stop ends it.
func watch(signals <-chan os.Signal, err io.Writer) *interrupts {
	i := &interrupts{err: err, first: make(chan struct{}), second: make(chan struct{}), done: make(chan struct{})}
	if signals == nil {
		return i
	}
	i.finished.Go(func() {
		for n := 0; n < 2; n++ {
			select {
			case <-signals:
			case <-i.done:
				return
			}
			if n == 0 {
				fmt.Fprintln(i.err, "^C received; cancelling. If you would like to terminate immediately, press ^C again.")
				i.mu.Lock()
				if i.announced != "" {
					fmt.Fprintln(i.err, i.announced)
				}
				i.mu.Unlock()
				close(i.first)
			} else {
				fmt.Fprintln(i.err, "^C received; terminating")
				close(i.second)
			}
		}
	})
	return i
}

func (i *interrupts) stop() {
	close(i.done)
	i.finished.Wait()
}

// announce sets what else the first signal says.
func (i *interrupts) announce(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.announced = text
}

// gentle is a context that the first signal cancels. The caller calls done when it is over.
func (i *interrupts) gentle(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-i.first:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); listening.Wait() }
}

// terminate is closed by the second signal.
func (i *interrupts) terminate() <-chan struct{} { return i.second }
