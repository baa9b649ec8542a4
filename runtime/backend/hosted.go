package backend

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// hosted implements methods of Backend for stacks that a service keeps. Each Ref has its owner.
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

// listing implements Backend.Prefetch: it asks for the list of stacks once.
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
		if s.Resources >= 0 {
			known.listed[s.Ref] = s
		}
	}
	return &known, nil
}

// load reads a stack from the service, or from the local copy if that is newer.
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
		newer := now.Version == kept.Version-1
		if !newer {
			if newer, err = h.unchangedSince(ctx, r, kept.Version, now.Version); err != nil {
				return nil, err
			}
		}
		if newer {
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

// unchangedSince reports whether a version of a stack's state is that of an earlier one. A process that is killed just
// after the service has begun its operation uses up a version that changes nothing. An earlier version that the service
// does not keep counts as another one.
func (h hosted) unchangedSince(ctx context.Context, r Ref, earlier, version int) (bool, error) {
	if earlier == version {
		return true, nil
	}
	if earlier < 1 || earlier > version {
		return false, nil
	}
	then, err := h.version(ctx, r, earlier, nil)
	if errors.As(err, new(*NoVersionError)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now, err := h.version(ctx, r, version, nil)
	return err == nil && sameContent(then, now), err
}

// version reads one version of a stack's state; 0 is the present one.
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

// deployment is an exported state.
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

// empty reports whether the stack has never had a state.
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
	// A local process may hold the lock on the copy although its operation has ended.
	local, err := h.mirror(r).Cancel(r)
	if err == nil && lock == nil {
		out.Locks, out.HeldUp = local.Locks, local.HeldUp
	}
	return out, err
}

// imported seals and sends a state that replaces the stack's.
func (h hosted) imported(ctx context.Context, r Ref, next *state.Snapshot, o BeginOptions) error {
	s := *next
	s.Manifest = h.b.files.manifest()
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

// replace replaces a stack's state by an imported one. It removes the local copy of an earlier run, which belongs to
// the replaced state.
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
	err := h.sendKept(ctx, r)
	if err == nil {
		err = free(ctx, h.b, r)
	}
	if err != nil {
		return err
	}
	tools := newTools(h.b.schedule, stackState{}, nil, o, remembering(o.Secrets))
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

// sendKept sends the results that an earlier run has left in the local copy, if any.
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

// begin implements Backend.Begin. It locks the local copy of the stack first, so that operations of this machine do not
// compete, and ends the operation of an earlier run that left the copy. The session continues from the copy if that is
// newer than the service's state.
func (h hosted) begin(ctx context.Context, r Ref, o BeginOptions) (_ *Session, err error) {
	if h.b.files.o.Copies == "" {
		return nil, errors.New("there is no home folder to keep the results of an operation in while they are sent")
	}
	b := h.mirror(r)
	held, err := b.files.locksOf(r).lockFolder()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.release())
		}
	}()
	kept, err := h.keptOf(r)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if err := h.endKept(ctx, r, kept); err != nil {
			return nil, err
		}
	}
	sent := h.b.files.o.Now()
	update, err := h.b.service.Begin(ctx, r, cmp.Or(o.Record, &Record{Kind: o.Command}), false)
	if err != nil {
		return nil, err
	}
	s, err := h.open(ctx, b, r, o, held, update, sent, kept)
	if err != nil {
		return nil, errors.Join(err, update.Complete(context.WithoutCancel(ctx), "failed"))
	}
	return s, nil
}

// endKept ends the operation of an earlier process, unless it has ended already.
func (h hosted) endKept(ctx context.Context, r Ref, kept *keptUpdate) error {
	update, err := h.b.service.Resume(r, kept.Ticket)
	if err != nil {
		return nil // an operation that cannot be resumed has ended, or ends with its lease
	}
	if err = update.Complete(ctx, "failed"); errors.As(err, new(*LockLostError)) {
		return nil
	}
	return err
}

// open returns the session of an operation that was begun by a call sent then.
func (h hosted) open(ctx context.Context, b *Backend, r Ref, o BeginOptions, lock *folderLock, update Update,
	sent time.Time, kept *keptUpdate) (*Session, error) {
	copied := lock.fenced().stateOf(r)
	continues := false
	if kept != nil {
		same, err := h.unchangedSince(ctx, r, kept.Version, update.Facts().Version-1-update.Facts().Skipped)
		if err == nil && same {
			continues, err = copied.exists()
		}
		if err != nil {
			return nil, err
		}
	}
	if !continues { // a journal in the copy no longer fits, which load reports
		// If this process is killed while it reads the state, the next one ends the operation.
		if err := copied.keep(update, noCopy); err != nil {
			return nil, err
		}
		exported, err := h.b.service.Export(ctx, r, 0)
		if err != nil {
			return nil, err
		}
		if err := copied.copyDown(exported); err != nil {
			return nil, err
		}
	}
	if err := copied.keep(update, update.Facts().Version); err != nil {
		return nil, err
	}
	sealer := remembering(o.Secrets)
	held := newServiceLock(lock, &remote{update: update, url: h.b.PublicURL(), kept: b.files.journalOf(r).journalFile(),
		ref: r, sealer: sealer, clock: h.b.files.o.Now,
		renewed: func() {
			_ = b.files.stateOf(r).keep(update, update.Facts().Version) // on failure, the next run waits for the lease
		}})
	s, err := newTools(b.schedule, held.fenced().stateOf(r), held, o, sealer).load()
	if err != nil {
		return nil, held.explain(err)
	}
	// The service must have the state that the session continues from. Pending creations are begun there anew, so that
	// the journal can end them.
	creating := func(op state.Operation) bool { return op.Kind == state.Creating }
	if continues || update.Facts().Journal && slices.ContainsFunc(s.base.Pending, creating) {
		if err := held.remote.write(s.base, false); err != nil {
			return nil, err
		}
		s.beginFrom(s.base)
	}
	s.watched = watch(update, false)
	held.remote.keep(sent, update.Facts().Renewal)
	return s, nil
}

// mirror returns the local backend with the copy of a stack of a service. There is one for each organization. While an
// operation runs, the copy has the state at its beginning and its journal. It stays if the service does not have all
// results, because the process was killed or the service was away. Then the copy is the newest state until another
// operation begins.
func (h hosted) mirror(r Ref) *Backend {
	b := h.b
	sum := sha256.Sum256([]byte(b.files.url))
	name := hex.EncodeToString(sum[:6])
	if u, err := url.Parse(b.files.url); err == nil {
		name = u.Hostname() + "-" + name
	}
	root := filepath.Join(b.files.o.Copies, name, r.Organization(), ".pulumi")
	o := b.files.o
	o.Compression, o.RetainCheckpoints = Plain, false
	return openedAt(b.files.url, root, o, b.files.disk, b.schedule)
}

// keptUpdate identifies the operation of a local copy. It contains the operation's token.
type keptUpdate struct {
	Version int             `json:"version"` // of the state that the operation makes, or noCopy
	Ticket  json.RawMessage `json:"ticket"`  // for Service.Resume
}

func (b stackState) keptPath() string {
	return filepath.Join(b.files.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-update")
}

// keptOf returns the operation of the local copy of a stack; nil if there is no copy.
func (h hosted) keptOf(r Ref) (*keptUpdate, error) {
	if h.b.files.o.Copies == "" {
		return nil, nil
	}
	k := &keptUpdate{}
	path := h.mirror(r).files.stateOf(r).keptPath()
	found, err := h.b.files.readJSON("read which operation was under way from", path, k)
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		damaged.Err = fmt.Errorf("%w. It names the operation of the journal beside it, which may have results that the "+
			"service lacks. Move the folder %s away, and find them with `yamlhost refresh`", damaged.Err, filepath.Dir(path))
	}
	if !found {
		return nil, err
	}
	return k, nil
}

// noCopy is the version of an operation that has not copied its state yet. A copy that is there belongs to no version.
const noCopy = -1

// keep records durably which operation a copy belongs to, before the operation begins anything.
func (b stackState) keep(u Update, version int) error {
	return b.files.writeJSON("write which operation is under way to", b.keptPath(), keptUpdate{version, u.Ticket()})
}

// copyDown writes a state that a service has exported as the state of the copy. The write is durable: after a crash of
// the machine, the journal of an operation is replayed onto it.
func (b stackState) copyDown(exported []byte) error {
	d, err := deploymentOf(exported)
	if err != nil {
		return err
	}
	type check struct {
		Stack  string          `json:"stack"`
		Latest json.RawMessage `json:"latest,omitempty"`
	}
	file := struct {
		Version    json.RawMessage `json:"version"`
		Features   json.RawMessage `json:"features,omitempty"`
		Checkpoint check           `json:"checkpoint"`
	}{d.Version, d.Features, check{b.ref.QualifiedName(), d.Deployment}}
	if d.empty() {
		file.Version, file.Checkpoint.Latest = json.RawMessage("3"), nil
	}
	if string(d.Features) == "null" {
		file.Features = nil
	}
	text, err := compactJSON(file)
	if err != nil {
		return err
	}
	next, err := b.pack(text, stored{})
	if err != nil {
		return err
	}
	return b.files.write("copy the state to", next.path, next.raw)
}

// forget removes the copy of a stack when the service has everything. Files that cannot be removed do no harm.
func forget(b *files, r Ref) {
	s := b.stateOf(r)
	for _, path := range []string{b.journalOf(r).journalFile(), s.file(Plain) + ".bak", s.keptPath(), s.file(Plain)} {
		_ = b.disk.Remove(path)
	}
}

// local is the journal file of an operation in a service. Write writes to the local disk and queues the entries for the
// service. Sync sends them; if that fails, it makes the local file durable instead.
type local struct {
	journal.File
	remote *remote
}

func (l local) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	if err == nil {
		err = l.remote.take(p)
	}
	return n, err
}

func (l local) Sync() error {
	if l.remote.flush() == nil {
		return nil
	}
	return l.File.Sync()
}
