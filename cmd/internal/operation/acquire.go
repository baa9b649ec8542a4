package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace"
)

// acceptFunc decides about the download of a plugin without a known checksum: an error refuses it.
type acceptFunc = func(ctx context.Context, name, version, from string) error

// acceptAll lets every plugin be downloaded.
func acceptAll(context.Context, string, string, string) error { return nil }

// acquireWith allows the download of missing plugins from now on. dir is the folder of the lock file; accept decides
// about plugins that the lock file does not list, and may be nil.
func (p *Providers) acquireWith(a *console.Console, dir string, accept acceptFunc, tell func(text string)) {
	forbidden := console.DownloadsForbidden(a)
	if p.trust == Untrusted {
		forbidden = "--untrusted"
	}
	p.finder.Fetcher = install.NewFetcher(install.FetchOptions{
		Home: a.World.PulumiHome(), LockDir: dir, Forbidden: forbidden, Overrides: a.World.Getenv(
			console.DownloadOverrides),
		Client: a.World.HTTP, AllowHTTP: a.Global.AllowHTTP, Accept: accept, Tell: tell,
	})
}

// acceptor returns a function that asks the user about the download of a plugin without a known checksum; nil without
// a terminal. asking reports whether the user can see a question now.
func acceptor(a *console.Console, o *Options, asking func() bool) acceptFunc {
	switch {
	case o.AcceptPlugins:
		return acceptAll
	case o.unasked || !a.Interactive():
		return nil
	}
	return func(_ context.Context, name, version, from string) error {
		if !asking() { // a question would get lost among the progress
			return fmt.Errorf("%s has no checksum for it; `yamlhost preview --accept-new-plugins` downloads it and "+
				"locks its checksum", install.LockName)
		}
		if version != "" {
			name += " " + version
		}
		question := fmt.Sprintf("The plugin %s is not installed, and %s does not have it. Download it from %s and run it?",
			name, install.LockName, cmp.Or(from, "its publisher"))
		if a.Prompt().Confirm(question) != nil {
			return errors.New("you declined it")
		}
		return nil
	}
}

// Acquire lets missing plugins be downloaded because the user asked for them; their checksums go to the lock file of
// the project.
func (p *Providers) Acquire(a *console.Console, ws *workspace.Workspace) {
	p.acquireWith(a, lockDir(ws), acceptAll, func(text string) { fmt.Fprintln(a.Streams.Err, text) })
}

// Mapping asks a provider how the names of another tool's provider map to its own; see provider.Mapper. data is empty
// if it knows none.
func (p *Providers) Mapping(ctx context.Context, pkg provider.Package, key, name string) (from string, data []byte,
	err error) {
	loaded, err := p.Load(ctx, pkg)
	if err != nil {
		return "", nil, err
	}
	if mapper, ok := loaded.(provider.Mapper); ok {
		from, data, err = mapper.Mapping(ctx, key, name)
	}
	return from, data, errors.Join(err, loaded.Close())
}

// Source is where the provider of a package comes from: it is built in, or its version and its place.
func (p *Providers) Source(name, version string) (string, error) {
	if own := p.Embedded(name, version, "", false); own != nil || name == "pulumi" {
		return "built in", nil
	}
	loc, err := p.finder.Host.Find(name, version)
	switch {
	case err != nil:
		return "", err
	case loc.Attached:
		return "running", nil
	}
	return strings.TrimSpace(loc.Version + " " + loc.Path), nil
}

// permit returns an error, before the operation begins, if a provider in the state needs a plugin that is missing and
// may not be downloaded. It skips packages of the program, whose versions the program decides and the check has loaded.
// program and base may be nil.
func (p *Providers) permit(ctx context.Context, program *check.Program, base *state.Snapshot) error {
	if base == nil {
		return nil
	}
	used, seen := map[urn.URN]bool{}, map[string]bool{}
	for _, r := range base.Resources {
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			used[ref.URN] = true
		}
	}
	named := map[string]bool{}
	if program != nil {
		for _, d := range program.Packages {
			named[d.Name] = true
		}
	}
	for _, r := range base.Resources {
		if !urn.IsProviderType(r.Type) || !used[r.URN] {
			continue
		}
		pkg := engine.PackageOfProvider(r)
		key := pkg.Name + " " + pkg.Version
		if seen[key] || named[pkg.Name] || p.refuse(pkg.Name) != nil {
			continue
		}
		seen[key] = true
		_, err := p.Whereabouts(pkg)
		if missing, ok := errors.AsType[*provider.MissingError](err); ok {
			if err := p.finder.Fetcher.Permit(ctx, pkg); err != nil {
				return fmt.Errorf(
					"nothing was done: %w\nthe plugin was not downloaded, because %w\ninstall it with: yamlhost plugin install "+
						"resource %s %s",
					missing, err, pkg.Name, pkg.Version)
			}
		}
	}
	return nil
}

// Whereabouts looks for a provider of a state: builtIn reports whether it is part of this process. The error is a
// *provider.MissingError if nothing on this machine has it. Nothing is started or downloaded.
func (p *Providers) Whereabouts(pkg provider.Package) (builtIn bool, err error) {
	if pkg.Name == "pulumi" || pkg.Name == dynamic.Package || p.Embedded(pkg.Name, pkg.Version, pkg.DownloadURL,
		pkg.Parameterization != nil) != nil {
		return true, nil
	}
	_, err = p.finder.Host.Find(pkg.Name, pkg.Version)
	return false, err
}

// InstallDependencies installs the dependencies of a plugin in source form, through the host of its language.
func (p *Providers) InstallDependencies(ctx context.Context, name, dir string) error {
	return p.finder.Host.InstallDependencies(ctx, name, dir)
}

// lockDir returns the folder of a project's lock file.
func lockDir(ws *workspace.Workspace) string {
	if ws.Project.Path != "" {
		return filepath.Dir(ws.Project.Path)
	}
	return ws.Project.Dir
}

// Converter starts the converter plugin of another tool. The caller closes it.
func (p *Providers) Converter(ctx context.Context, tool string) (*plugin.Converter, error) {
	return p.finder.Host.LoadConverter(ctx, tool, p.converterServices(tool))
}

// GenerateProject lets the host of a language write a project from PCL; see plugin.Host.
func (p *Providers) GenerateProject(ctx context.Context, language, from, to, project string) ([]plugin.ConverterFinding,
	error) {
	return p.finder.Host.GenerateProject(ctx, language, from, to, project, p.converterServices("terraform"))
}

func (p *Providers) converterServices(tool string) plugin.ConverterServices {
	return plugin.ConverterServices{
		Schema: p.FetchSchema,
		Mapping: func(ctx context.Context, name, pkg string) ([]byte, error) {
			wanted := provider.Package{Name: cmp.Or(pkg, name)}
			if _, err := p.Whereabouts(wanted); err != nil {
				return nil, nil // the converter reports what it cannot translate
			}
			_, data, err := p.Mapping(ctx, wanted, tool, name)
			return data, err
		},
	}
}

// SayConverted shows the findings of a converter. It returns the warnings among them, or an error if one of them is an
// error. dir is the folder of the input.
func SayConverted(a *console.Console, dir string, found []plugin.ConverterFinding) (warnings []string, err error) {
	failed := 0
	for _, f := range found {
		place, kind := "", "warning"
		if f.File != "" {
			path := f.File
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			place = fmt.Sprintf("%s:%d: ", a.Short(path), f.Line)
		}
		if f.Error {
			failed++
			kind = "error"
		}
		text := fmt.Sprintf("%s%s: %s", place, kind, f.Summary)
		if f.Detail != "" && f.Detail != f.Summary {
			text += "\n  " + f.Detail
		}
		fmt.Fprintln(a.Streams.Err, text)
		if !f.Error {
			warnings = append(warnings, text)
		}
	}
	if failed > 0 {
		return nil, console.WithCode(console.CodeProgram, "the converter reports %s; nothing was written", diag.Count(failed, "error"))
	}
	return warnings, nil
}
