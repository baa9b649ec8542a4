package editor

import (
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

// policy returns the completions in the section policies, which path begins with.
func (q *completer) policy(path []string) []Item {
	if len(path) > 2 {
		switch path[2] {
		case "match":
			if len(path) > 3 && path[3] == "type" {
				return q.types()
			}
		case "when", "violation":
			return q.expression(schema.Any, path[3:])
		case "remedy":
			if p := q.policyHere(); p != nil && p.Names["resource"] != nil {
				return q.expression(p.Names["resource"], path[3:])
			}
		}
	}
	return q.language(path)
}

// policyHere is the policy that the cursor is in; nil elsewhere, and for one that has not been checked yet.
func (q *completer) policyHere() *check.Policy {
	if path := q.cursor.Path; len(path) > 1 && path[0] == "policies" {
		i := slices.IndexFunc(q.p.Checked.Policies, func(p *check.Policy) bool { return p.Decl.Name.Value == path[1] })
		if i >= 0 {
			return q.p.Checked.Policies[i]
		}
	}
	return nil
}

// policyNames are the names that only the policy at the cursor has, with their types.
func (q *completer) policyNames() map[string]schema.Type {
	if p := q.policyHere(); p != nil {
		return p.Names
	}
	return nil
}
