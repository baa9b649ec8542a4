package lsp

import (
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// settings are the client's capabilities from its first request. They are safe for concurrent use.
type settings struct {
	mu        sync.Mutex
	positions encoding // guarded by mu, as all that follows
	edits     editing  // what the client can do with edits
	folders   []string // of the workspace
	lazyDocs  bool     // the client asks for the documentation of completions one by one
	trusted   bool     // the client trusts the workspace: the project's code may run when a person asks for it
}

// begin notes what the client says.
func (s *settings) begin(params *protocol.InitializeParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.positions = utf16
	s.edits = editingOf(params.Capabilities)
	s.trusted = trusts(params.InitializationOptions)
	s.folders, s.lazyDocs = foldersOf(params), lazyDocsOf(params.Capabilities)
	if slices.Contains(params.Capabilities.General.PositionEncodings, protocol.UTF8) {
		s.positions = utf8
	}
}

func (s *settings) encoding() encoding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.positions
}

func (s *settings) editing() editing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits
}

func (s *settings) trusting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trusted
}

// resolves reports whether the client asks for the documentation of single items.
func (s *settings) resolves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lazyDocs
}

// workspace are the folders that the client has open.
func (s *settings) workspace() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folders
}

// placeOf is the place of a request; false for a file that is not open.
func (s *settings) placeOf(ctx context.Context, params protocol.PositionParams) (place, bool) {
	p := place{snapshot: moment(ctx), path: pathOf(params.TextDocument.URI), e: s.encoding()}
	document := p.snapshot.Text(p.path)
	if document == nil {
		return p, false
	}
	p.offset = p.e.offset(document.Source(), params.Position)
	return p, true
}
