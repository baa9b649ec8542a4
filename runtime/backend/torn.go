package backend

import (
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
			return nil, &FileError{Doing: "read the records that were set aside in", Path: path, Err: err}
		}
		if t := untold(s, journal.ReadPiece(data)); len(t.Made)+len(t.Begun) > 0 {
			t.Path = path
			found = append(found, t)
		}
	}
	return found, nil
}

// untold returns what entries tell of that a state does not know.
func untold(s *state.Snapshot, entries []journal.Entry) (t Torn) {
	made, order := map[journal.ID]*state.Resource{}, []journal.ID{}
	open, steps := map[int64]state.Operation{}, []int64{}
	for _, e := range entries {
		if e.Begin != nil {
			open[e.Step], steps = *e.Begin, append(steps, e.Step)
			continue
		}
		delete(open, e.Step)
		for _, id := range e.Remove {
			delete(made, id)
		}
		for _, a := range append(e.Amend[:len(e.Amend):len(e.Amend)], e.Add...) {
			if made[a.ID] == nil {
				order = append(order, a.ID)
			}
			made[a.ID] = a.Resource
		}
	}
	type object struct {
		urn urn.URN
		id  string
	}
	objects, names := map[object]bool{}, map[urn.URN]bool{}
	for _, r := range s.Resources {
		objects[object{r.URN, r.ID}], names[r.URN] = true, true
	}
	for _, op := range s.Pending {
		names[op.Resource.URN] = true
	}
	for _, id := range order {
		if r := made[id]; r != nil && r.Custom && !r.External && !objects[object{r.URN, r.ID}] {
			t.Made, objects[object{r.URN, r.ID}] = append(t.Made, r), true
		}
	}
	for _, step := range steps {
		if op, ok := open[step]; ok && op.Kind == state.Creating && op.Resource.Custom && !names[op.Resource.URN] {
			t.Begun, names[op.Resource.URN] = append(t.Begun, op), true
		}
	}
	return t
}
