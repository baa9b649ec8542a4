package view

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The list of an operation has the same order, whatever the order of its events: that of the program, and the instances
// of one forEach in the order of their keys.
func TestOrderOfInstances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want, steps []string
		lines := map[string]int{}
		for line := range rapid.IntRange(1, 4).Draw(t, "resources") {
			for key := range rapid.IntRange(1, 12).Draw(t, "instances") {
				name := fmt.Sprintf("%c-%d", 'z'-line, key*key)
				lines[name] = line + 1
				want = append(want, name)
			}
		}
		steps = rapid.Permutation(slices.Clone(want)).Draw(t, "events")
		b := newBoard()
		for _, name := range steps {
			r := &state.Resource{URN: urn.New("dev", "p", "", "t:m:R", name), Type: "t:m:R", Custom: true,
				SourcePosition: fmt.Sprintf("project:///Pulumi.yaml#%d,3", lines[name])}
			b.event(&engine.StepStarted{Step: &engine.Step{Op: engine.OpCreate, URN: r.URN, Type: r.Type, New: r}})
		}
		var got []string
		b.tree.walk(func(r *row, _ int) { got = append(got, r.urn.Name()) })
		require.Equal(t, want, got)
	})
}
