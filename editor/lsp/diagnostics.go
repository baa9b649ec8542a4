package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// publisher sends diagnostics after each change. A change that comes while a program is being checked ends that check.
type publisher struct {
	documents *documents
	conn      *protocol.Connection
	rest      func() // nil for nothing

	ctx  context.Context
	wake chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	cancel func()              // of the check under way; guarded by mu, as all that follows
	dirty  []string            // paths to look at, the last changed first; empty text for all that are open
	told   map[string][]string // paths that a path's program had findings about
}

// publish is the method that tells a client of findings.
const publish = "textDocument/publishDiagnostics"

func newPublisher(ctx context.Context, conn *protocol.Connection, d *documents, rest func()) *publisher {
	p := &publisher{documents: d, conn: conn, rest: rest, ctx: ctx,
		wake: make(chan struct{}, 1), told: map[string][]string{}}
	p.done.Add(1)
	go p.run()
	return p
}

// changed asks for the diagnostics of a path; of all that are open for the empty one.
func (p *publisher) changed(path string) {
	p.mu.Lock()
	if path == "" {
		p.dirty = append(p.dirty, p.documents.session.Snapshot().Paths()...)
	} else {
		p.dirty = append(slices.DeleteFunc(p.dirty, func(other string) bool { return other == path }), path)
	}
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// closed withdraws the diagnostics of a path that is no longer open.
func (p *publisher) closed(path string) {
	p.mu.Lock()
	p.dirty = slices.DeleteFunc(p.dirty, func(other string) bool { return other == path })
	told := append(p.told[path], path)
	delete(p.told, path)
	p.mu.Unlock()
	for _, other := range told {
		if _, open := p.documents.versionOf(other); !open {
			_ = p.conn.Notify(publish, object{"uri": uriOf(other), "diagnostics": []protocol.Diagnostic{}})
		}
	}
	p.changed("")
}

// idle is how long nothing has to happen before the server rests.
const idle = 3 * time.Second

func (p *publisher) run() {
	defer p.done.Done()
	var rest <-chan time.Time // nil while there is nothing to rest from
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-rest:
			rest = nil
			if p.rest != nil {
				p.done.Go(p.rest) // an edit does not wait for it
			}
			continue
		case <-p.wake:
		}
		for p.next() {
		}
		rest = time.After(idle)
	}
}

// next publishes for one path, and answers whether there was one.
func (p *publisher) next() bool {
	p.mu.Lock()
	if len(p.dirty) == 0 || p.ctx.Err() != nil {
		p.mu.Unlock()
		return false
	}
	path := p.dirty[len(p.dirty)-1]
	p.dirty = p.dirty[:len(p.dirty)-1]
	ctx, cancel := context.WithCancel(p.ctx)
	p.cancel = cancel
	p.mu.Unlock()
	defer cancel()
	snapshot := p.documents.session.Snapshot()
	version, open := p.documents.versionOf(path)
	if !open {
		return true
	}
	found, err := editor.Diagnostics(ctx, snapshot, path)
	if err != nil && p.ctx.Err() == nil && ctx.Err() != nil {
		p.mu.Lock() // a later change has ended this one; that change asks again
		if !slices.Contains(p.dirty, path) {
			p.dirty = append([]string{path}, p.dirty...)
		}
		p.mu.Unlock()
		return true
	}
	if err != nil {
		found = map[string]diag.Diagnostics{path: {}}
	}
	p.publish(snapshot, path, version, found)
	return true
}

func (p *publisher) publish(snapshot *editor.Snapshot, path string, version int32, found map[string]diag.Diagnostics) {
	p.mu.Lock()
	told := slices.Collect(maps.Keys(found))
	for _, other := range p.told[path] {
		if found[other] == nil {
			found[other] = diag.Diagnostics{}
		}
	}
	p.told[path] = told
	p.mu.Unlock()
	for other, list := range found {
		params := object{"uri": uriOf(other), "diagnostics": p.documents.encoding().diagnostics(snapshot, path, list)}
		if other == path {
			params["version"] = version
		}
		_ = p.conn.Notify(publish, params)
	}
}

var severities = map[diag.Severity]int{
	diag.Error: protocol.SeverityError, diag.Warning: protocol.SeverityWarning,
	diag.Info: protocol.SeverityInformation, diag.Hint: protocol.SeverityHint,
	diag.Portability: protocol.SeverityHint,
}

func (e encoding) diagnostics(snapshot *editor.Snapshot, path string, list diag.Diagnostics) []protocol.Diagnostic {
	return each(list, func(d diag.Diagnostic) protocol.Diagnostic { return e.diagnostic(snapshot, path, d) })
}

func (e encoding) diagnostic(snapshot *editor.Snapshot, path string, d diag.Diagnostic) protocol.Diagnostic {
	message := d.Summary
	if d.Detail != "" {
		message += "\n" + d.Detail
	}
	shown := protocol.Diagnostic{Range: e.rangeOf(d.Subject), Severity: severities[d.Severity],
		Code: string(d.Code), Source: "yamlhost", Message: message}
	switch d.Code {
	case diag.Deprecated:
		shown.Tags = []int{protocol.TagDeprecated}
	case diag.Ignored:
		shown.Tags = []int{protocol.TagUnnecessary}
	}
	for _, r := range d.Related {
		if r.Range.IsZero() {
			continue
		}
		file := path
		if p, err := snapshot.Program(context.Background(), path); err == nil {
			file = p.PathOf(r.Range)
		}
		shown.Related = append(shown.Related, protocol.Related{
			Location: protocol.Location{URI: uriOf(file), Range: e.rangeOf(r.Range)}, Message: r.Message})
	}
	return shown
}

// diagnostics answers a client that asks for diagnostics instead of waiting for them.
func diagnostics(ctx context.Context, t text) (any, error) {
	found, err := editor.Diagnostics(ctx, t.snapshot, t.path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		found = nil // of a project that cannot be read
	}
	return object{"kind": "full", "items": t.e.diagnostics(t.snapshot, t.path, found[t.path])}, nil
}

// workspaceDiagnostics answers with the findings of all programs with an open text, and of all other programs in the
// folders of the workspace, each file once.
func (s *server) workspaceDiagnostics(ctx context.Context, _ *protocol.None) (any, error) {
	told := map[string]bool{}
	items := []object{}
	add := func(snapshot *editor.Snapshot, path string) {
		found, err := editor.Diagnostics(ctx, snapshot, path)
		if err != nil {
			return // of a project that cannot be read
		}
		for other, list := range found {
			if told[other] {
				continue
			}
			told[other] = true
			item := object{"kind": "full", "uri": uriOf(other), "version": nil,
				"items": s.encoding().diagnostics(snapshot, path, list)}
			if version, open := s.versionOf(other); open {
				item["version"] = version
			}
			items = append(items, item)
		}
	}
	snapshot := moment(ctx)
	for _, path := range snapshot.Paths() {
		add(snapshot, path)
	}
	if s.options.Programs != nil {
		for _, folder := range s.client.Load().folders {
			for _, path := range s.options.Programs(folder) {
				if ctx.Err() == nil && !told[path] && snapshot.Text(path) == nil {
					add(snapshot.Apart(), path)
				}
			}
		}
	}
	return object{"items": items}, ctx.Err()
}
