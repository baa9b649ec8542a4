package cli

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// preview warns if the program names no version of a package and the stack was made with another major version.
func TestVersionJump(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, twoItems)
	x.world.Embedded = []console.EmbeddedProviders{drawers{&drawer.Provider{Dir: t.TempDir()}}}
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.NotContains(t, x.err.String(), "no version is named")

	made := regexp.MustCompile(`,"yamlhostChecksum":"[^"]*"`).ReplaceAll(checkpointOf(t, x), nil)
	const provider = `"type":"pulumi:providers:drawer",`
	require.Contains(t, string(made), provider)
	for version, warns := range map[string]bool{"0.9.0": true, "2.1.0": true, "1.4.0": false} {
		text := bytes.Replace(made, []byte(provider), []byte(provider+`"inputs": {"version": "`+version+
			`", "__internal": {}},`), 1)
		require.NoError(t, os.WriteFile(checkpointPath(x), text, 0o600))
		require.Equal(t, 0, x.run("preview"), x.err.String())
		require.Equal(t, warns, strings.Contains(x.err.String(),
			"the stack was made with drawer "+version+", and no version is named: this run uses 1.0.0"), x.err.String())
	}
}
