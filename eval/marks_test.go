package eval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/value"
)

// model holds the expected marks of a value: those of the leaves from which it was computed.
type model struct {
	secret, unknown bool
	deps            []string // names of resources
	items           []model  // of a list, or the values of a map
	isMap, isList   bool
}

func (m model) all() (secret, unknown bool, deps []string) {
	secret, unknown, deps = m.secret, m.unknown, m.deps
	for _, item := range m.items {
		s, u, d := item.all()
		secret, unknown, deps = secret || s, unknown || u, append(slices.Clone(deps), d...)
	}
	return secret, unknown, deps
}

// public returns m without secrets.
func (m model) public() model {
	m.secret, m.items = false, slices.Clone(m.items)
	for i, item := range m.items {
		m.items[i] = item.public()
	}
	return m
}

// covered returns m as values represent it: a secret covers all of its parts, which then have no marks of their own.
func (m model) covered() model {
	if m.secret {
		m = m.public()
		m.secret = true
		return m
	}
	m.items = slices.Clone(m.items)
	for i, item := range m.items {
		m.items[i] = item.covered()
	}
	return m
}

// flat returns the marks of a scalar computed from all of m.
func (m model) flat() model {
	secret, unknown, deps := m.all()
	return model{secret: secret, unknown: unknown, deps: deps}
}

// inside returns a part of m with the marks of m itself added.
func (m model) inside(i int) model {
	part := m.items[i]
	part.secret = part.secret || m.secret
	part.deps = append(slices.Clone(part.deps), m.deps...)
	return part
}

// compare reports the parts of v whose marks differ from m.
func (m model) compare(v value.Value, path string) string {
	var deps []string
	for _, u := range v.Deps() {
		deps = append(deps, u.Name())
	}
	want := slices.Clone(m.deps)
	slices.Sort(want)
	want = slices.Compact(want)
	switch {
	case v.IsSecret() != m.secret:
		return fmt.Sprintf("%s: secret %t, want %t", path, v.IsSecret(), m.secret)
	case v.IsKnown() == m.unknown:
		return fmt.Sprintf("%s: known %t", path, v.IsKnown())
	case !slices.Equal(deps, want):
		return fmt.Sprintf("%s: depends on %v, want %v", path, deps, want)
	case m.unknown:
		return ""
	case v.Len() != len(m.items):
		return fmt.Sprintf("%s: %d parts, want %d", path, v.Len(), len(m.items))
	}
	for i, item := range m.items {
		if fault := item.compare(v.At(i), fmt.Sprintf("%s[%d]", path, i)); fault != "" {
			return fault
		}
	}
	return ""
}

// TestMarksAreThoseOfTheLeaves previews random programs of variables that use each other, and compares the inputs of a
// resource with a model (L5.36, L5.37, L6.5, L9.16, L9.31, L9.44).
func TestMarksAreThoseOfTheLeaves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		b.WriteString(
			"resources:\n  a: {type: zoo:Echo, properties: {value: known}}\n  b: {type: zoo:Echo, properties: {value: known}}\n")
		b.WriteString("  probe: {type: zoo:Echo, properties: {value: \"${last}\"}}\n")
		b.WriteString("variables:\n  flag: true\n")
		names, models := []string{}, []model{}
		define := func(text string, m model) {
			name := fmt.Sprintf("v%d", len(names))
			fmt.Fprintf(&b, "  %s: %s\n", name, text)
			names, models = append(names, name), append(models, m.covered())
		}
		define(`plain`, model{})
		define(`{fn::secret: hush}`, model{secret: true})
		define(`"${a.value}"`, model{deps: []string{"a"}})
		define(`"${b.computed}"`, model{unknown: true, deps: []string{"b"}})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			pick := func(label string) int { return rapid.IntRange(0, len(names)-1).Draw(rt, label) }
			i, j := pick("i"), pick("j")
			x, y := models[i], models[j]
			ref := func(i int) string { return `"${` + names[i] + `}"` }
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				define("["+ref(i)+", "+ref(j)+", 1]", model{isList: true, items: []model{x, y, {}}})
			case 1:
				define("{k: "+ref(i)+", l: "+ref(j)+"}", model{isMap: true, items: []model{x, y}})
			case 2:
				switch {
				case x.unknown:
				case x.isMap:
					define(`"${`+names[i]+`.l}"`, x.inside(1))
				case x.isList:
					define(`"${`+names[i]+`[1]}"`, x.inside(1))
				}
			case 3:
				if !x.isMap && !x.isList && !y.isMap && !y.isList {
					define(`"${`+names[i]+`}-${`+names[j]+`}"`, model{items: nil, secret: x.secret || y.secret,
						unknown: x.unknown || y.unknown, deps: append(slices.Clone(x.deps), y.deps...)})
				}
			case 4:
				define("{fn::toJSON: ["+ref(i)+", "+ref(j)+"]}", model{items: []model{x, y}}.flat())
			case 5:
				m := x
				m.secret = true
				define("{fn::secret: "+ref(i)+"}", m)
			case 6:
				if x.isMap == y.isMap && x.isList == y.isList { // or the checker refuses steps into it
					define(`'${flag ? `+names[i]+` : `+names[j]+`}'`, x)
				}
			case 7:
				if x.isList && !x.unknown {
					m := model{isList: true, secret: x.secret, deps: x.deps}
					for k := range x.items {
						m.items = append(m.items, model{isList: true, items: []model{x.inside(k)}})
					}
					define(`'${[for x in `+names[i]+` : [x]]}'`, m)
				}
			case 8:
				define(`'${`+names[i]+` == `+names[j]+`}'`, model{items: []model{x, y}}.flat())
			case 9:
				// A function that only moves parts keeps unknown leaves and their dependencies in place; its result
				// is secret as a whole.
				secret, _, _ := model{items: []model{x, y}}.all()
				define("{fn::concat: [["+ref(i)+"], ["+ref(j)+"]]}", model{isList: true, secret: secret, items: []model{x, y}})
			}
		}
		fmt.Fprintf(&b, "  last: \"${%s}\"\n", names[len(names)-1])
		program, findings := load(t, b.String(), nil)
		if findings.HasErrors() {
			rt.Fatalf("%s\n%s", b.String(), describe(findings))
		}
		z := newZoo(true)
		_, findings = eval.Run(context.Background(), program, z.recorder, options())
		if len(findings) > 0 {
			rt.Fatalf("%s\n%s", b.String(), describe(findings))
		}
		probe, ok := z.recorder.Registered("probe")
		if !ok {
			rt.Fatal("not registered")
		}
		v, _ := probe.Inputs.Lookup("value")
		if fault := models[len(models)-1].compare(v, names[len(names)-1]); fault != "" {
			rt.Fatalf("%s\n%s\n%v", fault, b.String(), v)
		}
	})
}
