package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Components of packages by path (L7.31) and of the program itself (L3.E) are described like those of a provider.
func TestSchemaOfOwnComponents(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: own
packages: {near: ./near}
components:
  Pair:
    inputs: {words: {type: string}}
    outputs: {both: "${words}"}
`)
	folder := filepath.Join(x.world.Dir, "near")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "PulumiPlugin.yaml"), []byte(`runtime: yaml
name: near
components:
  Greeting:
    description: Some words
    inputs: {words: {type: string}, often: {type: integer, default: 1}}
    outputs: {text: "${words}"}
`), 0o644))
	for token, parts := range map[string][]string{
		"near:Greeting": {"near:Greeting (component)\n\nSome words\n\nInputs\n  words  string  (required)\n  often " +
			" integer", "Outputs\n  text  string\n", "type: near:Greeting\n"},
		"near:index:Greeting": {"near:Greeting (component)\n"},
		"near":                {"near\n\nResources\n  near:Greeting\n"},
		"components:Pair": {"components:Pair (component)\n\nInputs\n  words  string  (required)\n\nOutputs\n  both  " +
			"string\n"},
		"components:index:Pair": {"components:Pair (component)\n"},
		"components":            {"components\n\nResources\n  components:Pair\n"},
	} {
		require.Equal(t, 0, x.run("schema", token), x.err.String())
		for _, part := range parts {
			require.Contains(t, x.out.String(), part, token)
		}
	}
	require.Equal(t, 1, x.run("schema", "near:Greting"))
	require.Contains(t, x.err.String(), "package near has no component near:Greting; near are near:Greeting")
	x = newTerminal(t, onePet)
	require.Equal(t, 1, x.run("schema", "components:Pair"))
	require.Contains(t, x.err.String(), "no provider for package components")
}

// maker is a base provider; its parameter is the name of the package that it serves.
type maker struct {
	provider.Provider
	name string
}

func (*maker) Close() error { return nil }

func (*maker) Cancel(context.Context) error { return nil }

func (*maker) Info(context.Context) (provider.Info, error) { return provider.Info{Name: "maker"}, nil }

func (m *maker) Parameterize(_ context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	m.name = r.Args[0]
	return provider.ParameterizeResponse{Name: m.name, Version: "2.0.0"}, nil
}

func (m *maker) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return []byte(`{"name":"` + m.name +
		`","version":"2.0.0","parameterization":{"baseProvider":{"name":"maker","version":"1.0.0"},"parameter":"eA=="},` +
		`"resources":{"` + m.name +
		`:index:Password":{"requiredInputs":["size"],"inputProperties":{"size":{"type":"integer"}}}}}`), nil
}

// A parameterized package of the project (L7.32) takes precedence over a provider of the same name.
func TestSchemaOfParameterizedPackage(t *testing.T) {
	t.Parallel()
	address, stop, err := plugin.Serve(&maker{})
	require.NoError(t, err)
	t.Cleanup(stop)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	x := newTerminal(t, "name: made\npackages:\n  random: {source: maker, version: 1.0.0, parameters: [random]}\n")
	x.world.Env = append(x.world.Env, "PULUMI_DEBUG_PROVIDERS=maker:"+port)
	require.Equal(t, 0, x.run("schema", "random:Password"), x.err.String())
	require.Contains(t, x.out.String(), "Inputs\n  size  integer  (required)\n")
	require.Equal(t, 0, x.run("schema", "random"), x.err.String())
	require.Contains(t, x.out.String(), "random 2.0.0\n\nResources\n  random:Password\n")

	require.Equal(t, 0, x.run("schema", "random:Password", "--version", "v2.0.0"), x.err.String())

	x = newTerminal(t, "name: made\npackages:\n  made: {source: nowhere, version: 1.2.3, parameters: [random]}\n")
	require.Equal(t, 0, x.run("schema", "random:RandomPet"), "a plugin that is not asked for need not be there")
	require.Equal(t, 1, x.run("schema", "made:Thing"))
	require.Contains(t, x.err.String(), "package made, which the plugin nowhere makes of parameters: ")
}
