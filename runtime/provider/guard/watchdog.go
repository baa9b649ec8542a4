package guard

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// defaultPatience is how long a provider may take to answer before the user gets a message.
const defaultPatience = time.Minute

// watchdog tracks unanswered provider calls and reports those that take long (D10). It is safe for concurrent use.
type watchdog struct {
	patience time.Duration
	tell     func(Wait)

	mu    sync.Mutex // guards the fields below
	calls map[int]*waiting
	next  int
}

type waiting struct {
	plugin, does string
	about        urn.URN
	since        time.Time
	told         int // number of reports so far
}

func newWatchdog(patience time.Duration, tell func(Wait)) *watchdog {
	if patience <= 0 {
		patience = defaultPatience
	}
	return &watchdog{patience: patience, tell: tell, calls: map[int]*waiting{}}
}

// begin registers a call; the caller calls done when the answer has arrived.
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

// watch reports a call when its patience is over, and again each time that the wait has doubled, until stop is called.
func (w *watchdog) watch() (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(max(w.patience/4, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-ticker.C:
				for _, m := range w.overdue(now) {
					w.tell(m)
				}
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

func (w *watchdog) overdue(now time.Time) []Wait {
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
	var waits []Wait
	for _, c := range list {
		waits = append(waits, Wait{Provider: c.plugin, Does: c.does, URN: c.about, Time: now.Sub(c.since)})
	}
	return waits
}

// Wait is a slow call.
type Wait struct {
	Provider string
	Does     string  // the action requested, such as "create the resource"
	URN      urn.URN // of the resource that the call concerns; empty if there is none
	Time     time.Duration
}

// String describes the call to a user.
func (w Wait) String() string {
	return fmt.Sprintf("still waiting for the provider %s to %s, for %s now", w.Provider, w.Does,
		w.Time.Round(time.Second/10))
}
