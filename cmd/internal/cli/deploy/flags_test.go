package deploy

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
)

// Flags and environment variables set the options of an operation.
func TestOperationFlags(t *testing.T) {
	t.Parallel()
	a := &console.Console{World: console.World{Env: []string{"PULUMI_PARALLEL=3", "PULUMI_SKIP_CONFIRMATIONS=true"}}}
	var got *operation.Options
	cmd := newUp(a, func(_ context.Context, _ *console.Console, o *operation.Options) error { got = o; return nil })
	cmd.SetArgs([]string{"-s", "dev", "-c", "a=1", "-c", "b=x,y", "--refresh", "--diff", "-m", "why"})
	require.NoError(t, cmd.Execute())
	require.Equal(t, &operation.Options{OpenOptions: operation.OpenOptions{Stack: "dev"},
		ConfigOptions:  operation.ConfigOptions{Config: []string{"a=1", "b=x,y"}},
		PlanOptions:    operation.PlanOptions{Refresh: "true"},
		ShowOptions:    operation.ShowOptions{Detail: view.Detail{Diff: true, Causes: "short"}},
		ApplyOptions:   operation.ApplyOptions{Message: "why", Yes: true},
		ProgramOptions: operation.ProgramOptions{Parallel: 3}, Command: "up",
		Flags: map[string]string{"stack": "set", "config": "set", "refresh": "set", "diff": "true",
			"message": "set"}}, got)
}
