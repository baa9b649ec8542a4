package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// E4.125, E5.44: with --continue-on-error a failure stops what needs it and nothing else. Nothing is deleted, because the
// program has not registered all that it has.
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
	require.Contains(t, x.err.String(), "Resources: 1 replaced, 2 unchanged, 1 failed, 1 skipped")
	require.Equal(t, 0, x.run("stack"), x.err.String())
	require.Contains(t, x.out.String(), "  gone ")
}
