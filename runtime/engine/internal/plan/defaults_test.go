package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

// A default is kept for an existing resource if its record has the property, or lacks the object around it (L3.15).
func TestWithoutNewDefaults(t *testing.T) {
	parse := func(text string) value.Value {
		v, err := value.FromJSON(text)
		require.NoError(t, err)
		return v
	}
	for name, c := range map[string]struct{ recorded, want string }{
		"nothing is recorded of them": {`{"a": 1, "rule": {"b": 1}, "rules": [{"b": 1}]}`,
			`{"a":1,"rule":{"b":1},"rules":[{"b":1},{"b":2,"mode":"x"}]}`},
		"they are recorded": {`{"mode": "y", "rule": {"mode": "y"}, "rules": [{"mode": "y"}]}`,
			`{"a":1,"mode":"x","rule":{"b":1,"mode":"x"},"rules":[{"b":1,"mode":"x"},{"b":2,"mode":"x"}]}`},
		"the parts are new": {`{"a": 1}`,
			`{"a":1,"rule":{"b":1,"mode":"x"},"rules":[{"b":1,"mode":"x"},{"b":2,"mode":"x"}]}`},
		"a part was of another kind": {`{"rule": "none", "rules": null}`,
			`{"a":1,"rule":{"b":1,"mode":"x"},"rules":[{"b":1,"mode":"x"},{"b":2,"mode":"x"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := parse(
				`{"a": 1, "mode": "x", "rule": {"b": 1, "mode": "x"}, "rules": [{"b": 1, "mode": "x"}, {"b": 2, "mode": "x"}]}`)
			defaults := []value.Path{value.PathOf("mode"), value.PathOf("rule", "mode"),
				value.PathOf("rules").Then(value.IndexStep(0), value.KeyStep("mode")),
				value.PathOf("rules").Then(value.IndexStep(1), value.KeyStep("mode"))}
			got, err := value.AppendJSON(nil, withoutNewDefaults(wanted, parse(c.recorded), defaults))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}
