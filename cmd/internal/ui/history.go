package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

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
	Who     string            `json:"who,omitempty"`
	Tool    string            `json:"tool,omitempty"`
	Changes map[string]int    `json:"changes,omitempty"`
	Origin  map[string]string `json:"origin,omitempty"`
}

func operationOf(e backend.Entry) operation {
	env := e.Environment
	return operation{Stamp: strconv.FormatInt(e.Stamp, 10), Kind: e.Kind, Result: e.Result, Message: e.Message,
		Start: e.StartTime, End: e.EndTime, Changes: e.ResourceChanges, Tool: env["pulumi.version"],
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
	What    string       `json:"what"` // added, removed or changed
	Changes []difference `json:"changes,omitempty"`
}

type resourcePast struct {
	Operations []past `json:"operations"`
	Looked     int    `json:"looked"` // operations whose states were compared
	All        int    `json:"all"`
}

// mostLooks is the largest number of states of the history that are read for one resource.
const mostLooks = 60

// changes returns the changes of a resource by operations, newest first.
func (s *Server) changes(ctx context.Context, history backend.Past, q query) (any, error) {
	u := urn.URN(q.Get("urn"))
	entries, err := history.Entries(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := &resourcePast{All: len(entries), Operations: []past{}}
	entries = slices.DeleteFunc(entries, func(e backend.Entry) bool { return onlySame(e.ResourceChanges) })
	var after *state.Resource
	for i, e := range entries {
		if out.Looked >= mostLooks {
			break
		}
		now, err := history.Resource(ctx, e.Stamp, u)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.add(entries[i-1], now, after)
		}
		after = now
		out.Looked++
	}
	if out.Looked == len(entries) && len(entries) > 0 {
		out.add(entries[len(entries)-1], nil, after)
	}
	return out, nil
}

// add records the change by an operation, if there is any.
func (p *resourcePast) add(e backend.Entry, before, after *state.Resource) {
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
