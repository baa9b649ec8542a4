package report

import (
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/view"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// text is what a log shows, line by line.
type text struct{ out io.Writer }

func newText(w io.Writer) streamed {
	return &text{printable.NewWriter(w, func() bool { return false })}
}

func (t *text) phase(o view.Options, m *mask.Masker) (func(engine.Event), func() error) {
	hiding := mask.NewWriter(t.out, m)
	o.Out, o.Err, o.Interactive, o.Silent, o.SuppressProgress, o.Found = hiding, hiding, false, true, false, nil
	v := view.New(o)
	return v.Event, func() error { v.Close(); return hiding.Flush() }
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
		errors, warnings := r.severities()
		_, err = fmt.Fprintf(t.out, "%s, %s\n", view.Count(errors, "error"), view.Count(warnings, "warning"))
	}
	for _, remark := range r.Remarks {
		fmt.Fprintln(t.out, remark)
	}
	if r.Exit.Text != "" {
		_, err = fmt.Fprintf(t.out, "error: %s\n", r.Exit.Text)
	}
	return err
}
