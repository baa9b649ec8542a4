package plugin

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
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
	missing.Looked = append(missing.Looked, pluginFolder(o.Home))
	p, ok := o.installed("resource", name, version)
	if !ok {
		return Location{}, missing
	}
	if o.Approve != nil {
		if err := o.Approve(p); err != nil {
			return Location{}, err
		}
	}
	loc, err := inDirectory(p.Path, executable)
	if !isLink(p.Path) {
		loc.Version = p.Version
	}
	return loc, err
}

// onPath looks for an executable in the folders of Path.
func (o *Options) onPath(executable string) (path string, found bool) {
	for _, dir := range o.Path {
		if path, found = executableIn(dir, executable); found && dir != "" {
			return path, true
		}
	}
	return "", false
}

func (o *Options) fromOverrides(name, version string) (Location, bool, error) {
	for _, override := range o.Overrides {
		if override.Name != name || override.Version != "" && version != "" && !sameVersion(override.Version, version) {
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
		return f, err == nil, err
	}
	return Location{}, false, nil
}

// inDirectory returns the executable inside a plugin's directory.
func inDirectory(dir, executable string) (Location, error) {
	if path, ok := executableIn(dir, executable); ok {
		return Location{Path: path, dir: dir}, nil
	}
	if _, err := os.Stat(filepath.Join(dir, scriptFile)); err == nil {
		return Location{Path: dir, dir: dir, script: true}, nil // F2.30
	}
	return Location{}, fmt.Errorf(
		"plugin directory %s holds no executable %s; remove the directory and install the plugin again", dir, executable)
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
	if p, found := o.installed(kind, name, version); found {
		path, executes := executableIn(p.Path, executable)
		if !executes {
			return "", fmt.Errorf("the plugin in %s has no executable %s", p.Path, executable)
		}
		return path, nil
	}
	return "", fmt.Errorf("no plugin %s of the kind %s is installed or on $PATH; install it with: yamlhost plugin install %s "+
		"%s %s", name, kind, kind, name, cmp.Or(version, "VERSION"))
}

// executableIn looks for an executable file.
func executableIn(dir, name string) (string, bool) {
	candidates := []string{name}
	if runtime.GOOS == "windows" {
		candidates = []string{name + ".exe", name + ".cmd"}
	}
	for _, candidate := range candidates {
		path := filepath.Join(dir, candidate)
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			if absolute, err := filepath.Abs(path); err == nil {
				path = absolute
			}
			return path, true
		}
	}
	return "", false
}

var (
	pluginDirectory = lazyregexp.New(`^([a-z]+)-([a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9])-v(.*)$`)
	pluginName      = lazyregexp.New(`^[a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9]$`)
	temporaryName   = lazyregexp.New(`\.tmp[0-9]+$`)
)

// InstalledPlugin is a plugin in the plugin folder.
type InstalledPlugin struct{ Name, Version, Path string }

// pluginFolder returns the folder of plugins in a home directory.
func pluginFolder(home string) string { return filepath.Join(home, "plugins") }

// installations yields the complete installations of a kind in the plugin folder of a home directory, which may be
// empty, with their versions (F2.27, F2.28). An empty name means all.
func installations(home, kind, name string) iter.Seq2[InstalledPlugin, *semver.Version] {
	return func(yield func(InstalledPlugin, *semver.Version) bool) {
		if home == "" {
			return
		}
		folder := pluginFolder(home)
		entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
		for _, entry := range entries {
			match := pluginDirectory().FindStringSubmatch(entry.Name())
			if match == nil || match[1] != kind || name != "" && match[2] != name ||
				temporaryName().MatchString(entry.Name()) {
				continue
			}
			p := InstalledPlugin{Name: match[2], Version: match[3], Path: filepath.Join(folder, entry.Name())}
			version, err := semver.NewVersion(p.Version)
			if err != nil || !complete(p.Path) {
				continue
			}
			if !yield(p, version) {
				return
			}
		}
	}
}

// isLink reports whether an installation is a link to another folder, whose content may change.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// installed chooses a version in the plugin folder (F2.29).
func (o *Options) installed(kind, name, version string) (best InstalledPlugin, found bool) {
	wanted, wantedErr := semver.NewVersion(version)
	exact := version != "" && (wantedErr != nil || strings.HasPrefix(wanted.Original(), "0.0.0-x"))
	var highest *semver.Version
	for p, have := range installations(o.Home, kind, name) {
		switch {
		case exact:
			if p.Version != strings.TrimPrefix(version, "v") {
				continue
			}
		case version == "":
		case o.LegacySearch:
			if have.LessThan(wanted) {
				continue
			}
		case !have.Equal(wanted):
			continue
		}
		if highest == nil || better(have, highest) {
			best, highest = p, have
		}
	}
	return best, highest != nil
}

// better prefers stable versions to others, then higher ones.
func better(a, b *semver.Version) bool {
	if stableA, stableB := a.Prerelease() == "", b.Prerelease() == ""; stableA != stableB {
		return stableA
	}
	return a.GreaterThan(b)
}

// complete reports whether a folder is there and no installation into it is in progress or has failed (F2.28).
func complete(dir string) bool {
	info, err := os.Stat(dir)
	_, finished := os.Stat(dir + ".partial")
	return err == nil && info.IsDir() && finished != nil
}

func sameVersion(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return va.Equal(vb)
}

// Installed lists the resource plugins in the plugin folder of a home directory, by name and version; it is empty when
// there is no such folder. Partial installations and links are left out.
func Installed(home string) []InstalledPlugin {
	var list []InstalledPlugin
	versions := map[string]*semver.Version{}
	for p, version := range installations(home, "resource", "") {
		if !isLink(p.Path) {
			list, versions[p.Path] = append(list, p), version
		}
	}
	slices.SortStableFunc(list, func(a, b InstalledPlugin) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), versions[a.Path].Compare(versions[b.Path]))
	})
	return list
}
