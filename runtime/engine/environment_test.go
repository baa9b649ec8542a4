package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Secrets of the configuration do not go into the environment of a plugin, which its children inherit.
func TestNoSecretsInPluginEnvironment(t *testing.T) { // E3.2
	t.Parallel()
	d := &Deployment{opts: Options{
		Config:           map[string]string{"cloud:region": "eu", "cloud:token": "hidden", "other:x": "1", "p:y": "hidden too"},
		ConfigSecretKeys: []string{"cloud:token", "p:y"},
	}}
	require.Equal(t, map[string]string{"region": "eu"}, d.environmentOf("cloud"))
	require.Equal(t, map[string]string{"region": "eu", "token": "hidden"}, d.configOf("cloud"), "what it is configured with")
	require.Equal(t, d.opts.Config, d.environmentOf("pulumi-nodejs"), "code of a program reads what it likes")
}
