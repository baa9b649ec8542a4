package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

var reservedMap = value.MapOf(value.Entry{Key: value.SignatureKey, Value: value.String("nonsense")})

// babbling is a provider that works normally but answers one call with a reserved key.
type babbling struct {
	*intercepted
	where string // the call whose answer has it
}

func (w *world) babbling(where string) provider.Loader {
	return intercepting{w.cloud, func(i *intercepted) answering { return &babbling{i, where} }}
}

func (b *babbling) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	got, err := b.Configured.Check(ctx, r)
	if b.where == "check" && r.Name == "a" {
		got.Inputs = got.Inputs.With("more", reservedMap)
	}
	return got, err
}

func (b *babbling) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	got, err := b.Configured.Create(ctx, r)
	if r.Name == "a" {
		switch b.where {
		case "create":
			got.Outputs = got.Outputs.With("more", value.List(reservedMap).Secret())
		case "partial create":
			err = &provider.Error{Outcome: provider.Partial, ID: got.ID, Outputs: reservedMap, Reasons: []string{"not healthy"}}
		}
	}
	return got, err
}

func (b *babbling) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	got, err := b.Configured.Update(ctx, r)
	if b.where == "update" && r.Name == "a" {
		got.Outputs = got.Outputs.With("more", reservedMap)
	}
	return got, err
}

func (b *babbling) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	got, err := b.Configured.Read(ctx, r)
	if b.where == "read" && r.Name == "a" {
		got.Outputs = got.Outputs.With("more", reservedMap)
	}
	return got, err
}

func (b *babbling) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	return provider.InvokeResponse{Result: reservedMap}, nil
}

// F1.10: an answer with a reserved key fails only the resource concerned. The state keeps
// the ID of the created object, nothing unreadable is recorded, and the next run goes on.
func TestReservedKeysInAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where   string
		before  bool // the resource exists and is updated
		pending state.OperationKind
		objects int // number of objects, in the cloud and in the state
	}{
		{where: "check", objects: 1},
		{where: "create", objects: 2},
		{where: "partial create", objects: 2},
		{where: "update", before: true, pending: state.Updating, objects: 2},
		{where: "read", before: true, objects: 2},
	} {
		w := newWorld()
		program := func(size int) func(context.Context, monitor.Monitor, urn.URN) error {
			return func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
				var first error
				for _, name := range []string{"a", "b"} {
					_, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "pkg:m:R", Name: name, Custom: true, Parent: stack,
						Inputs: value.MapOf(value.Entry{Key: "size", Value: value.Int(size)})})
					if first == nil {
						first = err
					}
				}
				return first
			}
		}
		if c.before {
			w.heard(t, false, program(1))
		}
		_, result := w.heard(t, false, program(2), func(o *Options, l *listener) {
			o.Providers = w.babbling(c.where)
			o.ContinueOnError = true
			o.Refresh = c.where == "read"
		})
		require.True(t, result.Failed, c.where)
		ids := map[string]bool{}
		for _, r := range result.Snapshot.Resources {
			require.NoError(t, value.Storable(r.Outputs), c.where)
			if r.Custom && !r.IsProvider() {
				ids[r.ID] = true
			}
		}
		require.Len(t, ids, c.objects, c.where)
		require.Len(t, w.cloud.objects, c.objects, c.where)
		for id := range w.cloud.objects {
			require.True(t, ids[id], c.where)
		}
		if c.pending != "" {
			require.Len(t, result.Snapshot.Pending, 1, c.where)
			require.Equal(t, c.pending, result.Snapshot.Pending[0].Kind, c.where)
		}
		text, err := state.Encode(result.Snapshot, nil)
		require.NoError(t, err, c.where)
		_, err = state.Decode(text, nil)
		require.NoError(t, err, c.where)
		_, result = w.heard(t, false, program(2))
		require.False(t, result.Failed, c.where)
		require.Len(t, w.cloud.objects, 2, c.where)
	}
}

// F1.10: every request with a reserved key is rejected.
func TestReservedKeysInRequests(t *testing.T) {
	t.Parallel()
	w := newWorld()
	bad := value.MapOf(value.Entry{Key: "x", Value: reservedMap})
	w.heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		_, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "pkg:m:R", Name: "a", Custom: true, Parent: stack,
			Inputs: bad})
		require.ErrorContains(t, err, `pkg:m:R "a": the value of x has the unrecognized signature "nonsense"`)
		_, err = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "pkg:m:R", Name: "a", Custom: true, Parent: stack,
			ReplacementTrigger: reservedMap})
		require.ErrorContains(t, err, "the replacement trigger")
		_, err = m.ReadResource(ctx, monitor.ReadRequest{Type: "pkg:m:R", Name: "r", ID: value.String("x"), Parent: stack,
			State: bad})
		require.ErrorContains(t, err, "unrecognized signature")
		_, err = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "pkg:m:R", Name: "\xff", Custom: true, Parent: stack})
		require.ErrorContains(t, err, "not UTF-8")
		require.ErrorContains(t, m.RegisterOutputs(ctx, stack, bad), "unrecognized signature")
		return nil
	})
	require.Empty(t, w.cloud.objects)
	_, result := w.heard(t, false, func(ctx context.Context, m monitor.Monitor, _ urn.URN) error {
		_, err := m.Invoke(ctx, monitor.InvokeRequest{Token: "pkg:m:f", Args: value.EmptyMap()})
		require.ErrorContains(t, err, "unrecognized signature")
		return nil
	}, func(o *Options, l *listener) { o.Providers = w.babbling("") })
	require.False(t, result.Failed)
}

// unhealthy is a provider whose reads fail partly.
type unhealthy struct{ *intercepted }

func (unhealthy) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{}, &provider.Error{Outcome: provider.Partial, ID: r.ID, Outputs: r.Inputs,
		Reasons: []string{"not healthy"}, RefreshBeforeUpdate: true}
}

// E5.38: the state after a partly failed read has the failure's RefreshBeforeUpdate.
func TestPartialReadKeepsRefreshBeforeUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	_, result := w.heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		_, err := m.ReadResource(ctx, monitor.ReadRequest{Type: "pkg:m:R", Name: "r", ID: value.String("x"), Parent: stack,
			State: value.EmptyMap()})
		return err
	}, func(o *Options, l *listener) {
		o.Providers = intercepting{w.cloud, func(i *intercepted) answering { return unhealthy{i} }}
	})
	require.True(t, result.Failed)
	last := result.Snapshot.Resources[len(result.Snapshot.Resources)-1]
	require.Equal(t, "r", last.URN.Name())
	require.Equal(t, []string{"not healthy"}, last.InitErrors)
	require.True(t, last.RefreshBeforeUpdate)
}
