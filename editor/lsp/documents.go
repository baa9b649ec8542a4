package lsp

import (
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
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

func (d *documents) DidOpen(_ context.Context, params *protocol.TextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	d.session.Open(path, params.TextDocument.Text)
	d.publisher.changed(path)
	return nil
}

func (d *documents) DidChange(_ context.Context, params *protocol.DidChangeParams) error {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	for _, change := range params.ContentChanges {
		document := d.session.Snapshot().Text(path)
		if document == nil {
			return nil
		}
		start, end := 0, document.Source().Len()
		if change.Range != nil {
			start, end = d.encoding().offsets(document.Source(), *change.Range)
		}
		d.session.Edit(path, parser.Edit{Start: start, End: end, Text: change.Text})
	}
	d.publisher.changed(path)
	return nil
}

func (d *documents) DidClose(_ context.Context, params *protocol.TextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	d.mu.Lock()
	delete(d.versions, path)
	d.mu.Unlock()
	d.session.Close(path)
	d.closed(path)
	d.publisher.closed(path)
	return nil
}

func (d *documents) DidSave(context.Context, *protocol.None) error {
	d.session.Refresh()
	d.publisher.changed("")
	return nil
}

func (d *documents) DidChangeWatchedFiles(context.Context, *protocol.None) error {
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
