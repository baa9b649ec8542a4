package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/editor"
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
	files := stateFiles(b, ref)
	o.mu.Lock()
	kept, known := o.states[p.Dir]
	o.mu.Unlock()
	if known && kept.files == files {
		return kept.state
	}
	kept = keptState{files: files}
	if loaded, err := b.Load(ctx, ref, nil); err == nil {
		kept.state = recorded(ref.Stack, loaded.Snapshot)
	}
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

// stateFiles returns a text that changes whenever one of the files of a stack's state changes.
func stateFiles(b *backend.Backend, ref backend.Ref) string {
	var text strings.Builder
	fmt.Fprintln(&text, b.URL(), ref)
	for _, pattern := range []string{filepath.Join("stacks", ref.Project, ref.Stack+".*"),
		filepath.Join("stacks", ref.Stack+".*")} {
		for _, dir := range []string{b.Folder(), filepath.Join(b.Folder(), ".pulumi")} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
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
