package report

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Lines writes each event as one line of JSON (E8.8, F7.1–F7.8). Unless internal is set, internal events are omitted
// but counted, so that sequences have gaps, as in Pulumi (F7.4). It is not safe for concurrent use.
type Lines struct {
	out      io.Writer
	o        view.Options
	mask     *mask.Masker
	now      func() time.Time
	sequence int
	steps    int
	internal bool  // write internal events, too
	err      error // the first error of out

	project, stack string // in front of each line; empty for a command about one stack
}

// NewLines writes to out. It uses only the options ShowSecrets and Source. m masks secrets.
func NewLines(out io.Writer, o view.Options, m *mask.Masker) *Lines {
	return &Lines{out: out, o: o, mask: m, now: time.Now}
}

// The shapes of events, in the order in which Pulumi writes their members.
type (
	envelope struct {
		Project          string          `json:"project,omitempty"` // of a command about many stacks
		Stack            string          `json:"stack,omitempty"`   // likewise
		Sequence         int             `json:"sequence"`
		Timestamp        int64           `json:"timestamp"`
		Prelude          *preludeJSON    `json:"preludeEvent,omitempty"`
		ResourcePre      *resourceJSON   `json:"resourcePreEvent,omitempty"`
		ResourceOutputs  *resourceJSON   `json:"resOutputsEvent,omitempty"`
		ResourceOpFailed *failedJSON     `json:"resOpFailedEvent,omitempty"`
		Diagnostic       *diagnosticJSON `json:"diagnosticEvent,omitempty"`
		Summary          *summaryJSON    `json:"summaryEvent,omitempty"`
		Policy           *policyJSON     `json:"policyEvent,omitempty"`
		Remediation      *remedyJSON     `json:"policyRemediationEvent,omitempty"`
		Cancel           *struct{}       `json:"cancelEvent,omitempty"`
	}
	preludeJSON struct {
		Config map[string]string `json:"config"`
	}
	resourceJSON struct {
		Metadata metadataJSON `json:"metadata"`
		Planning bool         `json:"planning,omitempty"`
	}
	failedJSON struct {
		Metadata metadataJSON `json:"metadata"`
		Status   int          `json:"status"`
		Steps    int          `json:"steps"`
	}
	metadataJSON struct {
		Op           engine.Op           `json:"op"`
		URN          string              `json:"urn"`
		Type         string              `json:"type"`
		Old          *stateJSON          `json:"old"`
		New          *stateJSON          `json:"new"`
		Keys         []string            `json:"keys,omitempty"`
		Diffs        []string            `json:"diffs,omitempty"`
		DetailedDiff map[string]diffJSON `json:"detailedDiff"`
		Logical      bool                `json:"logical,omitempty"`
		Provider     string              `json:"provider"`
		// Changes, our addition, are the properties that the step changes.
		Changes []propertyJSON `json:"changes,omitempty"`
		// Causes, our addition, are the causes of the step that are not those of its properties, and Roots what all of
		// its causes begin with.
		Causes []causeJSON `json:"causes,omitempty"`
		Roots  []causeJSON `json:"roots,omitempty"`
	}
	diffJSON struct {
		DiffKind  string `json:"diffKind"`
		InputDiff bool   `json:"inputDiff"`
	}
	stateJSON struct {
		Type           string          `json:"type"`
		URN            string          `json:"urn"`
		Custom         bool            `json:"custom,omitempty"`
		Delete         bool            `json:"delete,omitempty"`
		ID             string          `json:"id"`
		Parent         string          `json:"parent"`
		Protect        bool            `json:"protect,omitempty"`
		Taint          bool            `json:"taint,omitempty"`
		External       bool            `json:"external,omitempty"`
		RetainOnDelete bool            `json:"retainOnDelete,omitempty"`
		Inputs         json.RawMessage `json:"inputs"`
		Outputs        json.RawMessage `json:"outputs"`
		Provider       string          `json:"provider"`
		InitErrors     []string        `json:"initErrors,omitempty"`
		HideDiffs      []string        `json:"hideDiffs,omitempty"`
	}
	diagnosticJSON struct {
		URN       string `json:"urn,omitempty"`
		Prefix    string `json:"prefix,omitempty"`
		Message   string `json:"message"`
		Color     string `json:"color"`
		Severity  string `json:"severity"`
		Ephemeral bool   `json:"ephemeral,omitempty"`
		// Code and Place are our additions: the diagnostic code, and the place of the fault in the user's text.
		Code  diag.Code         `json:"code,omitempty"`
		Place *diag.PlaceRecord `json:"place,omitempty"`
	}
	policyJSON struct {
		URN     string `json:"resourceUrn,omitempty"`
		Message string `json:"message"`
		Color   string `json:"color"`
		packJSON
		EnforcementLevel string `json:"enforcementLevel"`
		// Place is our addition, as in diagnosticJSON.
		Place *diag.PlaceRecord `json:"place,omitempty"`
	}
	remedyJSON struct {
		URN   string `json:"resourceUrn,omitempty"`
		Color string `json:"color"`
		packJSON
		Before json.RawMessage   `json:"before,omitempty"`
		After  json.RawMessage   `json:"after,omitempty"`
		Place  *diag.PlaceRecord `json:"place,omitempty"`
	}
	packJSON struct {
		Policy     string `json:"policyName"`
		Pack       string `json:"policyPackName"`
		Version    string `json:"policyPackVersion"`
		VersionTag string `json:"policyPackVersionTag"`
	}
	summaryJSON struct {
		MaybeCorrupt    bool              `json:"maybeCorrupt"`
		DurationSeconds int64             `json:"durationSeconds"`
		ResourceChanges map[engine.Op]int `json:"resourceChanges"`
		PolicyPacks     map[string]string `json:"PolicyPacks"`
		IsPreview       bool              `json:"isPreview"`
		Result          string            `json:"result"`
	}
)

// next begins the line of the next event.
func (v *Lines) next() envelope {
	v.sequence++
	return envelope{Project: v.project, Stack: v.stack, Sequence: v.sequence - 1, Timestamp: v.now().Unix()}
}

// Event writes a line, unless the event is internal.
func (v *Lines) Event(e engine.Event) {
	if _, ours := e.(*engine.ResourceFailed); ours {
		return
	}
	line := v.next()
	switch e := e.(type) {
	case *engine.Prelude:
		line.Prelude = &preludeJSON{withoutSecrets(e.Config, v.mask)}
	case *engine.StepStarted:
		if e.Internal && !v.internal {
			return
		}
		line.ResourcePre = &resourceJSON{v.metadata(e.Step, e.Step.Op), e.Planning}
	case *engine.StepFinished:
		if !e.Outputs {
			v.steps++
		}
		if e.Internal && !v.internal {
			return
		}
		line.ResourceOutputs = &resourceJSON{v.metadata(e.Step, e.Op), e.Planning}
	case *engine.StepFailed:
		line.ResourceOpFailed = &failedJSON{v.metadata(e.Step, e.Step.Op), e.Status, v.steps}
	case *engine.Message:
		v.message(&line, e)
	case *engine.Summary:
		line.Summary = &summaryJSON{
			MaybeCorrupt:    e.MaybeCorrupt,
			DurationSeconds: int64(e.Duration.Round(time.Second) / time.Second),
			ResourceChanges: e.Changes,
			PolicyPacks:     map[string]string{},
			IsPreview:       e.Planning,
			Result:          e.Result,
		}
		if line.Summary.ResourceChanges == nil {
			line.Summary.ResourceChanges = map[engine.Op]int{}
		}
	case *engine.Finished:
		line.Cancel = &struct{}{}
	}
	v.write(line)
}

// write writes one line, without escaping HTML (F7.9 names the one document that does).
func (v *Lines) write(line envelope) {
	var b bytes.Buffer
	if err := jsontext.Write(&b, line, ""); err != nil {
		panic("report: an event does not encode: " + err.Error())
	}
	if _, err := v.out.Write(b.Bytes()); err != nil && v.err == nil {
		v.err = err
	}
}

// finding writes a finding that has no event of its own.
func (v *Lines) finding(f view.Finding) {
	text := f.Summary
	if f.Detail != "" {
		text += "\n" + f.Detail
	}
	line := v.next()
	line.Diagnostic = &diagnosticJSON{
		URN: string(f.URN), Prefix: f.Severity.String() + ": ", Message: text + "\n", Color: "never",
		Severity: f.Severity.String(), Code: f.Code, Place: f.Subject.Record(),
	}
	v.write(line)
}

// withoutSecrets returns a copy of a configuration with the secrets that m knows masked.
func withoutSecrets(config map[string]string, m *mask.Masker) map[string]string {
	masked := make(map[string]string, len(config))
	for k, text := range config {
		masked[k] = m.Hide(text)
	}
	return masked
}

func (v *Lines) metadata(s *engine.Step, op engine.Op) metadataJSON {
	m := metadataJSON{
		Op: op, URN: string(s.URN), Type: s.Type, Old: v.state(s.Old), New: v.state(s.New),
		Keys: s.Keys, Diffs: s.Diffs, Provider: s.Provider,
		Logical: s.Logical() || s.Op == engine.OpDelete, // as Pulumi has it of what remained of a replacement
		Changes: changedProperties(s, v.o, v.mask), Causes: stepCauses(s, v.o), Roots: rootsOf(s, v.o),
	}
	if s.Detailed != nil {
		m.DetailedDiff = map[string]diffJSON{}
		for path, d := range s.Detailed {
			m.DetailedDiff[path] = diffJSON{d.Kind.String(), d.InputDiff}
		}
	}
	return m
}

func (v *Lines) state(r *state.Resource) *stateJSON {
	if r == nil {
		return nil
	}
	id := r.ID
	if !v.o.ShowSecrets {
		id = v.mask.Hide(id)
	}
	return &stateJSON{
		Type: r.Type, URN: string(r.URN), Custom: r.Custom, Delete: r.Delete, ID: id, Parent: string(r.Parent),
		Protect: r.Protect, Taint: r.Taint, External: r.External, RetainOnDelete: r.RetainOnDelete,
		Inputs: v.properties(r.Inputs), Outputs: v.properties(r.Outputs), Provider: r.Provider,
		InitErrors: r.InitErrors, HideDiffs: r.HideDiffs,
	}
}

// properties returns a resource's inputs or outputs, {} when there are none, with secrets masked unless the options
// show them, and without the text of assets (E8.18).
func (v *Lines) properties(properties value.Value) json.RawMessage {
	if !properties.Is(value.KindMap) {
		properties = value.EmptyMap()
	}
	form, shown := state.Marked(), elideAssets(properties)
	if v.o.ShowSecrets {
		form = state.Shown()
	} else {
		shown = v.mask.HideValue(shown)
	}
	text, err := state.AppendValue(nil, shown, form)
	if err != nil {
		// Only a value that JSON cannot represent gets here, and a state file could not hold it either.
		return json.RawMessage(`{}`)
	}
	return text
}

// elideAssets reduces assets and archives with a hash to the hash.
func elideAssets(v value.Value) value.Value {
	has := v.Any(func(x value.Value) bool { return x.Is(value.KindAsset) || x.Is(value.KindArchive) })
	if !has {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if a, ok := x.AsAsset(); ok && a.Hash != "" {
			return value.NewAsset(&value.Asset{Hash: a.Hash}).WithMarksOf(x)
		}
		if a, ok := x.AsArchive(); ok && a.Hash != "" {
			return value.NewArchive(&value.Archive{Hash: a.Hash}).WithMarksOf(x)
		}
		return x
	})
}

// message fills in the event of a message: that of a policy, or a diagnostic.
func (v *Lines) message(line *envelope, m *engine.Message) {
	line.Diagnostic = v.diagnostic(m)
	if m.Policy == nil {
		return
	}
	n, place := m.Policy, line.Diagnostic.Place
	line.Diagnostic = nil
	about := packJSON{Policy: n.Policy, Pack: n.Pack, Version: n.Version, VersionTag: n.Version}
	if n.Remediation {
		line.Remediation = &remedyJSON{URN: string(m.URN), Color: "never", packJSON: about,
			Before: v.properties(n.Before), After: v.properties(n.After), Place: place}
		return
	}
	line.Policy = &policyJSON{URN: string(m.URN), Message: v.mask.Hide(n.Message) + "\n", Color: "never",
		packJSON: about, EnforcementLevel: n.Level.String(), Place: place}
}

func (v *Lines) diagnostic(m *engine.Message) *diagnosticJSON {
	d := &diagnosticJSON{
		URN: string(m.URN), Message: v.mask.Hide(m.Text) + "\n", Color: "never", Severity: m.Severity.String(),
		Ephemeral: m.Ephemeral,
	}
	if m.Debug {
		d.Severity = "debug"
	}
	if m.Severity == diag.Error || m.Severity == diag.Warning {
		f := view.FindingOf(v.o, v.mask, m)
		d.Prefix, d.Code, d.Place = m.Severity.String()+": ", f.Code, f.Subject.Record()
	}
	return d
}

// eventLines writes the lines of Lines, and then a line for the end of the command if no operation reports it.
type eventLines struct {
	out            io.Writer
	project, stack string // of one stack of several
	begun          bool
}

func newEvents(w io.Writer) streamed { return &eventLines{out: w} }

func (e *eventLines) phase(o view.Options, m *mask.Masker) (func(engine.Event), func() error) {
	e.begun = true
	lines := e.lines(o, m)
	return lines.Event, func() error { return lines.err }
}

func (e *eventLines) lines(o view.Options, m *mask.Masker) *Lines {
	lines := NewLines(e.out, o, m)
	lines.internal, lines.project, lines.stack = true, e.project, e.stack
	return lines
}

// find does nothing: findings outside of operations are reported with the next operation, or by finish.
func (e *eventLines) find(diag.Diagnostics) error { return nil }

func (e *eventLines) finish(r *Record) error {
	if e.begun || len(r.Parts) > 0 {
		return nil
	}
	lines := e.lines(view.Options{}, mask.New())
	if r.Skipped != "" {
		lines.finding(view.Finding{Diagnostic: diag.Diagnostic{Severity: diag.Warning, Summary: r.Skipped}})
		return lines.err
	}
	for _, f := range r.Findings {
		lines.finding(f)
	}
	if r.Command != "check" {
		result := "succeeded"
		if r.Exit.Code != 0 {
			result = "failed"
		}
		lines.Event(&engine.Summary{Result: result, Changes: map[engine.Op]int{}})
		lines.Event(&engine.Finished{})
	}
	return lines.err
}
