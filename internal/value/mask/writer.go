package mask

import (
	"io"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Writer hides secrets in a stream, even if a secret is split between writes: it holds back the end of the text while
// that may be the beginning of a secret. Flush writes what is held back. It is safe for concurrent use.
//
// A secret that is hidden only as a whole text is not searched in streams.
type Writer struct {
	masker *Masker

	mu   sync.Mutex // guards the fields below and the order of writes
	out  io.Writer
	held []byte
	// hidden is the number of held bytes that belong to a secret whose placeholder was written already; none otherwise.
	hidden int
	before byte // the byte before held
}

// NewWriter returns a Writer that writes to out and hides the secrets that m knows at the time of each write.
func NewWriter(out io.Writer, m *Masker) *Writer { return &Writer{masker: m, out: out, hidden: none} }

// Write accepts all of p, or returns the error of the underlying writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.advance(append(w.held, p...), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the text that is held back. If it was the beginning of a secret, the secret is not recognized when the
// rest follows.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(w.held, true)
}

// advance writes as much of text as is safe, or all of it. The caller holds mu.
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
		if s.from > 0 || w.hidden == none { // otherwise its placeholder is written already
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
