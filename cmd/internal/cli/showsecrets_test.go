package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// --show-secrets shows secrets, including the configuration's; without it they stay hidden.
func TestShowSecretsOfConfiguration(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\nconfig: {word: {type: string, secret: true}}\noutputs: {says: '${word}'}\n")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("config", "set", "--secret", "word", "canary-word"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--show-secrets"), x.err.String())
	require.Contains(t, x.out.String()+x.err.String(), "canary-word")
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.NotContains(t, x.out.String()+x.err.String(), "canary-word")
}
