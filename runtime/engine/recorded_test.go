package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

func TestWhatIsRecordedOfRefreshesAndOutputs(t *testing.T) {
	w := newWorld()
	program := registering(monitor.RegisterRequest{Name: "a", Inputs: inputs("v", "1")},
		monitor.RegisterRequest{Name: "b", Inputs: inputs("v", "1")})
	w.heard(t, false, program)
	for id := range w.cloud.objects {
		w.cloud.objects[id] = inputs("v", "drifted")
	}
	o, m := w.options(2, false)
	result, err := Refresh(t.Context(), o, nil)
	require.NoError(t, err)
	require.Equal(t, 2, result.Changes[OpUpdate])
	require.Len(t, m.entries, 1, "E6.17: a refresh is written once, when everything is read")

	w.state = result.Snapshot
	w.cloud.objects["a-1"] = inputs("v", "again")
	o, m = w.options(2, false)
	o.Refresh, o.RunProgram = true, true
	_, err = Update(t.Context(), o, inStack(program))
	require.NoError(t, err)
	require.NotEmpty(t, m.entries)
	require.Len(t, m.entries[0].Amend, 1, "E6.18: with the program, each is written at once")
	require.Equal(t, `{"v": "again"}`, m.entries[0].Amend[0].Resource.Outputs.String())

	for name, c := range map[string]struct {
		outputs value.Value
		written bool
	}{"the same": {inputs("x", "1"), false}, "others": {inputs("x", "2"), true}} {
		w := newWorld()
		register := func(outputs value.Value) *memory {
			o, m := w.options(1, false)
			result, err := Update(t.Context(), o, inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
				return m.RegisterOutputs(ctx, stack, outputs)
			}))
			require.NoError(t, err)
			w.state = result.Snapshot
			return m
		}
		register(inputs("x", "1"))
		require.Equal(t, c.written, len(register(c.outputs).entries) > 0, "E6.20: %s", name)
	}
}
