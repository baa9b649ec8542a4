package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Digest collects a preview's events into the document of `preview --json` (E8.22–E8.24, F7.9).
type Digest struct {
	o        view.Options
	mask     *mask.Masker
	document digestJSON
	err      error
	blast    view.BlastRadius
	about    []*engine.Step // of the steps of the document
	replaced engine.Replacements
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
		// BlastRadius, our addition, is what a plan destroys.
		BlastRadius *view.BlastRadius `json:"blastRadius,omitempty"`
		// The following fields are set only if the operation changed something: Pulumi has no document for that.
		Result  string             `json:"result,omitempty"`
		Outputs *map[string]string `json:"outputs,omitempty"`
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
		// Changes, our addition, are the properties that the step changes.
		Changes []propertyJSON `json:"changes,omitempty"`
		// Causes are the causes of the step that are not those of its properties, and Roots what all of its causes
		// begin with.
		Causes []causeJSON `json:"causes,omitempty"`
		Roots  []causeJSON `json:"roots,omitempty"`
		// Drift and Computed are set only by `drift`, for resources that differ from the state.
		Drift    []string `json:"drift,omitempty"`
		Computed []string `json:"computed,omitempty"`
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
		// Code and Place are our additions: the diagnostic code, and the place of the fault in the user's text.
		Code  diag.Code         `json:"code,omitempty"`
		Place *diag.PlaceRecord `json:"place,omitempty"`
	}
)

// NewDigest returns an empty digest. It uses only the options ShowSames, ShowSecrets and Source. m masks secrets.
func NewDigest(o view.Options, m *mask.Masker) *Digest { return &Digest{o: o, mask: m} }

// Event adds an event. It is not safe for concurrent use.
func (d *Digest) Event(e engine.Event) {
	d.replaced.Take(e)
	switch e := e.(type) {
	case *engine.Prelude:
		d.document.Config = withoutSecrets(e.Config, d.mask)
	case *engine.StepFinished:
		if e.Internal || e.Outputs {
			return
		}
		d.blast.Take(e.Step, d.o.Stateful)
		if d.includes(e.Step) {
			d.step(e.Step)
		}
	case *engine.Message:
		if e.Debug || e.Ephemeral {
			return
		}
		f := view.Finding{URN: e.URN}
		if e.Severity == diag.Error || e.Severity == diag.Warning {
			f.Diagnostic = view.FindingOf(d.o, d.mask, e)
		}
		d.diagnostic(f, e.Severity, d.mask.Hide(e.Text))
	case *engine.Summary:
		d.document.Duration, d.document.ChangeSummary, d.document.MaybeCorrupt = e.Duration, e.Changes, e.MaybeCorrupt
		if !e.Planning {
			d.document.Result = e.Result
		} else if d.blast.Destroyed() > 0 {
			d.document.BlastRadius = &d.blast
		}
	}
}

// diagnostic adds a finding with the text that Pulumi's document has for it.
func (d *Digest) diagnostic(f view.Finding, severity diag.Severity, text string) {
	prefix := ""
	if severity == diag.Error || severity == diag.Warning {
		prefix = severity.String() + ": "
	}
	d.document.Diagnostics = append(d.document.Diagnostics, digestDiagnosticJSON{
		URN: string(f.URN), Prefix: prefix, Message: prefix + text + "\n", Severity: severity.String(), Code: f.Code,
		Place: f.Subject.Record(),
	})
}

// writeJSONDocument writes the document of the last operation; without one, that of the checker.
func writeJSONDocument(w io.Writer, r *Record) error {
	if len(r.Parts) > 0 {
		return writeParts(w, r)
	}
	if r.digest == nil {
		return diag.WriteJSON(w, r.diagnostics())
	}
	d := r.digest
	told := slices.ContainsFunc(d.document.Diagnostics,
		func(known digestDiagnosticJSON) bool { return known.Message == "error: "+r.Exit.Text+"\n" })
	if r.Exit.Text != "" && !told {
		d.diagnostic(view.Finding{}, diag.Error, r.Exit.Text)
	}
	if len(r.Outputs) > 0 && !r.Planning {
		outputs := map[string]string{}
		for _, out := range r.Outputs {
			if out.Sign != "-" {
				outputs[out.Name] = out.After
			}
		}
		d.document.Outputs = &outputs
	}
	return d.Write(w)
}

// includes reports whether the document has a step: unchanged resources only on request, except the stack, moved
// resources and changes of protection (E8.23). Results of a refresh are included if the operation looks for drift.
func (d *Digest) includes(s *engine.Step) bool {
	if d.o.Drift && s.Op == engine.OpRefresh {
		drift, computed := d.o.Changes.Of(s).Paths()
		return s.New == nil || len(drift)+len(computed) > 0
	}
	if !s.Logical() {
		return s.Op == engine.OpDeleteReplaced // see done
	}
	return s.Op != engine.OpSame || d.o.ShowSames || s.URN.Type() == urn.RootStackType ||
		s.Old != nil && s.New != nil && (s.Old.Protect != s.New.Protect || s.Old.URN != s.New.URN)
}

func (d *Digest) step(s *engine.Step) {
	step := digestStepJSON{
		Op: s.Op, URN: string(s.URN), Provider: s.Provider,
		OldState: d.state(s.Old), NewState: d.state(s.New),
		DiffReasons: s.Diffs, ReplaceReasons: s.Keys, Changes: changedProperties(s, d.o, d.mask),
		Causes: stepCauses(s, d.o), Roots: rootsOf(s, d.o),
	}
	if s.Op == engine.OpRefresh {
		step.Drift, step.Computed = d.o.Changes.Of(s).Paths()
	}
	if s.Detailed != nil {
		step.DetailedDiff = map[string]digestDiffJSON{}
		for path, change := range s.Detailed {
			step.DetailedDiff[path] = digestDiffJSON{change.Kind.String(), change.InputDiff}
		}
	}
	d.document.Steps, d.about = append(d.document.Steps, step), append(d.about, s)
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
		r.ID = d.mask.Hide(r.ID)
		r.Inputs, r.Outputs = d.mask.HideValue(r.Inputs), d.mask.HideValue(r.Outputs)
	}
	text, err := state.AppendResource(nil, r, form)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("write %s: %w", r.URN, err)
	}
	return text
}

// done returns the steps of the document: of a replacement whose old object was deleted first, the deletion if there is
// no new object, otherwise the replacement.
func (d *Digest) done() []digestStepJSON {
	var steps []digestStepJSON
	for i, s := range d.about {
		if s.Op == engine.OpReplace && !d.replaced.Replaced(s.Old.URN) ||
			s.Op == engine.OpDeleteReplaced && !d.replaced.Deleted(s.Old.URN) {
			continue
		}
		step := d.document.Steps[i]
		if s.Op == engine.OpDeleteReplaced && !d.replaced.Lost(s.Old.URN) { // the program does not have it
			step.Op = engine.OpDelete
		}
		steps = append(steps, step)
	}
	return steps
}

// Write writes the document, indented by four spaces and with HTML escaped, as Pulumi does here and nowhere else.
func (d *Digest) Write(w io.Writer) error {
	if d.err != nil {
		return d.err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "    ")
	document := d.document
	document.Steps = d.done()
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write the preview as JSON: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
