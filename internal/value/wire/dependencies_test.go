package wire_test

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

// Dependencies survive encoding and decoding, and an empty map becomes nil (E2.44).
func TestDependencies(t *testing.T) {
	t.Parallel()
	message := func(list []string) *pulumirpc.CallRequest_ArgumentDependencies {
		return &pulumirpc.CallRequest_ArgumentDependencies{Urns: list}
	}
	deps := map[string][]urn.URN{
		"none": nil,
		"two":  {"urn:pulumi:dev::p::t:m:T::a", "urn:pulumi:dev::p::t:m:T::b"},
	}
	sent := wire.DependencyMessages(deps, message)
	require.Equal(t, []string{"urn:pulumi:dev::p::t:m:T::a", "urn:pulumi:dev::p::t:m:T::b"}, sent["two"].GetUrns())
	require.Equal(t, deps, wire.Dependencies(sent))
	require.Nil(t, wire.DependencyMessages(map[string][]urn.URN{}, message))
	require.Nil(t, wire.Dependencies(map[string]*pulumirpc.CallRequest_ArgumentDependencies{}))
	require.Nil(t, wire.Texts([]urn.URN{}))
	require.Nil(t, wire.URNs([]string{}))
}
