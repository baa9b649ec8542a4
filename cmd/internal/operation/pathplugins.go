package operation

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// pathPlugins are the plugins that a project names by their paths, under `packages` and `plugins`. They belong to the
// project: commands that only look at a program do not start them (D13).
type pathPlugins struct {
	places map[string]diag.Range // by the name of the plugin
	faulty map[string]bool       // those that cannot be used, which the workspace reports
	// Barred reports whether they may not be started.
	Barred bool

	mu     sync.Mutex      // guards the fields below
	wanted map[string]bool // the plugins that would have been started
}

func pathPluginsOf(ws *workspace.Workspace) *pathPlugins {
	p := &pathPlugins{places: map[string]diag.Range{}, faulty: map[string]bool{}, wanted: map[string]bool{}}
	for _, entry := range ws.Project.Plugins {
		if entry.Kind == "providers" {
			p.places[entry.Name] = entry.Range
		}
	}
	for _, l := range ws.Plugins {
		p.places[l.Name], p.faulty[l.Name] = l.Package.Name.Range, l.Faulty
	}
	for _, c := range ws.Components {
		if len(c.File.Dynamic) > 0 {
			p.places[c.Name] = c.File.Name.Range
		}
	}
	return p
}

func (p *pathPlugins) has(name string) bool {
	_, known := p.places[name]
	return known
}

// bar returns an error for a plugin that must not be started.
func (p *pathPlugins) bar(name string) error {
	switch {
	case !p.has(name):
		return nil
	case p.faulty[name]:
		return fmt.Errorf("package %s: %w", name, schema.ErrReported)
	case p.Barred:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wanted[name] = true
		return fmt.Errorf("package %s is not started here: %w", name, schema.ErrReported)
	}
	return nil
}

// Unseen returns a finding for each plugin that would have been started, at its place in the project file.
func (p *pathPlugins) Unseen() diag.Diagnostics {
	p.mu.Lock()
	defer p.mu.Unlock()
	var diags diag.Diagnostics
	for name := range p.wanted {
		diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.PackageMissing, Subject: p.places[name],
			Summary: "what package `" + name +
				"` provides was not checked: its plugin is in the project, and is not started here",
			Detail: "`yamlhost preview` starts it; or give its schema with --schema FILE"})
	}
	slices.SortStableFunc(diags, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Summary, b.Summary) })
	return diags
}

// Placed returns a copy with the places of a workspace of the same project that was read later.
func (p *pathPlugins) Placed(ws *workspace.Workspace) *pathPlugins {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := pathPluginsOf(ws)
	for name := range p.wanted {
		if now.has(name) {
			now.wanted[name] = true
		}
	}
	return now
}
