package cli

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/urn"
)

// defaultPatience is how long a provider may take to answer before people are told what is being waited for.
const defaultPatience = time.Minute

// watchdog knows which calls to providers are under way, and says so when one takes long (D10). It is safe for concurrent
// use.
type watchdog struct {
	patience time.Duration
	tell     func(engine.Event)

	mu    sync.Mutex
	calls map[int]*waiting
	next  int
}

type waiting struct {
	plugin, does string
	about        urn.URN
	since        time.Time
	told         int // how often
}

func newWatchdog(patience time.Duration, tell func(engine.Event)) *watchdog {
	if patience <= 0 {
		patience = defaultPatience
	}
	return &watchdog{patience: patience, tell: tell, calls: map[int]*waiting{}}
}

// begin notes a call; the caller calls done when it has its answer.
func (w *watchdog) begin(plugin, does string, about urn.URN) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.next
	w.next++
	w.calls[n] = &waiting{plugin: plugin, does: does, about: about, since: time.Now()}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, n)
	}
}

// watch speaks up until stop is called: first after the patience is over, then each time that the wait has doubled.
func (w *watchdog) watch() (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(max(w.patience/4, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-ticker.C:
				for _, m := range w.overdue(now) {
					w.tell(m)
				}
			}
		}
	})
	return func() { close(over); watching.Wait() }
}

func (w *watchdog) overdue(now time.Time) []*engine.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*waiting
	for _, c := range w.calls {
		if now.Sub(c.since) >= w.patience<<min(c.told, 20) {
			c.told++
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *waiting) int { return a.since.Compare(b.since) })
	var messages []*engine.Message
	for _, c := range list {
		messages = append(messages, &engine.Message{URN: c.about, Severity: diag.Info, Text: fmt.Sprintf(
			"still waiting for the provider %s to %s, for %s now", c.plugin, c.does, now.Sub(c.since).Round(time.Second/10))})
	}
	return messages
}
