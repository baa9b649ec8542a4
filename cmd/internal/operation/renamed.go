package operation

import (
	"fmt"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// aliasAdvice names the alias that keeps a resource which had no forEach when the state was written: its instances
// have other names, so that it would be deleted (decision D6).
func aliasAdvice(program *check.Program, base *state.Snapshot) diag.Diagnostics {
	type identity struct{ token, name string }
	looped := make(map[identity]*check.Node)
	for _, n := range program.Nodes {
		if n.Resource != nil && n.Resource.Decl.ForEach != nil && n.Resource.Decl.Options.Aliases == nil {
			looped[identity{n.Resource.Token, n.Resource.LogicalName}] = n
		}
	}
	if len(looped) == 0 {
		return nil
	}
	var advice diag.Diagnostics
	for _, r := range base.Resources {
		n := looped[identity{r.URN.Type(), r.URN.Name()}]
		if n == nil || r.Delete || !makesMany(n) {
			continue
		}
		advice.Add(diag.Diagnostic{Severity: diag.Warning, Subject: n.Range,
			Summary: fmt.Sprintf("`%s` exists as one resource; with `forEach` its instances are called `%s-…`", n.Name,
				n.Resource.LogicalName),
			Detail: "to keep it as one of them, add to its options: " + aliasFor(n, r.URN)})
	}
	return advice
}

// makesMany reports whether the instances have names of their own. The instance of a boolean condition has none.
func makesMany(n *check.Node) bool {
	switch schema.Required(n.Type).(type) {
	case *schema.Array, *schema.Map, *schema.Object:
		return true
	}
	return false
}

// aliasFor is the option that keeps a resource as one of the instances.
func aliasFor(n *check.Node, u urn.URN) string {
	key := "0"
	switch t := schema.Required(n.Type).(type) {
	case *schema.Map:
		key = `"KEY"`
	case *schema.Object:
		key = `"KEY"`
		if members := t.Properties(); len(members) > 0 {
			key = fmt.Sprintf("%q", members[0].Name)
		}
	}
	return fmt.Sprintf(`aliases: '${each.key == %s ? ["%s"] : []}'`, key, u)
}
