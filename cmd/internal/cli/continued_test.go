package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// E4.125, E5.44: with --continue-on-error a failure stops what needs it and nothing else. Nothing is deleted, because the
// program has not registered all that it has: also no old object of a replacement, which waits for the next operation as
// it does with the Pulumi CLI.
func TestContinueOnErrorDeletesNothing(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: p
runtime: yaml
resources:
  a: {type: random:RandomPet}
  bad: {type: random:RandomInteger, properties: {min: 1, max: 9}}
  after: {type: random:RandomPet, properties: {prefix: "${bad.id}"}}
  gone: {type: random:RandomPet}
  last: {type: random:RandomPet}
`)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(`name: p
runtime: yaml
resources:
  a: {type: random:RandomPet}
  bad: {type: random:RandomInteger, properties: {min: 9, max: 1}}
  after: {type: random:RandomPet, properties: {prefix: "${bad.id}"}}
  last: {type: random:RandomPet, properties: {separator: _}}
`), 0o644))
	require.NotEqual(t, 0, x.run("up", "--yes", "--skip-preview", "--continue-on-error", "--parallel", "1"))
	require.Contains(t, x.err.String(), "Resources: 1 replaced, 1 unchanged, 1 failed, 1 skipped")
	require.Equal(t, 0, x.run("stack"), x.err.String())
	require.Contains(t, x.out.String(), "  gone ")
	waiting := func() (names []string) {
		require.Equal(t, 0, x.run("stack", "export"), x.err.String())
		var exported struct {
			Deployment struct {
				Resources []struct {
					URN    urn.URN
					Delete bool
				}
			}
		}
		require.NoError(t, json.Unmarshal(x.out.Bytes(), &exported))
		for _, r := range exported.Deployment.Resources {
			if r.Delete {
				names = append(names, r.URN.Name())
			}
		}
		return names
	}
	require.Equal(t, []string{"last"}, waiting())
	require.NotEqual(t, 0, x.run("up", "--yes", "--skip-preview", "--continue-on-error", "--refresh", "--parallel", "1"))
	require.Equal(t, []string{"last"}, waiting())
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(`name: p
runtime: yaml
resources:
  a: {type: random:RandomPet}
  last: {type: random:RandomPet, properties: {separator: _}}
`), 0o644))
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	require.Empty(t, waiting())
}
