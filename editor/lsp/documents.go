package lsp

import (
	"context"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

// documents are the texts that the client has open. Their notifications come one after the other.
type documents struct {
	*settings
	session   *editor.Session
	publisher *publisher
	closed    func(path string) // drops what was kept of a text

	mu       sync.Mutex
	versions map[string]int32 // of the texts that are open, by path; guarded by mu
}

func (d *documents) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	d.session.Open(path, params.TextDocument.Text)
	d.publisher.changed(path)
	return nil
}

func (d *documents) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	for _, change := range params.ContentChanges {
		document := d.session.Snapshot().Text(path)
		if document == nil {
			return nil
		}
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			d.session.Edit(path, parser.Edit{Start: 0, End: document.Source().Len(), Text: change.Text})
		case *protocol.TextDocumentContentChangePartial:
			start, end := d.encoding().offsets(document.Source(), change.Range)
			d.session.Edit(path, parser.Edit{Start: start, End: end, Text: change.Text})
		}
	}
	d.publisher.changed(path)
	return nil
}

func (d *documents) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	d.mu.Lock()
	delete(d.versions, path)
	d.mu.Unlock()
	d.session.Close(path)
	d.closed(path)
	d.publisher.closed(path)
	return nil
}

func (d *documents) DidSave(context.Context, *protocol.DidSaveTextDocumentParams) error {
	d.session.Refresh()
	d.publisher.changed("")
	return nil
}

func (d *documents) DidChangeWatchedFiles(context.Context, *protocol.DidChangeWatchedFilesParams) error {
	d.session.Refresh()
	d.publisher.changed("")
	return nil
}

func (d *documents) setVersion(path string, version int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions[path] = version
}

func (d *documents) versionOf(path string) (int32, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	version, open := d.versions[path]
	return version, open
}
