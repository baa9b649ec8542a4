package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Import describes an existing resource to be managed from now on (E7.46–E7.56).
type Import struct {
	Type, Name string
	ID         string  // in the format of the provider's import; empty for a component
	Parent     urn.URN // in the state or among the imports; empty for the stack
	Provider   string  // reference; empty for the package's default provider
	// ProviderURN names a provider among the imports instead. An imported provider has no ID; it is created from its
	// inputs.
	ProviderURN urn.URN
	Package     monitor.Package
	Component   bool // it has no provider,
	Remote      bool // unless a provider constructs it
	Protect     bool
	Inputs      value.Value // a map: values that the provider does not return; null for none
	Outputs     value.Value // a map: the resource's outputs, used without reading it; null to read it

	extension string // the reference of the extension that defines it; set during the import
}

// urn returns the URN that the resource will have.
func (i *Import) urn(o *Options) urn.URN {
	return o.urnOf(i.parent(o), i.Type, i.Name)
}

// parent returns the URN of the parent, by default the stack's.
func (i *Import) parent(o *Options) urn.URN {
	return cmp.Or(i.Parent, urn.RootStack(o.Stack, o.Project))
}

// ImportResources adds existing resources to the state, without a program. Resources that are in the state already stay
// unchanged.
func ImportResources(ctx context.Context, o Options, imports []Import) (*Result, error) {
	seen := map[urn.URN]bool{}
	for _, i := range imports {
		u := i.urn(&o)
		if seen[u] {
			return nil, fmt.Errorf("duplicate import '%s' of type '%s'", i.Name, i.Type) // E7.49
		}
		seen[u] = true
	}
	op, err := begin(ctx, o, updating)
	if err != nil {
		return nil, err
	}
	defer op.release()
	defer op.guard()
	if op.start() {
		if op.importError = op.importer.importAll(ctx, imports); op.importError != nil {
			op.report.failed.Store(true)
		}
	}
	return op.finish()
}

// importer adds existing objects to the state, without a program.
type importer struct {
	*core
	retainer  *retainer
	resolver  *resolver
	registrar *registrar
}

// importAll imports resources in addition to those in the state: providers first, then the others after their parents.
// It returns the first error (E7.50).
func (m *importer) importAll(ctx context.Context, imports []Import) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	if err := m.makeProviders(ctx, imports); err != nil {
		return err
	}
	refs, err := m.importProviders(ctx, imports)
	if err != nil {
		return err
	}
	return m.importObjects(imports, refs)
}

// importObjects imports all resources but providers in rounds: each round takes the resources whose parent is present.
// refs are the providers of imports.
func (m *importer) importObjects(imports []Import, refs []string) error {
	waiting := map[urn.URN]bool{} // not imported yet
	var todo []int
	for n := range imports {
		if !urn.IsProviderType(imports[n].Type) {
			waiting[imports[n].urn(m.opts)] = true
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		var batch, rest []int
		for _, n := range todo {
			if waiting[imports[n].parent(m.opts)] {
				rest = append(rest, n)
			} else {
				batch = append(batch, n)
			}
		}
		if len(batch) == 0 {
			return fmt.Errorf("the parents of %s form a cycle", diag.Count(len(rest), "import"))
		}
		errs := make([]error, len(batch))
		m.slots.Each(len(batch), func(k int) { errs[k] = m.importOne(&imports[batch[k]], refs[batch[k]]) })
		if err := cmp.Or(errs...); err != nil || m.running.Err() != nil { // E7.50
			return err
		}
		for _, n := range batch {
			delete(waiting, imports[n].urn(m.opts))
		}
		todo = rest
	}
	return nil
}

// begin retains the state, and registers the stack's own resource if the state has none.
func (m *importer) begin(ctx context.Context) error {
	if err := m.keepAll(ctx); err != nil {
		return err
	}
	root := urn.RootStack(m.opts.Stack, m.opts.Project)
	if before, _ := m.table.Prior.Found(root); before != nil {
		return nil
	}
	g, err := plan.NewGoal(monitor.RegisterRequest{Type: urn.RootStackType, Name: root.Name()}, m.opts.RootDir)
	if err != nil {
		return err
	}
	_, err = m.registrar.register(ctx, g)
	return err
}

// keepAll retains all resources of the state in order (E7.46).
func (m *importer) keepAll(ctx context.Context) error {
	slot := m.slots.Slot()
	defer slot.Free()
	for _, reg := range m.table.RetainAll() {
		if err := m.retainer.prerequisites(ctx, m.table.ProviderOf(reg.Old.Resource()), slot); err != nil {
			return err
		}
		if err := m.retainer.asIs(reg); err != nil {
			return err
		}
	}
	return nil
}

// makeProviders creates the explicit providers among imports, except those that are in the state already (E7.46).
func (m *importer) makeProviders(ctx context.Context, imports []Import) error {
	var order []*Import
	for n := range imports {
		if urn.IsProviderType(imports[n].Type) {
			order = append(order, &imports[n])
		}
	}
	slices.SortFunc(order, func(a, b *Import) int { return cmp.Compare(a.urn(m.opts), b.urn(m.opts)) })
	for _, i := range order {
		if m.table.Goal(i.urn(m.opts)) != nil {
			continue
		}
		g, err := plan.NewGoal(monitor.RegisterRequest{Type: i.Type, Name: i.Name, Custom: true,
			Parent:  i.parent(m.opts),
			Protect: &i.Protect, Inputs: providers.WithPackage(i.Inputs.MapOrEmpty(), i.Package, nil)}, m.opts.RootDir)
		if err != nil {
			return err
		}
		if reg, err := m.registrar.register(ctx, g); err != nil {
			return err
		} else if reg.Result != monitor.Succeeded {
			return monitor.ErrReported
		}
	}
	return nil
}

// importProviders returns the providers of imports, and creates missing default providers (E7.46, E7.47).
func (m *importer) importProviders(ctx context.Context, imports []Import) ([]string, error) {
	refs := make([]string, len(imports))
	order := make([]int, len(imports))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &imports[a], &imports[b]
		return slices.Compare([]string{urn.PackageOf(x.Type), x.Package.Version},
			[]string{urn.PackageOf(y.Type), y.Package.Version})
	})
	for _, n := range order {
		i := &imports[n]
		if i.Component && !i.Remote || urn.IsProviderType(i.Type) {
			continue
		}
		p := i.Package
		p.Name = cmp.Or(p.Name, urn.PackageOf(i.Type))
		plugin := p // an extension uses the provider of the package that it extends
		if p.Extension {
			plugin.Parameterization, plugin.Extension = nil, false
		}
		named := i.Provider
		if i.ProviderURN != "" {
			if reg := m.table.Get(i.ProviderURN); reg != nil && reg.State() != nil {
				named = urn.Reference{URN: i.ProviderURN, ID: reg.State().ID}.String()
			}
			if named == "" {
				return nil, fmt.Errorf("the provider %s of %s does not exist", i.ProviderURN, i.urn(m.opts))
			}
		}
		ref, err := m.resolver.reference(ctx, named, plugin, string(i.urn(m.opts)), "")
		if err != nil {
			return nil, err
		}
		if i.Package.Extension {
			if i.extension, err = m.registry.Packages.Register(p, uuid.NewString); err != nil {
				return nil, err
			}
		}
		refs[n] = ref
	}
	return refs, nil
}

// importOne imports one resource into the state (E7.51–E7.56).
func (m *importer) importOne(i *Import, ref string) error {
	u := i.urn(m.opts)
	present, parent := m.table.Get(u), m.table.Get(i.parent(m.opts))
	fault := func(format string, args ...any) error {
		err := fmt.Errorf(format, args...)
		m.report.message(operationFailed(u, "", err.Error()))
		return err
	}
	switch {
	// A resource that the state already has under that ID counts as imported. Under another ID it is a different
	// resource, and the import fails.
	case present != nil && present.State() != nil && cmp.Or(present.State().ImportID, present.State().ID) == i.ID:
		return nil // E7.51
	case present != nil:
		return fault("resource '%s' already exists", u)
	case parent == nil:
		return fault("unknown parent '%s' for resource '%s'", i.parent(m.opts), u)
	}
	goal := &state.Resource{URN: u, Type: i.Type, Custom: !i.Component, ID: i.ID, ImportID: i.ID, Provider: ref,
		Parent: i.parent(m.opts), Protect: i.Protect, ExtensionRef: i.extension, Inputs: value.EmptyMap(),
		Outputs: value.EmptyMap()}
	reg := m.table.Track(resources.BareGoal(goal), u, goal.Parent)
	defer close(reg.Done)
	if _, err := m.executor.Import(plan.NewStep(OpImport, nil, goal), reg,
		&apply.Import{Component: i.Component, Inputs: i.Inputs, Outputs: i.Outputs}); err != nil {
		reg.Result = monitor.Failed
		return fmt.Errorf("the import of %s %q failed", i.Type, i.Name)
	}
	reg.Result = monitor.Succeeded
	return nil
}
