package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// overtaking is shared by providers that answer a read of b, with its old state, only while b is being deleted, and a
// read of a only while b is being read.
type overtaking struct {
	reading, deleted chan struct{}
	once             sync.Once // of deletion
}

type overtaker struct {
	*intercepted
	*overtaking
}

func (o overtaker) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	wait := o.reading
	if r.URN.Name() == "b" {
		wait = o.deleted
		close(o.reading)
	}
	answer, err := o.Configured.Read(ctx, r)
	select {
	case <-wait:
		return answer, err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

func (o overtaker) Delete(ctx context.Context, r provider.DeleteRequest) error {
	err := o.Configured.Delete(ctx, r)
	if r.URN.Name() == "b" {
		o.once.Do(func() { close(o.deleted) })
	}
	return err
}

// E4.30, E7.29: b is deleted on behalf of a while it is read. The result of the read is ignored: b is created again,
// and nothing of its old state is left.
func TestReadingIsOvertakenByReplacement(t *testing.T) {
	w := newWorld()
	w.command(t, "up", "res a v=1\nres b dbr=${a.out}")
	w.cloud.objects["b-1"] = w.cloud.objects["b-1"].With("v", value.String("drifted"))
	w.cloud.log = func(string, ...any) {}
	o, m := w.options(4, false)
	o.Refresh, o.RunProgram = true, true
	shared := &overtaking{reading: make(chan struct{}), deleted: make(chan struct{})}
	o.Providers = intercepting{w.cloud, func(i *intercepted) answering { return overtaker{i, shared} }}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := Update(ctx, o, inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		inputs := map[string]string{"a": "dbr", "b": "v"}
		var group sync.WaitGroup
		for name, key := range inputs {
			group.Go(func() {
				_, _ = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: name,
					Parent: stack, Inputs: value.EmptyMap().With(key, value.String("2"))})
			})
		}
		group.Wait()
		return nil
	}))
	require.NoError(t, err)
	require.False(t, result.Failed)
	m.requireSound(t, w.state)
	require.Equal(t, []string{"a-2", "b-2"}, w.cloud.inventory())
	w.state = result.Snapshot
	require.Equal(t, map[string]bool{"a-2": true, "b-2": true}, managedBy(w.state))
	require.Len(t, w.state.Resources, 4, "the stack, its provider, a and b")
}
