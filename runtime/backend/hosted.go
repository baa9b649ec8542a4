package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// hosted is a Backend's stacks where a service keeps them. Its methods do what those of Backend of the same names do; each
// Ref has its owner.
type hosted struct{ b *Backend }

// hosted returns the stacks of a service; ok is false if they are files.
func (b *Backend) hosted() (h hosted, ok bool) { return hosted{b}, b.service != nil }

func (h hosted) stacks(ctx context.Context, project string) ([]Ref, error) {
	owner, err := h.b.service.Organization(ctx)
	if err != nil {
		return nil, err
	}
	if project == "" {
		owner = ""
	}
	list, err := h.b.service.Stacks(ctx, owner, project)
	refs := make([]Ref, len(list))
	for i, s := range list {
		refs[i] = s.Ref
	}
	slices.SortFunc(refs, func(x, y Ref) int { return strings.Compare(x.QualifiedName(), y.QualifiedName()) })
	return refs, err
}

// listing returns the backend for a look at all stacks, which are asked for once.
func (h hosted) listing(project string) (*Backend, error) {
	owner, err := h.b.service.Organization(context.Background())
	if err != nil {
		return nil, err
	}
	list, err := h.b.service.Stacks(context.Background(), owner, project)
	if err != nil {
		return nil, err
	}
	known := *h.b
	known.listed = map[Ref]Hosted{}
	for _, s := range list {
		if known.listed[s.Ref] = s; s.Resources < 0 {
			delete(known.listed, s.Ref)
		}
	}
	return &known, nil
}

// load reads a stack: as the service has it, or as this machine knows it better.
func (h hosted) load(ctx context.Context, r Ref, open state.Opener) (*Loaded, error) {
	kept, err := h.keptOf(r)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		now, err := h.b.service.Stack(ctx, r)
		if err != nil {
			return nil, err
		}
		if now.Version == kept.Version || now.Version == kept.Version-1 { // nobody has come after that run
			loaded, err := h.mirror(r).Load(ctx, r, open)
			if !errors.As(err, new(*NotFoundError)) {
				return loaded, err
			}
		}
	}
	s, err := h.version(ctx, r, 0, open)
	if err != nil {
		return nil, err
	}
	return &Loaded{Snapshot: s}, nil
}

// version reads a state of a stack; 0 is the present one.
func (h hosted) version(ctx context.Context, r Ref, version int, open state.Opener) (*state.Snapshot, error) {
	text, err := h.b.service.Export(ctx, r, version)
	if err != nil {
		return nil, err
	}
	parts, err := deploymentOf(text)
	if err != nil || parts.empty() {
		return &state.Snapshot{}, err
	}
	s, err := state.DecodeExport(text, open)
	if err != nil {
		return nil, fmt.Errorf("read the state of %s: %w", r, err)
	}
	return s, nil
}

// deployment are the parts of a state as stack export has it.
type deployment struct {
	Version    json.RawMessage `json:"version"`
	Features   json.RawMessage `json:"features"`
	Deployment json.RawMessage `json:"deployment"`
}

func deploymentOf(text []byte) (d deployment, err error) {
	if err = json.Unmarshal(text, &d); err != nil {
		err = errors.New("the service's state is malformed")
	}
	return d, err
}

// empty reports whether nothing has ever been written.
func (d deployment) empty() bool { return len(d.Deployment) == 0 || string(d.Deployment) == "null" }

func (h hosted) cancel(ctx context.Context, r Ref) (*Cancelled, error) {
	out := &Cancelled{}
	lock, err := h.b.service.Cancel(ctx, r)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		out.Locks = []Lock{*lock}
	}
	// A process of this machine may hold its copy although its operation has ended.
	local, err := h.mirror(r).Cancel(r)
	if err == nil && lock == nil {
		out.Locks, out.HeldUp = local.Locks, local.HeldUp
	}
	return out, err
}

// imported replaces a stack's state.
func (h hosted) imported(ctx context.Context, r Ref, next *state.Snapshot, o BeginOptions) error {
	s := *next
	s.Manifest = h.b.manifest()
	if o.Secrets != nil {
		memory := state.Remembering(o.Secrets)
		memory.PrepareFor(&s)
		o.Secrets = memory
	}
	text, err := state.EncodeExport(&s, state.Sealed(o.Secrets))
	if err != nil {
		return err
	}
	return h.b.service.Import(ctx, r, text)
}

// replace makes an imported state that of a stack. What an earlier run has left on this machine is given up with the
// state that it belongs to.
func (h hosted) replace(ctx context.Context, r Ref, next *state.Snapshot, o BeginOptions) error {
	if err := h.imported(ctx, r, next, o); err != nil {
		return err
	}
	forget(h.mirror(r).files, r)
	return nil
}

// edit changes a state by hand. The secrets that the edit does not touch keep their ciphertexts.
func (h hosted) edit(ctx context.Context, r Ref, o BeginOptions,
	edit func(*state.Snapshot) (*state.Snapshot, error)) error {
	if err := h.sendKept(ctx, r); err != nil {
		return err
	}
	tools := newTools(h.b.schedule, stackState{}, nil, o)
	o.Secrets = tools.sealer
	base, err := h.version(ctx, r, 0, tools.opener())
	if err != nil {
		return err
	}
	next, err := edit(base)
	if err != nil || next == base {
		return err
	}
	return h.imported(ctx, r, next, o)
}

// sendKept sends what an earlier run has left on this machine, if anything.
func (h hosted) sendKept(ctx context.Context, r Ref) error {
	kept, err := h.keptOf(r)
	if err != nil || kept == nil {
		return err
	}
	s, err := h.b.Begin(ctx, r, BeginOptions{Command: "update", SkipIntegrity: true})
	if err != nil {
		return err
	}
	return s.Close()
}
