package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// keptState is a cached state of a stack, with a description of the files that it was read from.
type keptState struct {
	files string
	state *editor.State
}

// state returns the state of the stack that is selected for a project, or nil unless the backend is a local folder.
// Secrets stay sealed, so it asks for no passphrase and no key.
func (o *ProgramOpener) state(ctx context.Context, p *project.Project) *editor.State {
	b := o.Console.Backends().Local(p)
	if b == nil {
		return nil
	}
	ref, ok, err := o.Console.Stacks().Chosen(b, p, "")
	if err != nil || !ok {
		return nil
	}
	// Lenses and hovers ask for the state after each edit, so it is read again only when a file has changed. The
	// description is taken before reading: a change during the read is noticed by the next call.
	files := stateFiles(b, ref)
	o.mu.Lock()
	kept, known := o.states[p.Dir]
	o.mu.Unlock()
	if known && kept.files == files {
		return kept.state
	}
	// An unreadable state is kept as nil, so that it is not read again with each keystroke.
	kept = keptState{files: files}
	if loaded, err := b.Load(ctx, ref, nil); err == nil {
		kept.state = recorded(ref.Stack, loaded.Snapshot)
		const operations = 5                          // causes are looked for in this many operations, the newest
		records, _ := b.History(ctx, ref, operations) // without it, causes are not known
		explain(kept.state, records)
	}
	// What a cancelled load returned must not be kept.
	if ctx.Err() != nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.states == nil {
		o.states = map[string]keptState{}
	}
	o.states[p.Dir] = kept
	return kept.state
}

// explain adds to each resource why the last of some operations, newest first, has changed it.
func explain(s *editor.State, records []backend.Record) {
	for _, r := range records {
		for _, t := range change.KeptOf(r.Own).Because {
			key := editor.Recorded{Type: t.URN.Type(), Name: t.URN.Name()}
			d, known := s.Resources[key]
			// The newest operation that changed a resource counts; the records come newest first.
			if !known || d.Changed != "" || t.URN.QualifiedType() != t.URN.Type() {
				continue
			}
			d.Changed = "The " + r.Kind + " of " + time.Unix(r.EndTime, 0).UTC().Format("2006-01-02 15:04 MST")
			for _, chain := range t.Because {
				var list []editor.Reason
				for _, l := range chain {
					reason := editor.Reason{Place: l.At(), Text: l.Text}
					if l.URN == t.URN {
						reason.Path = l.Path
					}
					list = append(list, reason)
				}
				if len(list) > 0 {
					d.Because = append(d.Because, list)
				}
			}
			s.Resources[key] = d
		}
	}
}

// stateFiles returns a text that changes whenever one of the files of a stack's state or its history changes.
func stateFiles(b *backend.Backend, ref backend.Ref) string {
	var text strings.Builder
	fmt.Fprintln(&text, b.URL(), ref)
	for _, pattern := range []string{filepath.Join("stacks", ref.Project, ref.Stack+".*"),
		// Both layouts of a backend, with projects and without.
		filepath.Join("stacks", ref.Stack+".*"), filepath.Join("history", ref.Project, ref.Stack),
		filepath.Join("history", ref.Stack)} {
		for _, dir := range []string{b.Folder(), filepath.Join(b.Folder(), ".pulumi")} {
			found, _ := confine.Anywhere().Glob(dir, pattern)
			for _, name := range found {
				if info, err := os.Stat(name); err == nil {
					fmt.Fprintln(&text, name, info.Size(), info.ModTime().UnixNano())
				}
			}
		}
	}
	return text.String()
}

// recorded converts a snapshot to the editor's form: the resources without a parent that are not pending delete.
func recorded(stack string, snapshot *state.Snapshot) *editor.State {
	s := &editor.State{Stack: stack, Resources: map[editor.Recorded]editor.Deployed{}}
	for _, r := range snapshot.Resources {
		// "$" separates the types of a parent and its child. The editor looks resources up by type and name, which only
		// those without a parent have for themselves.
		if r.Delete || strings.Contains(r.URN.QualifiedType(), "$") ||
			r.URN.Type() == string(urn.RootStack(stack, r.URN.Project()).Type()) {
			continue
		}
		pending := ""
		switch {
		case r.PendingReplacement:
			pending = "to be created again"
		case r.Taint:
			pending = "to be replaced"
		case len(r.InitErrors) > 0:
			pending = "not complete"
		}
		s.Resources[editor.Recorded{Type: r.URN.Type(), Name: r.URN.Name()}] =
			editor.Deployed{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs, Protect: r.Protect, Pending: pending,
				Sealed: r.Inputs.ContainsSecret()}
	}
	return s
}
