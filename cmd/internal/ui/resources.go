package ui

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// row is a resource in the table. There may be tens of thousands, so names are short and repeated texts are numbers.
type row struct {
	Name   string `json:"n"`
	Type   int    `json:"q"` // qualified type: index into table.Types
	Parent int    `json:"p"` // row; -1 for none
	Status string `json:"s,omitempty"`
	Needs  []int  `json:"d,omitempty"` // rows
	Custom bool   `json:"c,omitempty"`
}

// pendingRow is an operation that was begun and whose end is unknown.
type pendingRow struct {
	URN  string `json:"urn"`
	Kind string `json:"kind"`
}

// table is a stack with its resources.
type table struct {
	Revision string       `json:"revision"`
	Prefix   string       `json:"prefix"` // of URNs, up to the qualified type
	Types    []string     `json:"types"`
	Rows     []row        `json:"rows"`
	Order    []int        `json:"order"` // of the rows in the tree
	Locks    []lock       `json:"locks,omitempty"`
	Pending  []pendingRow `json:"pending,omitempty"`
	// InFlight are the operations of the run that holds the stack, with its command and the time of its beginning.
	InFlight []pendingRow `json:"inFlight,omitempty"`
	Running  string       `json:"running,omitempty"`
	Since    *time.Time   `json:"since,omitempty"`
	Owned    bool         `json:"owned"` // the stack belongs to the project whose program is available
}

func (s *Server) stack(_ context.Context, k *kept, _ query) (any, error) {
	t := tableOf(k)
	t.Locks, t.Owned = locksOf(s.o.Backend, k.ref), k.ref.Project == s.o.Project
	if len(t.Locks) == 0 { // the run was interrupted: its operations in flight are among the pending ones
		t.Running, t.Since, t.InFlight = "", nil, nil
	}
	return t, nil
}

func tableOf(k *kept) *table {
	t := &table{Revision: k.revision, Prefix: "urn:pulumi:" + k.ref.Stack + "::" + k.ref.Project + "::", Types: []string{},
		Rows: make([]row, 0, len(k.snapshot.Resources)), Order: view.ProgramOrder(k.snapshot.Resources)}
	types := map[string]int{}
	for _, r := range k.snapshot.Resources {
		kind := r.URN.QualifiedType()
		n, known := types[kind]
		if !known {
			n = len(t.Types)
			types[kind] = n
			t.Types = append(t.Types, kind)
		}
		x := row{Name: r.URN.Name(), Type: n, Parent: -1, Status: status(r), Custom: r.Custom}
		if i, found := k.index[r.Parent]; found {
			x.Parent = i
		}
		for _, u := range needs(r) {
			if i, found := k.index[u]; found {
				x.Needs = append(x.Needs, i)
			}
		}
		t.Rows = append(t.Rows, x)
	}
	for _, op := range k.snapshot.Pending {
		t.Pending = append(t.Pending, pendingRow{string(op.Resource.URN), string(op.Kind)})
	}
	if r := k.recovery; r != nil {
		t.Running = r.Header.Command
		if !r.Header.Started.IsZero() {
			t.Since = &r.Header.Started
		}
		for _, op := range r.InFlight {
			t.InFlight = append(t.InFlight, pendingRow{string(op.Resource.URN), string(op.Kind)})
		}
	}
	return t
}

// status returns the special status of a resource in a word or two; empty for none.
func status(r *state.Resource) string {
	switch {
	case r.Delete:
		return "pending delete"
	case r.PendingReplacement:
		return "being replaced"
	case r.Taint:
		return "tainted"
	case len(r.InitErrors) > 0:
		return "incomplete"
	case r.External:
		return "read"
	case r.Protect:
		return "protected"
	}
	return ""
}

// needs returns the resources that r depends on, without its parent and its provider, each once.
func needs(r *state.Resource) []urn.URN {
	list := slices.Clone(r.Dependencies)
	for _, urns := range r.PropertyDependencies.All() {
		list = append(list, urns...)
	}
	if r.DeletedWith != "" {
		list = append(list, r.DeletedWith)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// link is a resource that is connected with another one.
type link struct {
	URN string   `json:"urn"`
	Via []string `json:"via,omitempty"` // properties
}

// detail is the description of one resource.
type detail struct {
	URN        string          `json:"urn"`
	Type       string          `json:"type"`
	ID         string          `json:"id,omitempty"`
	Parent     string          `json:"parent,omitempty"`
	Provider   string          `json:"provider,omitempty"`
	Status     string          `json:"status,omitempty"`
	Created    *time.Time      `json:"created,omitempty"`
	Modified   *time.Time      `json:"modified,omitempty"`
	Inputs     json.RawMessage `json:"inputs"`
	Outputs    json.RawMessage `json:"outputs"`
	Options    []option        `json:"options,omitempty"`
	InitErrors []string        `json:"initErrors,omitempty"`
	Needs      []link          `json:"needs,omitempty"`
	Needed     []link          `json:"needed,omitempty"`
	// Breaks are the direct and indirect dependants, at most mostBreaks.
	Breaks     []string `json:"breaks,omitempty"`
	BreakCount int      `json:"breakCount"`
	Source     *excerpt `json:"source,omitempty"`
}

const mostBreaks = 500

func (s *Server) resource(ctx context.Context, k *kept, q query) (any, error) {
	i, r, err := k.resource(q.Get("urn"))
	if err != nil {
		return nil, err
	}
	provider, _ := urn.ParseReference(r.Provider) // a malformed one is not shown
	d := &detail{URN: string(r.URN), Type: r.Type, ID: r.ID, Parent: string(r.Parent), Provider: string(provider.URN),
		Status: status(r), Created: r.Created, Modified: r.Modified, Inputs: shown(r.Inputs), Outputs: shown(r.Outputs),
		Options: options(r), InitErrors: r.InitErrors}
	for _, u := range needs(r) {
		d.Needs = append(d.Needs, link{string(u), r.PropertiesFrom(u)})
	}
	for _, other := range k.snapshot.Resources {
		if slices.Contains(needs(other), r.URN) {
			d.Needed = append(d.Needed, link{string(other.URN), other.PropertiesFrom(r.URN)})
		}
	}
	broken := dependants(k, i)
	d.BreakCount = len(broken)
	for _, pos := range broken[:min(len(broken), mostBreaks)] {
		d.Breaks = append(d.Breaks, string(k.snapshot.Resources[pos].URN))
	}
	if k.ref.Project == s.o.Project {
		d.Source = s.excerpt(ctx, r)
	}
	return d, nil
}

// dependants returns the resources that depend on one in any way: by a property, as children, by their provider. States
// are in an order in which each resource follows what it depends on, so that one pass finds all.
func dependants(k *kept, target int) []int {
	hit := map[urn.URN]bool{k.snapshot.Resources[target].URN: true}
	var found []int
	for i, r := range k.snapshot.Resources {
		if i == target {
			continue
		}
		broken := false
		r.AllDependencies(func(u urn.URN) { broken = broken || hit[u] })
		if broken {
			hit[r.URN] = true
			found = append(found, i)
		}
	}
	return found
}

// excerpt is the part of a program that declares a resource. Secrets in it are masked.
type excerpt struct {
	File  string   `json:"file"`
	Line  int      `json:"line"`  // 1-based, of the declaration
	First int      `json:"first"` // of Lines
	Lines []string `json:"lines"`
}

const (
	mostProgram = 16 << 20 // of a program's file, in bytes
	mostLines   = 40
	longLine    = 400
)

// secretKeys returns the properties of a resource that have secrets in them, or whose outputs the schema calls secret.
func secretKeys(r *state.Resource) map[string]bool {
	keys := map[string]bool{}
	for _, key := range r.AdditionalSecretOutputs {
		keys[key] = true
	}
	for _, v := range []value.Value{r.Inputs, r.Outputs} {
		for i, key := range v.Keys() {
			keys[key] = keys[key] || v.IsSecret() || v.At(i).ContainsSecret()
		}
	}
	return keys
}

// hideLiterals hides the texts in the program that are values of secret properties of the resource declared at a line.
func hideLiterals(file *ast.File, line int, secret map[string]bool) {
	resources := file.Resources
	for _, component := range file.Components {
		resources = append(slices.Clip(resources), component.Resources...)
	}
	for _, r := range resources {
		if r.Range.StartPosition().Line != line {
			continue
		}
		for _, p := range r.Properties {
			if secret[p.Name.Value] {
				ast.HideTexts(p.Value)
			}
		}
		if r.PropertiesExpr != nil && slices.Contains(slices.Collect(maps.Values(secret)), true) {
			ast.HideTexts(r.PropertiesExpr)
		}
	}
}

// excerpt returns the text that declares a resource; nil if it is not declared where the state has recorded it. It
// reads nothing outside of the project, and hides the texts of properties that are secret.
func (s *Server) excerpt(ctx context.Context, r *state.Resource) *excerpt {
	pos := view.PositionIn(r.SourcePosition)
	name, line := pos.File, pos.Line
	door := confine.Door{Folder: s.o.Dir, Limit: mostProgram}
	text, err := door.ReadFile(ctx, filepath.Join(s.o.Dir, filepath.FromSlash(name)))
	if err != nil {
		return nil
	}
	src := diag.NewSource(name, text)
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		file, _ := parser.Parse(src, parser.Options{}) // hides the secrets that it finds
		if !view.DeclarationsOf(file).Declare(diag.Position{Line: line, Column: pos.Column}, r.URN) {
			return nil
		}
		hideLiterals(file, line, secretKeys(r))
	default:
		return nil
	}
	out := &excerpt{File: name, Line: line, First: line}
	for n := line; n < line+mostLines && n <= src.Lines(); n++ {
		shown := string(src.ShownLine(n))
		if n > line && strings.TrimSpace(shown) != "" && indent(shown) <= indent(string(src.ShownLine(line))) {
			break
		}
		if len(shown) > longLine {
			shown = shown[:longLine] + "…"
		}
		out.Lines = append(out.Lines, strings.ToValidUTF8(shown, "\uFFFD"))
	}
	return out
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
