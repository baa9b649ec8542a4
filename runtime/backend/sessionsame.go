package backend

import (
	"bytes"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// same reports whether the state file equals the snapshot, apart from the time and the order of resources: unchanged
// resources come in the order of their registration, which differs from run to run. It encodes only the parts around
// the resources. A file with a right checksum was encoded in the same way, so comparing the decoded resources is
// enough.
func (w *stateWriter) same(snapshot *state.Snapshot) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	plain, err := unpack(w.file.raw)
	if err != nil || w.read == nil || w.file.path != w.state.file(w.state.packing(w.file)) || !intact(plain) ||
		len(w.read.Pending)+len(snapshot.Pending) > 0 {
		return false
	}
	ordered := inOrderOf(w.read.Resources, snapshot.Resources)
	if ordered == nil && len(snapshot.Resources) > 0 || !slices.EqualFunc(w.read.Resources, ordered, state.Identical) {
		return false
	}
	encode := func(c state.Checkpoint, sealer secrets.Manager) []byte {
		empty := *c.Snapshot
		empty.Resources, empty.Manifest.Time = nil, time.Time{}
		c.Snapshot = &empty
		text, err := state.EncodeCheckpoint(&c, sealer)
		if err != nil {
			return nil
		}
		return text
	}
	text := encode(w.around, nil)
	return text != nil && bytes.Equal(text, encode(w.next(snapshot), w.sealer))
}

// inOrderOf returns resources in the order of others with the same names and IDs; nil if there are no such others for
// each of them.
func inOrderOf(others, resources []*state.Resource) []*state.Resource {
	type name struct {
		urn     urn.URN
		id      string
		deleted bool
	}
	nameOf := func(r *state.Resource) name { return name{r.URN, r.ID, r.Delete} }
	byName := make(map[name]*state.Resource, len(resources))
	for _, r := range resources {
		byName[nameOf(r)] = r
	}
	if len(byName) != len(others) || len(resources) != len(others) {
		return nil
	}
	ordered := make([]*state.Resource, len(others))
	for i, r := range others {
		if ordered[i] = byName[nameOf(r)]; ordered[i] == nil {
			return nil
		}
		delete(byName, nameOf(r))
	}
	return ordered
}
