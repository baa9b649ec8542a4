// Package release has the version and the edition of the programs.
package release

import (
	"runtime/debug"
	"strings"
)

// Version returns the version without a leading v: the one that the linker set, else the one by which `go install`
// fetched the module. A build of a checkout that names none is "0.0.0-dev".
func Version(linked string) string {
	if linked != "" {
		return strings.TrimPrefix(linked, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return development
	}
	return ofModule(info.Main.Version)
}

const development = "0.0.0-dev"

// ofModule returns the version of a module as the build recorded it.
func ofModule(recorded string) string {
	if recorded == "" || recorded == "(devel)" {
		return development
	}
	return strings.TrimPrefix(recorded, "v")
}
