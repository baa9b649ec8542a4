package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// nobody is a loader that fails the test when it is asked for a schema.
type nobody struct {
	provider.Loader
	t *testing.T
}

func (n nobody) Schema(string) ([]byte, bool) {
	n.t.Error("completion has asked for a schema")
	return nil, false
}

// After key= of --config the shell offers no files, and after the = of a report and of --config-from it does.
func TestCompletionOfValues(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: shop\nconfig: {region: {type: string}}\n")
	for line, directive := range map[string]string{"up -c region=": ":4", "preview --config region=e": ":4",
		"run --config-from region=": ":0", "up --out json=": ":0"} {
		require.Equal(t, 0, x.run(append([]string{"__complete"}, strings.Fields(line)...)...), x.err.String())
		require.Equal(t, directive, strings.TrimSpace(x.out.String()), line)
	}
}

// offers returns the completions for the last word of a command line.
func (x *terminal) offers(t *testing.T, line ...string) []string {
	t.Helper()
	require.Equal(t, 0, x.run(append([]string{"__complete"}, line...)...), x.err.String())
	var list []string
	for line := range strings.Lines(x.out.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ":") {
			list = append(list, line)
		}
	}
	return list
}

// Completion offers stacks, URNs, keys, outputs and values of flags. It starts no plugin and opens no connection.
func TestCompletion(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: shop
config:
  region: {type: string, default: eu}
resources: {pet: {type: random:RandomPet}}
outputs: {name: "${pet.id}", kind: pet}
`)
	for _, args := range [][]string{{"stack", "init", "prod"}, {"stack", "init", "dev"}, {"stack", "tag", "set", "owner", "me"},
		{"config", "set", "extra", "1"}, {"config", "set", "aws:zone", "a"},
		{"up", "--yes", "--skip-preview"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
	}
	x.world.Embedded = append(x.world.Embedded, nobody{t: t})
	pet := "urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet"
	for _, c := range []struct {
		line string
		want []string
	}{
		{"stack select ", []string{"dev", "prod"}}, {"stack select p", []string{"prod"}}, {"stack rm dev ", nil},
		{"cancel ", []string{"dev", "prod"}}, {"up --stack ", []string{"dev", "prod"}}, {"stack output -s ", []string{"dev", "prod"}},
		{"state move --dest p", []string{"prod"}}, {"stack output ", []string{"kind", "name"}},
		{"stack tag get o", []string{"owner"}}, {"config get ", []string{"aws:zone", "extra", "region"}},
		{"config rm extra ", []string{"aws:zone", "region"}}, {"up -c re", []string{"region="}},
		{"up --target " + pet[:55], []string{pet}}, {"state delete --stack prod ", nil}, {"up --out js", []string{"json="}},
		{"up --out ma", []string{"markdown="}}, {"up --ci git", []string{"github", "gitlab"}}, {"--color n", []string{"never"}},
		{"check --format sar", []string{"sarif"}}, {"graph --format ", []string{"dot", "json", "mermaid", "svg"}},
		{"plan show --format h", []string{"html"}}, {"preview --refresh=", []string{"true", "false"}}, {"explain Y21", nil},
		{"new hel", []string{"hello"}}, {"stack init --secrets-provider pass", []string{"passphrase"}},
		{"up --message ", nil}, {"des", []string{"destroy\tDelete every resource of the stack"}},
	} {
		got := x.offers(t, strings.Split(c.line, " ")...)
		if c.line == "explain Y21" {
			require.Contains(t, got, "Y210")
			continue
		}
		require.ElementsMatch(t, c.want, got, c.line)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(x.world.PulumiHome(), "plugins", "converter-terraform-v1.0.0"), 0o700))
	require.Equal(t, []string{"cloudformation", "kubernetes", "pcl", "terraform"}, x.offers(t, "convert", "--from", ""))
	require.Equal(t, []string{"terraform"}, x.offers(t, "import", "--from", ""))
	require.Equal(t, []string{"random:"}, x.offers(t, "schema", "ra"))
	require.Contains(t, x.offers(t, "import", ""), "command:")
	require.Empty(t, x.offers(t, "import", "random:RandomPet", ""), "names and ids are free")
	require.Len(t, x.offers(t, "state", "protect", ""), 3, "URNs of the stack, the provider and the pet")

	x.world.Embedded = x.world.Embedded[:len(x.world.Embedded)-1] // a schema in this process may be read
	require.Contains(t, x.offers(t, "schema", "random:"), "random:RandomPet")
	require.Equal(t, []string{"std:base64decode"}, x.offers(t, "schema", "std:base64d"))
	require.Equal(t, []string{"random:RandomPassword", "random:RandomPet"}, x.offers(t, "import", "random:RandomP"))
	require.Empty(t, x.offers(t, "import", "std:base64d"), "a function cannot be imported")
	require.Empty(t, x.offers(t, "schema", "aws:s3:B"), "the schema would need the plugin")

	outside := x.world.Dir
	x.world.Dir = t.TempDir()
	require.Empty(t, x.offers(t, "stack", "select", ""), "without a project there is nothing to offer")
	require.ElementsMatch(t, []string{"dev", "prod"}, x.offers(t, "-C", outside, "stack", "select", ""))
	x.world.Dir = outside
	for i, v := range x.world.Env {
		if strings.HasPrefix(v, "PULUMI_BACKEND_URL=") {
			x.world.Env[i] = "PULUMI_BACKEND_URL=s3://127.0.0.1:1/no"
		}
	}
	require.Empty(t, x.offers(t, "stack", "select", ""), "a store behind a network is not asked")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte("name: ["), 0o600))
	require.Empty(t, x.offers(t, "config", "get", ""), "a broken project is nobody's fault here")
}
