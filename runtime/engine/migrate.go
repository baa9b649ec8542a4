package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// migrate upgrades an old state before the operation begins (E6.53): resources without a provider get a default one,
// and providers without outputs get them.
func (c *core) migrate() {
	var e journal.Entry
	made := map[string]*state.Resource{} // by package
	// New providers go to the front: resources must come after their providers.
	var front []*state.Resource
	var frontIDs []journal.ID
	base := c.table.Prior.Base()
	all, ids := slices.Clone(base.Resources), base.IDs
	for i, r := range all {
		now := r
		switch {
		case r.IsProvider() && r.Inputs.Len() > 0 && r.Outputs.Len() == 0:
			now = r.Clone()
			now.Outputs = providers.WithoutInternal(r.Inputs)
		case r.Custom && !r.IsProvider() && r.Provider == "" && r.ViewOf == "":
			pkg := r.URN.Package()
			p := made[pkg]
			if p == nil {
				if p = c.presentDefault(base.Resources, pkg); p == nil {
					p = &state.Resource{URN: c.opts.urnOf("", urn.ProviderType(pkg), "default"),
						Type: urn.ProviderType(
							pkg), Custom: true, ID: c.opts.NewID(), Inputs: c.registry.Config.Default(pkg),
						Created: c.executor.Timestamp()}
					p.Outputs, p.Modified = p.Inputs, p.Created
					id := c.journal.NewID()
					front, frontIDs = append(front, p), append(frontIDs, id)
					e.Add = append(e.Add, journal.Amended{ID: id, Resource: p})
				}
				made[pkg] = p
			}
			now = r.Clone()
			now.Provider = urn.Reference{URN: p.URN, ID: p.ID}.String()
		}
		if now != r {
			all[i] = now
			e.Amend = append(e.Amend, journal.Amended{ID: ids[i], Resource: now})
		}
	}
	if len(e.Add)+len(e.Amend) == 0 {
		return
	}
	if err := c.journal.Commit(c.calls, e); err != nil {
		c.failures.notRecorded(err)
		return
	}
	c.table.Prior.Rebase(resources.State{Resources: append(front, all...), IDs: append(frontIDs, ids...)})
}

// presentDefault returns the default provider of a package in the state if it comes before every resource that a
// migration would give it to, and nil otherwise: a provider further back cannot be named by an earlier resource.
func (c *core) presentDefault(all []*state.Resource, pkg string) *state.Resource {
	for _, r := range all {
		if r.Custom && !r.IsProvider() && r.Provider == "" && r.URN.Package() == pkg {
			return nil
		}
		if r.URN == c.opts.urnOf("", urn.ProviderType(pkg), "default") && !r.Delete {
			return r
		}
	}
	return nil
}
