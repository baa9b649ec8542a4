package resources

import (
	"cmp"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// registrations holds the resources of this operation by their current URN. The table's mutex guards it.
type registrations struct {
	of   map[urn.URN]*Registration
	root *Registration // the stack; nil before it is registered
}

// free returns a conflict if a URN cannot be registered below parent; known is its registration if it is retained
// already.
func (c *registrations) free(u, parent urn.URN) (known *Registration, problem *Conflict) {
	if parent != "" && c.of[parent] == nil {
		return conflict(diag.OperationFailed, "could not find parent resource %s", parent)
	}
	if r := c.of[u]; r != nil && r.retained {
		return r, nil
	}
	if c.of[u] != nil {
		return conflict(diag.DuplicateURN, "Duplicate resource URN '%s'; try giving it a unique name", u)
	}
	return nil, nil
}

// track adds a registration.
func (c *registrations) track(reg *Registration) {
	c.of[reg.URN] = reg
	if p := c.of[reg.Parent]; p != nil {
		p.children = append(p.children, reg.URN)
	}
	if reg.Goal != nil && reg.Parent == "" && reg.Goal.Type == urn.RootStackType {
		c.root = reg
	}
}

// former returns the prior URN of a renamed resource of this operation, and "" otherwise.
func (c *registrations) former(u urn.URN) urn.URN {
	if r := c.of[u]; r != nil && r.Old != nil && r.Old.resource.URN != u {
		return r.Old.resource.URN
	} else if r != nil {
		return r.former
	}
	return ""
}

// holderOf returns the registration that has claimed a prior resource, whose current URN is u; nil if there is none.
func (c *registrations) holderOf(e *Prior, u urn.URN) *Registration {
	if !e.claimed {
		return nil
	}
	if holder := c.of[u]; holder != nil && (holder.Old == e || holder.Old == nil) {
		return holder // Old is nil if a refresh found the prior resource missing
	}
	return nil
}

// names maps the URNs of renamed resources. The table's mutex guards it.
type names struct {
	renamed map[urn.URN]urn.URN // from former URNs, matched through aliases, to current ones
	kept    map[urn.URN]urn.URN // the same for resources that keep their former URN in this operation
}

// now returns the current URN of a prior resource.
func (n *names) now(u urn.URN) urn.URN {
	return cmp.Or(n.renamed[u], u)
}
