package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// parameterized are the packages that plugins make of the arguments in the project's `packages`, by what they were
// asked for. A plugin is asked once in a run, and its schema kept: an argument may be a file, so that nothing is kept
// longer.
type parameterized struct {
	made  parallel.Memo[string, schema.Descriptor, error]
	texts sync.Map // the schemas, by the key of their descriptor
}

// Parameterize asks a plugin what package it becomes with arguments; its schema says how to ask for that again.
func (p *Providers) Parameterize(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	key, err := json.Marshal([]any{pkg.Source, pkg.Version, pkg.PluginDownloadURL, pkg.Parameters})
	if err != nil {
		return schema.Descriptor{}, err
	}
	return p.parameterized.made.Get(string(key), func() (schema.Descriptor, error) { return p.askParameterized(ctx, pkg) })
}

func (p *Providers) askParameterized(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	wanted := provider.Package{Name: pkg.Source, Version: pkg.Version, DownloadURL: pkg.PluginDownloadURL}
	if err := p.Paths.bar(wanted.Name); err != nil {
		return schema.Descriptor{}, err
	}
	d, text, err := p.finder.Parameterize(ctx, wanted, pkg.Parameters)
	if err != nil {
		return d, err
	}
	if p.Paths.has(wanted.Name) {
		d.Name, d.Version = wanted.Name, "" // by which its path is known
	}
	p.parameterized.texts.Store(d.Key(), text)
	return d, nil
}

// Extended returns a package with the extensions of its plugin that the project declares (L1.41). One that cannot be
// loaded is left out.
func (p *Providers) Extended(ctx context.Context, ws *workspace.Workspace, base *schema.Package) *schema.Package {
	made := slices.Clone(ws.Packages)
	for _, pkg := range ws.Project.Packages {
		if len(pkg.Parameters) > 0 && pkg.Source == base.Name {
			if d, err := p.Parameterize(ctx, pkg); err == nil {
				made = append(made, d)
			}
		}
	}
	loader := p.Schemas()
	var extensions []*schema.Package
	for _, d := range made {
		if d.Extension && d.Name == base.Name && d.PackageName() != base.Name {
			if more, err := loader.Load(ctx, d); err == nil {
				extensions = append(extensions, more)
			}
		}
	}
	if len(extensions) == 0 {
		return base
	}
	return schema.Extended(base, nil, extensions...)
}

// Described returns the package that a name stands for in the project: what is declared beside the program, or what a
// plugin makes of parameters (L7.32), or else a plugin of that name. It asks a plugin only if the project has an entry
// of that name.
func (p *Providers) Described(ctx context.Context, ws *workspace.Workspace, name, version string) (schema.Descriptor,
	error) {
	version = schema.PlainVersion(version)
	for _, d := range ws.Packages {
		if d.PackageName() == name && (version == "" || version == d.PackageVersion()) {
			return d, nil
		}
	}
	for _, pkg := range ws.Project.Packages {
		if len(pkg.Parameters) == 0 || pkg.Name.Text != name {
			continue
		}
		d, err := p.Parameterize(ctx, pkg)
		if err != nil {
			return d, fmt.Errorf("package %s, which the plugin %s makes of parameters: %w", name, pkg.Source, err)
		}
		if version == "" || version == d.PackageVersion() {
			return d, nil
		}
	}
	return schema.Descriptor{Name: name, Version: version}, nil
}
