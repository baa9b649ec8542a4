//go:build !lean

package environments

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	sources map[string]*diag.Source // of imports, by name
	meter   meter
	faults  diag.Diagnostics // of imports that are no YAML
}

// errFaults is the error of an import whose faults are known.
var errFaults = errors.New("the environment has faults")

func (o Options) evaluator(root *diag.Source) *evaluator {
	e := &evaluator{Options: o, root: root, sources: map[string]*diag.Source{}}
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
	return &Environment{Values: fromESC(esc.NewValue(env.Properties))}, diags
}

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
	diags := e.faults
	for _, f := range found {
		if f.Summary == errFaults.Error() {
			continue
		}
		summary, detail, _ := strings.Cut(f.Summary, "\n")
		d := diag.Diagnostic{Code: diag.BadEnvironment, Severity: diag.Error, Subject: e.place(f.Subject),
			Summary: summary, Detail: strings.TrimSpace(detail + "\n" + f.Detail)}
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

// place returns a range of the evaluator in its source.
func (e *evaluator) place(r *hcl.Range) diag.Range {
	if r == nil {
		return diag.NewRange(e.root, 0, 0)
	}
	src := cmp.Or(e.sources[r.Filename], e.root)
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
func fromESC(v esc.Value) value.Value { return valueOf(v.Value, v.Secret, v.Unknown, fromESC) }

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
