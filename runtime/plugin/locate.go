package plugin

import "github.com/Masterminds/semver/v3"

// Location is where a plugin would be taken from.
type Location struct {
	Path     string // of the executable, or of the folder of a script; empty for a running provider to attach to
	Attached bool
	Ambient  bool // it is on PATH
	// Version is the version of a plugin in the plugin folder, whose content never changes; empty for all others.
	Version string
}

// Find looks for a resource plugin without starting it, in the order of Load. It returns *provider.MissingError when
// there is none.
func (h *Host) Find(name, version string) (Location, error) {
	if _, attached := h.options.DebugProviders[name]; attached {
		return Location{Attached: true}, nil
	}
	quiet := h.options // Load warns, if it comes to that
	quiet.Warn = nil
	f, err := quiet.find(name, version)
	if err != nil {
		return Location{}, err
	}
	loc := Location{Path: f.path, Ambient: f.ambient}
	if f.script {
		loc.Path = f.dir
	}
	for _, p := range Installed(quiet.Home) {
		if _, err := semver.NewVersion(p.Version); err == nil && p.Path == f.dir {
			loc.Version = p.Version
		}
	}
	return loc, nil
}
