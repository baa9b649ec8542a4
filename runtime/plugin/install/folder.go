package install

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// ScriptFile marks a folder as a plugin in source form (F2.30).
const ScriptFile = "PulumiPlugin.yaml"

var (
	pluginDirectory = lazyregexp.New(`^([a-z]+)-([a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9])-v(.*)$`)
	pluginName      = lazyregexp.New(`^[a-zA-Z0-9-][a-zA-Z0-9-_.]*[a-zA-Z0-9]$`)
	temporaryName   = lazyregexp.New(`\.tmp[0-9]+$`)
)

// Plugin is an installation in the plugin folder.
type Plugin struct{ Name, Version, Path string }

// Folder returns the folder of plugins in a home directory.
func Folder(home string) string { return filepath.Join(home, "plugins") }

// All yields the complete installations of a kind in the plugin folder of a home directory, which may be
// empty, with their versions (F2.27, F2.28). An empty name means all.
func All(home, kind, name string) iter.Seq2[Plugin, *semver.Version] {
	return func(yield func(Plugin, *semver.Version) bool) {
		if home == "" {
			return
		}
		folder := Folder(home)
		entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
		for _, entry := range entries {
			match := pluginDirectory().FindStringSubmatch(entry.Name())
			if match == nil || match[1] != kind || name != "" && match[2] != name ||
				temporaryName().MatchString(entry.Name()) {
				continue
			}
			p := Plugin{Name: match[2], Version: match[3], Path: filepath.Join(folder, entry.Name())}
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

// IsLink reports whether an installation is a link to another folder, whose content may change.
func (p Plugin) IsLink() bool {
	info, err := os.Lstat(p.Path)
	return err == nil && !info.IsDir()
}

// Find chooses an installation in the plugin folder (F2.29): of the given version, or the newest if it is empty. With
// atLeast, the newest of all that are not older than the version.
func Find(home, kind, name, version string, atLeast bool) (best Plugin, found bool) {
	wanted, wantedErr := semver.NewVersion(version)
	exact := version != "" && (wantedErr != nil || strings.HasPrefix(wanted.Original(), "0.0.0-x"))
	var highest *semver.Version
	for p, have := range All(home, kind, name) {
		switch {
		case exact:
			if p.Version != strings.TrimPrefix(version, "v") {
				continue
			}
		case version == "":
		case atLeast:
			if have.LessThan(wanted) {
				continue
			}
		case !have.Equal(wanted):
			continue
		}
		if highest == nil || Better(have, highest) {
			best, highest = p, have
		}
	}
	return best, highest != nil
}

// Better prefers stable versions to others, then higher ones.
func Better(a, b *semver.Version) bool {
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

// Resources lists the resource plugins in the plugin folder of a home directory, by name and version; it is empty when
// there is no such folder. Partial installations and links are left out.
func Resources(home string) []Plugin {
	var list []Plugin
	versions := map[string]*semver.Version{}
	for p, version := range All(home, "resource", "") {
		if !p.IsLink() {
			list, versions[p.Path] = append(list, p), version
		}
	}
	slices.SortStableFunc(list, func(a, b Plugin) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), versions[a.Path].Compare(versions[b.Path]))
	})
	return list
}

// SameVersion compares versions as semantic versions; others by their texts.
func SameVersion(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return va.Equal(vb)
}

// Executable looks for an executable file in a folder, on Windows by its extension, and returns its absolute path.
func Executable(dir, name string) (string, bool) {
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
