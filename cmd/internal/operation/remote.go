package operation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/internal/httpget"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// contents opens the content of assets and archives of a program.
type contents struct {
	client    *http.Client
	root      string // the folder of the project
	untrusted bool   // so that it sees the project's files and public hosts only
}

// open reads the content behind a URI.
func (c contents) open(ctx context.Context, uri string) (io.ReadCloser, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URI", uri)
	}
	switch u.Scheme {
	case "file":
		door := confine.Door{}
		if c.untrusted {
			door.Folder = c.root
		}
		path, err := fileurl.PathOf(u)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", uri, err)
		}
		return door.Open(path)
	case "http", "https":
		client := c.client
		if c.untrusted {
			if err := confine.Host(u.Hostname()); err != nil {
				return nil, err
			}
			client = confine.Client()
		}
		return httpget.Open(ctx, client, uri, 0)
	}
	return nil, fmt.Errorf("%s: content can be read from file, http and https, not from %q", uri, u.Scheme)
}

// otherStacks reads other stacks of the backend for a program, with the program's secrets manager if it can open their
// secrets.
type otherStacks struct {
	backend *backend.Backend
	project string
	manager *console.StackSecrets
	mayRead func(name string) error // an error for a stack that the program may not read; nil allows all
	warn    func(text string)
	// needs reports whether the program names an output, which must not be missing then; nil for no program.
	needs   func(output string) bool
	planned *Neighbours // stacks of the same preview; nil for none
	// read holds the outputs of the stacks that one operation has read: each is read once, however many references to it
	// there are.
	read *parallel.Memo[string, value.Value, error]
}

// load reads a stack. If its secrets were sealed with another passphrase, the outputs that have some are left out, with
// a warning, unless the program names one of them: of the stack, and with all those of its resources, too.
func (s otherStacks) load(ctx context.Context, name string, all bool) (*state.Snapshot, error) {
	ref, snapshot, err := s.open(ctx, name)
	if !errors.Is(err, secrets.ErrIncorrectPassphrase) {
		return snapshot, err
	}
	loaded, failed := s.backend.Load(ctx, ref, nil)
	if failed != nil {
		return nil, err
	}
	for i, r := range loaded.Snapshot.Resources {
		if own := r.Type == urn.RootStackType && !r.Delete; !own && !all {
			continue
		}
		public := r.Outputs.MapOrEmpty()
		var left []string
		for i, key := range r.Outputs.MapOrEmpty().Keys() {
			if !r.Outputs.At(i).Any(isSealed) {
				continue
			}
			if s.needs != nil && s.needs(key) {
				return nil, err
			}
			public, left = public.Without(key), append(left, key)
		}
		if len(left) == 0 {
			continue
		}
		now := r.Clone()
		now.Outputs = public
		loaded.Snapshot.Resources[i] = now
		if r.Type == urn.RootStackType && !r.Delete {
			s.warn(fmt.Sprintf("the secrets of the stack %s/%s were sealed with another passphrase, so that these outputs "+
				"of it cannot be read: %s", ref.Project, ref.Stack, strings.Join(left, ", ")))
		}
	}
	return loaded.Snapshot, nil
}

// isSealed reports whether a value was left sealed.
func isSealed(v value.Value) bool {
	_, sealed := state.SealedText(v)
	return sealed
}

// open reads a stack with its secrets.
func (s otherStacks) open(ctx context.Context, name string) (backend.Ref, *state.Snapshot, error) {
	ref, err := s.backend.ParseRef(name, s.project)
	if err != nil {
		return ref, nil, err
	}
	if s.mayRead != nil {
		if err := s.mayRead(name); err != nil {
			return ref, nil, err
		}
	}
	other := s.manager.Of(ref.Stack, ref.Project)
	loaded, err := s.backend.Load(ctx, ref, other.Opener)
	if err != nil {
		return ref, nil, console.ExplainSecret(err, ref.Project+"/"+ref.Stack)
	}
	return ref, loaded.Snapshot, nil
}

// openAhead opens the stacks that are known to be read before the program runs, so that passphrases are asked for
// before the view draws anything. A stack that cannot be read is reported at the place that reads it.
func (s otherStacks) openAhead(ctx context.Context, program *check.Program, base *state.Snapshot) error {
	var names []string
	if program != nil {
		names = program.StackNames()
	}
	if base != nil {
		for _, r := range base.Resources {
			if r.Type == schema.StackReferenceToken && !r.Delete {
				if name, ok := r.Inputs.Get("name").AsString(); ok {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, _, err := s.open(ctx, name); errors.Is(err, console.ErrDeclined) {
			return err
		}
	}
	return nil
}

// outputs reads the outputs of a stack, for stack references.
func (s otherStacks) outputs(ctx context.Context, name string) (value.Value, error) {
	if ref, err := s.backend.ParseRef(name, s.project); err == nil && (s.mayRead == nil || s.mayRead(name) == nil) {
		if planned, stored, found := s.planned.outputs(ref); found {
			return s.complete(ctx, name, planned, stored)
		}
	}
	return s.stored(ctx, name)
}

// stored returns the outputs in the state of a stack.
func (s otherStacks) stored(ctx context.Context, name string) (value.Value, error) {
	return s.read.Get(name, func() (value.Value, error) {
		snapshot, err := s.load(ctx, name, false)
		if err != nil {
			return value.Null, err
		}
		return StackOutputs(snapshot), nil
	})
}

// complete adds the outputs whose values are in the state to the planned ones.
func (s otherStacks) complete(ctx context.Context, name string, planned value.Value, stored []string) (value.Value,
	error) {
	if len(stored) == 0 {
		return planned, nil
	}
	outputs, err := s.stored(ctx, name)
	if err != nil {
		return value.Null, err
	}
	for _, output := range stored {
		if v, has := outputs.Lookup(output); has {
			planned = planned.With(output, v)
		}
	}
	return planned, nil
}

// resources reads the resources of a stack (E2.65).
func (s otherStacks) resources(ctx context.Context, name string) (value.Value, error) {
	snapshot, err := s.load(ctx, name, true)
	if err != nil {
		return value.Null, err
	}
	resources := map[string]value.Value{}
	for _, r := range snapshot.Resources {
		if !r.Delete {
			resources[string(r.URN)] = value.MapOf(value.Entry{Key: "type", Value: value.String(r.Type)},
				value.Entry{Key: "outputs", Value: r.Outputs})
		}
	}
	return value.Map(resources), nil
}

// StackOutputs returns the outputs of a stack as a map.
func StackOutputs(s *state.Snapshot) value.Value {
	for _, r := range s.Resources {
		if r.Type == urn.RootStackType && !r.Delete && r.Outputs.Is(value.KindMap) {
			return r.Outputs
		}
	}
	return value.EmptyMap()
}
