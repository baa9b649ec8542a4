package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// declared is a resource of a generated program: it stands on one line.
type declared struct {
	name, typ string
}

func (d declared) urn() urn.URN { return urn.New("dev", "p", "", d.typ, d.name) }

// written returns a program, and the position of each resource's name in it as a state records it.
func written(list []declared, above int, json bool) (text string, positions map[urn.URN]string) {
	positions = map[urn.URN]string{}
	var b strings.Builder
	line := above + 3
	if b.WriteString(strings.Repeat("\n", above)); json {
		b.WriteString("{\"name\": \"p\", \"runtime\": \"yaml\",\n\"resources\": {\n")
	} else {
		b.WriteString("name: p\nresources:\n")
	}
	for i, d := range list {
		short := strings.Replace(d.typ, "/"+strings.ToLower(d.typ[len(d.typ)-1:])+":", ":", 1)
		switch {
		case json && i > 0:
			fmt.Fprintf(&b, ",%q: {\"type\": %q}\n", d.name, short)
			positions[d.urn()] = fmt.Sprintf("project:///Pulumi.yaml#%d,2", line)
		case json:
			fmt.Fprintf(&b, "%q: {\"type\": %q}\n", d.name, short)
			positions[d.urn()] = fmt.Sprintf("project:///Pulumi.yaml#%d,1", line)
		default:
			fmt.Fprintf(&b, "  %s: {type: %s}\n", d.name, short)
			positions[d.urn()] = fmt.Sprintf("project:///Pulumi.yaml#%d,3", line)
		}
		line++
	}
	if json {
		b.WriteString("}}\n")
	}
	return b.String(), positions
}

// A place that only the state has recorded is shown exactly if the resource is still declared there: in findings, and
// in the rows of reports. What the running program has registered keeps its place.
func TestPlaceOfWhatStands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) declared {
			return declared{name: rapid.SampledFrom([]string{"a", "b", "ab", "a-b", "b-a"}).Draw(t, "name"),
				typ: rapid.SampledFrom([]string{"s:m/c:C", "s:n/c:C", "s:index:D", "s:m:D"}).Draw(t, "type")}
		})
		program := rapid.SliceOfNDistinct(one, 1, 4, func(d declared) string { return d.name })
		json, above := rapid.Bool().Draw(t, "json"), rapid.IntRange(0, 1)
		_, before := written(program.Draw(t, "before"), above.Draw(t, "lines above"), json)
		text, now := written(program.Draw(t, "now"), above.Draw(t, "lines above now"), json)
		source := diag.NewSource("Pulumi.yaml", []byte(text))
		o := Options{Source: func(string) *diag.Source { return source }, Stands: new(Standing).Stands}
		for u, position := range before {
			stands := now[u] == position
			m := &engine.Message{URN: u, Severity: diag.Error, Text: "failed", Position: position, Recorded: true}
			require.Equal(t, stands, !FindingOf(o, mask.New(), m).Subject.IsZero(), "%s at %s in\n%s", u, position, text)

			old := &state.Resource{URN: u, Type: u.Type(), Custom: true, SourcePosition: position}
			for _, s := range []*engine.Step{
				{Op: engine.OpDelete, URN: u, Type: u.Type(), Old: old},
				{Op: engine.OpRefresh, URN: u, Type: u.Type(), Old: old, New: old.Clone()},
				{Op: engine.OpSame, URN: u, Type: u.Type(), Old: old, New: old},
			} {
				l := NewOutline(o, mask.New())
				l.Event(&engine.StepStarted{Step: s})
				l.Event(&engine.StepFinished{Step: s, Op: s.Op})
				require.Equal(t, stands, !l.Resources()[0].Place.IsZero(), "%s: %s at %s in\n%s", s.Op, u, position, text)
			}
		}
		for u, position := range now {
			m := &engine.Message{URN: u, Severity: diag.Error, Text: "failed", Position: position}
			require.False(t, FindingOf(o, mask.New(), m).Subject.IsZero())
			m.Recorded = true
			require.False(t, FindingOf(o, mask.New(), m).Subject.IsZero(), "%s at %s in\n%s", u, position, text)
		}
	})
}

// Instances of forEach and resources in components stand where their declaration stands with their name.
func TestInstancesStand(t *testing.T) {
	t.Parallel()
	source := diag.NewSource("Pulumi.yaml", []byte("name: p\ncomponents:\n  Web:\n    resources:\n      db: {type: s:C}\n"+
		"resources:\n  web: {type: components:Web}\n  job: {type: s:C, name: work, forEach: 3}\n"))
	var standing Standing
	at := func(line, column int) diag.Range {
		start := source.Offset(diag.Position{Line: line, Column: column})
		return diag.NewRange(source, start, start+1)
	}
	for name, want := range map[string]bool{"web-db": true, "web-xdb": false, "db": false, "old-db": false} {
		require.Equal(t, want, standing.Stands(at(5, 7), urn.New("dev", "p", "", "s:index:C", name)), name)
	}
	for name, want := range map[string]bool{"work-1": true, "work": true, "job-1": false, "worker": false} {
		require.Equal(t, want, standing.Stands(at(8, 3), urn.New("dev", "p", "", "s:index:C", name)), name)
	}
	require.True(t, standing.Stands(at(7, 3), urn.New("dev", "p", "", "components:index:Web", "web")))
}
