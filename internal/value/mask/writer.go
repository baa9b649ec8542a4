package mask

import (
	"io"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Writer hides secrets in a stream, also where one comes in several pieces: the end of the written text is held back
// for as long as it may be the beginning of a secret. Flush lets it go. It is safe for concurrent use.
//
// A secret that is hidden only as a whole text is not looked for in streams.
type Writer struct {
	masker *Masker

	mu   sync.Mutex // guards the fields below and the order of writes
	out  io.Writer
	held []byte
	// how many of the first held bytes belong to a secret whose placeholder was written; none for no such secret
	hidden int
	before byte // the byte before held
}

// NewWriter returns a Writer in front of out that hides what m knows when something is written.
func NewWriter(out io.Writer, m *Masker) *Writer { return &Writer{masker: m, out: out, hidden: none} }

// Write takes all of p, or reports the error of the writer behind.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.advance(append(w.held, p...), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is held back. A secret whose beginning was held back is not recognized any more when the rest
// follows.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(w.held, true)
}

// advance writes as much of text as may be shown. The caller holds mu.
func (w *Writer) advance(text []byte, all bool) error {
	if len(text) == 0 {
		return nil
	}
	w.masker.lockForReading()
	f := w.masker.dict.search(string(text), w.before, w.hidden)
	w.masker.mu.RUnlock()
	end := len(text) - f.held
	if all {
		end = len(text)
	}
	if end == 0 {
		w.held = text
		return nil
	}
	var out []byte
	i, rest := 0, none
	for _, s := range f.spans {
		if s.from >= end {
			break
		}
		out = append(out, text[i:s.from]...)
		if s.from > 0 || w.hidden == none { // else its placeholder was written before
			out = append(out, value.SecretText...)
		}
		i, rest = min(s.to, end), none
		if s.to >= end && !all {
			rest = s.to - end
		}
	}
	out = append(out, text[i:end]...)
	w.before = text[end-1]
	w.held, w.hidden = append([]byte(nil), text[end:]...), rest
	if len(out) == 0 {
		return nil
	}
	_, err := w.out.Write(out)
	return err
}
