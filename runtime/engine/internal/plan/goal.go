package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Goal is a parsed registration with inheritance applied. It belongs to its registration, is immutable once claimed,
// and is read by children.
type Goal struct {
	monitor.RegisterRequest
	Timeouts state.Timeouts
	Position string // project:///…
	// Own are the resource's own transforms, which apply to its descendants too.
	Own []monitor.Transform
	// Base is the base package if the resource's package is an extension of it (E3.57).
	Base string
}

// serves reports whether a provider of package pkg can manage the goal's resource.
func (g *Goal) serves(pkg string) bool {
	return pkg != "" && (pkg == urn.PackageOf(g.Type) || pkg == g.Base)
}

// NewGoal parses and validates a request (E2.9–E2.25), independently of all other resources.
func NewGoal(r monitor.RegisterRequest, rootDir string) (*Goal, error) {
	g := &Goal{RegisterRequest: r}
	if r.Name == "" {
		return nil, fmt.Errorf("a resource of type %s has no name", r.Type)
	}
	if (r.Custom || r.Remote) && strings.Count(r.Type, ":") < 2 {
		return nil, fmt.Errorf("%q is not a resource type: it should look like package:module:Type", r.Type) // E2.11
	}
	if len(r.EnvVarMappings) > 0 && !urn.IsProviderType(r.Type) {
		return nil, fmt.Errorf("environment variables can be mapped for a provider only, which %s is not", r.Type) // E2.12
	}
	for _, u := range slices.Concat([]urn.URN{r.Parent, r.DeletedWith}, r.Dependencies, r.ReplaceWith) {
		if u != "" && !u.Valid() {
			return nil, fmt.Errorf("%q is not a URN", u)
		}
	}
	for _, text := range []string{r.Name, r.Type, r.ImportID} {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf(
				"a resource of type %q has the name or ID %q, which is not UTF-8: a state cannot keep it", r.Type, text)
		}
	}
	if err := value.Storable(r.Inputs); err != nil { // F1.10
		return nil, fmt.Errorf("%s %q: %w", r.Type, r.Name, err)
	}
	if err := value.Storable(r.ReplacementTrigger); err != nil {
		return nil, fmt.Errorf("%s %q: the replacement trigger: %w", r.Type, r.Name, err)
	}
	var err error
	if g.Timeouts, err = parseTimeouts(r.CustomTimeouts); err != nil {
		return nil, err
	}
	if !r.Inputs.Is(value.KindMap) {
		g.Inputs = value.EmptyMap()
	}
	g.PropertyDependencies = propertyDependencies(g.Inputs, r)
	// From here on only the maps have the dependencies of values (E2.24).
	if !r.Remote { // a remote component gets its inputs with dependencies (E2.39)
		g.Inputs = g.Inputs.DeepWithoutDeps()
	}
	g.ReplacementTrigger = r.ReplacementTrigger.DeepWithoutDeps()
	g.Dependencies = Distinct(r.Dependencies)
	g.Position = SourcePosition(rootDir, r.SourcePosition)
	return g, nil
}

// propertyDependencies returns the dependencies of each input: those of the request for the input, or all if the
// request has none by input (E1.48), together with those that the values carry (E1.49). They are those of the request
// if these have them all.
func propertyDependencies(inputs value.Value, r monitor.RegisterRequest) urn.Dependencies {
	given := r.PropertyDependencies
	var properties []string // those given and then those that differ; nil until one does
	var lists [][]urn.URN
	set := func(key string, urns ...urn.URN) {
		deps := Distinct(urns)
		if was, found := given.Get(key); found && slices.Equal(was, deps) {
			return
		}
		if properties == nil {
			n := given.Len() + inputs.Len()
			properties, lists = make([]string, 0, n), make([][]urn.URN, 0, n)
			for property, was := range given.All() {
				properties, lists = append(properties, property), append(lists, was)
			}
		}
		properties, lists = append(properties, key), append(lists, deps)
	}
	for i, key := range inputs.Keys() {
		deps, _ := given.Get(key)
		if given.Len() == 0 && !r.Remote {
			deps = r.Dependencies
		}
		set(key, slices.Concat(deps, inputs.At(i).AllDeps(), inputs.Deps())...)
	}
	for key, deps := range given.All() {
		if !inputs.Has(key) {
			set(key, deps...)
		}
	}
	switch {
	case properties != nil:
		return urn.NewDependencies(properties, lists)
	case given.Len() == 0:
		return urn.Dependencies{}
	}
	return given
}

// Distinct returns urns without duplicates and empty ones, in order of first occurrence. It never returns nil.
func Distinct(urns []urn.URN) []urn.URN {
	once := make([]urn.URN, 0, len(urns))
	const few = 8
	if len(urns) <= few {
		for _, u := range urns {
			if u != "" && !slices.Contains(once, u) {
				once = append(once, u)
			}
		}
		return once
	}
	seen := make(map[urn.URN]bool, len(urns))
	for _, u := range urns {
		if u != "" && !seen[u] {
			seen[u] = true
			once = append(once, u)
		}
	}
	return once
}

// parseTimeouts parses Go durations into seconds (E5.33).
func parseTimeouts(t monitor.Timeouts) (state.Timeouts, error) {
	var out state.Timeouts
	for _, field := range []struct {
		name, text string
		dst        *float64
	}{{"create", t.Create, &out.Create}, {"update", t.Update, &out.Update}, {"delete", t.Delete, &out.Delete},
		{"read", t.Read, &out.Read}} {
		if field.text == "" {
			continue
		}
		duration, err := value.ParseDuration(field.text)
		if err != nil {
			return out, fmt.Errorf("the %s timeout %q is not a duration such as 5m or 1h30m", field.name, field.text)
		}
		*field.dst = duration.Seconds()
	}
	return out, nil
}

// SourcePosition returns a position in the format of the state, or "" if it is outside of any project (E2.82).
func SourcePosition(rootDir string, p *monitor.Position) string {
	if p == nil || !filepath.IsAbs(p.Path) || rootDir == "" {
		return ""
	}
	relative, err := filepath.Rel(rootDir, p.Path)
	if err != nil {
		return ""
	}
	text := fmt.Sprintf("project:///%s#%d", filepath.ToSlash(relative), p.Line)
	if p.Column > 0 {
		text += fmt.Sprintf(",%d", p.Column)
	}
	return text
}

// NameTransforms records in the steps of a goal which transforms have set its inputs.
func NameTransforms(steps []Step, g *Goal, rootDir string) {
	if len(g.Transformed) == 0 {
		return
	}
	places := make(map[string]string, len(g.Transformed))
	for path, position := range g.Transformed {
		places[path] = SourcePosition(rootDir, position)
	}
	for i := range steps {
		steps[i].Transformed = places
	}
}

// Inherit applies the options that the goal inherits from its parent, which may be nil (E2.26–E2.29, E2.17). A custom
// resource passes its provider on to children of the same package and to components. As in the Pulumi CLI, a component
// passes on only the providers of its own map.
func (g *Goal) Inherit(parent *Goal) {
	local := !g.Custom && !g.Remote
	isProvider := urn.IsProviderType(g.Type)
	if parent != nil {
		g.DeletedWith = cmp.Or(g.DeletedWith, parent.DeletedWith)
		g.Protect = cmp.Or(g.Protect, parent.Protect)
		g.RetainOnDelete = cmp.Or(g.RetainOnDelete, parent.RetainOnDelete)
		if g.Provider == "" && parent.Custom && parent.Provider != "" && !isProvider &&
			(local || g.serves(ProviderPackage(parent.Provider))) {
			g.Provider = parent.Provider
		}
	}
	if !local && !isProvider && g.Provider == "" {
		pkg := urn.PackageOf(g.Type)
		g.Provider = cmp.Or(g.Providers[pkg], g.Providers[g.Base])
		if g.Provider == "" && parent != nil && !parent.Custom {
			g.Provider = cmp.Or(parent.Providers[pkg], parent.Providers[g.Base])
		}
	}
}

// InheritProviders merges the providers of a parent component into those of a component (E2.19).
func (g *Goal) InheritProviders(parent *Goal) {
	if !g.Custom && parent != nil && !parent.Custom {
		merged := make(map[string]string, len(g.Providers)+len(parent.Providers))
		maps.Copy(merged, parent.Providers)
		maps.Copy(merged, g.Providers)
		g.Providers = merged
	}
}

// ProviderPackage returns the package that a provider reference serves.
func ProviderPackage(ref string) string {
	r, err := urn.ParseReference(ref)
	if err != nil {
		return ""
	}
	return r.URN.Package()
}

// NewState returns the state that the goal describes, before any call to its provider; old is the prior state or nil
// (E4.5).
func (g *Goal) NewState(u urn.URN, old *state.Resource) *state.Resource {
	s := &state.Resource{
		URN: u, Type: g.Type, Custom: g.Custom,
		Inputs: g.Inputs, Outputs: value.EmptyMap(),
		Parent: g.Parent, Dependencies: g.Dependencies, PropertyDependencies: g.PropertyDependencies,
		Protect: g.Protect != nil && *g.Protect, RetainOnDelete: g.RetainOnDelete != nil && *g.RetainOnDelete,
		CustomTimeouts: g.Timeouts, ImportID: g.ImportID, DeletedWith: g.DeletedWith, ReplaceWith: g.ReplaceWith,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, IgnoreChanges: g.IgnoreChanges,
		ReplaceOnChanges: g.ReplaceOnChanges, HideDiffs: g.HideDiffs, ReplacementTrigger: g.ReplacementTrigger,
		ResourceHooks: g.Hooks, SourcePosition: g.Position,
	}
	if g.Custom && !urn.IsProviderType(g.Type) {
		s.Provider = g.Provider
		if g.Base != "" {
			s.ExtensionRef = g.PackageRef
		}
	}
	if old != nil {
		s.Created, s.Modified, s.RefreshBeforeUpdate = old.Created, old.Modified, old.RefreshBeforeUpdate
		s.Unknown = old.Unknown
		if old.URN != u {
			s.Aliases = []urn.URN{old.URN} // E4.17
		}
	}
	return s
}

// Lineage holds what the search for a resource's former URNs depends on.
type Lineage struct {
	Stack, Project string
	// Former returns the prior URN of a renamed resource of this operation, and "" for all others.
	Former func(urn.URN) urn.URN
}

// Candidates returns the URNs that the prior state may have for a resource, its own first, without duplicates (E4.13).
func (l Lineage) Candidates(own urn.URN, parent urn.URN, aliases []monitor.Alias) []urn.URN {
	name, typ := own.Name(), own.Type()
	found := []urn.URN{own}
	seen := map[urn.URN]bool{own: true}
	add := func(u urn.URN) {
		if !seen[u] {
			seen[u] = true
			found = append(found, u)
		}
	}
	for _, a := range aliases {
		add(l.expand(a, parent, name, typ))
	}
	if parent == "" {
		return found
	}
	oldParent := l.Former(parent)
	if oldParent == "" {
		return found
	}
	// A child of a renamed parent had a URN below the parent's former URN, under its own name or under one of its
	// aliases.
	inherit := func(name, typ string) {
		add(urn.New(l.Stack, l.Project, oldParent, typ, inheritedName(name, parent.Name(), oldParent.Name())))
	}
	inherit(name, typ)
	for _, a := range aliases {
		if a.URN != "" {
			inherit(a.URN.Name(), a.URN.Type())
			continue
		}
		inherit(cmp.Or(a.Name, name), cmp.Or(a.Type, typ))
	}
	return found
}

// expand returns the URN that an alias stands for.
func (l Lineage) expand(a monitor.Alias, parent urn.URN, name, typ string) urn.URN {
	if a.URN != "" {
		return a.URN
	}
	switch {
	case a.NoParent:
		parent = ""
	case a.Parent != "":
		parent = cmp.Or(l.Former(a.Parent), a.Parent)
	}
	return urn.New(cmp.Or(a.Stack, l.Stack), cmp.Or(a.Project, l.Project), parent, cmp.Or(a.Type, typ),
		cmp.Or(a.Name, name))
}

// inheritedName returns the name of a child under its parent's former name: a child's name that begins with its
// parent's is assumed to have changed with it (E4.14).
func inheritedName(name, parent, oldParent string) string {
	if rest, ok := strings.CutPrefix(name, parent); ok {
		return oldParent + rest
	}
	return name
}
