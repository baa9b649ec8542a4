package ui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// operation is an entry of the history. Stamps are texts, since they have more digits than a JavaScript number.
type operation struct {
	Stamp   string            `json:"stamp"`
	Kind    string            `json:"kind"`
	Result  string            `json:"result"`
	Message string            `json:"message,omitempty"`
	Start   int64             `json:"start"` // Unix seconds
	End     int64             `json:"end"`
	Took    int64             `json:"took,omitempty"` // milliseconds; 0 if the record has whole seconds only
	Who     string            `json:"who,omitempty"`
	Tool    string            `json:"tool,omitempty"`
	Changes map[string]int    `json:"changes,omitempty"`
	Origin  map[string]string `json:"origin,omitempty"`
}

func operationOf(e backend.Entry) operation {
	env, kept := e.Environment, change.KeptOf(e.Own)
	return operation{Stamp: strconv.FormatInt(e.Stamp, 10), Kind: e.Kind, Result: kept.Ended(e.Result),
		Message: e.Message, Start: e.StartTime, End: e.EndTime, Took: kept.Took, Changes: e.ResourceChanges, Tool: env["pulumi.version"],
		Who: cmp.Or(env["git.author"], env["git.committer"], env["github.actor"], env["ci.system"], env["vcs.owner"])}
}

// history returns the newest operations of a stack, at most limit; 0 means all.
func (s *Server) history(ctx context.Context, past backend.Past, q query) (any, error) {
	entries, err := past.Entries(ctx, int(q.number("limit")))
	if err != nil {
		return nil, err
	}
	list := make([]operation, len(entries))
	for i, e := range entries {
		list[i] = operationOf(e)
		if i == 0 {
			list[i].Origin = e.Environment
		}
	}
	return list, nil
}

// stateAt returns the state at the end of an operation, or the present one for the stamp 0.
func (s *Server) stateAt(ctx context.Context, past backend.Past, q query, stamp int64) (*state.Snapshot, error) {
	if stamp == 0 {
		k, err := s.kept(ctx, q.Get("stack"))
		if err != nil {
			return nil, err
		}
		return k.snapshot, nil
	}
	found, err := past.State(ctx, stamp)
	if err == nil && found == nil {
		err = &httpError{404, "the history has no copy of the state after this operation"}
	}
	return found, err
}

// resourceDiff is a resource that differs between two states.
type resourceDiff struct {
	URN     string       `json:"urn"`
	What    string       `json:"what"` // added, removed or changed
	Changes []difference `json:"changes,omitempty"`
}

type stateDiff struct {
	Resources []resourceDiff `json:"resources"`
	Same      int            `json:"same"`
	Left      int            `json:"left,omitempty"` // further differences that are not listed
}

// mostDiffs is the largest number of resources that a comparison lists.
const mostDiffs = 1000

// diff compares two states of a stack.
func (s *Server) diff(ctx context.Context, past backend.Past, q query) (any, error) {
	before, err := s.stateAt(ctx, past, q, q.number("from"))
	if err != nil {
		return nil, err
	}
	after, err := s.stateAt(ctx, past, q, q.number("to"))
	if err != nil {
		return nil, err
	}
	return diffStates(before, after), nil
}

func diffStates(before, after *state.Snapshot) *stateDiff {
	out := &stateDiff{Resources: []resourceDiff{}}
	add := func(d resourceDiff) {
		if len(out.Resources) < mostDiffs {
			out.Resources = append(out.Resources, d)
		} else {
			out.Left++
		}
	}
	old := map[urn.URN]*state.Resource{}
	for _, r := range before.Resources {
		if known := old[r.URN]; known == nil || known.Delete {
			old[r.URN] = r
		}
	}
	seen := map[urn.URN]bool{}
	for _, r := range after.Resources {
		if seen[r.URN] {
			continue
		}
		seen[r.URN] = true
		prior := old[r.URN]
		if prior == nil {
			add(resourceDiff{URN: string(r.URN), What: "added"})
			continue
		}
		changes := changesOf(prior, r)
		if prior.ID != r.ID {
			id := difference{Path: "id"}
			id.Old, _ = json.Marshal(prior.ID) // a string encodes
			id.New, _ = json.Marshal(r.ID)
			changes = append([]difference{id}, changes...)
		}
		if len(changes) == 0 {
			out.Same++
			continue
		}
		add(resourceDiff{string(r.URN), "changed", changes})
	}
	for _, u := range slices.Sorted(maps.Keys(old)) {
		if !seen[u] {
			add(resourceDiff{URN: string(u), What: "removed"})
		}
	}
	return out
}

// past is the change of a resource by one operation.
type past struct {
	operation
	What    string          `json:"what"` // added, removed or changed
	Changes []difference    `json:"changes,omitempty"`
	Because [][]change.Link `json:"because,omitempty"` // chains of causes, root first
}

type resourcePast struct {
	Operations []past `json:"operations"`
	Looked     int    `json:"looked"` // operations whose states were compared
	All        int    `json:"all"`
	More       bool   `json:"more,omitempty"` // earlier states can be compared
}

const (
	// fewLooks is the number of states of the history that are read for one resource unless the page asks for more, and
	// mostLooks the largest number.
	fewLooks, mostLooks = 12, 600
	// besideRead is how many of them are read at the same time: each is in memory as a whole meanwhile.
	besideRead = 2
	// mostPast is the number of earlier resources in memory.
	mostPast = 5000
)

// earlier caches resources of earlier states, which never change. It is safe for concurrent use.
type earlier struct {
	mu    sync.Mutex
	known map[earlierKey]*state.Resource // guarded by mu
}

type earlierKey struct {
	stack string
	stamp int64
	urn   urn.URN
}

// resource returns a resource of the state at the end of an operation; nil if the state has none.
func (c *earlier) resource(ctx context.Context, history backend.Past, key earlierKey) (*state.Resource, error) {
	c.mu.Lock()
	found, known := c.known[key]
	c.mu.Unlock()
	if known {
		return found, nil
	}
	found, err := history.Resource(ctx, key.stamp, key.urn)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostPast {
		c.known = map[earlierKey]*state.Resource{}
	}
	c.known[key] = found
	return found, nil
}

// changes returns the changes of a resource by operations, newest first.
func (s *Server) changes(ctx context.Context, history backend.Past, q query) (any, error) {
	entries, err := history.Entries(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := &resourcePast{All: len(entries), Operations: []past{}}
	entries = slices.DeleteFunc(entries, func(e backend.Entry) bool { return onlySame(e.ResourceChanges) })
	looks := min(mostLooks, cmp.Or(int(max(0, q.number("looks"))), fewLooks))
	out.Looked = min(looks, len(entries))
	out.More = out.Looked < len(entries) && looks < mostLooks
	resources := make([]*state.Resource, out.Looked)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(besideRead)
	for i := range resources {
		group.Go(func() (err error) {
			key := earlierKey{q.Get("stack"), entries[i].Stamp, urn.URN(q.Get("urn"))}
			resources[i], err = s.earlier.resource(ctx, history, key)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := 1; i < len(resources); i++ {
		out.add(entries[i-1], urn.URN(q.Get("urn")), resources[i], resources[i-1])
	}
	if last := len(resources) - 1; last >= 0 && out.Looked == len(entries) {
		out.add(entries[last], urn.URN(q.Get("urn")), nil, resources[last])
	}
	return out, nil
}

// setting is a configuration value of a stack.
type setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value,omitempty"` // none for a secret
	Secret bool            `json:"secret,omitempty"`
}

// config returns the configuration of the last operation, by key.
func (s *Server) config(ctx context.Context, history backend.Past, _ query) (any, error) {
	list := []setting{}
	entries, err := history.Entries(ctx, 1)
	if err != nil || len(entries) == 0 {
		return list, err
	}
	for _, key := range slices.Sorted(maps.Keys(entries[0].Config)) {
		x := setting{Key: key, Value: entries[0].Config[key]}
		if bytes.Contains(x.Value, []byte(`"secure"`)) { // also one inside of a value
			x.Value, x.Secret = nil, true
		}
		list = append(list, x)
	}
	return list, nil
}

// add records the change by an operation, if there is any.
func (p *resourcePast) add(e backend.Entry, u urn.URN, before, after *state.Resource) {
	x := past{operation: operationOf(e)}
	switch {
	case before == nil && after == nil:
		return
	case before == nil:
		x.What = "added"
	case after == nil:
		x.What = "removed"
	default:
		if x.Changes = changesOf(before, after); len(x.Changes) == 0 {
			return
		}
		x.What = "changed"
	}
	for _, t := range change.KeptOf(e.Own).Because {
		if t.URN == u {
			x.Because = t.Because
		}
	}
	p.Operations = append(p.Operations, x)
}

// onlySame reports whether an operation has changed no resource.
func onlySame(changes map[string]int) bool {
	for op, n := range changes {
		if op != "same" && n > 0 {
			return false
		}
	}
	return len(changes) > 0
}

// now returns the time of answers, in milliseconds, by the clock of records.
func now() int64 { return time.Now().UnixMilli() }
