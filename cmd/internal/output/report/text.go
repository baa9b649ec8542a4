package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// text is the text of a terminal, for logs, line by line.
type text struct {
	out  io.Writer
	kept *block // of one stack of several; nil for a command about one
}

func newText(w io.Writer) streamed {
	kept, _ := w.(*block)
	return &text{printable.NewWriter(w, func() bool { return false }), kept}
}

func (t *text) phase(o view.Options, m *mask.Masker) (func(engine.Event), func() error) {
	o.Out, o.Err, o.Interactive, o.Silent, o.SuppressProgress, o.Found = t.out, t.out, false, true, false, nil
	o.Mask = m
	v := view.New(o)
	return v.Event, func() error { v.Close(); return nil }
}

func (t *text) find(ds diag.Diagnostics) error {
	if err := diag.WriteText(t.out, ds, diag.TextOptions{}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.out)
	return err
}

func (t *text) finish(r *Record) error {
	var err error
	if r.Command == "check" {
		_, err = fmt.Fprintln(t.out, r.severities())
	}
	for _, remark := range r.Remarks {
		if len(r.Parts) == 0 { // otherwise each part has written its own
			fmt.Fprintln(t.out, remark)
		}
	}
	if r.Exit.Text != "" {
		_, err = fmt.Fprintf(t.out, "error: %s\n", r.Exit.Text)
	}
	if t.kept != nil {
		return errors.Join(err, t.kept.flush(r))
	}
	return err
}
