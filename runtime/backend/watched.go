package backend

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Watched is an operation that a service shows on its pages: it gets events. Lost events do not matter to anybody
// else. A nil *Watched, of backends without pages, does nothing. It is safe for concurrent use.
type Watched struct {
	update  Update
	preview bool

	mu     sync.Mutex // guards what follows
	lines  []json.RawMessage
	closed bool
	wake   chan struct{} // has a value when there are lines
	ending chan struct{}
	done   chan struct{}
}

// eventPause is how long the events of a run gather before they are sent: nobody waits for them.
const eventPause = 250 * time.Millisecond

func watch(u Update, preview bool) *Watched {
	w := &Watched{update: u, preview: preview, wake: make(chan struct{}, 1),
		ending: make(chan struct{}), done: make(chan struct{})}
	go w.send()
	return w
}

// Watch starts a preview that a service shows on its pages; nil where nobody does. The caller ends it with Close.
func (b *Backend) Watch(ctx context.Context, r Ref, about *Record) (*Watched, error) {
	if b.service == nil {
		return nil, nil
	}
	r, err := b.named(ctx, r)
	if err != nil {
		return nil, err
	}
	update, err := b.service.Begin(ctx, r, about, true)
	if err != nil {
		return nil, err
	}
	return watch(update, true), nil
}

// Facts returns what the service has answered.
func (w *Watched) Facts() UpdateFacts {
	if w == nil {
		return UpdateFacts{}
	}
	return w.update.Facts()
}

// Event passes on the line of an event.
func (w *Watched) Event(line []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.lines = append(w.lines, json.RawMessage(line))
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// send sends lines until the end. A batch that the service does not take is dropped.
func (w *Watched) send() {
	defer close(w.done)
	for ended := false; !ended; {
		select {
		case <-w.wake:
		case <-w.ending:
			ended = true
		}
		w.mu.Lock()
		lines := w.lines
		w.lines = nil
		w.mu.Unlock()
		if len(lines) > 0 {
			_ = w.update.Events(context.Background(), lines)
		}
		select {
		case <-time.After(eventPause):
		case <-w.ending:
		}
	}
}

// flush sends the rest. Later events are dropped.
func (w *Watched) flush() {
	if w == nil {
		return
	}
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.mu.Unlock()
	if first {
		close(w.ending)
	}
	<-w.done
}

// Close ends a preview: succeeded, failed or cancelled.
func (w *Watched) Close(status string) {
	if w == nil || !w.preview {
		return
	}
	w.flush()
	_ = w.update.Complete(context.Background(), status) // it holds nothing
}
