package lsp

import (
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/parser"
)

// documents tracks the texts that the client has open. Its notifications are handled one at a time. Versions are kept
// because a client drops diagnostics of another version of its text.
type documents struct {
	client    *atomic.Pointer[client]
	session   *editor.Session
	publisher *publisher
	closed    func(path string) // drops the caches of a closed text

	mu       sync.Mutex
	versions map[string]int32 // versions of open texts by path; guarded by mu
}

// encoding returns the unit of positions that initialize has agreed on.
func (d *documents) encoding() encoding { return d.client.Load().positions }

// didOpen adds a text. The version is set first, so that a check of the text finds it.
func (d *documents) didOpen(params *protocol.TextParams) {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	d.session.Open(path, params.TextDocument.Text)
	d.publisher.changed(path)
}

// didChange applies the changes of a message, one after the other: each has positions in the text that the one before
// has left.
func (d *documents) didChange(params *protocol.DidChangeParams) {
	path := pathOf(params.TextDocument.URI)
	d.setVersion(path, params.TextDocument.Version)
	for _, change := range params.ContentChanges {
		document := d.session.Snapshot().Text(path)
		if document == nil {
			return
		}
		src := document.Source()
		start, end := 0, src.Len()
		if change.Range != nil {
			start, end = d.encoding().offset(src, change.Range.Start), d.encoding().offset(src, change.Range.End)
		}
		d.session.Edit(path, parser.Edit{Start: start, End: end, Text: change.Text})
	}
	d.publisher.changed(path)
}

// didClose drops a text. The version goes first, so that the publisher begins no further check of it, and the publisher
// comes last: it checks the other texts with the closed file read from disk.
func (d *documents) didClose(params *protocol.TextParams) {
	path := pathOf(params.TextDocument.URI)
	d.mu.Lock()
	delete(d.versions, path)
	d.mu.Unlock()
	d.session.Close(path)
	d.closed(path)
	d.publisher.closed(path)
}

// filesChanged handles changes of files on disk, by the editor or by others. Any file may belong to any program, so
// that all open ones are checked again; what has not changed is reused.
func (d *documents) filesChanged(*protocol.None) {
	d.session.Refresh()
	d.publisher.changed("")
}

func (d *documents) setVersion(path string, version int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions[path] = version
}

// versionOf returns the version of a text, and whether it is open.
func (d *documents) versionOf(path string) (int32, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	version, open := d.versions[path]
	return version, open
}
