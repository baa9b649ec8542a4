package backend

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Torn describes a file that was set aside as the torn end of a journal although it has sound records, of
// a state that does not know it.
type Torn struct {
	Path string
	Made []*state.Resource // objects that the state does not have; secrets in them are sealed
	// creations without a recorded end, of resources that the state does not have
	Begun []state.Operation
}

// Torn looks for records in what earlier runs set aside as torn, and compares them with a state.
func (b *files) Torn(r Ref, s *state.Snapshot) ([]Torn, error) {
	if err := r.check(); err != nil || b.objects != nil || IsService(b.url) { // links of a chain are whole
		return nil, err
	}
	names, err := b.list("stacks", r.Project)
	if err != nil {
		return nil, err
	}
	var found []Torn
	for _, name := range names {
		if !strings.HasPrefix(name, r.Stack+".yamlhost-journal.") || !strings.HasSuffix(name, ".torn") {
			continue
		}
		path := b.path("stacks", r.Project, name)
		data, err := b.disk.ReadFile(path)
		if err != nil {
			return nil, fileError("read the records that were set aside in", path, err)
		}
		if t := untold(s, journal.ReadPiece(data)); len(t.Made)+len(t.Begun) > 0 {
			t.Path = path
			found = append(found, t)
		}
	}
	return found, nil
}

// object names what a resource stands for.
type object struct {
	urn urn.URN
	id  string
}

// outcome returns the resources that entries have made and not removed, in the order in which they were made, and the
// operations that they have begun and not ended. It needs no base: an entry describes in full what it adds.
func outcome(entries []journal.Entry) (made []*state.Resource, open []state.Operation) {
	resources, order := map[journal.ID]*state.Resource{}, []journal.ID{}
	begun, steps := map[int64]state.Operation{}, []int64{}
	for _, e := range entries {
		if e.Begin != nil {
			begun[e.Step], steps = *e.Begin, append(steps, e.Step)
			continue
		}
		delete(begun, e.Step)
		for _, id := range e.Remove {
			delete(resources, id)
		}
		for _, a := range slices.Concat(e.Amend, e.Add) {
			if resources[a.ID] == nil {
				order = append(order, a.ID)
			}
			resources[a.ID] = a.Resource
		}
	}
	for _, id := range order {
		if r := resources[id]; r != nil {
			made = append(made, r)
		}
	}
	for _, step := range steps {
		if op, ok := begun[step]; ok {
			open = append(open, op)
		}
	}
	return made, open
}

// untold returns what entries tell of that a state does not know.
func untold(s *state.Snapshot, entries []journal.Entry) (t Torn) {
	made, open := outcome(entries)
	objects, names := map[object]bool{}, map[urn.URN]bool{}
	for _, r := range s.Resources {
		objects[object{r.URN, r.ID}], names[r.URN] = true, true
	}
	for _, op := range s.Pending {
		names[op.Resource.URN] = true
	}
	for _, r := range made {
		if r.Custom && !r.External && !objects[object{r.URN, r.ID}] {
			t.Made, objects[object{r.URN, r.ID}] = append(t.Made, r), true
		}
	}
	for _, op := range open {
		if op.Kind == state.Creating && op.Resource.Custom && !names[op.Resource.URN] {
			t.Begun, names[op.Resource.URN] = append(t.Begun, op), true
		}
	}
	return t
}
