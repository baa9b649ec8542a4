package plugin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// teller is a provider that publishes steps of views in each call.
type teller struct {
	recorder
	steps []provider.ViewStep
	told  *provider.Views
	err   error // error of the last Publish
}

func (r *teller) tell(ctx context.Context, v *provider.Views) error {
	r.told = v
	if v != nil {
		r.err = v.Publish(ctx, r.steps)
	}
	return nil
}

func (r *teller) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return r, nil
}
func (r *teller) Create(ctx context.Context, q provider.CreateRequest) (provider.CreateResponse, error) {
	return provider.CreateResponse{ID: "i"}, r.tell(ctx, q.Views)
}
func (r *teller) Read(ctx context.Context, q provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{ID: "i"}, r.tell(ctx, q.Views)
}
func (r *teller) Update(ctx context.Context, q provider.UpdateRequest) (provider.UpdateResponse, error) {
	return provider.UpdateResponse{}, r.tell(ctx, q.Views)
}
func (r *teller) Delete(ctx context.Context, q provider.DeleteRequest) error {
	return r.tell(ctx, q.Views)
}

// A plugin receives the old views, and the steps that it publishes arrive unchanged. Publish fails after the call ends
// (E4.114).
func TestViews(t *testing.T) {
	t.Parallel()
	view := func(name string) *provider.View {
		return &provider.View{Type: "pkg:index:View", Name: name, ParentType: "pkg:index:Top", ParentName: "top",
			Inputs: plainly(), Outputs: plainly().With("u", value.Unknown(value.KindNumber))}
	}
	r := &teller{steps: []provider.ViewStep{
		{Op: "create", New: view("a")},
		{Op: "delete-replaced", Old: view("b"), Outcome: provider.Partial, Error: "half of it"},
		{Op: "discard", Old: view("b"), Outcome: provider.Unclear},
		{Op: "update", Old: view("a"), New: view("c"), Keys: []string{"k"}, Diffs: []string{"d"},
			Detailed: map[string]provider.PropertyDiff{"x.y": {Kind: provider.DiffUpdateReplace, InputDiff: true}}},
	}}
	for _, s := range r.steps {
		for _, v := range []*provider.View{s.Old, s.New} {
			if v != nil {
				// Byte strings are not negotiated for views.
				v.Inputs, v.Outputs = v.Inputs.Without("bytes"), v.Outputs.Without("bytes")
			}
		}
	}
	c := configure(t, loopback(t, r))
	var got []provider.ViewStep
	var refuse error
	old := provider.View{Type: "pkg:index:View", Name: "o", Inputs: value.EmptyMap().With("a", value.Int(1)),
		Outputs: value.EmptyMap()}
	views := &provider.Views{Old: []provider.View{old}, Publish: func(_ context.Context, steps []provider.ViewStep) error {
		got = steps
		return refuse
	}}
	subject := provider.SubjectOf(resource)
	empty := value.EmptyMap()
	for name, call := range map[string]func() error{
		"create": func() error {
			_, err := c.Create(t.Context(), provider.CreateRequest{Subject: subject, Inputs: empty, Views: views})
			return err
		},
		"read": func() error {
			_, err := c.Read(t.Context(), provider.ReadRequest{Subject: subject, ID: "i", Inputs: empty, Outputs: empty,
				Views: views})
			return err
		},
		"update": func() error {
			_, err := c.Update(t.Context(), provider.UpdateRequest{Subject: subject, ID: "i", OldInputs: empty,
				OldOutputs: empty, News: empty, Views: views})
			return err
		},
		"delete": func() error {
			return c.Delete(t.Context(), provider.DeleteRequest{Subject: subject, ID: "i", Inputs: empty, Outputs: empty,
				Views: views})
		},
	} {
		got, refuse = nil, nil
		require.NoError(t, call(), name)
		require.NoError(t, r.err, name)
		require.Equal(t, r.steps, got, name)
		if name != "create" { // create has no old views
			require.Equal(t, views.Old, r.told.Old, name)
		}
		refuse = errors.New("there is no such view")
		require.NoError(t, call(), name)
		require.ErrorContains(t, r.err, "there is no such view", name)
		require.Error(t, r.told.Publish(context.Background(), r.steps), "%s is over", name)
	}
	_, err := c.Create(t.Context(), provider.CreateRequest{Subject: subject, Inputs: empty})
	require.NoError(t, err)
	require.Nil(t, r.told, "nobody wants to know")

	_, err = c.Create(t.Context(), provider.CreateRequest{Subject: subject, Inputs: empty, Views: views})
	require.NoError(t, err)
	for _, bad := range []provider.ViewStep{{New: &old}, {Op: "create"}, {Op: "create", New: &provider.View{Name: "n"}}} {
		r.steps = []provider.ViewStep{bad}
		_, err := c.Create(t.Context(), provider.CreateRequest{Subject: subject, Inputs: empty, Views: views})
		require.NoError(t, err)
		require.ErrorContains(t, r.err, "step 1: ")
	}
}
