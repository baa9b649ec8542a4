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

// publisher sends diagnostics after each change. A change cancels a running check. Its fields without a lock are not
// changed after newPublisher. Its methods belong to the goroutine that reads messages, except run, next and publish,
// and closed where next calls it.
type publisher struct {
	documents *documents
	conn      *protocol.Connection
	rest      func() // called after idle without changes; may be nil

	ctx  context.Context
	wake chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	cancel func()              // cancels the running check; guarded by mu
	dirty  []string            // paths to check, the next one last; guarded by mu
	told   map[string][]string // paths with published findings, by the path of the check; guarded by mu
}

// publish is the method that sends diagnostics to a client.
const publish = "textDocument/publishDiagnostics"

// newPublisher starts the goroutine of a publisher, which ends when ctx is done; done waits for it.
func newPublisher(ctx context.Context, conn *protocol.Connection, d *documents, rest func()) *publisher {
	p := &publisher{documents: d, conn: conn, rest: rest, ctx: ctx,
		wake: make(chan struct{}, 1), told: map[string][]string{}}
	p.done.Add(1)
	go p.run()
	return p
}

// changed requests diagnostics for a path, or for all open files if path is empty. The path goes last, which is where
// next takes from: the file that is being edited comes before the others.
func (p *publisher) changed(path string) {
	p.mu.Lock()
	if path == "" {
		// A path that is there already is checked twice, which costs little: the snapshot has the result.
		p.dirty = append(p.dirty, p.documents.session.Snapshot().Paths()...)
	} else {
		p.dirty = append(slices.DeleteFunc(p.dirty, func(other string) bool { return other == path }), path)
	}
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	select {
	// A wake-up that nobody has taken yet serves this change, too.
	case p.wake <- struct{}{}:
	default:
	}
}

// closed withdraws the diagnostics of a closed file.
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

// idle is the time without changes after which the publisher calls rest.
const idle = 3 * time.Second

// run checks what is dirty until the server ends. One goroutine checks, since two checks of the same program would only
// wait for each other.
func (p *publisher) run() {
	defer p.done.Done()
	var rest <-chan time.Time // nil if nothing has changed since the last rest
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-rest:
			rest = nil
			if p.rest != nil {
				p.done.Go(p.rest) // edits must not wait for it
			}
			continue
		case <-p.wake:
		}
		for p.next() {
		}
		rest = time.After(idle)
	}
}

// next checks one dirty path and publishes its findings. It reports false if there was none. The version is read after
// the snapshot was taken: if an edit came in between, its check has been requested, too, and replaces what is published
// here.
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
		p.mu.Lock() // a later change cancelled this check; repeat it after that change
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
	if _, open := p.documents.versionOf(path); !open {
		p.closed(path) // it was closed during the check, and its findings were withdrawn before they were published
	}
	return true
}

// publish sends the findings of a file. A file that has none any more gets an empty list, or the client would keep the
// old ones.
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

// severities maps findings to the protocol. Hints and portability findings are sent with their fixes only:
// editor.Diagnostics leaves them out.
var severities = map[diag.Severity]int{
	diag.Error: protocol.SeverityError, diag.Warning: protocol.SeverityWarning,
	diag.Info: protocol.SeverityInformation, diag.Hint: protocol.SeverityHint,
	diag.Portability: protocol.SeverityHint,
}

// diagnostics converts findings of the program of path.
func (e encoding) diagnostics(snapshot *editor.Snapshot, path string, list diag.Diagnostics) []protocol.Diagnostic {
	return each(list, func(d diag.Diagnostic) protocol.Diagnostic { return e.diagnostic(snapshot, path, d) })
}

// diagnostic converts a finding of the program of path. That program is in the snapshot's cache, where the finding
// comes from, so asking for it again does not wait.
func (e encoding) diagnostic(snapshot *editor.Snapshot, path string, d diag.Diagnostic) protocol.Diagnostic {
	shown := protocol.Diagnostic{Range: e.rangeOf(d.Subject), Severity: severities[d.Severity],
		Code: string(d.Code), Source: "yamlhost", Message: d.Text()}
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

// diagnostics answers a client that pulls diagnostics.
func diagnostics(ctx context.Context, t text) (any, error) {
	found, err := editor.Diagnostics(ctx, t.snapshot, t.path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		found = nil // the project cannot be read
	}
	return object{"kind": "full", "items": t.e.diagnostics(t.snapshot, t.path, found[t.path])}, nil
}

// workspaceDiagnostics returns the findings of all programs with an open text and of all other programs in the
// workspace's folders, each file once. Open texts come first: what they say of a file is newer than the disk.
func (s *server) workspaceDiagnostics(ctx context.Context, _ *protocol.None) (any, error) {
	told := map[string]bool{}
	items := []object{}
	add := func(snapshot *editor.Snapshot, path string) {
		found, err := editor.Diagnostics(ctx, snapshot, path)
		if err != nil {
			return // the project cannot be read
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
	snapshot := snapshotOf(ctx)
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
