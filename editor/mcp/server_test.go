package mcp_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	editormcp "github.com/yamlhost/yamlhost/editor/mcp"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// opener opens each file as a separate program.
type opener struct{}

func (opener) Name(path string) string { return filepath.Base(path) }

func (opener) Forget() {}

func (opener) Open(_ context.Context, path string, _ func(string) *parser.Document) (*editor.Project, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &editor.Project{Main: path, Document: parser.NewDocument(diag.NewSource(filepath.Base(path), text)),
		Check:    check.Options{Project: "p"},
		Join:     func(found diag.Diagnostics) diag.Diagnostics { return found },
		Path:     func(name string) string { return filepath.Join(filepath.Dir(path), name) },
		Packages: func() []string { return nil }}, nil
}

// connect starts a server for a folder with a program and returns a session of the SDK's client.
func connect(t *testing.T, plan func(context.Context, string) (string, error)) *mcp.ClientSession {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Pulumi.yaml"),
		[]byte("variables: {pet: 1}\noutputs: {o: \"${pot}\"}\n"), 0o600))
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := editormcp.Serve(context.WithoutCancel(t.Context()), fromClient, toClient, editor.NewSession(opener{}),
			editormcp.Options{Version: "test", Folder: folder, Root: filepath.Dir, Plan: plan})
		toClient.Close()
		ended <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		require.NoError(t, <-ended)
	})
	return session
}

// TestClientOfTheSDK lists the tools and calls some of them. Files outside of the folder and unknown tools must be
// rejected.
func TestClientOfTheSDK(t *testing.T) {
	t.Parallel()
	session := connect(t, nil)
	require.Equal(t, "yamlhost", session.InitializeResult().ServerInfo.Name)
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		require.NotEmpty(t, tool.Description)
		require.NotNil(t, tool.InputSchema)
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	require.ElementsMatch(t, []string{"check", "explain", "schema", "functions", "graph"}, names)
	ask := func(tool string, arguments map[string]any) *mcp.CallToolResult {
		answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		require.NoError(t, err)
		return answer
	}
	found := ask("check", nil)
	require.False(t, found.IsError)
	require.Contains(t, found.Content[0].(*mcp.TextContent).Text, "`pot` is not declared")
	require.Contains(t, ask("graph", nil).Content[0].(*mcp.TextContent).Text, "pet")
	require.True(t, ask("check", map[string]any{"file": "../x.yaml"}).IsError)
	require.True(t, ask("explain", map[string]any{"code": "Y999"}).IsError)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plan"})
	require.Error(t, err)
}

// TestClientPlans calls the tool plan, which the options enable.
func TestClientPlans(t *testing.T) {
	t.Parallel()
	session := connect(t, func(_ context.Context, dir string) (string, error) { return "plan of " + filepath.Base(dir), nil })
	answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plan"})
	require.NoError(t, err)
	require.Contains(t, answer.Content[0].(*mcp.TextContent).Text, "plan of ")
}
