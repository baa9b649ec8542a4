package editor

import (
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

var (
	policyKeys = []string{"description", "match", "stack", "after", "destroy", "enforcement", "config", "when", "violation",
		"remedy"}
	// policyMatchKeys are the fields of `match` in a policy.
	policyMatchKeys = []string{"type", "name", "custom"}
)

// policy returns the completions in the section policies; path begins with the name of the policy.
func (q *completer) policy(path []string) []Item {
	key := q.cursor.Kind == parser.KeyCursor
	switch {
	case len(path) == 0:
		return nil
	case len(path) == 1 && key:
		return fields(policyKeys...)
	case len(path) < 2:
		return nil
	}
	switch path[1] {
	case "match":
		switch {
		case len(path) == 2 && key:
			return fields(policyMatchKeys...)
		case len(path) > 2 && path[2] == "type":
			return q.types()
		case len(path) == 3 && path[2] == "custom":
			return values(yesNo...)
		}
	case "stack", "after", "destroy":
		return values(yesNo...)
	case "enforcement":
		return values(enforcementLevels...)
	case "config":
		if len(path) > 2 {
			return q.config(append([]string{"config"}, path[2:]...))
		}
	case "when", "violation":
		return q.expression(schema.Any, path[2:])
	case "remedy":
		if p := q.policyHere(); p != nil && p.Names["resource"] != nil {
			return q.expression(p.Names["resource"], path[2:])
		}
	}
	return nil
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
