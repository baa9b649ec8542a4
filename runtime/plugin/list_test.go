package plugin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// List fails for a plugin without the call, for a provider without List and for a response with too many resources.
func TestListIsRefused(t *testing.T) {
	t.Parallel()
	request := provider.ListRequest{Type: "pkg:index:R", Query: value.EmptyMap()}
	for name, p := range map[string]provider.Provider{
		"an old plugin":                 attach(t, serveOld(t, &oldPlugin{}), nil),
		"a provider that does not list": loopback(t, silent{&recorder{}}),
	} {
		_, err := provider.List(t.Context(), configure(t, p), request)
		var fault *provider.Error
		require.ErrorAs(t, err, &fault, name)
		require.True(t, fault.Unimplemented, name)
		require.ErrorContains(t, err, "plugin pkg cannot list pkg:index:R", name)
	}
	many := &recorder{answer: provider.ListResponse{Resources: make([]provider.Listed, provider.MaxListed+1)}}
	_, err := provider.List(t.Context(), configure(t, loopback(t, many)), request)
	require.EqualError(t, err, "plugin pkg lists more than 100000 of pkg:index:R at once")
}

// silent is a provider without List.
type silent struct{ provider.Provider }

func (s silent) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	c, err := s.Provider.Configure(ctx, r)
	return struct{ provider.Configured }{c}, err
}
