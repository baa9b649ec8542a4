package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ShownPlan is a plan for display, with secrets left sealed.
type ShownPlan struct {
	Project   string            `json:"project,omitempty"`
	Stack     string            `json:"stack,omitempty"`
	Made      time.Time         `json:"made"`
	By        string            `json:"by"`
	Program   map[string]string `json:"program,omitempty"`
	Plugins   map[string]string `json:"plugins,omitempty"`
	State     string            `json:"state,omitempty"`
	Resources []ShownStep       `json:"resources"`
}

// ShownStep is the planned step of one resource. Values are JSON; a secret is "[secret]".
type ShownStep struct {
	URN     urn.URN                    `json:"urn"`
	Type    string                     `json:"type"`
	Steps   []engine.Op                `json:"steps"`
	Adds    map[string]json.RawMessage `json:"adds,omitempty"`
	Updates map[string]json.RawMessage `json:"updates,omitempty"`
	Deletes []string                   `json:"deletes,omitempty"`
	Because [][]change.Link            `json:"because,omitempty"` // chains of causes, root first
	needs   []urn.URN
	lines   []string // the changes of its inputs, as a preview shows them
}

// ReadShownPlan reads a plan for display; name is its path in messages.
func ReadShownPlan(path, name string) (*ShownPlan, error) {
	f, err := readPlanFile(path, name)
	if err != nil {
		return nil, err
	}
	because := map[urn.URN][][]change.Link{}
	s := &ShownPlan{Made: f.Manifest.Time, By: f.Manifest.Version, Resources: []ShownStep{}}
	if b := f.Binding; b != nil {
		s.Project, s.Stack, s.Program, s.Plugins, s.State = b.Project, b.Stack, b.Program, b.Plugins, b.State
		for _, t := range b.Because {
			because[t.URN] = t.Because
		}
	}
	for _, u := range slices.Sorted(maps.Keys(f.ResourcePlans)) {
		e := f.ResourcePlans[u]
		if urn.IsProviderType(u.Type()) && u.Name() != "" && !slices.ContainsFunc(e.Steps,
			func(op engine.Op) bool { return op != engine.OpSame }) {
			continue
		}
		step := ShownStep{URN: u, Type: u.Type(), Steps: e.Steps, Because: because[u]}
		if g := e.Goal; g != nil {
			d := g.InputDiff
			step.Adds, step.Updates, step.Deletes = sealedValues(d.Adds), sealedValues(d.Updates), d.Deletes
			step.needs, step.lines = g.Dependencies, changeLines(d.Adds, d.Updates, d.Deletes)
		}
		s.Resources = append(s.Resources, step)
		if s.Stack == "" {
			s.Project, s.Stack = u.Project(), u.Stack()
		}
	}
	return s, nil
}

// sealedShown opens every secret to a placeholder.
type sealedShown struct{ secrets.Manager }

func (sealedShown) Decrypt(string) (string, error) { return `"[secret]"`, nil }

// sealedValue returns a value of a plan; ok is false if it cannot be read.
func sealedValue(text json.RawMessage) (v value.Value, ok bool) {
	v, err := state.DecodeValue(text, sealedShown{})
	return v, err == nil
}

// sealedValues returns values as JSON for display: secrets are masked and unknown values marked.
func sealedValues(raw map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(raw))
	for key, text := range raw {
		v, ok := sealedValue(text)
		if !ok {
			v = value.String(unreadable)
		}
		shown, err := state.AppendValue(nil, v.Transform(func(x value.Value) value.Value {
			if x.IsSecret() {
				return value.String("[secret]")
			}
			if text, ok := x.AsString(); ok && text == engine.UnknownID {
				return value.String("(known after apply)")
			}
			return x
		}), state.Shown())
		if err != nil {
			shown = json.RawMessage(`null`)
		}
		out[key] = shown
	}
	return out
}

// op returns the step under its public name.
func (s *ShownStep) op() engine.Op {
	for _, op := range []engine.Op{engine.OpReplace, engine.OpCreateReplacement, engine.OpDeleteReplaced} {
		if slices.Contains(s.Steps, op) {
			return engine.OpReplace
		}
	}
	if len(s.Steps) == 0 {
		return engine.OpSame
	}
	return s.Steps[0]
}

// unreadable stands for a value that cannot be read.
const unreadable = "(cannot be read)"

// changeLines returns the lines that describe the changes of inputs, with values as in a preview.
func changeLines(adds, updates map[string]json.RawMessage, deletes []string) []string {
	var lines []string
	for _, part := range []struct {
		sign   string
		values map[string]json.RawMessage
	}{{"+ ", adds}, {"~ ", updates}} {
		for _, key := range slices.Sorted(maps.Keys(part.values)) {
			text := unreadable
			if v, ok := sealedValue(part.values[key]); ok {
				text = view.Value(v.Transform(func(x value.Value) value.Value {
					if text, ok := x.AsString(); ok && text == engine.UnknownID && !x.IsSecret() {
						return value.Unknown(value.KindAny)
					}
					return x
				}))
			}
			lines = append(lines, part.sign+key+": "+text)
		}
	}
	for _, key := range deletes {
		lines = append(lines, "- "+key)
	}
	return lines
}

// Record returns the plan in the form for reports.
func (s *ShownPlan) Record(version string) *report.Record {
	r := &report.Record{Subject: report.Subject{Command: "plan show", Version: version, Project: s.Project, Stack: s.Stack,
		Program: "Pulumi.yaml"}, Began: s.Made, Title: "Plan", Planning: true, Result: "succeeded"}
	counts := map[engine.Op]int{}
	for i := range s.Resources {
		step := &s.Resources[i]
		sign, words := view.PlannedWords(step.op())
		counts[step.op()]++
		depth := 1
		if step.Type == urn.RootStackType {
			depth = 0
		}
		r.Resources = append(r.Resources, view.Resource{URN: step.URN, Depth: depth, Op: step.op(),
			Sign: sign, Words: words, Outcome: view.Planned, Changes: step.lines, Needs: step.needs,
			Because: step.Because})
	}
	for _, op := range []engine.Op{engine.OpCreate, engine.OpImport, engine.OpUpdate, engine.OpReplace, engine.OpDelete,
		engine.OpSame} {
		if n := counts[op]; n > 0 {
			_, words := view.PlannedWords(op)
			if op != engine.OpSame {
				words = "to " + words
			}
			r.Counts = append(r.Counts, view.Counted{Op: op, N: n, Words: words})
		}
	}
	return r
}

// Text returns the plan as text for a terminal.
func (s *ShownPlan) Text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Plan of the stack %s of %s, made %s by %s\n\n", s.Stack, s.Project, s.Made.UTC().Format(time.RFC3339),
		s.By)
	r := s.Record("")
	changed := slices.DeleteFunc(slices.Clone(r.Resources), func(item view.Resource) bool { return !item.Changed() })
	for i, row := range view.List(changed) {
		fmt.Fprintln(&b, row)
		for _, line := range changed[i].Changes {
			fmt.Fprintf(&b, "       %s\n", line)
		}
	}
	var parts []string
	for _, c := range r.Counts {
		parts = append(parts, view.Figure(c.N)+" "+c.Words)
	}
	if len(changed) > 0 {
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "Resources: %s\n", strings.Join(parts, ", "))
	if s.State != "" {
		fmt.Fprintf(&b,
			"It is valid for this program, this state and these plugins;\n"+
				"when one of them has changed, it is refused.\n")
	}
	return b.String()
}

// Why writes why the plan changes the resources of a name, on lines of so many columns; 0 is no limit.
func (s *ShownPlan) Why(w io.Writer, name string, width int, color bool) error {
	found := 0
	for i := range s.Resources {
		step := &s.Resources[i]
		if step.URN.Name() != name {
			continue
		}
		if found++; found > 1 {
			fmt.Fprintln(w)
		}
		view.WriteTold(w, &change.Told{URN: step.URN, Op: step.op(), Because: step.Because}, width, color)
		switch {
		case len(step.Because) > 0 || step.op() == engine.OpCreate:
		case step.op() == engine.OpSame:
			fmt.Fprintf(w, "  the plan changes nothing of it; `yamlhost preview --why %s` says what keeps it\n", name)
		default:
			fmt.Fprintln(w, "  the plan has no causes: other tools write none, and neither does --causes=none")
		}
	}
	if found == 0 {
		return console.WithCode(console.CodeBadUsage, "the plan has no resource of the name %q", name)
	}
	return nil
}

// importDocument is an import file (F7.13).
type importDocument struct {
	NameTable map[string]urn.URN `json:"nameTable,omitempty"` // resources of the stack that entries name
	Resources []SavedImport      `json:"resources,omitempty"`
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[planFile]("plan", "a plan that a later operation must follow", "`preview --save-plan`"),
	contract.Of[ShownPlan]("plan-shown", "a plan to read, without secrets", "`plan show --format json`"),
	contract.Of[importDocument]("import", "what to import", "`preview --import-file`, `import --query … --import-file`"),
}
