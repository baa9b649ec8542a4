// Package lsp speaks the Language Server Protocol, version 3.18, over package editor. It owns positions, capabilities,
// the order of messages and cancelling, and knows nothing of programs.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// Options are the abilities of a server besides answers about texts.
type Options struct {
	Version string // of the program
	// Graph draws a program as SVG; nil for no drawings.
	Graph func(out io.Writer, p *editor.Program) error
	// Plan is a preview of the stack that is selected, as text, of the project on disk that a file belongs to; nil where
	// no previews. It is called only when the client has said that it trusts the workspace, and a person asks for it.
	Plan func(ctx context.Context, path string) (string, error)
	// Programs are the absolute paths of the programs in a folder, at any depth; nil for none.
	Programs func(folder string) []string
	// Rest is called in a goroutine when nothing has changed for a while; nil for no call.
	Rest func()
}

// Serve answers an editor until it says exit, or closes its end.
func Serve(ctx context.Context, r io.Reader, out io.Writer, session *editor.Session, options Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := protocol.NewConnection(r, out)
	s := &server{options: options, exit: stop}
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
	s.publisher.done.Wait()
	requests.done.Wait()
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // which ends a read that is under way
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

// initialize notes what the client can do, and says what the server can.
func (s *server) initialize(_ context.Context, params *protocol.InitializeParams) (any, error) {
	known := clientOf(params)
	s.client.Store(known)
	return object{"capabilities": capabilities(known.positions, s.commands()),
		"serverInfo": object{"name": "yamlhost", "version": s.options.Version}}, nil
}

// client is what the client says of itself in its first request. It is immutable.
type client struct {
	positions encoding
	folders   []string // of the workspace
	snippets  bool     // it understands edits with places to fill in
	renames   bool     // it understands edits that rename files
	lazyDocs  bool     // it asks for the documentation of completions one by one
	trusted   bool     // it trusts the workspace: the project's code may run when a person asks for it
}

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
	// Clients that know no workspace folders send it.
	if root := params.RootURI; len(c.folders) == 0 && root != nil {
		c.folders = []string{pathOf(*root)}
	}
	var options struct {
		Trusted bool `json:"trusted"`
	}
	c.trusted = json.Unmarshal(params.InitializationOptions, &options) == nil && options.Trusted
	return c
}

// object is a JSON object.
type object = map[string]any

// capabilities lists the requests and commands that the server supports, and how it counts positions.
func capabilities(positions encoding, commands []string) object {
	const incremental = 2
	// Renames of all files are asked about, since programs name files of any kind.
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
		"semanticTokensProvider":     object{"legend": legend(), "range": true, "full": object{"delta": true}},
		"executeCommandProvider":     object{"commands": commands},
		"codeActionProvider": object{"codeActionKinds": []string{protocol.QuickFix, protocol.RefactorExtract,
			protocol.RefactorInline, protocol.RefactorRewrite}},
	}
}
