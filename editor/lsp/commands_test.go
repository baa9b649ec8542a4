package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

func (c *client) command(name, uri string) (string, error) {
	argument, err := json.Marshal(uri)
	require.NoError(c.t, err)
	answer, err := c.server.ExecuteCommand(c.t.Context(), &protocol.ExecuteCommandParams{Command: name,
		Arguments: []protocol.LSPAny{argument}})
	var text string
	_ = json.Unmarshal(answer, &text)
	return text, err
}

// TestCommands runs the commands of the server. The preview must require a trusted workspace.
func TestCommands(t *testing.T) {
	t.Parallel()
	c := connectWith(t, protocol.ClientCapabilities{}, protocol.LSPAny(`{"trusted": true}`))
	c.open("variables:\n  a: 1\n  b: ${a}\n")
	drawn, err := c.command("yamlhost.graph", string(c.uri))
	require.NoError(t, err)
	require.Equal(t, "<svg>2</svg>", drawn)
	planned, err := c.command("yamlhost.plan", string(c.uri))
	require.NoError(t, err)
	require.Equal(t, "plan of /project/Pulumi.yaml", planned)
	_, err = c.command("yamlhost.destroy", string(c.uri))
	require.ErrorContains(t, err, "there is no command yamlhost.destroy")
	for _, bad := range []string{"", "https://example.com/Pulumi.yaml", "%"} {
		_, err = c.command("yamlhost.plan", bad)
		require.ErrorContains(t, err, "not the URI of a file", bad)
	}
	for _, options := range []string{``, `null`, `{}`, `{"trusted": "yes"}`, `[]`} {
		careful := connectWith(t, protocol.ClientCapabilities{}, protocol.LSPAny(options))
		careful.open("variables:\n  a: 1\n")
		_, err = careful.command("yamlhost.plan", string(careful.uri))
		require.ErrorContains(t, err, "not trusted", options)
		_, err = careful.command("yamlhost.graph", string(careful.uri))
		require.NoError(t, err)
	}
}
