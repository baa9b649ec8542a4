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
	"sync"

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
	// read holds the outputs of the stacks that one command has read: each is read once, however many references to it
	// there are, and an operation sees what its plan has seen.
	read *parallel.Memo[backend.Ref, stackOutputs, error]
}

// stackOutputs are the outputs of another stack.
type stackOutputs struct {
	outputs value.Value
	left    []string // names of those that were sealed with another passphrase, and are left out
	sealed  error    // why; nil if none are
}

// onceEach returns a function that calls warn once for each text. It is safe for concurrent use.
func onceEach(warn func(text string)) func(string) {
	var told sync.Map
	return func(text string) {
		if _, twice := told.LoadOrStore(text, true); !twice {
			warn(text)
		}
	}
}

// ref returns the stack of a name, which the program may read.
func (s otherStacks) ref(name string) (backend.Ref, error) {
	ref, err := s.backend.ParseRef(name, s.project)
	if err == nil && s.mayRead != nil {
		err = s.mayRead(name)
	}
	return ref, err
}

// load reads a stack. If its secrets were sealed with another passphrase, they stay sealed, and the second result is
// the error of opening them.
func (s otherStacks) load(ctx context.Context, ref backend.Ref) (_ *state.Snapshot, sealed, _ error) {
	snapshot, err := s.open(ctx, ref)
	if !errors.Is(err, secrets.ErrIncorrectPassphrase) {
		return snapshot, nil, err
	}
	loaded, failed := s.backend.Load(ctx, ref, nil)
	if failed != nil {
		return nil, nil, err
	}
	return loaded.Snapshot, err, nil
}

// withoutSealed returns the outputs that are not sealed, and the names of the others.
func withoutSealed(outputs value.Value) (public value.Value, left []string) {
	public = outputs
	for i, key := range outputs.Keys() {
		if outputs.At(i).Any(state.IsSealed) {
			public, left = public.Without(key), append(left, key)
		}
	}
	return public, left
}

// misses warns of outputs of a stack that are left out. It returns an error if the program names one of them.
func (s otherStacks) misses(ref backend.Ref, left []string, sealed error) error {
	if s.needs != nil && slices.ContainsFunc(left, s.needs) {
		return sealed
	}
	if len(left) > 0 {
		s.warn(fmt.Sprintf("the secrets of the stack %s/%s were sealed with another passphrase, so that these outputs "+
			"of it cannot be read: %s", ref.Project, ref.Stack, strings.Join(left, ", ")))
	}
	return nil
}

// open reads a stack with its secrets.
func (s otherStacks) open(ctx context.Context, ref backend.Ref) (*state.Snapshot, error) {
	loaded, err := s.backend.Load(ctx, ref, s.manager.Of(ref.Stack, ref.Project).Opener)
	if err != nil {
		return nil, console.ExplainSecret(err, ref.Project+"/"+ref.Stack)
	}
	return loaded.Snapshot, nil
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
		ref, err := s.ref(name)
		if err == nil {
			_, err = s.open(ctx, ref)
		}
		if errors.Is(err, console.ErrDeclined) {
			return err
		}
	}
	return nil
}

// outputs reads the outputs of a stack, for stack references: the planned ones, and those of its state.
func (s otherStacks) outputs(ctx context.Context, name string) (value.Value, error) {
	ref, err := s.ref(name)
	if err != nil {
		return value.Null, err
	}
	planned, kept, found := s.planned.outputs(ref)
	if found && len(kept) == 0 {
		return planned, nil
	}
	stored, err := s.read.Get(ref, func() (stackOutputs, error) {
		snapshot, sealed, err := s.load(ctx, ref)
		if err != nil {
			return stackOutputs{}, err
		}
		public, left := withoutSealed(StackOutputs(snapshot))
		return stackOutputs{public, left, sealed}, nil
	})
	if err == nil {
		err = s.misses(ref, stored.left, stored.sealed)
	}
	if err != nil || !found {
		return stored.outputs, err
	}
	for _, output := range kept {
		if v, has := stored.outputs.Lookup(output); has {
			planned = planned.With(output, v)
		}
	}
	return planned, nil
}

// resources reads the resources of a stack (E2.65).
func (s otherStacks) resources(ctx context.Context, name string) (value.Value, error) {
	ref, err := s.ref(name)
	if err != nil {
		return value.Null, err
	}
	snapshot, sealed, err := s.load(ctx, ref)
	if err != nil {
		return value.Null, err
	}
	resources := map[string]value.Value{}
	for _, r := range snapshot.Resources {
		if r.Delete {
			continue
		}
		outputs := r.Outputs
		if sealed != nil {
			public, left := withoutSealed(outputs.MapOrEmpty())
			if len(left) > 0 {
				outputs = public
			}
			if r.Type == urn.RootStackType {
				err = s.misses(ref, left, sealed)
			} else if s.needs != nil && slices.ContainsFunc(left, s.needs) {
				err = sealed
			}
			if err != nil {
				return value.Null, err
			}
		}
		resources[string(r.URN)] = value.MapOf(value.Entry{Key: "type", Value: value.String(r.Type)},
			value.Entry{Key: "outputs", Value: outputs})
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
