package ui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// query are the parameters of a request.
type query struct{ url.Values }

// refOf returns the stack that a text names.
func refOf(text string) (backend.Ref, error) {
	project, stack, _ := strings.Cut(text, "/")
	if project == "" || stack == "" {
		return backend.Ref{}, &httpError{http.StatusBadRequest, "the request names no stack"}
	}
	ref := backend.Ref{Project: project, Stack: stack}
	if _, err := backend.PastOf(nil, ref); err != nil { // validates the names
		return backend.Ref{}, &httpError{http.StatusBadRequest, err.Error()}
	}
	return ref, nil
}

// kept returns the stack that a request names.
func (s *Server) kept(ctx context.Context, stack string) (*kept, error) {
	ref, err := refOf(stack)
	if err != nil {
		return nil, err
	}
	return s.stacks.load(ctx, ref)
}

func (q query) number(name string) int64 {
	n, _ := strconv.ParseInt(q.Get(name), 10, 64) // without one it is 0
	return n
}

// stacks reads the states of a backend and caches the most recently used ones as long as they are unchanged.
type stacks struct {
	backend *backend.Backend

	mu   sync.Mutex // guards kept and its elements; one state is read at a time
	kept map[backend.Ref]*kept
}

// kept is a cached state. It is immutable except for used and checked.
type kept struct {
	ref      backend.Ref
	revision string
	snapshot *state.Snapshot
	recovery *backend.Recovery
	index    map[urn.URN]int // of resources; one pending deletion comes last
	texts    func() []string // for the search, by resource

	used, checked time.Time
}

const (
	mostKept = 6
	// mostReads bounds the attempts to read a state that changes meanwhile.
	mostReads = 5
	// fresh is the time for which a state in an object store counts as unchanged, since each check is a request.
	fresh = 3 * time.Second
)

// load returns the state of a stack. Secrets stay sealed.
func (s *stacks) load(ctx context.Context, ref backend.Ref) (*kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, found := time.Now(), s.kept[ref]
	if found != nil && !strings.HasPrefix(s.backend.URL(), "file://") && now.Sub(found.checked) < fresh {
		found.used = now
		return found, nil
	}
	past, err := backend.PastOf(s.backend, ref)
	if err != nil {
		return nil, err
	}
	revision, err := past.Revision()
	if err != nil {
		return nil, err
	}
	if found != nil && found.revision == revision {
		found.used, found.checked = now, now
		return found, nil
	}
	revision, loaded, err := s.read(ctx, past, ref, revision)
	if err != nil {
		return nil, err
	}
	k := newKept(ref, revision, loaded)
	k.used, k.checked = now, now
	s.kept[ref] = k
	for len(s.kept) > mostKept {
		oldest := ref
		for r, other := range s.kept {
			if other.used.Before(s.kept[oldest].used) {
				oldest = r
			}
		}
		delete(s.kept, oldest)
	}
	return k, nil
}

// read reads a state. It retries while another process changes the state, since it may be unreadable meanwhile.
func (s *stacks) read(ctx context.Context, past backend.Past, ref backend.Ref, revision string) (string,
	*backend.Loaded, error) {
	for try := 1; ; try++ {
		loaded, err := s.backend.Load(ctx, ref, nil)
		if err == nil || try == mostReads {
			return revision, loaded, err
		}
		next, nextErr := past.Revision()
		if nextErr != nil || next == revision {
			return revision, nil, err
		}
		revision = next
	}
}

func newKept(ref backend.Ref, revision string, loaded *backend.Loaded) *kept {
	k := &kept{ref: ref, revision: revision, snapshot: loaded.Snapshot, recovery: loaded.Recovered,
		index: make(map[urn.URN]int, len(loaded.Snapshot.Resources))}
	for i, r := range k.snapshot.Resources {
		if pos, twice := k.index[r.URN]; !twice || k.snapshot.Resources[pos].Delete {
			k.index[r.URN] = i
		}
	}
	k.texts = sync.OnceValue(func() []string {
		texts := make([]string, len(k.snapshot.Resources))
		for i, r := range k.snapshot.Resources {
			texts[i] = searchText(r)
		}
		return texts
	})
	return k
}

// resource returns a resource by its URN.
func (k *kept) resource(u string) (int, *state.Resource, error) {
	i, found := k.index[urn.URN(u)]
	if !found {
		return 0, nil, &httpError{http.StatusNotFound, "the state has no such resource any more"}
	}
	return i, k.snapshot.Resources[i], nil
}

// lock is the holder of a stack.
type lock struct {
	Who   string    `json:"who"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Owner string    `json:"owner,omitempty"`
	Tool  string    `json:"tool"`
}

func locksOf(b *backend.Backend, ref backend.Ref) (locks []lock) {
	found, err := b.Locks(ref)
	if err != nil {
		return nil // an error appears when the stack is opened
	}
	for _, l := range found {
		tool := "yamlhost"
		if l.Foreign {
			tool = "another tool"
		}
		locks = append(locks, lock{Who: l.User + "@" + l.Host, PID: l.PID, Since: l.Timestamp, Owner: string(l.Owner), Tool: tool})
	}
	return locks
}

// stackSummary is a stack in the list of stacks.
type stackSummary struct {
	Project   string     `json:"project"`
	Stack     string     `json:"stack"`
	Resources int        `json:"resources"`
	Pending   int        `json:"pending"`
	Updated   *time.Time `json:"updated,omitempty"`
	Last      *operation `json:"last,omitempty"`
	Locks     []lock     `json:"locks,omitempty"`
	Drift     *driftLook `json:"drift,omitempty"`
	Error     string     `json:"error,omitempty"`
}

// driftLook is the last recorded look for drift on this machine.
type driftLook struct {
	At    time.Time `json:"at"`
	Found int       `json:"found"`
}

type overview struct {
	Backend string         `json:"backend"`
	Version string         `json:"version"`
	Project string         `json:"project,omitempty"` // the project whose program is available for previews
	Stacks  []stackSummary `json:"stacks"`
}

// overview lists all stacks of the backend.
func (s *Server) overview(ctx context.Context, _ query) (any, error) {
	b, err := s.o.Backend.Prefetch("")
	if err != nil {
		return nil, err
	}
	refs, err := b.Stacks(ctx, "")
	if err != nil {
		return nil, err
	}
	records, err := s.records()
	if err != nil {
		return nil, err
	}
	out := overview{Backend: runlog.Where(s.o.Backend), Version: s.o.Version, Project: s.o.Project,
		Stacks: make([]stackSummary, len(refs))}
	backend.Each(refs, func(i int, ref backend.Ref) {
		summary := stackSummary{Project: ref.Project, Stack: ref.Stack, Locks: locksOf(b, ref)}
		if found, err := b.Overview(ctx, ref); err != nil {
			summary.Error = err.Error()
		} else {
			summary.Resources, summary.Pending = found.Resources, found.Pending
			if !found.Updated.IsZero() {
				summary.Updated = &found.Updated
			}
		}
		if past, err := backend.PastOf(b, ref); err == nil {
			if entries, err := past.Entries(ctx, 1); err == nil && len(entries) > 0 {
				last := operationOf(entries[0])
				summary.Last = &last
			}
		}
		for _, r := range records {
			looks := r.Command == "drift" || r.Command == "refresh"
			if looks && r.End != nil && r.Project == ref.Project && r.Stack == ref.Stack {
				summary.Drift = &driftLook{r.Began, r.End.Drift}
				break
			}
		}
		out.Stacks[i] = summary
	})
	return out, nil
}

// revision identifies a version of a stack, for polling by the page.
func (s *Server) revision(_ context.Context, k *kept, _ query) (any, error) {
	return map[string]any{"revision": k.revision, "locks": locksOf(s.o.Backend, k.ref)}, nil
}
