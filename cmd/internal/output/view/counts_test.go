package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The numbers of the summary are those of the rows: each result in words is counted as often as a row has it, and the
// lines for rows that are left out have the numbers of those rows. The stack is counted if it is done.
func TestSummaryCountsTheRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		planning := rapid.Bool().Draw(t, "planning")
		refreshed := rapid.Bool().Draw(t, "each is refreshed first")
		b, changes := newBoard(), map[engine.Op]int{}
		parents := []urn.URN{""}
		draw := func(name string, from []engine.Op) engine.Op { return rapid.SampledFrom(from).Draw(t, name) }
		for i := range rapid.IntRange(1, 8).Draw(t, "resources") {
			typ, name := "a:b:C", fmt.Sprintf("r%d", i)
			parent := rapid.SampledFrom(parents).Draw(t, "parent")
			switch {
			case i == 0:
				typ, parent = urn.RootStackType, ""
			case rapid.Bool().Draw(t, "component"):
				typ = "components:index:" + name
			}
			s := made(draw("operation", []engine.Op{engine.OpSame, engine.OpCreate, engine.OpUpdate, engine.OpDelete}),
				parent, typ, name, i+1)
			if s.New != nil {
				s.New.Custom = typ == "a:b:C"
			} else {
				s.Old.Custom = typ == "a:b:C"
			}
			if typ != "a:b:C" {
				parents = append(parents, s.URN)
			}
			if refreshed && s.Op != engine.OpCreate {
				again := *s
				again.Op, again.Old = engine.OpRefresh, again.About()
				again.New = again.Old
				b.event(&engine.StepStarted{Step: &again, Planning: planning})
				b.event(&engine.StepFinished{Step: &again, Op: engine.OpRefresh, Planning: planning})
			}
			outside := *s
			outside.Op = engine.OpSame
			interrupted := rapid.Bool().Draw(t, "interrupted")
			end := rapid.IntRange(0, 4).Draw(t, "end")
			if end == 1 { // its check fails
				b.event(&engine.ResourceFailed{Step: &outside, Interrupted: interrupted})
				continue
			}
			b.event(&engine.StepStarted{Step: s, Planning: planning})
			switch end {
			case 0:
				if s.About().Custom && !planning {
					b.event(&engine.StepFailed{Step: s, Interrupted: interrupted})
					continue
				}
			case 2: // nothing tells its end
				if s.About().Custom && !planning {
					continue
				}
			}
			changes[s.Op]++
			if s.About().Custom || s.New == nil {
				b.event(&engine.StepFinished{Step: s, Op: s.Op, Planning: planning})
			} else if end == 4 { // the end of a component is its outputs, which may never come
				b.event(&engine.StepFinished{Step: s, Op: s.Op, Planning: planning, Outputs: true})
			}
			if s.Op == engine.OpSame && end == 4 && s.New.Custom { // what remains of a replacement
				rest := &engine.Step{Op: engine.OpDeleteReplaced, URN: s.URN, Type: s.Type, Old: &state.Resource{URN: s.URN,
					Type: s.Type, Custom: true, Delete: true, Parent: parent}}
				b.event(&engine.StepStarted{Step: rest, Planning: planning})
				b.event(&engine.StepFinished{Step: rest, Op: rest.Op, Planning: planning})
				continue
			}
			if end == 3 {
				b.event(&engine.ResourceFailed{Step: &outside, Interrupted: interrupted})
			}
		}
		b.event(&engine.Summary{Planning: planning, Changes: changes, Result: "failed"})
		r := &report{o: Options{Out: io.Discard}, board: b}
		r.o.Flat = rapid.Bool().Draw(t, "flat")

		want := map[string]int{}
		for _, item := range r.Outcomes() {
			for i, words := range strings.Split(item.Words, ", ") {
				words = strings.TrimPrefix(words, "then ")
				switch {
				case strings.HasSuffix(words, "failed"):
					words = "failed"
				case strings.HasPrefix(words, "stopped"):
					words = "stopped"
				case planning && i == 0 && words != "unchanged":
					words = "to " + words
				}
				if item.IsStack() && slices.Contains([]string{"failed", "stopped", "incomplete"}, words) {
					continue
				}
				want[words]++
			}
		}
		got := map[string]int{}
		for _, c := range append(r.Counts(), Incomplete(r.Outcomes())...) {
			switch c.Words {
			case "original deleted", "originals deleted":
				c.Words = "deleted original"
			case "original to delete", "originals to delete":
				c.Words = "to delete original"
			}
			got[c.Words] += c.N
		}
		require.Equal(t, want, got, "%v", slices.Collect(maps.Values(b.rows)))
		text := strings.Join(r.final(0), "\n") + "\n"
		unchanged := strings.Count(text, " unchanged\n") - strings.Count(text, "resource unchanged\n") -
			strings.Count(text, "resources unchanged\n")
		for _, line := range strings.Split(text, "\n") {
			var n int
			if _, err := fmt.Sscanf(line, "%d resource", &n); err == nil && strings.HasSuffix(line, "unchanged") {
				unchanged += n
			}
		}
		require.Equal(t, got["unchanged"], unchanged, text)
	})
}
