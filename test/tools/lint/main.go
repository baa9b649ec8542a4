// Command lint runs the checks of make lint from the root of the repository: staticcheck for this system; go vet for
// Linux, Windows and macOS; and for every system and edition, the types of all packages with their tests and the search
// for unreachable functions.
//
// The types are checked from source: nothing is compiled. The bodies of functions of other modules are left out.
package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// maxAllowed is the maximum number of functions in allowed.txt.
const maxAllowed = 5

func main() {
	failed := false
	fail := func(format string, args ...any) {
		failed = true
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
	command := func(system, name string, args ...string) {
		c := exec.Command(name, args...)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
		if err := c.Run(); err != nil {
			fail("%s for %s: %s", strings.Join(append([]string{name}, args...), " "), system, err)
		}
	}
	allowed, err := readAllowed("test/tools/lint/allowed.txt")
	if err != nil {
		fail("%s", err)
	}

	root, err := os.Getwd()
	if err != nil {
		fail("%s", err)
	}
	l := loader{fset: token.NewFileSet(), root: root, files: map[string]func() (*ast.File, error){}}
	all := newGraph()
	for _, t := range targets {
		g, err := l.check(t)
		if err != nil {
			fail("%s: %s", t, err)
			continue
		}
		for _, fault := range g.faults {
			fail("%s: %s", t, fault)
		}
		all.add(g)
	}
	unused := map[string]bool{}
	for _, d := range all.unreachable() {
		if unused[d.name] = true; allowed[d.name] == "" {
			fail("%s: no program reaches %s: use it or remove it", d.place, d.name)
		}
	}
	for name := range allowed {
		if !unused[name] {
			fail("allowed.txt names %s, which is reached or is not there any more: remove the line", name)
		}
	}
	for _, system := range []string{"linux", "windows", "darwin"} {
		command(system, "go", "vet", "./...")
	}
	command(runtime.GOOS, "bin/tools/staticcheck", "./...")
	if failed {
		os.Exit(1)
	}
}

// readAllowed reads the functions that may be unreachable, each with the reason: NAME: REASON.
func readAllowed(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	allowed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, ": ")
		if reason == "" {
			return nil, fmt.Errorf("%s: %q has no reason", path, line)
		}
		allowed[name] = reason
	}
	if len(allowed) > maxAllowed {
		return nil, fmt.Errorf("%s: %d functions are allowed, at most %d may be", path, len(allowed), maxAllowed)
	}
	return allowed, nil
}

// target is a system and an edition of the program.
type target struct{ system, arch, tags string }

// String names the target for messages.
func (t target) String() string { return strings.TrimSpace(t.system + " " + t.tags) }

var targets = []target{{"linux", "amd64", ""}, {"linux", "amd64", "lean"}, {"windows", "amd64", ""},
	{"darwin", "arm64", ""}, {"js", "wasm", ""}}

// packages returns the packages that are checked for a target: all, or those of the page for browsers.
func (t target) packages() ([]string, error) {
	if t.system != "js" {
		return []string{"./..."}, nil
	}
	c := exec.Command("go", "list", "-deps", "-f", "{{if and .Module .Module.Main}}{{.ImportPath}}{{end}}",
		"./cmd/yamlhost-web")
	c.Env, c.Stderr = t.environ(), os.Stderr
	paths, err := c.Output()
	return strings.Fields(string(paths)), err
}

// environ returns the environment of go commands for a target.
func (t target) environ() []string {
	return append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.arch, "CGO_ENABLED=0")
}
