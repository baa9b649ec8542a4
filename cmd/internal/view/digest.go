package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/mask"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Digest gathers a preview's events into the one document of `preview --json` (E8.22–E8.24, F7.9).
type Digest struct {
	o        Options
	mask     *mask.Masker
	document digestJSON
	err      error
}

// The document, in the order in which Pulumi writes its members.
type (
	digestJSON struct {
		Config        map[string]string      `json:"config,omitempty"`
		Steps         []digestStepJSON       `json:"steps,omitempty"`
		Diagnostics   []digestDiagnosticJSON `json:"diagnostics,omitempty"`
		Duration      time.Duration          `json:"duration,omitempty"`
		ChangeSummary map[engine.Op]int      `json:"changeSummary,omitempty"`
		MaybeCorrupt  bool                   `json:"maybeCorrupt,omitempty"`
	}
	digestStepJSON struct {
		Op             engine.Op                 `json:"op"`
		URN            string                    `json:"urn"`
		Provider       string                    `json:"provider,omitempty"`
		OldState       json.RawMessage           `json:"oldState,omitempty"`
		NewState       json.RawMessage           `json:"newState,omitempty"`
		DiffReasons    []string                  `json:"diffReasons,omitempty"`
		ReplaceReasons []string                  `json:"replaceReasons,omitempty"`
		DetailedDiff   map[string]digestDiffJSON `json:"detailedDiff"`
	}
	digestDiffJSON struct {
		Kind      string `json:"kind"`
		InputDiff bool   `json:"inputDiff"`
	}
	digestDiagnosticJSON struct {
		URN      string `json:"urn,omitempty"`
		Prefix   string `json:"prefix,omitempty"`
		Message  string `json:"message,omitempty"`
		Severity string `json:"severity,omitempty"`
	}
)

// NewDigest makes an empty digest; of the options only ShowSames, ShowSecrets and Secrets count.
func NewDigest(o Options) *Digest { return &Digest{o: o, mask: masker(o.Secrets)} }

// Event takes an event in. It is called by one goroutine at a time.
func (d *Digest) Event(e engine.Event) {
	switch e := e.(type) {
	case *engine.Prelude:
		d.document.Config = map[string]string{}
		for k, text := range e.Config {
			d.document.Config[k] = d.mask.Hide(text)
		}
	case *engine.StepFinished:
		if !e.Internal && !e.Outputs && e.Step.Logical() && d.tells(e.Step) {
			d.step(e.Step)
		}
	case *engine.Message:
		if e.Debug || e.Ephemeral {
			return
		}
		prefix := ""
		if e.Severity == diag.Error || e.Severity == diag.Warning {
			prefix = e.Severity.String() + ": "
		}
		d.document.Diagnostics = append(d.document.Diagnostics, digestDiagnosticJSON{
			URN: string(e.URN), Prefix: prefix, Message: prefix + d.mask.Hide(e.Text) + "\n", Severity: e.Severity.String(),
		})
	case *engine.Summary:
		d.document.Duration, d.document.ChangeSummary, d.document.MaybeCorrupt = e.Duration, e.Changes, e.MaybeCorrupt
	}
}

// tells reports whether a step belongs into the document: sames only when asked for, but for the stack, and those that
// change protection (E8.23).
func (d *Digest) tells(s *engine.Step) bool {
	return s.Op != engine.OpSame || d.o.ShowSames || s.URN.Type() == urn.RootStackType ||
		s.Old != nil && s.New != nil && s.Old.Protect != s.New.Protect
}

func (d *Digest) step(s *engine.Step) {
	step := digestStepJSON{
		Op: s.Op, URN: string(s.URN), Provider: s.Provider,
		OldState: d.state(s.Old), NewState: d.state(s.New),
		DiffReasons: s.Diffs, ReplaceReasons: s.Keys,
	}
	if s.Detailed != nil {
		step.DetailedDiff = map[string]digestDiffJSON{}
		for path, change := range s.Detailed {
			step.DetailedDiff[path] = digestDiffJSON{change.Kind.String(), change.InputDiff}
		}
	}
	d.document.Steps = append(d.document.Steps, step)
}

func (d *Digest) state(r *state.Resource) json.RawMessage {
	if r == nil {
		return nil
	}
	form := state.Masked()
	if d.o.ShowSecrets {
		form = state.Shown()
	} else {
		r = r.Clone()
		r.Inputs, r.Outputs = d.mask.HideValue(r.Inputs), d.mask.HideValue(r.Outputs)
	}
	text, err := state.AppendResource(nil, r, form)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("write %s: %w", r.URN, err)
	}
	return text
}

// Write writes the document, indented by four spaces and with HTML escaped, as Pulumi does here and nowhere else.
func (d *Digest) Write(w io.Writer) error {
	if d.err != nil {
		return d.err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(d.document); err != nil {
		return fmt.Errorf("write the preview as JSON: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
