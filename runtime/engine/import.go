package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// Import names a resource that exists already and is to be managed from now on (E7.46–E7.56).
type Import struct {
	Type, Name string
	ID         string  // as the provider's import takes it; empty for a component
	Parent     urn.URN // empty for the stack; of the state, or of another import
	Provider   string  // reference; empty for the package's default provider
	// ProviderURN is the provider instead, when it is among the imports. A provider has no ID; it is made of its inputs.
	ProviderURN urn.URN
	Package     monitor.Package
	Component   bool // no provider has a part in it,
	Remote      bool // unless it is one that its provider constructs
	Protect     bool
	Inputs      value.Value // a map: fills in what the provider does not tell; null for nothing
	Outputs     value.Value // a map: what the resource is like, which is believed without a look; null to look

	extension string // the reference of the extension that it is of, once that is known
}

// URN is what the resource will be called.
func (i *Import) urn(o *Options) urn.URN {
	return urn.New(o.Stack, o.Project, i.parent(o), i.Type, i.Name)
}

func (i *Import) parent(o *Options) urn.URN {
	if i.Parent == "" {
		return urn.RootStack(o.Stack, o.Project)
	}
	return i.Parent
}

// ImportResources takes resources that exist into the state, without a program. What is in the state already stays as
// it is.
func ImportResources(ctx context.Context, o Options, imports []Import) (*Result, error) {
	seen := map[urn.URN]bool{}
	for _, i := range imports {
		u := i.urn(&o)
		if seen[u] {
			return nil, fmt.Errorf("duplicate import '%s' of type '%s'", i.Name, i.Type) // E7.49
		}
		seen[u] = true
	}
	return operate(ctx, o, false, func(d *Deployment) {
		d.importing = true
		if err := importerOf(d).importAll(ctx, imports); err != nil && d.importError == nil {
			d.importError = err
		}
		if d.importError != nil {
			d.report.fail()
		}
		d.closeRequests()
	})
}

// importAll imports resources into the stack, next to what is there: providers first, then the rest behind their
// parents.
func (d importer) importAll(ctx context.Context, imports []Import) error {
	if err := d.keepAll(ctx); err != nil {
		return err
	}
	root := urn.RootStack(d.opts.Stack, d.opts.Project)
	if before, _ := d.table.Found(root); before == nil {
		g, err := plan.NewGoal(monitor.RegisterRequest{Type: urn.RootStackType, Name: root.Name()}, d.opts.RootDir)
		if err != nil {
			return err
		}
		if _, err := d.register(ctx, g); err != nil {
			return err
		}
	}
	if err := d.makeProviders(ctx, imports); err != nil {
		return err
	}
	refs, err := d.importProviders(ctx, imports)
	if err != nil {
		return err
	}
	waiting := map[urn.URN]bool{}
	for _, i := range imports {
		waiting[i.urn(&d.opts)] = true
	}
	var todo []int
	for n := range imports {
		if urn.IsProviderType(imports[n].Type) {
			delete(waiting, imports[n].urn(&d.opts)) // they are there
			continue
		}
		todo = append(todo, n)
	}
	for len(todo) > 0 {
		var batch, rest []int
		for _, n := range todo {
			if waiting[imports[n].parent(&d.opts)] {
				rest = append(rest, n)
			} else {
				batch = append(batch, n)
			}
		}
		if len(batch) == 0 {
			return fmt.Errorf("the parents of %d imports go round in a circle", len(rest))
		}
		errs := make([]error, len(batch))
		d.each(len(batch), func(k int) { errs[k] = d.importOne(&imports[batch[k]], refs[batch[k]]) })
		for k, n := range batch {
			delete(waiting, imports[n].urn(&d.opts))
			if errs[k] != nil && d.importError == nil {
				d.importError = errs[k]
			}
		}
		if d.importError != nil || d.running.Err() != nil { // E7.50
			return nil
		}
		todo = rest
	}
	return nil
}

// keepAll retains the whole state, in its order (E7.46).
func (d importer) keepAll(ctx context.Context) error {
	slot := d.slots.Slot()
	defer slot.Free()
	for _, reg := range d.table.RetainAll() {
		if err := retainerOf(d.Deployment).prerequisites(ctx, d.table.ProviderOf(reg.Old.Resource()), slot); err != nil {
			return err
		}
		if err := retainerOf(d.Deployment).retainAsIs(reg); err != nil {
			return err
		}
	}
	return nil
}

// makeProviders makes the explicit providers among imports; those that the state has stay as they are (E7.46).
func (d importer) makeProviders(ctx context.Context, imports []Import) error {
	var order []*Import
	for n := range imports {
		if urn.IsProviderType(imports[n].Type) {
			order = append(order, &imports[n])
		}
	}
	slices.SortFunc(order, func(a, b *Import) int { return cmp.Compare(a.urn(&d.opts), b.urn(&d.opts)) })
	for _, i := range order {
		if d.table.Goal(i.urn(&d.opts)) != nil {
			continue
		}
		g, err := plan.NewGoal(monitor.RegisterRequest{Type: i.Type, Name: i.Name, Custom: true, Parent: i.parent(&d.opts),
			Protect: &i.Protect, Inputs: providers.WithPackage(plan.AsMap(i.Inputs), i.Package, nil)}, d.opts.RootDir)
		if err != nil {
			return err
		}
		if reg, err := d.register(ctx, g); err != nil {
			return err
		} else if reg.Result != monitor.Succeeded {
			return monitor.ErrReported
		}
	}
	return nil
}

// importProviders finds the providers of imports, and makes the default ones that are missing (E7.46, E7.47).
func (d importer) importProviders(ctx context.Context, imports []Import) ([]string, error) {
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
		if p.Name == "" {
			p.Name = urn.PackageOf(i.Type)
		}
		plugin := p
		if p.Extension {
			plugin.Parameterization, plugin.Extension = nil, false
		}
		named := i.Provider
		if i.ProviderURN != "" {
			if reg := d.table.Get(i.ProviderURN); reg != nil && reg.State() != nil {
				named = urn.Reference{URN: i.ProviderURN, ID: reg.State().ID}.String()
			}
			if named == "" {
				return nil, fmt.Errorf("the provider %s of %s is not there", i.ProviderURN, i.urn(&d.opts))
			}
		}
		ref, err := d.provider(ctx, named, plugin, string(i.urn(&d.opts)), "")
		if err != nil {
			return nil, err
		}
		if i.Package.Extension {
			if i.Package.Parameterization == nil {
				return nil, fmt.Errorf("the extension of %s says nothing of what it is", p.Name)
			}
			if i.extension, err = d.RegisterPackage(ctx, p); err != nil {
				return nil, err
			}
		}
		refs[n] = ref
	}
	return refs, nil
}

// importOne reads one resource into the state (E7.51–E7.56).
func (d importer) importOne(i *Import, ref string) error {
	u := i.urn(&d.opts)
	present, parent := d.table.Get(u), d.table.Get(i.parent(&d.opts))
	fault := func(format string, args ...any) error {
		err := fmt.Errorf(format, args...)
		d.report.message(Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed, Text: err.Error()})
		return err
	}
	switch {
	case present != nil && present.State() != nil && plan.OrElse(present.State().ImportID, present.State().ID) == i.ID:
		return nil // E7.51
	case present != nil:
		return fault("resource '%s' already exists", u)
	case parent == nil:
		return fault("unknown parent '%s' for resource '%s'", i.parent(&d.opts), u)
	}
	goal := &state.Resource{URN: u, Type: i.Type, Custom: !i.Component, ID: i.ID, ImportID: i.ID, Provider: ref,
		Parent: i.parent(&d.opts), Protect: i.Protect, ExtensionRef: i.extension, Inputs: value.EmptyMap(),
		Outputs: value.EmptyMap()}
	reg := d.table.Track(resources.BareGoal(goal), u, goal.Parent)
	defer close(reg.Done)
	if _, err := d.executor.Import(plan.NewStep(OpImport, nil, goal), reg,
		&apply.Import{Component: i.Component, Inputs: i.Inputs, Outputs: i.Outputs}); err != nil {
		reg.Result = monitor.Failed
		return fmt.Errorf("the import of %s %q failed", i.Type, i.Name)
	}
	reg.Result = monitor.Succeeded
	return nil
}
