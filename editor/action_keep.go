package editor

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
)

// mostFormer limits the aliases that are offered for one resource.
const mostFormer = 3

// keep offers an alias for a resource that appears in the selected stack under another name.
func keep(a *actor) []Action {
	n := a.resource()
	if n == nil {
		return nil
	}
	start, end, ok := a.place(n.Range)
	if typed := n.Resource.Decl.Type; typed != nil {
		// From the name to the type, the two that a renamed resource is recognized by.
		_, end, ok = a.place(typed.Range)
	}
	if !ok || a.start < start || a.start > end {
		return nil
	}
	var offered []Action
	for _, prior := range a.p.state(a.ctx).former(a.p.Checked, n) {
		path, edit, ok := a.p.alias(n, "name", prior, n.Resource.Decl.Options.Parent != nil)
		if !ok || path != a.path {
			continue
		}
		title := "Add the alias " + prior + ": " + n.Name + " looks like a rename of it"
		offered = append(offered, a.action(KeepAction, title, edit)...)
	}
	return offered
}

// former returns possible former names of a resource that the state does not have under its current name. They are the
// names of resources in the state with the same type and equal inputs that the program no longer declares. Equal inputs
// are required, because an alias that is wrong would hand one resource's object to another.
func (s *State) former(program *check.Program, n *check.Node) []string {
	// The state has no resources with parents, and so those of components are not compared.
	if _, there := s.deployed(n); s == nil || there || n.Resource.Decl.ForEach != nil || n.Resource.Decl.Get != nil ||
		!slices.Contains(program.Nodes, n) {
		return nil
	}
	aliases := ""
	if written := n.Resource.Decl.Options.Aliases; written != nil {
		// Compared as text: whatever form an alias has, it contains the name.
		aliases = written.Value.Range().Text()
	}
	var names []string
	for r, d := range s.Resources {
		if r.Type == n.Resource.Token && !strings.Contains(aliases, r.Name) && instanceOf(program, r) == nil &&
			len(d.drifted(n)) == 0 && !d.lacking(n, r.Name) {
			// Sorted below, for a map has no order and the menu must not change from one request to the next.
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), mostFormer)]
}

// lacking reports whether a resource of the state has an input that the program does not set. Defaults and generated
// names, which start with the resource's own name, do not count. An input that the program no longer sets would make an
// update, which a mere rename does not.
func (d Deployed) lacking(n *check.Node, name string) bool {
	if n.Resource.Decl.PropertiesExpr != nil {
		return false
	}
	given := map[string]bool{"__defaults": true}
	for _, p := range n.Resource.Decl.Properties {
		given[p.Name.Value] = true
	}
	if defaults, ok := d.Inputs.Lookup("__defaults"); ok {
		for i := range defaults.Len() {
			if item, ok := defaults.Index(i); ok {
				name, _ := item.AsString()
				given[name] = true
			}
		}
	}
	return slices.ContainsFunc(d.Inputs.Keys(), func(key string) bool {
		input, _ := d.Inputs.Lookup(key)
		text, _ := input.AsString()
		return !given[key] && !strings.HasPrefix(text, name+"-")
	})
}
