package host

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object with any members.
type object = map[string]any

// The kinds of journal entries.
const (
	begin = iota
	success
	failed
	refreshed
	outputs
	write
	secretsManager
	rebuilt
	extension
	snippets
)

// entry is a journal entry.
type entry struct {
	Kind                  int
	SequenceID            int64
	OperationID           int64
	RemoveOld             *int
	RemoveNew             *int64
	PendingReplacementOld *int
	PendingReplacementNew *int64
	DeleteOld             *int
	DeleteNew             *int64
	State                 object
	Operation             object
	SecretsProvider       object
	NewSnapshot           object
	IsRefresh             bool
	ExtensionRef          string
	Extension             any
	Snippets              any
}

// replay applies journal entries, one on each line, to a state. Entries are applied once, in the order of their
// numbers.
func replay(base, lines []byte) ([]byte, error) {
	var state struct {
		Version    int      `json:"version"`
		Features   []string `json:"features,omitempty"`
		Deployment object   `json:"deployment"`
	}
	if err := decode(base, &state); err != nil {
		return nil, err
	}
	known := map[int64]entry{}
	for line := range bytes.Lines(lines) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut off, so it was never acknowledged
		}
		var e entry
		if err := decode(line, &e); err != nil {
			return nil, err
		}
		if _, twice := known[e.SequenceID]; !twice {
			known[e.SequenceID] = e
		}
	}
	r := newReplayer(state.Deployment)
	for _, id := range slices.Sorted(maps.Keys(known)) {
		r.apply(known[id])
	}
	state.Deployment = r.deployment()
	state.Version = max(state.Version, 3)
	return encode(state)
}

type replayer struct {
	base       object
	old        []object // the base's resources; nil once removed
	new        []object
	index      map[int64]int // index in new of the result of each operation
	open       map[int64]object
	begun      []int64
	refresh    bool
	extensions object
}

func newReplayer(base object) *replayer {
	r := &replayer{base: base, index: map[int64]int{}, open: map[int64]object{}, extensions: object{}}
	for _, v := range list(base["resources"]) {
		if o, ok := v.(object); ok {
			r.old = append(r.old, o)
		}
	}
	return r
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// place returns a pointer to the resource that an entry names by its index in the base or by the operation that created
// it; nil if it names none.
func (r *replayer) place(old *int, made *int64) *object {
	if old != nil && *old >= 0 && *old < len(r.old) {
		return &r.old[*old]
	}
	if made != nil {
		if i, ok := r.index[*made]; ok {
			return &r.new[i]
		}
	}
	return nil
}

func mark(p *object, key string) {
	if p != nil && *p != nil {
		marked := maps.Clone(*p)
		marked[key] = true
		*p = marked
	}
}

func (r *replayer) apply(e entry) {
	removed := r.place(e.RemoveOld, nil)
	removedNew := r.place(nil, e.RemoveNew)
	switch e.Kind {
	case begin:
		r.open[e.OperationID] = e.Operation
		r.begun = append(r.begun, e.OperationID)
	case failed:
		delete(r.open, e.OperationID)
	case success:
		delete(r.open, e.OperationID)
		if e.State != nil {
			r.index[e.OperationID] = len(r.new)
			r.new = append(r.new, e.State)
		}
		for _, p := range []*object{removed, removedNew} {
			if p != nil {
				*p = nil
			}
		}
		mark(r.place(e.DeleteOld, nil), "delete")
		mark(r.place(nil, e.DeleteNew), "delete")
		mark(r.place(e.PendingReplacementOld, nil), "pendingReplacement")
		mark(r.place(nil, e.PendingReplacementNew), "pendingReplacement")
		r.refresh = r.refresh || e.IsRefresh
	case refreshed, outputs:
		if e.Kind == refreshed {
			delete(r.open, e.OperationID)
			r.refresh = true
		}
		for _, p := range []*object{removed, removedNew} {
			if p != nil && (e.State != nil || e.Kind == refreshed) {
				*p = e.State
			}
		}
	case write:
		next := newReplayer(e.NewSnapshot)
		r.base, r.old = next.base, next.old
	case secretsManager:
		r.base["secrets_providers"] = e.SecretsProvider
	case snippets:
		r.base["snippets"] = e.Snippets
	case rebuilt:
		*r = *newReplayer(r.deployment())
	case extension:
		r.extensions[e.ExtensionRef] = e.Extension
	}
}

func (r *replayer) deployment() object {
	out := maps.Clone(r.base)
	resources := []any{}
	for _, part := range [][]object{r.new, r.old} {
		for _, o := range part {
			if o != nil {
				resources = append(resources, o)
			}
		}
	}
	pending := []any{}
	for _, id := range r.begun {
		if op := r.open[id]; op != nil {
			pending = append(pending, op)
		}
	}
	for _, v := range list(r.base["pending_operations"]) {
		if op, ok := v.(object); ok && op["type"] == "creating" {
			pending = append(pending, op)
		}
	}
	if r.refresh {
		undangle(resources)
	}
	if known, ok := r.base["extensions"].(object); ok {
		maps.Copy(r.extensions, known)
	}
	if len(r.extensions) > 0 {
		out["extensions"] = r.extensions
	}
	out["resources"] = rename(resources)
	delete(out, "pending_operations")
	if len(pending) > 0 {
		out["pending_operations"] = pending
	}
	return out
}

// undangle removes references to resources that no longer exist: a refresh may remove a resource that others depend on.
func undangle(resources []any) {
	known, parents := map[any]bool{}, map[any]any{}
	here := func(urns []any) []any {
		return slices.DeleteFunc(slices.Clone(urns), func(u any) bool { return !known[u] })
	}
	for i := range resources {
		o := maps.Clone(resources[i].(object))
		for _, key := range []string{"dependencies", "replaceWith"} {
			if urns, ok := o[key].([]any); ok {
				o[key] = here(urns)
			}
		}
		if properties, ok := o["propertyDependencies"].(object); ok {
			next := object{}
			for k, v := range properties {
				if urns := here(list(v)); len(urns) > 0 {
					next[k] = urns
				}
			}
			o["propertyDependencies"] = next
		}
		if !known[o["deletedWith"]] {
			delete(o, "deletedWith")
		}
		if parent := o["parent"]; parent != nil && !known[parent] {
			if o["parent"] = parents[parent]; o["parent"] == nil {
				delete(o, "parent")
			}
		}
		parents[o["urn"]], known[o["urn"]] = o["parent"], true
		resources[i] = o
	}
}

// rename replaces earlier names of resources in references, according to the aliases of the renamed resources.
func rename(resources []any) []any {
	now := map[string]string{}
	for _, v := range resources {
		urn, _ := v.(object)["urn"].(string)
		for _, alias := range list(v.(object)["aliases"]) {
			if old, ok := alias.(string); ok {
				now[old] = urn
			}
		}
	}
	if len(now) == 0 {
		return resources
	}
	var fix func(v any) any
	fix = func(v any) any {
		switch v := v.(type) {
		case string:
			if next, ok := now[v]; ok {
				return next
			}
			if pos := strings.LastIndex(v, "::"); pos > 0 { // a reference to a provider ends with its ID
				if next, ok := now[v[:pos]]; ok {
					return next + v[pos:]
				}
			}
		case []any:
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = fix(e)
			}
			return out
		case object:
			out := object{}
			for k, e := range v {
				out[k] = fix(e)
			}
			return out
		}
		return v
	}
	out := make([]any, len(resources))
	for i, v := range resources {
		o := maps.Clone(v.(object))
		for _, key := range []string{"parent", "provider", "deletedWith", "dependencies", "propertyDependencies",
			"replaceWith", "viewOf"} {
			if value, ok := o[key]; ok {
				o[key] = fix(value)
			}
		}
		delete(o, "aliases")
		out[i] = o
	}
	return out
}
