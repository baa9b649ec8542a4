package engine

import (
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// entry is one resource of the state as the operation found it, or as it imported it, and what has become of it. The
// deployment's mutex guards all but resource.
type entry struct {
	id       journal.ID
	position int             // in the state, from 0; -1 for one that was imported in this operation
	resource *state.Resource // as found; planned steps name it by this pointer
	now      *state.Resource // its present content; nil when it is gone

	claimed bool // a registration has taken it as its old state
	settled bool // that registration has decided what becomes of it
	doomed  bool // a replacement has left it behind, to be deleted
	// brought is set for an entry that has another place in the state, before what is carried over and names it, and closed
	// when it is there.
	brought chan struct{}
	// cascade is set while and after it is deleted because something that it depends on is replaced.
	cascade *cascaded
}

// cascaded is the deletion of an entry as a part of another resource's replacement.
type cascaded struct {
	plan.Dependent
	done    chan struct{} // closed when it was tried
	deleted bool          // it worked; to be read after done is closed
}

// olds are the resources of the state as the operation found them, in order. The index is fixed once made.
type olds struct {
	entries   []*entry
	byURN     map[urn.URN]*entry // those that are not left to delete (E4.95)
	of        map[*state.Resource]*entry
	providers map[string]*state.Resource // by reference, those left to delete too
	left      map[urn.URN][]*entry       // what earlier operations have replaced and left to delete
	views     map[urn.URN][]*entry       // by their owner, those that the operation makes too; the deployment's mutex guards it
}

// newOlds indexes a state. deleted gives the IDs of entries that are no more.
func newOlds(resources []*state.Resource, ids []journal.ID) *olds {
	o := &olds{
		entries:   make([]*entry, len(resources)),
		byURN:     make(map[urn.URN]*entry, len(resources)),
		of:        make(map[*state.Resource]*entry, len(resources)),
		providers: map[string]*state.Resource{},
	}
	all := make([]entry, len(resources))
	for i, r := range resources {
		e := &all[i]
		*e = entry{id: ids[i], position: i, resource: r, now: r, doomed: r.Delete}
		o.entries[i], o.of[r] = e, e
		if !r.Delete {
			o.byURN[r.URN] = e
		} else {
			if o.left == nil {
				o.left = map[urn.URN][]*entry{}
			}
			o.left[r.URN] = append(o.left[r.URN], e)
		}
		if r.ViewOf != "" {
			if o.views == nil {
				o.views = map[urn.URN][]*entry{}
			}
			o.views[r.ViewOf] = append(o.views[r.ViewOf], e)
		}
		if r.IsProvider() {
			o.providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	return o
}

// before is the entry with a URN that something at a position needs: the last one in front of it.
func (o *olds) before(u urn.URN, position int) *entry {
	if e := o.byURN[u]; e != nil && e.position < position {
		return e
	}
	for i := position - 1; i >= 0; i-- { // an older generation, which only others that are left behind need
		if o.entries[i].resource.URN == u {
			return o.entries[i]
		}
	}
	return nil
}

// resources are all of them, in order.
func (o *olds) resources() []*state.Resource {
	list := make([]*state.Resource, len(o.entries))
	for i, e := range o.entries {
		list[i] = e.resource
	}
	return list
}
