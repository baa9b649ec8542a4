package guard

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// gossip is a provider whose errors contain the password that it got.
type gossip struct {
	provider.Provider
	provider.Configured
	fail func(told string) error
}

func (g gossip) Load(context.Context, provider.Package) (provider.Provider, error) { return g, nil }

func (g gossip) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return g, nil
}

func (g gossip) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	text, _ := r.Inputs.Get("password").AsString()
	return provider.CreateResponse{}, g.fail(text)
}

func (g gossip) Read(context.Context, provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{Outputs: value.Map(map[string]value.Value{"password": value.String("swordfish")})}, nil
}

func (g gossip) Cancel(context.Context) error { return nil }
func (g gossip) Close() error                 { return nil }

func configuredGossip(t *testing.T, g *Guard, fail func(string) error) provider.Configured {
	t.Helper()
	p, err := g.Loader(gossip{fail: fail}).Load(t.Context(), provider.Package{Name: "gossip"})
	require.NoError(t, err)
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	return c
}

// Errors hide the secrets of inputs and keep the types and causes that the engine looks for.
func TestErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	inputs := value.Map(map[string]value.Value{"password": value.String("swordfish").Secret()})
	for name, fail := range map[string]func(string) error{
		"plain":   func(s string) error { return errors.Join(errors.New("refused "+s), cause) },
		"failure": func(s string) error { return &provider.Error{Message: "refused " + s, Reasons: []string{s}} },
		"crash":   func(s string) error { return &provider.CrashError{Output: "refused " + s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := configuredGossip(t, New(Options{Secrets: mask.New()}), fail)
			_, err := c.Create(t.Context(), provider.CreateRequest{Inputs: inputs})
			require.Error(t, err)
			require.NotContains(t, err.Error(), "swordfish")
			switch name {
			case "plain":
				require.ErrorIs(t, err, cause)
			case "failure":
				var failure *provider.Error
				require.ErrorAs(t, err, &failure)
				require.Equal(t, []string{"[secret]"}, failure.Reasons)
			case "crash":
				var crash *provider.CrashError
				require.ErrorAs(t, err, &crash)
			}
		})
	}
}

// A sealed value that is not secret is not hidden; the secret beside it is.
func TestOpenInputsAreNotHidden(t *testing.T) {
	t.Parallel()
	g := New(Options{Secrets: mask.New(), Open: func(pkg string) []string { return []string{pkg} }})
	c := configuredGossip(t, g, errors.New)
	_, err := c.Create(t.Context(), provider.CreateRequest{Inputs: value.Map(map[string]value.Value{
		"gossip":   value.String("the source code").Secret(),
		"password": value.String("swordfish").Secret(),
	})})
	require.EqualError(t, err, "[secret]")
	require.Equal(t, "the source code has [secret]", g.secrets.Hide("the source code has swordfish"))
}

// A value that was secret before a read stays secret, whether or not the provider marks it.
func TestReadKeepsSecrets(t *testing.T) {
	t.Parallel()
	masker := mask.New()
	c := configuredGossip(t, New(Options{Secrets: masker}), nil)
	before := value.Map(map[string]value.Value{"password": value.String("old-word").Secret()})
	out, err := c.Read(t.Context(), provider.ReadRequest{Outputs: before})
	require.NoError(t, err)
	require.True(t, out.Outputs.Get("password").IsSecret())
	require.Equal(t, "[secret] and [secret]", masker.Hide("old-word and swordfish"))
}

// D10: a call is reported when the patience is over, then each time that the wait has doubled, the longest wait
// first; an answered call is not reported.
func TestSlowCalls(t *testing.T) {
	t.Parallel()
	w := newWatchdog(time.Minute, func(Wait) {})
	w.begin("a", "create the resource", "urn:a")
	w.begin("b", "start", "")
	done := w.begin("c", "start", "")
	done()
	begun := time.Now()
	for i, c := range w.calls {
		c.since = begun.Add(time.Duration(i) * time.Second)
	}
	require.Empty(t, w.overdue(begun.Add(59*time.Second)))
	waits := w.overdue(begun.Add(61 * time.Second))
	require.Len(t, waits, 2)
	require.Equal(t, Wait{Provider: "a", Does: "create the resource", URN: "urn:a", Time: 61 * time.Second}, waits[0])
	require.Equal(t, "still waiting for the provider b to start, for 1m0s now", waits[1].String())
	require.Empty(t, w.overdue(begun.Add(119*time.Second)))
	require.Len(t, w.overdue(begun.Add(120*time.Second)), 1)
}
