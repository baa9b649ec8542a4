package layout

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/yamlhost/yamlhost"

// mayImport is the policy: what of ours each package may import. A package that is not listed is a mistake, and so is
// an import that is not. If this test fails, the code is in the wrong room; do not add a line here to make it pass.
var mayImport = map[string][]string{
	// For tests only.
	"parser/ast/asttest":          {"parser/ast", "diag"},
	"runtime/state/statetest":     {"runtime/state", "value/urn"},
	"runtime/monitor/monitortest": {"runtime/monitor", "value", "value/urn"},
	"runtime/backend/objectstest": {"runtime/backend", "runtime/backend/disk/disktest", "runtime/journal", "runtime/state",
		"value"},
	"runtime/backend/disk/disktest": {"runtime/backend/disk", "runtime/journal"},
	// Starts servers.
	"runtime/backend/postgres/postgrestest": {},
	// Reading from web servers, with retries.
	"internal/httpget": {},

	"diag":                         {},
	"value/urn":                    {},
	"runtime/secrets":              {},
	"value":                        {"internal/jsontext", "value/urn"},
	"value/mask":                   {"value"},
	"value/wire":                   {"value", "value/urn"},
	"schema":                       {"internal/jsontext", "diag", "value/urn", "value"},
	"parser/ast":                   {"diag"},
	"parser":                       {"internal/parallel", "parser/ast", "diag"},
	"builtins":                     {"internal/cidr", "internal/functions", "schema", "value", "diag", "value/urn"},
	"editor":                       {"parser", "parser/ast", "check", "schema", "builtins", "value", "diag"},
	"editor/mcp":                   {"editor", "check", "builtins", "diag"},
	"editor/lsp":                   {"editor", "editor/lsp/internal/protocol", "parser", "schema", "diag"},
	"editor/lsp/internal/protocol": {},
	"check":                        {"internal/parallel", "parser/ast", "schema", "builtins", "value", "diag", "value/urn"},
	"runtime/monitor":              {"value", "value/urn"},
	"runtime/monitor/rpc":          {"internal/transport", "runtime/monitor", "value/wire", "value", "value/urn"},
	"eval": {"internal/confine", "internal/supervise", "internal/patient", "check", "parser/ast",
		"builtins", "schema", "runtime/monitor", "value", "value/mask", "diag", "value/urn"},
	"runtime/provider": {"value", "value/urn"},
	"runtime/plugin": {"internal/transport", "internal/httpget", "internal/environ", "internal/filelock", "runtime/provider", "value/wire",
		"value/mask", "schema", "value", "value/urn"},
	"runtime/embedded": {"internal/cidr", "internal/functions", "internal/confine", "internal/supervise", "internal/patient",
		"runtime/provider", "schema", "value", "value/mask", "value/urn"},
	// Bundles for the checker, which knows no bundler.
	"workspace/sources": {"check", "runtime/dynamic/bundle"},
	"runtime/dynamic": {"internal/environ", "internal/supervise", "runtime/dynamic/bundle", "runtime/provider", "value/wire", "value",
		"value/urn"},
	// Around any provider.
	"runtime/provider/guard": {"runtime/provider", "value", "value/mask", "value/urn"},
	// Bundles of source files, which knows neither providers nor programs.
	"runtime/dynamic/bundle": {},
	"runtime/state":          {"internal/jsontext", "runtime/secrets", "value", "value/urn"},
	"runtime/journal":        {"internal/jsontext", "runtime/state", "value", "value/urn"},
	"runtime/backend/disk":   {"runtime/journal"},
	"runtime/backend":        {"internal/filelock", "runtime/backend/disk", "runtime/journal", "runtime/state", "runtime/secrets", "value/urn"},
	// Stores of objects implement a contract of backend, which knows none of them.
	"runtime/backend/bucket":   {"runtime/backend"},
	"runtime/backend/postgres": {"runtime/backend"},
	// Key services implement a contract of secrets, which knows none of them.
	"runtime/secrets/keyservice": {"runtime/secrets"},
	"workspace/project":          {"runtime/secrets", "value", "diag"},
	// langhost implements providers too: components written in YAML are served as one.
	"langhost": {
		"langhost/pcl", "workspace", "workspace/sources", "workspace/compiler", "internal/environ",
		"parser", "parser/ast", "check", "eval", "builtins", "schema", "value", "value/urn", "diag",
		"runtime/monitor", "runtime/monitor/rpc", "runtime/provider", "runtime/plugin", "runtime/dynamic",
		"workspace/project", "value/wire", "internal/transport",
	},
	// Golden files, for tests of all packages.
	"internal/corpus":  {},
	"internal/environ": {},
	// From a folder to a checked program: all of the language side but the evaluator, and nothing of the engine side.
	"workspace": {"parser", "parser/ast", "check", "schema", "workspace/project", "internal/confine", "diag"},
	// Jobs on many machines. It knows neither projects nor engines.
	"queue": {},
	// The projects below a folder: which there are, and in which order. It starts nothing.
	"workspace/projects": {"internal/parallel", "workspace", "workspace/project", "parser/ast", "check", "diag"},
	"workspace/compiler": {"internal/supervise", "workspace", "internal/environ", "diag"},
	// The licences of what is linked, as a test.
	"internal/notices": {},
	// Which version and edition this is.
	"internal/release": {},
	// Commands that end with the process that started them.
	"internal/supervise": {},
	// Files that may make their reader wait for ever.
	"internal/patient": {},
	// gRPC between processes of one machine.
	"internal/transport": {},
	// Dividing network addresses.
	"internal/cidr":      {},
	"internal/functions": {"value"},
	// Paths inside of a folder and addresses of the public network.
	"internal/confine": {},
	// How much memory a process takes.
	"internal/memory": {},
	// Independent work on all processors.
	"internal/parallel": {},
	// A lock between processes that edit one file.
	"internal/filelock": {},
	"langhost/pcl":      {"parser", "parser/ast", "builtins", "schema", "diag"},
	"runtime/engine": {
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/engine/internal/providers",
		"runtime/engine/internal/apply",
		"runtime/engine/internal/slots",
		"runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "value", "value/urn", "diag",
	},
	// Deciding is apart from doing: see TestPlanningIsPure.
	"runtime/engine/internal/plan": {"runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "value",
		"value/urn", "diag"},
	"runtime/engine/internal/resources": {
		"runtime/engine/internal/plan", "runtime/monitor", "runtime/state", "runtime/journal", "value", "value/urn", "diag",
	},
	"runtime/engine/internal/slots": {"runtime/monitor"},
	"runtime/engine/internal/apply": {
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/engine/internal/providers",
		"runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "value", "value/urn", "diag",
	},
	"runtime/engine/internal/providers": {
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/monitor", "runtime/provider",
		"runtime/state",
		"value", "value/urn",
	},
	// Text from elsewhere, made harmless for terminals.
	"internal/printable": {},
	// The one reader of JSON.
	"internal/jsontext": {},
}

// wiring are the trees where everything may meet.
var wiring = []string{"cmd", "bench"}

// guests are libraries with the rooms they may live in; a trailing slash means everything below. bench/floor measures
// what those libraries cost by themselves.
var guests = []struct {
	library string
	rooms   []string
}{
	{"gopkg.in/yaml.v3", []string{"parser", "workspace/project", "bench/floor"}},
	{"github.com/zclconf/go-cty/", []string{"builtins"}},
	// PCL, which langhost/pcl translates, is written in HCL's syntax.
	{"github.com/hashicorp/hcl/", []string{"diag", "parser", "langhost/pcl"}},
	{"google.golang.org/grpc", []string{"internal/transport", "value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "bench/floor",
		"cmd/internal/report"}},
	{"google.golang.org/grpc/", []string{"internal/transport", "value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "bench/floor",
		"cmd/internal/report"}},
	{"google.golang.org/protobuf/", []string{"internal/transport", "value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost",
		"bench/floor", "cmd/internal/report"}},
	{"google.golang.org/genproto/", []string{"value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost"}},
	{"google.golang.org/api/", []string{"runtime/backend/bucket"}},
	{"cloud.google.com/", []string{"runtime/backend/bucket"}},
	{"github.com/aws/", []string{"runtime/backend/bucket"}},
	{"github.com/Azure/", []string{"runtime/backend/bucket", "runtime/secrets/keyservice"}},
	{"gocloud.dev/", []string{"runtime/backend/bucket", "runtime/secrets/keyservice"}},
	{"github.com/jackc/", []string{"runtime/backend/postgres", "queue"}},
	{"github.com/riverqueue/", []string{"queue"}},
	{"github.com/pulumi/", []string{"value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "bench/floor",
		"cmd/internal/report"}},
	{"github.com/spf13/", []string{"cmd/"}},
	{"go.lsp.dev/", []string{"editor/lsp", "editor/lsp/internal/protocol"}},
	{"github.com/modelcontextprotocol/", []string{"editor/mcp"}},
	{"github.com/charmbracelet/", []string{"cmd/internal/view"}},
	{"github.com/aymanbagabas/", []string{"cmd/internal/view"}},
	{"github.com/evanw/esbuild/", []string{"runtime/dynamic/bundle"}},
	{"github.com/go-sourcemap/", []string{"runtime/dynamic/bundle"}},
	{"aead.dev/minisign", []string{"runtime/plugin"}},
	// Templates find methods by their names, so that the linker keeps every method: docs/design/size.md.
	{"text/template", []string{"release"}},
	{"html/template", []string{"release"}},
}

type file struct {
	path    string // from the root, with slashes
	pkg     string // its folder
	test    bool
	imports []string
}

func sources(t *testing.T) []file {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// A folder with its own go.mod is a module of its own and follows its own rules.
			if _, err := os.Stat(filepath.Join(p, "go.mod")); p != root && err == nil || strings.HasPrefix(d.Name(), ".") ||
				d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f := file{path: filepath.ToSlash(rel), test: strings.HasSuffix(p, "_test.go")}
		f.pkg = path.Dir(f.path)
		for _, i := range tree.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", rel, err)
			}
			f.imports = append(f.imports, name)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found only %d Go files: the test looks in the wrong place", len(files))
	}
	return files
}

func isWiring(pkg string) bool {
	return slices.ContainsFunc(wiring, func(w string) bool { return pkg == w || strings.HasPrefix(pkg, w+"/") })
}

func TestPackagesImportOnlyWhatTheMapAllows(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || isWiring(f.pkg) || f.pkg == "internal/layout" || f.pkg == "." {
			continue
		}
		allowed, known := mayImport[f.pkg]
		if !known {
			t.Errorf("%s: the package %s is not on the map of the house; find the room its code belongs in", f.path, f.pkg)
			continue
		}
		for _, i := range f.imports {
			ours, is := strings.CutPrefix(i, module+"/")
			if is && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s, but %s may import only: %s", f.path, ours, f.pkg, strings.Join(allowed, ", "))
			}
		}
	}
}

// TestPlanningIsPure fails when what decides steps could wait, lock, or touch the world.
func TestPlanningIsPure(t *testing.T) {
	impure := []string{"context", "sync", "sync/atomic", "os", "io", "io/fs", "net", "net/http", "os/exec", "time"}
	found := false
	for _, f := range sources(t) {
		if f.test || f.pkg != "runtime/engine/internal/plan" {
			continue
		}
		found = true
		for _, i := range f.imports {
			if slices.Contains(impure, i) && !(i == "time" && path.Base(f.path) == "goal.go") { // which parses durations
				t.Errorf("%s imports %s: deciding neither waits nor locks nor touches the world", f.path, i)
			}
		}
	}
	if !found {
		t.Error("there is no planner")
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.pkg == "." {
			continue
		}
		for _, i := range f.imports {
			for _, g := range guests {
				if i != strings.TrimSuffix(g.library, "/") && !strings.HasPrefix(i, g.library) {
					continue
				}
				if !slices.ContainsFunc(g.rooms, func(room string) bool {
					return f.pkg == room || strings.HasSuffix(room, "/") && strings.HasPrefix(f.pkg, room)
				}) {
					t.Errorf("%s imports %s, which lives only in: %s", f.path, i, strings.Join(g.rooms, ", "))
				}
			}
		}
	}
}

func TestOfPulumisModulesOnlyTheStubs(t *testing.T) {
	const stubs = "github.com/pulumi/pulumi/sdk/v3/proto/go"
	for _, f := range sources(t) {
		for _, i := range f.imports {
			if strings.HasPrefix(i, "github.com/pulumi/") && i != stubs && !strings.HasPrefix(i, stubs+"/") {
				t.Errorf("%s imports %s; of Pulumi's modules only %s may be used", f.path, i, stubs)
			}
		}
	}
}

func TestNoReadingOfTheEnvironmentBelowCmd(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || isWiring(f.pkg) || f.pkg == "." {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ(", "os.UserHomeDir(", "os.ExpandEnv("} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s calls %s): the environment is read in cmd and passed on", f.path, call)
			}
		}
	}
}

func TestPackageNamesSaySomething(t *testing.T) {
	for _, f := range sources(t) {
		for _, empty := range []string{"util", "utils", "common", "types", "misc", "helpers"} {
			if path.Base(f.pkg) == empty || strings.TrimSuffix(path.Base(f.path), ".go") == empty {
				t.Errorf("%s: the name %q tells a newcomer nothing", f.path, empty)
			}
		}
	}
}

// TestMapIsComplete fails when a room of the map is empty, so that the map never lists what is gone.
func TestMapIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		if !f.test {
			seen[f.pkg] = true
		}
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the map lists %s, but no such package exists", pkg)
		}
	}
}
