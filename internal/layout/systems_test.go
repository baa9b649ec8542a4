package layout

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// onSystems holds, by package, the functions and constants whose meaning depends on the system, and what to write
// instead. "*" is everything of a package. internal/osfile and files for one system may use all of them.
var onSystems = map[string]map[string]string{
	"os": {
		"Rename":    "osfile.Rename: on Windows an open file cannot be renamed, and scanners open files at any moment",
		"Remove":    "osfile.Remove: on Windows an open file cannot be removed, and scanners open files at any moment",
		"RemoveAll": "osfile.RemoveAll: on Windows an open file cannot be removed, and scanners open files at any moment",
		"Chmod":     "nothing: Windows has no modes but one for reading only",
		"Chown":     "nothing: Windows has no such owners",
		"Lchown":    "nothing: Windows has no such owners",
		"Getuid":    "nothing: Windows has no such numbers",
		"Geteuid":   "nothing: Windows has no such numbers",
		"Symlink":   "another way: on Windows few users may make symbolic links",
		"Link":      "another way: not every file system has links",
		"Readlink":  "filepath.EvalSymlinks: on Windows a link may name a volume",
		"Interrupt": "console.World.Signals: Windows cannot send it to another process",
		"Kill":      "supervise: a process may have started others",
	},
	"path/filepath": {
		"Glob": "confine.Door.Glob: the name of the folder may have the marks of patterns, as every long path of Windows has",
	},
	"os/signal":             {"*": "console.World.Signals"},
	"syscall":               {"*": "osfile and supervise: the numbers of Windows are others, and ENOTDIR is one that a missing path gives"},
	"golang.org/x/sys/unix": {"*": "a file for one system"},
}

// onSystemsAllowed holds the files that may use one of these, each with the reason.
var onSystemsAllowed = map[string]map[string]string{
	"cmd/internal/cli/system.go": {
		"os/signal.*":  "the room of signals: it takes those of every system",
		"syscall.*":    "the names of signals, which Go has for Windows too: Ctrl-C, and SIGTERM for a window that is closed",
		"os.Interrupt": "Ctrl-C and Ctrl-Break",
	},
	"cmd/pulumi-converter-yaml/main.go": {
		"os/signal.*": "a program without a console",
		"syscall.*":   "likewise",
	},
	"cmd/pulumi-language-yaml/main.go": {
		"os/signal.*": "a program without a console",
		"syscall.*":   "likewise",
	},
	"cmd/internal/cli/queue/worker.go":    {"os.Interrupt": "a value that the worker sends to its own jobs, through no system"},
	"cmd/internal/cli/convert/convert.go": {"os.Chmod": "a temporary folder becomes one that others may read; on Windows they may already"},
	"cmd/internal/cli/shim/shim.go": {
		"os.Link":    "on Windows",
		"os.Symlink": "not on Windows",
	},
	"runtime/backend/disk/disk.go":   {"os.Link": "takes a lock, which is renamed where there are no links"},
	"runtime/queue/copies.go":        {"os.Readlink": "copies a project with its links, whose text is to stay"},
	"internal/confine/connect.go":    {"syscall.*": "the type of a parameter of net.Dialer"},
	"cmd/internal/manual/schemas.go": {"path/filepath.Glob": "writes the manual from this repository"},
	"internal/corpus/corpus.go":      {"path/filepath.Glob": "reads the programs of tests from this repository"},
	"internal/testfile/testfile.go":  {"path/filepath.Glob": "finds the files of tests"},
	"runtime/backend/process.go":     {"path/filepath.Glob": "the processes of Linux"},
	"internal/confine/door.go":       {"syscall.*": "an error that it makes itself"},
}

// keysOnly are packages that name things in stores, where the separator is a slash on every system: they may not import
// path/filepath.
var keysOnly = map[string]string{
	"runtime/backend/bucket":  "keys of objects",
	"runtime/backend/service": "addresses of a service",
	"runtime/engine":          "URNs",
	"runtime/journal":         "records",
	"runtime/state":           "states",
	"internal/value/urn":      "URNs",
	"check/packages":          "names of packages",
}

// forOneSystem matches files that are compiled for some systems only by their name.
var forOneSystem = regexp.MustCompile(`_(windows|linux|darwin|unix)(_test)?\.go$`)

// TestCallsMeanTheSameOnAllSystems fails for a file that uses what means something else on Windows, beside a line in
// onSystemsAllowed, and for a line that no file needs.
func TestCallsMeanTheSameOnAllSystems(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	for _, f := range code(t) {
		if strings.HasPrefix(f.path, "test/") || strings.HasPrefix(f.path, "tools/") {
			continue
		}
		for _, name := range f.imports {
			if name == "path/filepath" && keysOnly[f.pkg] != "" {
				t.Errorf("%s imports path/filepath, and its package has %s: use path", f.path, keysOnly[f.pkg])
			}
		}
		if f.pkg == "internal/osfile" || forOneSystem.MatchString(f.path) || constrained(f.tree) {
			continue
		}
		for _, use := range systemUses(f) {
			if onSystemsAllowed[f.path][use.name] != "" {
				needed[f.path+" "+use.name] = true
				continue
			}
			t.Errorf("%s uses %s, which is not the same on Windows: use %s; or give a reason in onSystemsAllowed",
				positions.Position(use.at), use.name, use.instead)
		}
	}
	for file, names := range onSystemsAllowed {
		for name := range names {
			if !needed[file+" "+name] {
				t.Errorf("onSystemsAllowed has a line for %s in %s, which does not use it", name, file)
			}
		}
	}
}

// constrained reports whether a file is compiled for some systems only by its first comment.
func constrained(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if line, found := strings.CutPrefix(c.Text, "//go:build "); found && c.Pos() < file.Package {
				return strings.Contains(line, "unix") || strings.Contains(line, "windows") || strings.Contains(line, "linux")
			}
		}
	}
	return false
}

// systemUse is a use of a function or constant of onSystems.
type systemUse struct {
	name, instead string
	at            token.Pos
}

// systemUses returns the uses in a file.
func systemUses(f file) (uses []systemUse) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		path := f.names[id.Name]
		for _, name := range []string{s.Sel.Name, "*"} {
			if instead := onSystems[path][name]; instead != "" {
				uses = append(uses, systemUse{path + "." + name, instead, s.Pos()})
			}
		}
		return true
	})
	return uses
}
