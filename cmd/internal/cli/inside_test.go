//go:build !lean

package cli

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// refusing is a store that refuses every request.
type refusing struct{ backend.Objects }

func (refusing) Get(context.Context, string) (backend.Object, error) {
	return backend.Object{}, backend.ErrRefused
}

func (refusing) List(context.Context, string) ([]backend.Listed, error) {
	return nil, backend.ErrRefused
}

// Commands that a server runs for its clients open the state store once.
func TestServersShareStores(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	var opened atomic.Int64
	x.world.Objects = func(backend.Objects) backend.Objects {
		opened.Add(1)
		return refusing{}
	}
	x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL=s3://pail?region=us-east-1", "AWS_EC2_METADATA_DISABLED=true")
	run := console.NewInside(&console.Console{World: x.world, Execute: Run})
	for range 3 {
		out, err := run(t.Context(), x.world.Dir, "preview", "--stack", "dev")
		require.Error(t, err)
		require.Contains(t, out, "the store refuses")
	}
	require.EqualValues(t, 1, opened.Load())
}
