package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// A trial compares the outcome of a case with its expectations.
type trial struct {
	c        *Case
	known    *mask.Masker
	runner   *Runner
	after    *outcome
	plan     *outcome // outcome of the preview of a change; nil without `before`
	failures diag.Diagnostics

	budget    *builtins.Budget // of all expectations; nil for a budget each
	variables []byte           // see scope
	scopeOf   *outcome         // the outcome that variables are about
}

func (t *trial) fail(rng diag.Range, summary, detail string) {
	t.failures.Add(diag.Diagnostic{Subject: rng, Summary: summary, Detail: detail})
}

// differ reports, as a diff, a value that is not as expected. Secrets are masked.
func (t *trial) differ(rng diag.Range, what string, want, got value.Value) {
	t.fail(rng, what+" is not as expected", "- "+shortened(shown(want))+"\n+ "+shortened(shown(t.known.HideValue(got))))
}

// shortened returns the beginning of a text that is too long to be read.
func shortened(text string) string {
	const most = 64 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes)", len(text))
}

// shown returns a value as JSON, with a placeholder for each secret.
func shown(v value.Value) string {
	v = v.Transform(func(x value.Value) value.Value {
		if x.IsSecret() {
			return value.String("[secret]")
		}
		return x
	})
	text, err := value.AppendJSON(nil, plain(v))
	if err != nil {
		return v.String()
	}
	return string(text)
}

// members returns the expected members of the map called name from all layers of the case. Inner layers take
// precedence.
func (t *trial) members(name string) []field { return t.c.mergedOf(name, t.c.expectations()) }

// innermost returns the expectation called name from the innermost layer that has it, or a zero field.
func (t *trial) innermost(name string) field { return innermost(t.c.expectations(), name) }

// listed returns the expected items of the list called name from all layers.
func (t *trial) listed(name string) (items []ast.Expr) {
	for _, l := range t.c.expectations() {
		items = append(items, t.c.file.list(l[name].value, name)...)
	}
	return items
}

// expect compares the outcome with all expectations.
func (t *trial) expect(ctx context.Context) {
	if !t.findings() {
		return // other differences would be consequences of this one
	}
	t.snapshot()
	t.outputs(ctx)
	t.resources(ctx)
	t.changes()
	if m := t.innermost("count"); m.value != nil {
		if got := value.Int(len(t.managed())); !value.SameContent(dataOf(m.value), got) {
			t.differ(m.value.Range(), "the number of resources", dataOf(m.value), got)
		}
	}
	for _, item := range t.listed("assert") {
		got, err := t.value(ctx, item)
		switch {
		case err != nil:
			t.broken(item, err)
		case !got.Is(value.KindBool):
			t.fail(item.Range(), "an assertion must be true or false, not "+shown(got), "")
		case !value.SameContent(got, value.Bool(true)):
			t.fail(item.Range(), "the assertion does not hold", "")
		}
	}
}

func (t *trial) broken(e ast.Expr, err error) {
	summary, detail, _ := strings.Cut(err.Error(), "\n")
	t.fail(e.Range(), "the expectation cannot be evaluated: "+summary, detail)
}

// value evaluates an expected value, which may contain expressions.
func (t *trial) value(ctx context.Context, e ast.Expr) (value.Value, error) {
	data := dataOf(e)
	if !data.Any(func(v value.Value) bool { text, ok := v.AsString(); return ok && strings.Contains(text, "${") }) {
		return data, nil
	}
	text, err := written(data)
	if err != nil {
		return value.Null, err
	}
	return t.eval(ctx, text)
}

// written returns expected data as an expression of a program. Only texts with `${` in them are templates; any other
// means itself, as it does in data without expressions.
func written(v value.Value) (string, error) {
	content := func(text string) string {
		if strings.Contains(text, "${") {
			return literal.JSON(text)
		}
		return literal.JSON(literal.Text(text))
	}
	items, isList := v.AsList()
	parts := make([]string, 0, v.Len())
	for i, key := range v.Keys() {
		item, err := written(v.At(i))
		if err != nil {
			return "", err
		}
		parts = append(parts, content(key)+": "+item)
	}
	for _, item := range items {
		text, err := written(item)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	if text, isText := v.AsString(); isText {
		return content(text), nil
	}
	switch {
	case isList:
		return "[" + strings.Join(parts, ", ") + "]", nil
	case v.Is(value.KindMap):
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	text, err := value.AppendJSON(nil, v)
	return string(text), err
}

// findings compares the findings of the run. It reports whether the other expectations can be compared: an unexpected
// error fails the case at once.
func (t *trial) findings() bool {
	left := slices.Clone(t.after.findings)
	left, sound := t.violations(left)
	left, ok := t.without(left, "finding", findingKeys, told, func(f finding) (string, map[string]string) {
		return f.Summary + "\n" + f.Detail, map[string]string{"code": string(f.Code), "severity": f.Severity.String(),
			"resource": f.resource.Name(), "line": fmt.Sprint(f.Subject.StartPosition().Line)}
	})
	for _, f := range left {
		if f.Severity == diag.Error {
			switch {
			case f.checked && OfProgram(t.c, f.Diagnostic):
				t.failures.Add(f.Diagnostic)
			case f.Subject.Source == t.c.file.Source: // a fault of the test
				t.fail(f.Subject, f.Summary, f.Detail)
			default:
				detail := f.Detail
				if f.Subject.Source != nil {
					place := fmt.Sprintf("%s:%d: ", f.Subject.Source.Name(), f.Subject.StartPosition().Line)
					detail = strings.TrimSuffix(place+detail, ": ")
				}
				t.fail(t.c.Place, "an error that is not expected: "+f.Summary, detail)
			}
			ok = false
		}
	}
	return ok && sound
}

// without removes the findings that the case lists from found. It reports whether all listed findings were present.
// kind is what one of them is called in messages, report formats findings for a failure, and about returns the message
// and the other members of a finding.
func (t *trial) without(found []finding, kind string, keys []string, report func([]finding) string,
	about func(finding) (string, map[string]string)) (left []finding, ok bool) {
	ok = true
	for _, item := range t.listed(kind + "s") {
		want := t.c.file.layer(item, "an expected "+kind, keys)
		i := slices.IndexFunc(found, func(f finding) bool {
			message, members := about(f)
			for name, got := range members {
				if m, given := want[name]; given && keyText(m.value) != got {
					return false
				}
			}
			m, given := want["message"]
			return !given || strings.Contains(message, keyText(m.value))
		})
		if i < 0 {
			t.fail(item.Range(), "there is no such "+kind, "- "+shown(dataOf(item))+report(found))
			ok = false
			continue
		}
		found = slices.Delete(found, i, i+1)
	}
	return found, ok
}

func told(findings []finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString("\n+ " + f.Severity.String() + ": " + f.Summary)
	}
	return b.String()
}

func (t *trial) outputs(ctx context.Context) {
	for _, m := range t.members("outputs") {
		got, has := t.after.outputs.Lookup(m.name)
		_, absent := m.value.(*ast.Null)
		if !has && !absent {
			t.missing(m.at, "output", m.name, t.after.outputs.Keys())
			continue
		}
		want, err := t.value(ctx, m.value)
		switch {
		case err != nil:
			t.broken(m.value, err)
		case !value.SameContent(plain(want), plain(got)):
			t.differ(m.value.Range(), "the output `"+m.name+"`", want, got)
		}
	}
}

func (t *trial) missing(rng diag.Range, kind, name string, all []string) {
	detail := "there is none at all"
	if near := diag.Suggest(name, all); len(near) > 0 {
		detail = "did you mean `" + near[0] + "`?"
	} else if len(all) > 0 {
		detail = "there are " + strings.Join(all[:min(len(all), 20)], ", ")
	}
	t.fail(rng, "there is no "+kind+" `"+name+"`", detail)
}

// managed returns the resources of the stack after the run, except the stack itself and default providers.
func (t *trial) managed() []*state.Resource {
	var list []*state.Resource
	for _, r := range t.after.snapshot.Resources {
		if r.Type != urn.RootStackType && !r.Delete && !isDefaultProvider(r) {
			list = append(list, r)
		}
	}
	return list
}

func isDefaultProvider(r *state.Resource) bool {
	return urn.IsProviderType(r.Type) && strings.HasPrefix(r.URN.Name(), "default")
}

// find returns the resource that an expectation names, either by name or as `type::name`, and the names of all
// resources.
func (t *trial) find(name string) (*state.Resource, []string) {
	var found *state.Resource
	var names []string
	for _, r := range t.managed() {
		names = append(names, r.URN.Name())
		if r.URN.Name() == name || r.Type+"::"+r.URN.Name() == name {
			found = r
		}
	}
	return found, names
}

func (t *trial) resources(ctx context.Context) {
	for _, m := range t.members("resources") {
		got, names := t.find(m.name)
		_, absent := m.value.(*ast.Null)
		switch {
		case got == nil && !absent:
			t.missing(m.at, "resource", m.name, names)
			continue
		case absent:
			if got != nil {
				t.fail(m.at, "the resource `"+m.name+"` must not exist", "- null\n+ "+got.Type)
			}
			continue
		}
		want := t.c.file.layer(m.value, "an expected resource", resourceKeys)
		depends := make([]value.Value, 0, len(got.Dependencies))
		for _, u := range slices.SortedFunc(slices.Values(got.Dependencies),
			func(a, b urn.URN) int { return strings.Compare(a.Name(), b.Name()) }) {
			depends = append(depends, value.String(u.Name()))
		}
		facts := value.MapOf(value.Entry{Key: "type", Value: value.String(got.Type)},
			value.Entry{Key: "id", Value: value.String(got.ID)},
			value.Entry{Key: "parent", Value: value.String(got.Parent.Name())},
			value.Entry{Key: "protect", Value: value.Bool(got.Protect)},
			value.Entry{Key: "dependsOn", Value: value.List(depends...)})
		for _, name := range resourceKeys {
			w, ok := want[name]
			switch {
			case !ok:
			case name == "properties":
				t.within(ctx, m.name, w.value, got.Inputs)
			case name == "outputs":
				t.within(ctx, m.name, w.value, got.Outputs)
			default:
				v, err := t.value(ctx, w.value)
				if items, ok := v.AsList(); ok && name == "dependsOn" { // the order does not matter
					texts := make([]string, len(items))
					for i, item := range items {
						texts[i], _ = item.AsString()
					}
					slices.Sort(texts)
					v = value.Strings(texts)
				}
				short := name == "type" && err == nil && sameType(v, got.Type)
				if err != nil {
					t.broken(w.value, err)
				} else if !short && !value.SameContent(plain(v), facts.Get(name)) {
					t.differ(w.value.Range(), "`"+name+"` of `"+m.name+"`", v, facts.Get(name))
				}
			}
		}
	}
}

// sameType reports whether v is the type token or its short form.
func sameType(v value.Value, token string) bool {
	text, ok := v.AsString()
	if !ok {
		return false
	}
	pkg, rest, _ := strings.Cut(token, ":")
	module, name, _ := strings.Cut(rest, ":")
	first, _, _ := strings.Cut(module, "/")
	return text == token || text == pkg+":"+first+":"+name || first == "index" && text == pkg+":"+name
}

// within compares the expected members of a map; the resource may have others.
func (t *trial) within(ctx context.Context, name string, want ast.Expr, got value.Value) {
	for _, m := range t.c.file.members(want, "properties") {
		v, err := t.value(ctx, m.value)
		if err != nil {
			t.broken(m.value, err)
			continue
		}
		have, has := got.Lookup(m.name)
		switch {
		case !has && !v.IsNull():
			t.missing(m.at, "property of `"+name+"`", m.name, got.Keys())
		case !value.SameContent(plain(v), plain(have)):
			t.differ(m.value.Range(), "`"+m.name+"` of `"+name+"`", v, have)
		}
	}
}

// changes compares the planned changes with the expected ones. A resource that is not listed is expected to stay the
// same.
func (t *trial) changes() {
	m := t.innermost("changes")
	if m.value == nil {
		return
	}
	if t.plan == nil {
		t.fail(m.at, "there is no change to look at", "describe the run before it under `before`")
		return
	}
	got := map[string]string{}
	var names []string
	for u, op := range t.plan.steps {
		if u.Type() != urn.RootStackType {
			got[u.Name()] = string(op)
			names = append(names, u.Name())
		}
	}
	slices.Sort(names)
	listed := map[string]bool{}
	for _, want := range t.members("changes") {
		listed[want.name] = true
		op, ok := got[want.name]
		switch {
		case !ok:
			t.missing(want.at, "resource", want.name, names)
		case op != keyText(want.value):
			t.fail(want.value.Range(), "the change of `"+want.name+"` is not as expected", "- "+keyText(want.value)+"\n+ "+op)
		}
	}
	var others []string
	for _, name := range names {
		if op := got[name]; !listed[name] && op != string(engine.OpSame) && op != string(engine.OpRead) {
			others = append(others, "+ "+name+": "+op)
		}
	}
	if len(others) > 0 {
		t.fail(m.at, "there are changes that are not expected", strings.Join(others, "\n"))
	}
}
