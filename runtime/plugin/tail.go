package plugin

import (
	"bytes"
	"sync"
)

// tail keeps the end of a process's output, bounded. It is safe for concurrent use.
type tail struct {
	mu    sync.Mutex // guards the fields below
	limit int
	kept  []byte
	cut   bool
}

// Write appends p and drops the beginning if it does not fit. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > t.limit {
		p, t.cut = p[len(p)-t.limit:], true
	}
	if excess := len(t.kept) + len(p) - t.limit; excess > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[excess:]...), true
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// String returns the kept output, from the first whole line on if it was truncated.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.kept
	if t.cut {
		if _, whole, _ := bytes.Cut(text, []byte("\n")); len(whole) > 0 {
			text = whole
		}
	}
	return string(text)
}
