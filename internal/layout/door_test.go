package layout

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// ownDoors holds the files, and with a slash at the end the folders, that may open files by themselves. All other files
// open what a program, a pack, an environment, a test, a template, a conversion or an editor names, and do that through
// internal/confine.
var ownDoors = map[string]string{
	"internal/":                      "the door itself, and what has no files of programs: the kernel, goldens, licences",
	"test/":                          "tests",
	"tools/":                         "tools for this repository",
	"cmd/internal/manual/":           "writes the documentation of this repository",
	"cmd/internal/packschema/":       "packs the schemas of this repository",
	"runtime/backend/":               "states, journals and locks: files of this program",
	"runtime/queue/":                 "jobs and copies of projects: files of this program",
	"runtime/plugin/dependencies.go": "whether a plugin is in source form; it reads none",
	"runtime/plugin/find.go":         "whether plugins are installed; it reads none",
	"runtime/plugin/install/":        "archives and folders that the user installs, or whose checksums are checked",
	"runtime/plugin/analyzer.go":     "whether a pack is an executable; it reads none",
	"runtime/plugin/schemacache.go":  "schemas in the home folder, and those of --schema, which the user names",
	"runtime/plugin/finder.go":       "schemas in the home folder",
	"schema/file.go":                 "schemas in the home folder, and those of --schema, which the user names",
	"runtime/dynamic/environment.go": "whether a runtime is in a folder of PATH; " +
		"it reads none",
	"runtime/embedded/glob.go":                "the package command, which runs what the program says and is refused to untrusted ones",
	"runtime/embedded/process.go":             "the folder in which a command starts, likewise",
	"cmd/internal/operation/planbinding.go":   "the program's own executable",
	"cmd/internal/operation/planfile.go":      "--plan: the user names the file, also a pipe, and states have no limit",
	"cmd/internal/operation/config.go":        "--config-from: the user names the file, also a pipe",
	"cmd/internal/console/secrets.go":         "PULUMI_CONFIG_PASSPHRASE_FILE: the user names the file, also a pipe",
	"cmd/internal/templates/templates.go":     "whether a file is in the way of a new one; it reads none",
	"cmd/internal/output/runlog/":             "logs of runs: files of this program",
	"cmd/internal/cli/about/about.go":         "/etc/os-release",
	"cmd/internal/cli/doctor/doctor.go":       "whether programs are on PATH; it reads none",
	"cmd/internal/cli/deploy/query.go":        "--query: the user names the file, also a pipe",
	"cmd/internal/cli/deploy/import.go":       "--file: the user names the file, also a pipe",
	"cmd/internal/cli/env/env.go":             "--file: the user names the file, also a pipe",
	"cmd/internal/cli/stack/stacktransfer.go": "--file: the user names the file, also a pipe, and states have no limit",
	"cmd/internal/cli/stack/stack.go":         "whether a settings file exists before it is renamed; it reads none",
	"cmd/internal/cli/plugin/plugin.go":       "a key and an archive that the user names",
	"cmd/internal/cli/convert/convert.go":     "the files that the user names, also pipes; those found in folders go through the door",
	"cmd/internal/cli/lsp/state.go":           "when the state has changed: files of this program",
}

// opening are the functions that look at or open a file by its path.
var opening = map[string]map[string]bool{
	"os":            {"Open": true, "ReadFile": true, "Stat": true, "DirFS": true, "ReadDir": true, "CopyFS": true},
	"path/filepath": {"Walk": true, "WalkDir": true, "Glob": true},
	"io/ioutil":     {"ReadFile": true, "ReadDir": true},
}

// TestFilesOpenThroughTheDoor fails for a file that opens others by itself and has no line in ownDoors, and for a line that
// no file needs.
func TestFilesOpenThroughTheDoor(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	for _, f := range code(t) {
		for _, pos := range opens(f) {
			if excepted := exceptionFor(f.path); excepted != "" {
				needed[excepted] = true
				continue
			}
			t.Errorf("%s opens or looks at a file by itself: let internal/confine do it, or give a reason in ownDoors",
				positions.Position(pos))
		}
	}
	for name := range ownDoors {
		if !needed[name] {
			t.Errorf("ownDoors has a line for %s, which opens nothing by itself", name)
		}
	}
}

// opens returns the places where a file uses one of the functions.
func opens(f file) (found []token.Pos) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && opening[f.names[pkg.Name]][s.Sel.Name] {
				found = append(found, s.Pos())
			}
		}
		return true
	})
	return found
}

// exceptionFor returns the line of ownDoors for a file; empty if there is none.
func exceptionFor(file string) string {
	if ownDoors[file] != "" {
		return file
	}
	for name := range ownDoors {
		if strings.HasSuffix(name, "/") && strings.HasPrefix(file, name) {
			return name
		}
	}
	return ""
}
