package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// The range of a message ends at the given end, or else with the name at its position.
func TestPlaceOfAMessage(t *testing.T) {
	t.Parallel()
	const text = "name: p\nresources:\n  pet: {type: a:b, forEach: ${1 / 0}}\n"
	r := report{o: Options{Root: "/root", Source: func(string) *diag.Source {
		return diag.NewSource("Pulumi.yaml",
			[]byte(text))
	}}}
	for name, c := range map[string]struct {
		position string
		end      diag.Position
		want     string
	}{
		"an expression":           {"project:///Pulumi.yaml#3,35", diag.Position{Line: 3, Column: 36}, "0"},
		"more than one line":      {"project:///Pulumi.yaml#2,1", diag.Position{Line: 3, Column: 6}, "resources:\n  pet"},
		"the name of a resource":  {"project:///Pulumi.yaml#3,3", diag.Position{}, "pet"},
		"an end before the start": {"project:///Pulumi.yaml#3,3", diag.Position{Line: 1, Column: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := r.place(c.position, c.end)
			require.False(t, place.IsZero())
			require.Equal(t, c.want, place.Text())
		})
	}
}
