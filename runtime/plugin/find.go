package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// found is a plugin's executable.
type found struct {
	path    string // empty for a script
	dir     string // the plugin's own directory
	script  bool   // it is in source form
	ambient bool   // it is on PATH
}

// find looks for the executable of a resource plugin in the order of F2.25. It returns *provider.MissingError when
// there is none.
func (o *Options) find(name, version string) (found, error) {
	missing := &provider.MissingError{Package: name, Version: version}
	if f, ok, err := o.fromOverrides(name, version); ok || err != nil {
		return f, err
	}
	executable := "pulumi-resource-" + name
	if !o.IgnoreAmbient {
		for _, dir := range o.Path {
			if dir == "" {
				continue
			}
			if path, ok := executableIn(dir, executable); ok {
				o.warn(fmt.Sprintf("using pulumi-resource-%s from $PATH at %s", name, path))
				return found{path: path, dir: filepath.Dir(path), ambient: true}, nil
			}
		}
		missing.Looked = append(missing.Looked, "$PATH")
	}
	if o.Home == "" {
		return found{}, missing
	}
	folder := filepath.Join(o.Home, "plugins")
	missing.Looked = append(missing.Looked, folder)
	dir, ok := o.installed(folder, name, version)
	if !ok {
		return found{}, missing
	}
	if o.Approve != nil {
		version := pluginDirectory().FindStringSubmatch(filepath.Base(dir))[3]
		if err := o.Approve(InstalledPlugin{Name: name, Version: version, Path: dir}); err != nil {
			return found{}, err
		}
	}
	return inDirectory(dir, executable)
}

func (o *Options) fromOverrides(name, version string) (found, bool, error) {
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
			return found{}, false, fmt.Errorf("the project names %s for plugin %s, which does not exist: %w", override.Path,
				name, err)
		}
		if !info.IsDir() {
			return found{path: path, dir: filepath.Dir(path)}, true, nil
		}
		f, err := inDirectory(path, "pulumi-resource-"+name)
		return f, err == nil, err
	}
	return found{}, false, nil
}

// inDirectory is the executable inside a plugin's directory.
func inDirectory(dir, executable string) (found, error) {
	if path, ok := executableIn(dir, executable); ok {
		return found{path: path, dir: dir}, nil
	}
	if _, err := os.Stat(filepath.Join(dir, scriptFile)); err == nil {
		return found{dir: dir, script: true}, nil // F2.30
	}
	return found{}, fmt.Errorf(
		"plugin directory %s holds no executable %s; remove the directory and install the plugin again", dir, executable)
}

// executableIn looks for a file that can be run.
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
	pluginDirectory = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z]+)-([a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9])-v(.*)$`)
	})
	pluginName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9]$`)
	})
	temporaryName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\.tmp[0-9]+$`)
	})
)

// installed chooses a version in the plugin folder (F2.27–F2.29).
func (o *Options) installed(folder, name, version string) (dir string, ok bool) {
	return o.installedKind(folder, "resource", name, version)
}

func (o *Options) installedKind(folder, kind, name, version string) (dir string, ok bool) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", false
	}
	wanted, wantedErr := semver.NewVersion(version)
	exact := version != "" && (wantedErr != nil || strings.HasPrefix(wanted.Original(), "0.0.0-x"))
	var best *semver.Version
	for _, entry := range entries {
		match := pluginDirectory().FindStringSubmatch(entry.Name())
		if match == nil || match[1] != kind || match[2] != name || temporaryName().MatchString(entry.Name()) {
			continue
		}
		have, err := semver.NewVersion(match[3])
		if err != nil || partial(folder, entry.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, entry.Name())); err != nil || !info.IsDir() {
			continue
		}
		switch {
		case exact:
			if match[3] != strings.TrimPrefix(version, "v") {
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
		if best == nil || better(have, best) {
			best, dir = have, filepath.Join(folder, entry.Name())
		}
	}
	return dir, best != nil
}

// better prefers stable versions to others, then higher ones.
func better(a, b *semver.Version) bool {
	if stableA, stableB := a.Prerelease() == "", b.Prerelease() == ""; stableA != stableB {
		return stableA
	}
	return a.GreaterThan(b)
}

// partial reports an installation that is going on or failed: the plugin does not exist (F2.28).
func partial(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name+".partial"))
	return err == nil
}

func sameVersion(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return va.Equal(vb)
}

// InstalledPlugin is a resource plugin in the plugin folder.
type InstalledPlugin struct{ Name, Version, Path string }

// Installed lists the resource plugins in the plugin folder of a home directory, by name and version; it is empty when
// there is no such folder. Partial installations are left out.
func Installed(home string) []InstalledPlugin {
	folder := filepath.Join(home, "plugins")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var list []InstalledPlugin
	for _, entry := range entries {
		match := pluginDirectory().FindStringSubmatch(entry.Name())
		if match == nil || match[1] != "resource" || temporaryName().MatchString(entry.Name()) || !entry.IsDir() ||
			partial(folder, entry.Name()) {
			continue
		}
		if _, err := semver.NewVersion(match[3]); err == nil {
			list = append(list, InstalledPlugin{Name: match[2], Version: match[3], Path: filepath.Join(folder, entry.Name())})
		}
	}
	slices.SortStableFunc(list, func(a, b InstalledPlugin) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		va, _ := semver.NewVersion(a.Version)
		vb, _ := semver.NewVersion(b.Version)
		return va.Compare(vb)
	})
	return list
}
