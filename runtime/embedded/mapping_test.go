package embedded

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The mapping has the names and kinds in the documentation of Terraform's providers.
func TestMapping(t *testing.T) {
	t.Parallel()
	mapped := func(name, tool string) (p terraformProvider) {
		t.Helper()
		loaded, err := NewLoader(Options{}).Load(t.Context(), provider.Package{Name: name})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, loaded.Close()) })
		got, data, err := loaded.(provider.Mapper).Mapping(t.Context(), "terraform", tool)
		require.NoError(t, err)
		require.Equal(t, name, got)
		require.NoError(t, json.Unmarshal(data, &p))
		require.NotEmpty(t, p.Version)
		return p
	}
	random := mapped("random", "random")
	require.Equal(t, []string{"random_bytes", "random_id", "random_integer", "random_password", "random_pet",
		"random_shuffle", "random_string", "random_uuid", "random_uuid4", "random_uuid7"},
		slices.Sorted(maps.Keys(random.Resources)))
	require.Equal(t, "random:index/randomPet:RandomPet", random.Resources["random_pet"].Token)
	require.Equal(t, []string{"input", "keepers", "result", "result_count", "seed"},
		slices.Sorted(maps.Keys(random.Provider.Resources["random_shuffle"])))
	id := random.Provider.Resources["random_id"]
	require.Equal(t, []string{"b64_std", "b64_url", "byte_length", "dec", "hex", "keepers", "prefix"},
		slices.Sorted(maps.Keys(id)))
	require.Equal(t, &terraformField{Type: terraformInt, Required: true}, id["byte_length"])
	require.Equal(t, &terraformField{Type: terraformString, Computed: true}, id["hex"])
	require.Equal(t, terraformMap, id["keepers"].Type)

	tls := mapped("tls", "")
	require.Equal(t, []string{"tls_cert_request", "tls_locally_signed_cert", "tls_private_key", "tls_self_signed_cert"},
		slices.Sorted(maps.Keys(tls.Resources)))
	require.Equal(t, []string{"tls_certificate", "tls_public_key"}, slices.Sorted(maps.Keys(tls.DataSources)))
	subject := tls.Provider.Resources["tls_self_signed_cert"]["subject"]
	require.Equal(t, 1, subject.MaxItems, "a block that stands once")
	require.Contains(t, subject.Element.Resource, "common_name")
	require.Contains(t, tls.Provider.DataSources["tls_certificate"]["certificates"].Element.Resource, "sha1_fingerprint")
	require.Contains(t, tls.Provider.Resources["tls_private_key"], "public_key_fingerprint_sha256")

	require.Equal(t, []string{"time_offset", "time_rotating", "time_sleep", "time_static"},
		slices.Sorted(maps.Keys(mapped("time", "time").Resources)))
}

// Mapping returns nothing for a package without a Terraform provider of the same name, or for another tool.
func TestNoMapping(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, key, tool string }{{"std", "terraform", ""}, {"command", "terraform", "command"},
		{"random", "tf", ""}, {"random", "terraform", "aws"}} {
		loaded, err := NewLoader(Options{}).Load(t.Context(), provider.Package{Name: c.name})
		require.NoError(t, err)
		_, data, err := loaded.(provider.Mapper).Mapping(t.Context(), c.key, c.tool)
		require.NoError(t, err)
		require.Empty(t, data, c)
		require.NoError(t, loaded.Close())
	}
}
