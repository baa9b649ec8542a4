package plugin

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Location is the place of a plugin.
type Location struct {
	Path     string // of the executable, or of the folder of a script; empty for a running provider to attach to
	Attached bool
	Ambient  bool // found on PATH
	// Version is the version of a plugin in the plugin folder, whose content never changes; empty for all others.
	Version string

	dir    string // the plugin's own directory
	script bool   // it is in source form
}

// Find looks for a resource plugin without starting it, in the order of Load. It returns *provider.MissingError when
// there is none.
func (h *Host) Find(name, version string) (Location, error) {
	if _, attached := h.options.DebugProviders[name]; attached {
		return Location{Attached: true}, nil
	}
	quiet := h.options // Load warns
	quiet.Warn = nil
	return quiet.find(name, version)
}

// find looks for the executable of a resource plugin in the order of F2.25. It returns *provider.MissingError when
// there is none.
func (o *Options) find(name, version string) (Location, error) {
	missing := &provider.MissingError{Package: name, Version: version}
	if f, ok, err := o.fromOverrides(name, version); ok || err != nil {
		return f, err
	}
	executable := "pulumi-resource-" + name
	if !o.IgnoreAmbient {
		if path, ok := o.onPath(executable); ok {
			o.warn(fmt.Sprintf("using pulumi-resource-%s from $PATH at %s", name, path))
			return Location{Path: path, dir: filepath.Dir(path), Ambient: true}, nil
		}
		missing.Looked = append(missing.Looked, "$PATH")
	}
	if o.Home == "" {
		return Location{}, missing
	}
	missing.Looked = append(missing.Looked, install.Folder(o.Home))
	p, ok := install.Find(o.Home, "resource", name, version, o.LegacySearch)
	if !ok {
		return Location{}, missing
	}
	if o.Approve != nil {
		if err := o.Approve(p); err != nil {
			return Location{}, err
		}
	}
	loc, err := inDirectory(p.Path, executable)
	switch {
	case err == nil:
	case p.IsLink():
		err = fmt.Errorf("%w: it is a link; build the plugin in the folder that it leads to", err)
	default:
		err = fmt.Errorf("%w: install it again with `yamlhost plugin install resource %s %s --reinstall`", err, name,
			p.Version)
	}
	if !p.IsLink() {
		loc.Version = p.Version
	}
	return loc, err
}

// onPath looks for an executable in the folders of Path.
func (o *Options) onPath(executable string) (path string, found bool) {
	for _, dir := range o.Path {
		if path, found = install.Executable(dir, executable); found && dir != "" {
			return path, true
		}
	}
	return "", false
}

func (o *Options) fromOverrides(name, version string) (Location, bool, error) {
	for _, override := range o.Overrides {
		if override.Name != name || override.Version != "" && version != "" && !install.SameVersion(override.Version, version) {
			continue
		}
		path := override.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.RootDir, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			return Location{}, false, fmt.Errorf("the project names %s for plugin %s, which does not exist: %w", override.Path,
				name, err)
		}
		if !info.IsDir() {
			return Location{Path: path, dir: filepath.Dir(path)}, true, nil
		}
		f, err := inDirectory(path, "pulumi-resource-"+name)
		if err != nil {
			err = fmt.Errorf("%w: build the plugin there, or correct the path under `plugins` of the project", err)
		}
		return f, err == nil, err
	}
	return Location{}, false, nil
}

// inDirectory returns the executable inside a plugin's directory.
func inDirectory(dir, executable string) (Location, error) {
	if path, ok := install.Executable(dir, executable); ok {
		return Location{Path: path, dir: dir}, nil
	}
	if _, err := os.Stat(filepath.Join(dir, install.ScriptFile)); err == nil {
		return Location{Path: dir, dir: dir, script: true}, nil // F2.30
	}
	return Location{}, fmt.Errorf("plugin directory %s holds no executable %s", dir, executable)
}

// FindKind returns the path of the executable of a plugin of any kind, such as tool or converter: on the path, or else
// in the plugin folder. An empty version means the newest one.
func (o *Options) FindKind(kind, name, version string) (string, error) {
	executable := "pulumi-" + kind + "-" + name
	if !o.IgnoreAmbient && version == "" {
		if path, found := o.onPath(executable); found {
			return path, nil
		}
	}
	if p, found := install.Find(o.Home, kind, name, version, o.LegacySearch); found {
		path, executes := install.Executable(p.Path, executable)
		if !executes {
			return "", fmt.Errorf("the plugin in %s has no executable %s", p.Path, executable)
		}
		return path, nil
	}
	return "", fmt.Errorf("no plugin %s of the kind %s is installed or on $PATH; install it with: yamlhost plugin install %s "+
		"%s %s", name, kind, kind, name, cmp.Or(version, "VERSION"))
}
