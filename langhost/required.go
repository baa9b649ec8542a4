package langhost

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// GetRequiredPackages lists the packages that a program uses (F9.4, L7.30). The list is empty for a program with
// faults, so that configuration can still be set; Run reports the faults.
func (h *Host) GetRequiredPackages(ctx context.Context, r *pulumirpc.GetRequiredPackagesRequest) (
	*pulumirpc.GetRequiredPackagesResponse, error) {
	found, err := h.required(ctx, r.GetInfo())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetRequiredPackagesResponse{}
	for _, d := range found {
		dependency := &pulumirpc.PackageDependency{Name: d.Name, Kind: "resource", Version: d.Version, Server: d.DownloadURL}
		if p := d.Parameterization; p != nil {
			parameters := &pulumirpc.PackageParameterization{Name: p.Name, Version: p.Version, Value: p.Value}
			if d.Extension {
				dependency.Extension = parameters
			} else {
				dependency.Parameterization = parameters
			}
		}
		response.Packages = append(response.Packages, dependency)
	}
	return response, nil
}

// GetProgramDependencies lists the same packages under the names used in the program (F9.9).
func (h *Host) GetProgramDependencies(ctx context.Context, r *pulumirpc.GetProgramDependenciesRequest) (
	*pulumirpc.GetProgramDependenciesResponse, error) {
	found, err := h.required(ctx, r.GetInfo())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	for _, d := range found {
		response.Dependencies = append(response.Dependencies, &pulumirpc.DependencyInfo{Name: d.PackageName(),
			Version: d.PackageVersion()})
	}
	return response, nil
}

// required returns the packages that the program uses, in order of first use.
func (h *Host) required(ctx context.Context, info *pulumirpc.ProgramInfo) ([]schema.Descriptor, error) {
	if dir := pluginFolder(info); dir != "" {
		p, err := openPlugin(dir)
		if err != nil {
			return nil, nil // RunPlugin reports the fault
		}
		return descriptorsOf(usesOf(p.file), p.packages, p.name), nil
	}
	w, failed, err := h.open(ctx, info, workspace.Run{})
	if err == nil {
		err = errorOf(failed)
	}
	if err != nil || w.Source == nil {
		return nil, err
	}
	file, diags := w.Parse(nil)
	if _, failed := failing(diags); failed {
		return nil, nil
	}
	return descriptorsOf(usesOf(file), w.Packages, ""), nil
}

// pluginFolder returns the folder of a component package; empty for a program. Engines ask for the requirements of a
// package before they run it. A project in a parent folder is ignored: it belongs to a user of the package.
func pluginFolder(info *pulumirpc.ProgramInfo) string {
	dir := cmp.Or(info.GetProgramDirectory(), info.GetRootDirectory())
	if dir == "" {
		return ""
	}
	if _, err := confine.Anywhere().Stat(filepath.Join(dir, pluginFile)); err != nil {
		return ""
	}
	return dir
}

// descriptorsOf returns the descriptors of the used packages except own: the declared ones, or else ones made of uses.
func descriptorsOf(uses []packageUse, packages []schema.Descriptor, own string) []schema.Descriptor {
	var found []schema.Descriptor
	for _, use := range uses {
		if use.name == own {
			continue
		}
		declared := false
		for _, d := range packages {
			if d.PackageName() == use.name {
				declared = true
				found = append(found, d)
			}
		}
		if !declared {
			found = append(found, schema.Descriptor{Name: use.name, Version: use.version, DownloadURL: use.url})
		}
		for _, d := range packages { // L1.41
			if d.Serves(use.name) && d.PackageName() != use.name {
				found = append(found, d)
			}
		}
	}
	return found
}

// packageUse is the first mention of a package in a program, with the version and address that its options give.
type packageUse struct{ name, version, url string }

// usesOf returns the packages of the resources and function calls in a program and its components.
func usesOf(file *ast.File) []packageUse {
	var uses []packageUse
	seen := map[string]bool{"pulumi": true, "": true}
	own := map[string]bool{}
	for _, c := range file.Components {
		token := componentNamespace + c.Name.Value
		if c.Token != nil {
			token = c.Token.Value
		}
		own[token], own[schema.CollapseToken(token)] = true, true
	}
	add := func(token, version, url string) {
		if own[token] {
			return
		}
		name, rest, _ := strings.Cut(token, ":")
		if provider, ok := strings.CutPrefix(rest, "providers:"); ok && name == "pulumi" {
			name = provider
		}
		if !seen[name] {
			seen[name] = true
			uses = append(uses, packageUse{name, schema.PlainVersion(version), url})
			return
		}
		for i := range uses { // the first use with a version determines the version
			if uses[i].name == name && uses[i].version == "" && version != "" {
				uses[i].version, uses[i].url = schema.PlainVersion(version), cmp.Or(uses[i].url, url)
			}
		}
	}
	calls := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			if call, ok := e.(*ast.Call); ok {
				if token, version, url := packages.ProviderCall(call); token != nil {
					add(token.Value, version, url)
				}
			}
			return true
		})
	}
	body := func(b *ast.Body) {
		for _, c := range b.Config {
			calls(c.Default)
		}
		for _, r := range b.Resources {
			if r.Type != nil {
				add(r.Type.Value, r.Options.Version.Text(), r.Options.PluginDownloadURL.Text())
			}
			r.Exprs(calls)
		}
		for _, v := range b.Variables {
			calls(v.Value)
		}
		for _, o := range b.Outputs {
			calls(o.Value)
		}
	}
	body(&file.Body)
	for _, c := range file.Components {
		body(&c.Body)
	}
	return uses
}

// componentNamespace is the prefix of the types of components declared in a program (decision D6).
const componentNamespace = "components:index:"
