package lsp_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// opener opens each file as a separate program.
type opener struct{}

func (opener) Name(path string) string { return filepath.Base(path) }

func (opener) Forget() {}

func (opener) Open(_ context.Context, path string, open func(string) *parser.Document) (*editor.Project, error) {
	d := open(path)
	if d == nil {
		d = parser.NewDocument(diag.NewSource(filepath.Base(path), nil))
	}
	return &editor.Project{Main: path, Document: d, Check: check.Options{Project: "p"},
		Join:     func(found diag.Diagnostics) diag.Diagnostics { return found },
		Path:     func(name string) string { return filepath.Join(filepath.Dir(path), name) },
		Packages: func() []string { return nil }}, nil
}

// client is connected to a server by pipes.
type client struct {
	protocol.UnimplementedClient
	server    protocol.Server
	t         *testing.T
	published chan *protocol.PublishDiagnosticsParams
	uri       uri.URI
	version   int32
}

func (c *client) PublishDiagnostics(_ context.Context, params *protocol.PublishDiagnosticsParams) error {
	c.published <- params
	return nil
}

type duplex struct {
	io.Reader
	io.WriteCloser
}

// connect starts a server and initializes it.
func connect(t *testing.T, encodings ...protocol.PositionEncodingKind) *client {
	t.Helper()
	return connectAs(t,
		protocol.ClientCapabilities{General: &protocol.GeneralClientCapabilities{PositionEncodings: encodings}})
}

func connectAs(t *testing.T, capabilities protocol.ClientCapabilities) *client {
	t.Helper()
	return connectWith(t, capabilities, nil)
}

// testOptions holds commands that return descriptions of their arguments.
var testOptions = lsp.Options{
	Version: "test",
	Graph: func(out io.Writer, p *editor.Program) error {
		_, err := fmt.Fprintf(out, "<svg>%d</svg>", len(p.Checked.Nodes))
		return err
	},
	Plan:     func(_ context.Context, path string) (string, error) { return "plan of " + path, nil },
	Programs: func(folder string) []string { return []string{folder + "/Pulumi.yaml", "/project/Pulumi.yaml"} },
}

func connectWith(t *testing.T, capabilities protocol.ClientCapabilities, options protocol.LSPAny) *client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- lsp.Serve(context.WithoutCancel(t.Context()), toServer, fromServer, editor.NewSession(opener{}), testOptions)
		fromServer.Close()
	}()
	c := &client{t: t, published: make(chan *protocol.PublishDiagnosticsParams, 100),
		uri: uri.File("/project/Pulumi.yaml")}
	_, conn, server := protocol.NewClient(context.WithoutCancel(t.Context()), c,
		jsonrpc2.NewStream(duplex{toClient, fromClient}))
	c.server = server
	folder := uri.File("/other")
	//lint:ignore SA1019 clients that know no workspace folders still send it
	_, err := server.Initialize(t.Context(), &protocol.InitializeParams{Capabilities: capabilities, RootURI: &folder,
		InitializationOptions: options})
	require.NoError(t, err)
	require.NoError(t, server.Initialized(t.Context(), &protocol.InitializedParams{}))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, server.Shutdown(ctx))
		require.NoError(t, server.Exit(ctx))
		require.NoError(t, <-done)
		conn.Close()
	})
	return c
}

func (c *client) open(text string) *protocol.PublishDiagnosticsParams {
	c.t.Helper()
	c.version = 1
	require.NoError(c.t, c.server.DidOpen(c.t.Context(), &protocol.DidOpenTextDocumentParams{
		TextDocument: protocol.TextDocumentItem{URI: c.uri, LanguageID: "yaml", Version: 1, Text: text}}))
	return c.next()
}

func (c *client) change(changes ...protocol.TextDocumentContentChangeEvent) *protocol.PublishDiagnosticsParams {
	c.t.Helper()
	c.version++
	params := &protocol.DidChangeTextDocumentParams{ContentChanges: changes}
	params.TextDocument.URI, params.TextDocument.Version = c.uri, c.version
	require.NoError(c.t, c.server.DidChange(c.t.Context(), params))
	return c.next()
}

// next returns the server's findings about the current version.
func (c *client) next() *protocol.PublishDiagnosticsParams {
	c.t.Helper()
	for {
		params := <-c.published
		if version, ok := params.Version.Get(); ok && version == c.version && params.URI == c.uri {
			return params
		}
	}
}

func partial(startLine, startColumn, endLine, endColumn uint32, text string) protocol.TextDocumentContentChangeEvent {
	return &protocol.TextDocumentContentChangePartial{Text: text, Range: protocol.Range{
		Start: protocol.Position{Line: startLine, Character: startColumn},
		End:   protocol.Position{Line: endLine, Character: endColumn}}}
}

const sample = "variables:\n  smile: \"😀 ${nothing}\"\n  two: ${smile}\noutputs:\n  o: ${two}\n"

// TestDiagnosticsFollowEdits edits lines with a character of two UTF-16 units and four bytes.
func TestDiagnosticsFollowEdits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		encodings []protocol.PositionEncodingKind
		column    uint32
	}{
		"UTF-16": {nil, 15},
		"UTF-8": {[]protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16},
			17},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, c.encodings...)
			first := client.open(sample)
			require.Len(t, first.Diagnostics, 1)
			d := first.Diagnostics[0]
			require.Equal(t, protocol.Position{Line: 1, Character: c.column}, d.Range.Start)
			require.Equal(t, protocol.String("Y200"), d.Code)
			require.Contains(t, string(d.Message.(protocol.String)), "`nothing` is not declared")
			mended := client.change(partial(1, c.column, 1, c.column+7, "pulumi.stack"))
			require.Empty(t, mended.Diagnostics)
			both := client.change(partial(4, 7, 4, 10, "twoo"), partial(2, 9, 2, 14, "smiel"))
			require.Len(t, both.Diagnostics, 2)
		})
	}
}

// TestFixesAreActions requests the actions at a finding and applies its fix.
func TestFixesAreActions(t *testing.T) {
	t.Parallel()
	c := connect(t)
	first := c.open("variables:\n  server: a\noutputs:\n  o: ${sever}\n  p: ${server}\n")
	require.Len(t, first.Diagnostics, 1)
	actions, err := c.server.CodeAction(t.Context(), &protocol.CodeActionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}, Range: first.Diagnostics[0].Range})
	require.NoError(t, err)
	var titles []string
	for _, action := range actions {
		titles = append(titles, action.(*protocol.CodeAction).Title)
	}
	require.Equal(t, []string{"Write `server`", "Declare the configuration value sever of type string",
		"Declare the variable sever"}, titles)
	edits := actions[0].(*protocol.CodeAction).Edit.Changes[c.uri]
	require.Len(t, edits, 1)
	require.Equal(t, "server", edits[0].NewText)
	require.Empty(t, c.change(&protocol.TextDocumentContentChangePartial{Range: edits[0].Range,
		Text: edits[0].NewText}).Diagnostics)
}

// TestPull checks that pulled and published diagnostics are equal.
func TestPull(t *testing.T) {
	t.Parallel()
	c := connect(t)
	pushed := c.open(sample)
	report, err := c.server.Diagnostic(t.Context(),
		&protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	require.Equal(t, pushed.Diagnostics, report.(*protocol.RelatedFullDocumentDiagnosticReport).Items)
}

// TestManyChanges sends changes faster than they can be checked. The last one must be published.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	c := connect(t)
	var text strings.Builder
	text.WriteString("variables:\n")
	for range 300 {
		text.WriteString("  v: ${nothing}\n")
	}
	c.open(text.String())
	for i := range 50 {
		c.version++
		params := &protocol.DidChangeTextDocumentParams{ContentChanges: []protocol.TextDocumentContentChangeEvent{
			partial(uint32(i), 0, uint32(i), 0, "#")}}
		params.TextDocument.URI, params.TextDocument.Version = c.uri, c.version
		require.NoError(t, c.server.DidChange(t.Context(), params))
	}
	last := c.change(&protocol.TextDocumentContentChangeWholeDocument{Text: "outputs:\n  o: 1\n"})
	require.Empty(t, last.Diagnostics)
}
