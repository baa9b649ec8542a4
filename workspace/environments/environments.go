//go:build !lean

package environments

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/esc"
	"github.com/pulumi/esc/ast"
	"github.com/pulumi/esc/eval"
	"github.com/pulumi/esc/syntax"
	"github.com/pulumi/esc/syntax/encoding"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
)

// Lean is why this edition opens no environments; empty if it does.
const Lean = ""

// Section evaluates the key `environment` of a settings file here: a list of names, or a document. It is nil for a file
// without one, or with faults.
func (o Options) Section(ctx context.Context, settings *diag.Source) (*Environment, diag.Diagnostics) {
	e := o.evaluator(settings)
	e.section = true
	node, diags := decode(settings)
	root, isMap := node.(*syntax.ObjectNode)
	for i := 0; isMap && i < root.Len(); i++ {
		entry := root.Index(i)
		if entry.Key.Value() != "environment" {
			continue
		}
		document := entry.Value
		if _, isList := document.(*syntax.ArrayNode); isList {
			document = syntax.Object(syntax.ObjectProperty(syntax.String("imports"), document))
		}
		return e.evaluate(ctx, esc.AnonymousEnvironmentName, document)
	}
	return nil, diags
}

// document evaluates the text of the environment of a name here.
func (o Options) document(ctx context.Context, name string, src *diag.Source) (*Environment, diag.Diagnostics) {
	node, diags := decode(src)
	if node == nil {
		return nil, diags
	}
	return o.evaluator(src).evaluate(ctx, name, node)
}

// decode reads the YAML of a text; nil for an empty text, or one with faults.
func decode(src *diag.Source) (syntax.Node, diag.Diagnostics) {
	if _, found := parser.Data(src); found.HasErrors() {
		return nil, found
	}
	node, _ := encoding.DecodeYAMLBytes(src.Name(), src.Text(), eval.TagDecoder)
	return node, nil
}

// evaluator evaluates one root document. It is the loader of imports for the evaluator of Pulumi ESC.
type evaluator struct {
	Options
	root    *diag.Source
	section bool                         // root is a settings file, of which the document is a part
	sources map[string]*diag.Source      // of imports, by name
	values  map[*diag.Source]syntax.Node // what valuesOf has found
	// entries holds the maps that entryOf has looked into, by key.
	entries map[*syntax.ObjectNode]map[string]syntax.ObjectPropertyDef
	meter   meter
	faults  diag.Diagnostics // of imports that are no YAML
}

// errFaults is the error of an import whose faults are known.
var errFaults = errors.New("the environment has faults")

func (o Options) evaluator(root *diag.Source) *evaluator {
	e := &evaluator{Options: o, root: root, sources: map[string]*diag.Source{}, values: map[*diag.Source]syntax.Node{},
		entries: map[*syntax.ObjectNode]map[string]syntax.ObjectPropertyDef{}}
	e.meter.load = func(name string) ([]byte, error) {
		src, err := e.source(name)
		if err != nil {
			return nil, err
		}
		return src.Text(), nil
	}
	return e
}

func (e *evaluator) evaluate(ctx context.Context, name string, node syntax.Node) (*Environment, diag.Diagnostics) {
	document, found := ast.ParseEnvironment(e.root.Text(), node)
	if found.HasErrors() {
		return nil, e.diagnostics(found)
	}
	if spent, exceeded := errors.AsType[*errSpent](e.meter.within(document)); exceeded {
		return nil, diag.Diagnostics{{Code: diag.BudgetExceeded, Subject: e.place(node.Syntax().Range()),
			Summary: spent.summary, Detail: spent.detail}}
	}
	execution, err := esc.NewExecContext(map[string]esc.Value{})
	if err != nil {
		panic("environments: an empty context is refused: " + err.Error())
	}
	var env *esc.Environment
	var more syntax.Diagnostics
	if e.Check {
		env, more = eval.CheckEnvironment(ctx, name, document, sealed{}, e, e, execution, false)
	} else {
		env, more = eval.EvalEnvironment(ctx, name, document, sealed{}, e, e, execution)
	}
	diags := e.diagnostics(append(found, more...))
	if env == nil { // an empty document
		return nil, diags
	}
	diags.Add(e.misused(env.Properties)...)
	whole := esc.NewValue(env.Properties)
	diags.Add(e.infinite(whole)...)
	diags.Add(e.inexact(env.Properties[Config])...)
	diags.Add(e.inexact(env.Properties[PolicyConfig])...)
	diags.Add(e.rounded()...)
	return &Environment{Values: fromESC(whole), Spelled: spelledESC(whole), Places: e.places(env.Properties[Config])},
		diags.Sorted()
}

// places returns the places of the keys of a map, by name.
func (e *evaluator) places(config esc.Value) map[string]diag.Range {
	found := map[string]diag.Range{}
	items, _ := config.Value.(map[string]esc.Value)
	for name, item := range items {
		found[name] = e.keyPlace(item, Config, name)
	}
	return found
}

// keyPlace returns the place of the key at a path of the values whose expression has defined a value; that expression
// if it stands elsewhere.
func (e *evaluator) keyPlace(v esc.Value, path ...string) diag.Range {
	at := e.defined(v)
	n, key := e.valuesOf(at.Source), diag.Range{}
	for _, name := range path {
		entry, found := e.entryOf(n, name)
		if !found {
			return at
		}
		n, key = entry.Value, placeIn(at.Source, entry.Key.Syntax().Range())
	}
	if whole := placeIn(at.Source, n.Syntax().Range()); at.Start < whole.Start || whole.End < at.Start {
		return at
	}
	return key
}

// valuesOf returns the map of values in the document of a source, which is decoded once; nil if there is none.
func (e *evaluator) valuesOf(src *diag.Source) syntax.Node {
	n, known := e.values[src]
	if !known {
		n = e.findValues(src)
		e.values[src] = n
	}
	return n
}

func (e *evaluator) findValues(src *diag.Source) syntax.Node {
	n, _ := decode(src)
	path := []string{"values"}
	if src == e.root && e.section {
		path = []string{"environment", "values"}
	}
	for _, name := range path {
		entry, found := e.entryOf(n, name)
		if !found {
			return nil
		}
		n = entry.Value
	}
	return n
}

// entryOf returns the entry of a map with a key, the first of several, and whether there is one.
func (e *evaluator) entryOf(n syntax.Node, key string) (entry syntax.ObjectPropertyDef, found bool) {
	m, isMap := n.(*syntax.ObjectNode)
	if !isMap {
		return entry, false
	}
	entries, known := e.entries[m]
	if !known {
		entries = make(map[string]syntax.ObjectPropertyDef, m.Len())
		for i := m.Len() - 1; i >= 0; i-- {
			entries[m.Index(i).Key.Value()] = m.Index(i)
		}
		e.entries[m] = entries
	}
	entry, found = entries[key]
	return entry, found
}

// defined returns the place of the expression that has defined a value.
func (e *evaluator) defined(v esc.Value) diag.Range {
	def := v.Trace.Def
	src := cmp.Or(e.sources[def.Environment], e.root)
	start := src.Offset(diag.Position{Line: def.Begin.Line, Column: def.Begin.Column})
	return diag.NewRange(src, start, max(start, src.Offset(diag.Position{Line: def.End.Line, Column: def.End.Column})))
}

// misused returns findings about the keys that stacks use: values that are no maps, items that have no text, and other
// keys that look like one of them and that no expression reads.
func (e *evaluator) misused(values map[string]esc.Value) (diags diag.Diagnostics) {
	parts := []string{Config, Variables, Files}
	for _, part := range parts {
		v, has := values[part]
		items, isMap := v.Value.(map[string]esc.Value)
		switch {
		case !has || v.Unknown:
		case !isMap:
			diags.Add(diag.Diagnostic{Code: diag.BadEnvironment, Subject: e.keyPlace(v, part),
				Summary: part + " must be a map, found " + kindOf(v), Detail: "write `" + part + ": {NAME: VALUE}`"})
		case part != Config:
			for _, name := range slices.Sorted(maps.Keys(items)) {
				if kind := kindOf(items[name]); kind == "a list" || kind == "a map" {
					diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.BadEnvironment,
						Subject: e.keyPlace(items[name], part, name), Summary: part + "." + name + " is ignored: it is " + kind,
						Detail: "write a text, or make one of it with `fn::toJSON`"})
				}
			}
		}
	}
	for _, src := range e.all() {
		n, _ := e.valuesOf(src).(*syntax.ObjectNode)
		for i := 0; n != nil && i < n.Len(); i++ {
			key := n.Index(i).Key.Value()
			meant := diag.Meant(key, diag.Suggest(key, parts))
			if meant == "" && key == "config" && e.section {
				meant = Config
			}
			if meant != "" && !slices.Contains(parts, key) && !e.reads(key) {
				diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.BadEnvironment, Summary: "nothing reads " + key,
					Subject: placeIn(src, n.Index(i).Key.Syntax().Range()), Detail: "did you mean `" + meant + "`?"})
			}
		}
	}
	return diags
}

// inexact warns of the integers in a value that lose digits when they become numbers of programs (L1.26).
func (e *evaluator) inexact(v esc.Value) (diags diag.Diagnostics) {
	eachNumber(v, func(v esc.Value, n json.Number) {
		if losesDigits(n) {
			number, _ := n.Float64()
			text := n.String()
			if v.Secret {
				text = ""
			}
			diags.Add(diag.LosesDigits(e.defined(v), text, number))
		}
	})
	return diags
}

// infinite reports the numbers in a value that no JSON and no program can have.
func (e *evaluator) infinite(v esc.Value) (diags diag.Diagnostics) {
	eachNumber(v, func(v esc.Value, n json.Number) {
		if !isFinite(n) {
			diags.Add(diag.Diagnostic{Code: diag.BadEnvironment, Subject: e.defined(v), Summary: notFinite,
				Detail: "put it in quotes if it may be a string"})
		}
	})
	return diags
}

// eachNumber calls fn for the numbers in a value, and with each the value that it is.
func eachNumber(v esc.Value, fn func(v esc.Value, n json.Number)) {
	switch x := v.Value.(type) {
	case json.Number:
		fn(v, x)
	case []esc.Value:
		for _, item := range x {
			eachNumber(item, fn)
		}
	case map[string]esc.Value:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			eachNumber(x[name], fn)
		}
	}
}

// rounded warns of the integers in the text of values that the evaluator has rounded.
func (e *evaluator) rounded() (diags diag.Diagnostics) {
	for _, src := range e.all() {
		values := e.valuesOf(src)
		if values == nil {
			continue
		}
		whole := placeIn(src, values.Syntax().Range())
		for _, d := range roundedIn(src) {
			if whole.Start <= d.Subject.Start && d.Subject.End <= whole.End {
				diags.Add(d)
			}
		}
	}
	return diags
}

// all returns the documents that have been read.
func (e *evaluator) all() []*diag.Source {
	return append(slices.Collect(maps.Values(e.sources)), e.root)
}

// reads reports whether an expression may read a key of the values: whether a document has it in a placeholder.
func (e *evaluator) reads(key string) bool {
	placeholder := regexp.MustCompile(`\$\{[^}]*\b` + regexp.QuoteMeta(key) + `\b`)
	return slices.ContainsFunc(e.all(), func(src *diag.Source) bool {
		return placeholder.Match(src.Text())
	})
}

// kindOf names the kind of a value.
func kindOf(v esc.Value) string {
	switch v.Value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []esc.Value:
		return "a list"
	case map[string]esc.Value:
		return "a map"
	}
	return "a string"
}

// unknownField matches the evaluator's message about a key that does not belong to a document.
var unknownField = regexp.MustCompile(`^Field '(.*)' does not exist on Object '\w*'\. Existing fields are: (.*)$`)

// ours returns a message of the evaluator in the words of other findings.
func ours(summary string) string {
	m := unknownField.FindStringSubmatch(summary)
	if m == nil {
		return withoutText(summary)
	}
	return "unknown key " + m[1] + " in an environment" + diag.DidYouMean(m[1], existing(m))
}

// existing returns the keys that a document may have, of a match of unknownField.
func existing(m []string) []string { return strings.Split(strings.Trim(m[2], "'"), "', '") }

// source reads an import, once.
func (e *evaluator) source(name string) (*diag.Source, error) {
	if src := e.sources[name]; src != nil {
		return src, nil
	}
	src, err := e.Read(name)
	if err == nil {
		e.sources[name] = src
	}
	return src, err
}

// LoadEnvironment reads an import.
func (e *evaluator) LoadEnvironment(_ context.Context, name string) ([]byte, eval.Decrypter, error) {
	src, err := e.source(name)
	if err != nil {
		return nil, nil, err
	}
	if _, found := parser.Data(src); found.HasErrors() {
		e.faults.Add(found...)
		return nil, nil, errFaults
	}
	return src.Text(), sealed{}, nil
}

// diagnostics are findings of the evaluator, with their places; one that comes twice counts once.
func (e *evaluator) diagnostics(found syntax.Diagnostics) diag.Diagnostics {
	found, diags := e.outside(found)
	diags = append(diags, e.faults...)
	for _, f := range found {
		if f.Summary == errFaults.Error() {
			continue
		}
		summary, detail, _ := strings.Cut(f.Summary, "\n")
		d := diag.Diagnostic{Code: diag.BadEnvironment, Severity: diag.Error, Subject: e.place(f.Subject),
			Summary: ours(summary), Detail: strings.TrimSpace(detail + "\n" + f.Detail)}
		if d.Summary == `unknown property "pulumi"` &&
			bytes.HasSuffix(d.Subject.Source.Text()[:d.Subject.Start], []byte("context")) {
			d.Summary, d.Detail = "a file has no context.pulumi", "Only a service knows a user and an organization."
		}
		if f.Severity == hcl.DiagWarning {
			d.Severity = diag.Warning
		}
		if !slices.ContainsFunc(diags, func(o diag.Diagnostic) bool {
			return o.Subject == d.Subject && o.Summary == d.Summary
		}) {
			diags.Add(d)
		}
	}
	return diags.Sorted()
}

// outside returns the findings without those about keys that stand beside `values` and surely belong below it, which
// are one finding for each document: keys that stacks use, and every key of a document whose `values` is empty.
func (e *evaluator) outside(found syntax.Diagnostics) (rest syntax.Diagnostics, diags diag.Diagnostics) {
	keys := map[*diag.Source][]string{}
	for _, f := range found {
		m, at := unknownField.FindStringSubmatch(f.Summary), e.place(f.Subject)
		if m == nil || m[1] == "" || !slices.Contains([]string{Config, Variables, Files}, m[1]) &&
			(!e.emptied(at.Source) || diag.DidYouMean(m[1], existing(m)) != "") {
			rest = append(rest, f)
			continue
		}
		if keys[at.Source] == nil {
			diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.BadEnvironment, Subject: at,
				Summary: "unknown key " + m[1] + " in an environment"})
		}
		keys[at.Source] = append(keys[at.Source], m[1])
	}
	for i, d := range diags {
		diags[i].Detail = "it belongs below `values`: indent it"
		if names := keys[d.Subject.Source]; len(names) > 1 {
			diags[i].Detail = "it belongs below `values`, as do " + strings.Join(names[1:], ", ") + ": indent them"
		}
		rest = slices.DeleteFunc(rest, func(f *syntax.Diagnostic) bool {
			follows := f.Summary == "values must be an object" && e.place(f.Subject).Source == d.Subject.Source &&
				e.emptied(d.Subject.Source)
			if follows {
				diags[i].Severity = diag.Error
			}
			return follows
		})
	}
	return rest, diags
}

// emptied reports whether a document has no values.
func (e *evaluator) emptied(src *diag.Source) bool {
	n := e.valuesOf(src)
	_, null := n.(*syntax.NullNode)
	return n == nil || null
}

// place returns a range of the evaluator in its source.
func (e *evaluator) place(r *hcl.Range) diag.Range {
	if r == nil {
		return diag.NewRange(e.root, 0, 0)
	}
	return placeIn(cmp.Or(e.sources[r.Filename], e.root), r)
}

// placeIn returns a range of the evaluator in a source.
func placeIn(src *diag.Source, r *hcl.Range) diag.Range {
	offset := func(p hcl.Pos) int {
		if p.Byte == 0 { // also of the last line
			return src.Offset(diag.Position{Line: p.Line, Column: p.Column})
		}
		return min(p.Byte, src.Len())
	}
	start := offset(r.Start)
	return diag.NewRange(src, start, max(start, offset(r.End)))
}

// fromESC returns a value of the evaluator as a value of programs.
func fromESC(v esc.Value) value.Value {
	return valueOf(v.Value, v.Secret, v.Unknown, numberOf, fromESC)
}

// spelledESC returns a value of the evaluator as a value of programs with texts for numbers.
func spelledESC(v esc.Value) value.Value {
	return valueOf(v.Value, v.Secret, v.Unknown, textOfNumber, spelledESC)
}

// toESC returns a value of programs as a value of the evaluator.
func toESC(v value.Value) esc.Value {
	out := esc.Value{Unknown: !v.IsKnown()}
	switch {
	case out.Unknown || v.IsNull():
	case v.Is(value.KindBool):
		out.Value, _ = v.AsBool()
	case v.Is(value.KindNumber):
		f, _ := v.AsNumber()
		out.Value = json.Number(value.FormatNumber(f))
	case v.Is(value.KindList):
		list, _ := v.AsList()
		items := make([]esc.Value, len(list))
		for i, item := range list {
			items[i] = toESC(item)
		}
		out.Value = items
	case v.Is(value.KindMap):
		items := make(map[string]esc.Value, v.Len())
		for i, key := range v.Keys() {
			items[key] = toESC(v.At(i))
		}
		out.Value = items
	default:
		text, err := value.Text(v)
		if err != nil {
			out.Unknown = true
		} else {
			out.Value, _ = text.AsString()
		}
	}
	if v.IsSecret() && !out.Unknown {
		return out.MakeSecret()
	}
	return out
}
