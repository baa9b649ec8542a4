// Package lsp serves package editor over the Language Server Protocol, version 3.18. It handles positions,
// capabilities, the order of messages and cancellation, and leaves programs to package editor.
//
// requests.go has the table of methods and the loop that reads messages: notifications run one after the other in it,
// requests in goroutines. documents.go keeps the open texts and diagnostics.go checks them after each change, in one
// goroutine of its own. position.go converts offsets and URIs. The handlers are in completion.go, tokens.go (colors),
// edits.go (requests that answer with edits), commands.go and features.go (all others).
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// Options are the optional features of a server. All functions may be nil.
type Options struct {
	Version string // version of yamlhost
	// Graph draws a program as SVG.
	Graph func(out io.Writer, p *editor.Program) error
	// Plan previews the selected stack of the project that contains a file, as text. It reads the project from disk. It
	// is called only if the client trusts the workspace and the user runs the command.
	Plan func(ctx context.Context, path string) (string, error)
	// Programs returns the absolute paths of the programs in a folder, at any depth.
	Programs func(folder string) []string
	// Rest is called in a goroutine after a few seconds without changes.
	Rest func()
}

// Serve answers an editor until it sends exit or closes its end, or ctx is done. It cancels running checks and
// requests, and waits for them.
func Serve(ctx context.Context, r io.Reader, out io.Writer, session *editor.Session, options Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := protocol.NewConnection(r, out)
	s := &server{options: options, exit: stop}
	// Messages before initialize are answered with the protocol's default unit.
	s.client.Store(&client{positions: utf16})
	s.documents = &documents{client: &s.client, session: session, versions: map[string]int32{}, closed: s.tokens.forget}
	s.publisher = newPublisher(ctx, conn, s.documents, options.Rest)
	requests := &requests{conn: conn, answers: s.answers(), session: session, running: map[string]func(){}}
	ended := make(chan error, 1)
	go func() { ended <- requests.serve(ctx) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	stop()
	// Both write to out, which is the caller's again afterwards.
	s.publisher.done.Wait()
	requests.done.Wait()
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // ends a pending read
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// server answers a client.
type server struct {
	*documents
	options Options
	client  atomic.Pointer[client]
	lists   sentLists
	tokens  sentTokens
	exit    func()
}

// initialize records the client's capabilities and returns the server's.
func (s *server) initialize(_ context.Context, params *protocol.InitializeParams) (any, error) {
	known := clientOf(params)
	s.client.Store(known)
	return object{"capabilities": capabilities(known.positions, s.commands()),
		"serverInfo": object{"name": "yamlhost", "version": s.options.Version}}, nil
}

// client holds the client's settings from its initialize request. It is immutable.
type client struct {
	positions encoding
	folders   []string // absolute paths of the workspace's folders
	snippets  bool     // supports edits with placeholders
	renames   bool     // supports edits that rename files
	lazyDocs  bool     // resolves the documentation of completions one at a time
	trusted   bool     // trusts the workspace: the project's code may run when the user asks for it
}

// clientOf reads what the server needs of an initialize request. Unknown and missing fields mean that the client
// supports nothing optional.
func clientOf(params *protocol.InitializeParams) *client {
	can := params.Capabilities
	edit, completion := can.Workspace.WorkspaceEdit, can.TextDocument.Completion
	c := &client{
		positions: utf16,
		snippets:  edit.SnippetEditSupport && edit.DocumentChanges,
		renames:   slices.Contains(edit.ResourceOperations, "rename"),
		lazyDocs:  slices.Contains(completion.CompletionItem.ResolveSupport.Properties, "documentation"),
	}
	if slices.Contains(can.General.PositionEncodings, protocol.UTF8) {
		c.positions = utf8
	}
	for _, f := range params.WorkspaceFolders {
		c.folders = append(c.folders, pathOf(f.URI))
	}
	// Clients without workspace folders send a root.
	if root := params.RootURI; len(c.folders) == 0 && root != nil {
		c.folders = []string{pathOf(*root)}
	}
	var options struct {
		Trusted bool `json:"trusted"`
	}
	c.trusted = json.Unmarshal(params.InitializationOptions, &options) == nil && options.Trusted
	return c
}

// object is a JSON object for answers without a type in package protocol.
type object = map[string]any

// capabilities returns the server's capabilities: requests, commands and the unit of positions.
func capabilities(positions encoding, commands []string) object {
	const incremental = 2
	// Programs may refer to files of any kind, so the client announces renames of all files.
	allFiles := []object{{"scheme": "file", "pattern": object{"glob": "**/*"}}}
	unit := protocol.UTF16
	if positions == utf8 {
		unit = protocol.UTF8
	}
	return object{
		"positionEncoding": unit,
		"textDocumentSync": object{"openClose": true, "change": incremental, "save": true},

		"diagnosticProvider": object{"interFileDependencies": true, "workspaceDiagnostics": true},
		"completionProvider": object{"triggerCharacters": []string{":", ".", "{", " ", "\""}, "resolveProvider": true},

		"documentFormattingProvider":       true,
		"documentRangeFormattingProvider":  true,
		"documentOnTypeFormattingProvider": object{"firstTriggerCharacter": "\n"},

		"codeLensProvider":           object{},
		"typeDefinitionProvider":     true,
		"workspace":                  object{"fileOperations": object{"willRename": object{"filters": allFiles}}},
		"hoverProvider":              true,
		"signatureHelpProvider":      object{"triggerCharacters": []string{"(", ","}},
		"definitionProvider":         true,
		"referencesProvider":         true,
		"documentHighlightProvider":  true,
		"renameProvider":             object{"prepareProvider": true},
		"documentSymbolProvider":     true,
		"workspaceSymbolProvider":    true,
		"foldingRangeProvider":       true,
		"selectionRangeProvider":     true,
		"documentLinkProvider":       object{},
		"inlayHintProvider":          true,
		"callHierarchyProvider":      true,
		"linkedEditingRangeProvider": true,
		"semanticTokensProvider": object{"range": true, "full": object{"delta": true},
			"legend": object{"tokenTypes": tokenTypes, "tokenModifiers": []string{"declaration"}}},
		"executeCommandProvider": object{"commands": commands},
		"codeActionProvider":     object{"codeActionKinds": slices.Compact(slices.Sorted(maps.Values(actionKinds)))},
	}
}
