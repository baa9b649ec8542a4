package eval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// leaves are the operands of random expressions: final values by the name of their resource.
var leaves = []struct{ name, text string }{
	{"n0", "3"}, {"n1", "-2"}, {"s0", "abc"}, {"s1", "x"}, {"b0", "true"}, {"b1", "false"},
	{"l0", "[1, 2, 3]"}, {"l1", "[]"}, {"m0", "{k: 1, j: 2}"}, {"m1", "{}"},
}

// expressions generates random expressions of a kind: n, s, b, l (of numbers) or m (of numbers).
type expressions struct {
	t      *rapid.T
	hidden bool // some leaves are secret
}

func (g expressions) of(kind byte, depth int) string {
	leaf := func() string {
		i := rapid.IntRange(0, 1).Draw(g.t, "leaf")
		if g.hidden && rapid.IntRange(0, 3).Draw(g.t, "hidden") == 0 {
			return fmt.Sprintf("h%c%d", kind, i)
		}
		return fmt.Sprintf("%c%d.value", kind, i)
	}
	if depth == 0 {
		return leaf()
	}
	part := func(kind byte) string { return g.of(kind, depth-1) }
	// A failure is not secret, even if the failing value is.
	public := func(kind byte) string { return expressions{g.t, false}.of(kind, depth-1) }
	forms := map[byte][]func() string{
		'n': {
			func() string { return "(" + part('n') + " + " + part('n') + ")" },
			func() string { return "(" + part('n') + " * " + part('n') + ")" },
			func() string { return "-" + part('n') },
			func() string { return "length(" + part('l') + ")" },
			func() string { return "max(1, " + part('l') + "...)" },
			func() string { return "lookup(" + part('m') + ", \"k\", " + part('n') + ")" },
			func() string { return "try(" + public('l') + "[2], " + part('n') + ")" },
			func() string { return "coalesce(" + part('m') + ".j, " + part('n') + ")" },
		},
		's': {
			func() string { return `"${` + part('n') + "}-${" + part('s') + `}"` },
			func() string { return "upper(" + part('s') + ")" },
			func() string { return `join(",", [` + part('s') + ", " + part('s') + "])" },
			func() string { return "toJSON([" + part('n') + ", " + part('m') + "])" },
		},
		'b': {
			func() string { return "(" + part('n') + " < " + part('n') + ")" },
			func() string { return "(" + part('s') + " == " + part('s') + ")" },
			func() string { return "(" + part('l') + " != " + part('l') + ")" },
			func() string { return "!" + part('b') },
			func() string { return "(" + part('b') + " && " + part('b') + ")" },
			func() string { return "(" + part('b') + " || " + part('b') + ")" },
			func() string { return "can(" + public('l') + "[2])" },
			func() string { return "contains(" + part('l') + ", " + part('n') + ")" },
		},
		'l': {
			func() string { return "[" + part('n') + ", " + part('n') + "]" },
			func() string { return "concat(" + part('l') + ", " + part('l') + ")" },
			func() string { return "[for x in " + part('l') + " : x + " + part('n') + "]" },
			func() string { return "[for x in " + part('l') + " : x if " + part('b') + "]" },
			func() string { return "values(" + part('m') + ")" },
			func() string { return "([{v = " + part('n') + "}, {v = " + part('n') + "}][*].v)" },
		},
		'm': {
			func() string { return "{k = " + part('n') + ", z = " + part('n') + "}" },
			func() string { return "merge(" + part('m') + ", " + part('m') + ")" },
			func() string { return "{for k, v in " + part('m') + " : upper(k) => v + " + part('n') + "}" },
			func() string { return "{(" + part('s') + ") = " + part('n') + "}" },
		},
	}
	all := append(forms[kind], leaf,
		func() string { return "(" + part('b') + " ? " + part(kind) + " : " + part(kind) + ")" },
		func() string { return "if(" + part('b') + ", " + part(kind) + ", " + part(kind) + ")" })
	return all[rapid.IntRange(0, len(all)-1).Draw(g.t, "form")]()
}

// TestUnknownsResolve evaluates random expressions with all leaves known, and with one leaf unknown. A known part must
// equal its final value, an unknown part must depend on the leaf, and no expression may fail that does not fail with
// all leaves known (L5.36, L6.5, L9.16, L10.C1, L10.C5).
func TestUnknownsResolve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := expressions{t: rt, hidden: true}
		var b strings.Builder
		b.WriteString("variables:\n")
		for _, leaf := range leaves {
			fmt.Fprintf(&b, "  h%s: {fn::secret: \"${%s.value}\"}\n", leaf.name, leaf.name)
		}
		b.WriteString("  result: ")
		kind := "nsblm"[rapid.IntRange(0, 4).Draw(rt, "kind")]
		fmt.Fprintf(&b, "'${[%s, 1]}'\n", g.of(kind, rapid.IntRange(1, 4).Draw(rt, "depth")))
		b.WriteString("resources:\n  probe: {type: zoo:Echo, properties: {value: \"${result}\"}}\n")
		for _, leaf := range leaves {
			fmt.Fprintf(&b, "  %s: {type: zoo:Echo, properties: {value: %s}}\n", leaf.name, leaf.text)
		}
		text := b.String()
		program, findings := load(t, text, nil)
		if findings.HasErrors() {
			rt.Skip() // such as an operator with literals of different types
		}
		run := func(unknown string) (value.Value, diag.Diagnostics) {
			r := &monitortest.Recorder{Deployment: monitor.Info{Project: "proj", Stack: "dev", DryRun: true}}
			r.Register = func(m monitor.RegisterRequest) (monitor.RegisterResponse, error) {
				response := monitor.RegisterResponse{Outputs: m.Inputs, ID: value.String(m.Name), Known: true}
				if m.Name == unknown {
					response.Outputs, response.Known = value.EmptyMap(), false
				}
				return response, nil
			}
			_, findings := eval.Run(context.Background(), program, r, options())
			probe, _ := r.Registered("probe")
			return probe.Inputs.Get("value"), findings
		}
		whole, findings := run("")
		if len(findings) > 0 {
			rt.Skip() // such as an index out of range or a key that is not a string
		}
		for _, leaf := range leaves {
			part, findings := run(leaf.name)
			if len(findings) > 0 {
				rt.Fatalf("with %s unknown it fails:\n%s\n%s", leaf.name, text, describe(findings))
			}
			if fault := comesTrue(part, whole, leaf.name, waits(part, leaf.name) || waits(whole, leaf.name)); fault != "" {
				rt.Fatalf("with %s unknown: %s\n%s\n%v, and in the end %v", leaf.name, fault, text, part.Bare(), whole.Bare())
			}
		}
	})
}

// comesTrue compares a value that was computed with an unknown leaf to its final value. It returns the difference;
// empty if there is none. waiting reports whether the value depends on the leaf.
func comesTrue(part, whole value.Value, leaf string, waiting bool) string {
	if !part.IsKnown() {
		if waits(part, leaf) {
			return ""
		}
		return "what is unknown does not depend on it"
	}
	if part.Kind() != whole.Kind() {
		return fmt.Sprintf("a %s becomes a %s", part.Kind(), whole.Kind())
	}
	// An unknown value may turn out to be secret and to have more dependencies, and so may the results of functions
	// on it.
	if !waiting && !slices.Equal(part.Deps(), whole.Deps()) {
		return fmt.Sprintf("depends on %v, and in the end on %v", part.Deps(), whole.Deps())
	}
	switch part.Kind() {
	case value.KindList, value.KindMap:
		if part.Len() != whole.Len() || !slices.Equal(part.Keys(), whole.Keys()) {
			return fmt.Sprintf("has %d parts, and in the end %d", part.Len(), whole.Len())
		}
		for i := range part.Len() {
			if fault := comesTrue(part.At(i), whole.At(i), leaf, waiting); fault != "" {
				return fault
			}
		}
	default:
		if !value.SameContent(part, whole) {
			return "it is another value in the end"
		}
	}
	return ""
}

// waits reports whether something in a value depends on a resource.
func waits(v value.Value, name string) bool {
	return slices.ContainsFunc(v.AllDeps(), func(u urn.URN) bool { return u.Name() == name })
}
