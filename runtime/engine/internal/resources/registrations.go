package resources

import (
	"cmp"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// registrations are the resources of this operation, by their present name. The table's mutex guards them.
type registrations struct {
	of   map[urn.URN]*Registration
	root *Registration // the stack; nil before it is registered
}

// free finds out whether a URN can be registered below a parent; known is a registration that is retained under it.
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

// track adds a registration to the operation's.
func (c *registrations) track(reg *Registration) {
	c.of[reg.URN] = reg
	if p := c.of[reg.Parent]; p != nil {
		p.children = append(p.children, reg.URN)
	}
	if reg.Goal != nil && reg.Parent == "" && reg.Goal.Type == urn.RootStackType {
		c.root = reg
	}
}

// former returns the URN under which a resource of this operation was found, empty when that is its own.
func (c *registrations) former(u urn.URN) urn.URN {
	if r := c.of[u]; r != nil && r.Old != nil && r.Old.resource.URN != u {
		return r.Old.resource.URN
	} else if r != nil {
		return r.former
	}
	return ""
}

// holderOf is the registration that has taken a prior resource, which is called u now; nil if there is none.
func (c *registrations) holderOf(e *Prior, u urn.URN) *Registration {
	if !e.claimed {
		return nil
	}
	if holder := c.of[u]; holder != nil && (holder.Old == e || holder.Old == nil) {
		return holder // with nothing that it was, when that was found to be gone
	}
	return nil
}

// names are those that prior resources have in this operation. The table's mutex guards them.
type names struct {
	renamed map[urn.URN]urn.URN // names claimed through an alias, to the name that claimed them
	kept    map[urn.URN]urn.URN // the same where the resource keeps its former name in this operation
}

// now returns the present URN of a prior resource.
func (n *names) now(u urn.URN) urn.URN {
	return cmp.Or(n.renamed[u], u)
}
