package layout

import (
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/yamlhost/yamlhost"

// mayImport holds the packages of this module that each package may import. A package or an import that is not listed
// is a mistake. If this test fails, the code is in the wrong room; do not add a line here to make it pass.
var mayImport = map[string][]string{
	// For tests only.
	"parser/ast/asttest":          {"parser/ast", "internal/diag"},
	"runtime/state/statetest":     {"runtime/state", "internal/value/urn"},
	"runtime/monitor/monitortest": {"runtime/monitor", "internal/value", "internal/value/urn"},
	"runtime/backend/objectstest": {"runtime/backend", "runtime/backend/disk/disktest", "runtime/journal", "runtime/state",
		"internal/value"},
	"runtime/backend/disk/disktest": {"runtime/backend/disk", "runtime/journal"},
	"test/service/host/hosttest":    {"test/service/host"},
	// Starts servers.
	"runtime/backend/postgres/postgrestest": {},
	"test/service/host":                     {},
	"test/service":                          {"test/service/host"},
	// Hosts without an address.
	"internal/nohost": {},
	// Reading from web servers, with retries.
	"internal/httpget": {"internal/nohost"},
	// Calls of services that keep stacks.
	"internal/serviceapi": {"internal/nohost", "internal/httpget", "internal/printable"},

	"internal/diag":                {},
	"internal/value/urn":           {},
	"runtime/secrets":              {},
	"internal/value":               {"internal/confine", "internal/jsontext", "internal/value/urn"},
	"internal/value/mask":          {"internal/value"},
	"internal/value/wire":          {"internal/value", "internal/value/urn"},
	"schema":                       {"internal/literal", "internal/osfile", "internal/jsontext", "internal/diag", "internal/value/urn", "internal/value"},
	"parser/ast":                   {"internal/diag"},
	"parser":                       {"internal/jsontext", "internal/yamlnode", "internal/parallel", "internal/phrasebook", "parser/ast", "internal/diag"},
	"builtins":                     {"internal/cidr", "internal/functions", "schema", "internal/value", "internal/diag", "internal/value/urn"},
	"editor":                       {"internal/literal", "internal/jsontext", "parser", "parser/ast", "check", "check/program", "schema", "builtins", "internal/value", "internal/diag"},
	"editor/mcp":                   {"internal/confine", "editor", "check", "builtins", "internal/diag"},
	"editor/lsp":                   {"editor", "editor/lsp/internal/protocol", "parser", "schema", "internal/diag"},
	"editor/lsp/internal/protocol": {"internal/jsontext"},
	"check/findings":               {"internal/parallel", "parser/ast", "schema", "internal/diag"},
	"check": {"check/findings", "check/packages", "check/program", "check/names", "check/types", "internal/parallel",
		"parser/ast", "schema", "builtins", "internal/diag"},
	"check/packages": {"check/findings", "internal/parallel", "parser/ast", "schema", "internal/diag",
		"internal/value/urn"},
	// What is checked, without the checks: the data that the passes fill and everybody else reads.
	"check/program": {"check/packages", "parser/ast", "schema", "builtins", "internal/value", "internal/diag"},
	"check/names": {"check/findings", "internal/phrasebook", "check/packages", "check/program", "parser/ast", "schema", "builtins",
		"internal/diag"},
	"check/types": {"check/findings", "check/packages", "check/program", "check/names", "parser/ast", "schema", "builtins",
		"internal/phrasebook", "internal/value", "internal/diag", "internal/value/urn"},
	"runtime/monitor":     {"internal/value", "internal/value/urn"},
	"runtime/monitor/rpc": {"internal/transport", "runtime/monitor", "internal/value/wire", "internal/value", "internal/value/urn"},
	"eval": {"internal/parallel", "internal/confine", "internal/supervise", "check", "check/program", "parser/ast",
		"builtins", "schema", "runtime/monitor", "internal/value", "internal/value/mask", "internal/diag", "internal/value/urn"},
	"runtime/provider": {"runtime/monitor", "internal/value", "internal/value/urn"},
	"runtime/analyzer": {"internal/value", "internal/value/urn"},
	"runtime/plugin": {"internal/confine", "internal/osfile", "internal/supervise", "internal/transport",
		"internal/environ", "runtime/plugin/install", "runtime/monitor", "runtime/provider", "runtime/analyzer",
		"internal/value/wire", "internal/value/mask", "schema", "internal/value", "internal/value/urn"},
	// Installs plugins and packs; it starts none and knows no protocol.
	"runtime/plugin/install": {"internal/confine", "internal/filelock", "internal/git", "internal/httpget", "internal/nohost",
		"internal/osfile", "internal/parallel", "runtime/provider"},
	"runtime/embedded": {"internal/environ", "internal/cidr", "internal/functions", "internal/confine", "internal/supervise",
		"runtime/provider", "schema", "internal/value", "internal/value/mask", "internal/value/urn"},
	// Bundles for the checker, which knows no bundler.
	"workspace/sources": {"check", "runtime/dynamic/bundle"},
	"runtime/dynamic": {"internal/environ", "internal/supervise", "runtime/dynamic/bundle", "runtime/provider", "internal/value/wire", "internal/value",
		"internal/value/urn"},
	// Around any provider.
	"runtime/provider/guard": {"runtime/provider", "internal/value", "internal/value/mask", "internal/value/urn"},
	// Bundles of source files, which knows neither providers nor programs.
	"runtime/dynamic/bundle": {"internal/confine"},
	"runtime/state":          {"internal/jsontext", "internal/memory", "runtime/secrets", "internal/value", "internal/value/urn"},
	"runtime/journal":        {"internal/jsontext", "runtime/state", "internal/value", "internal/value/urn"},
	"runtime/backend/disk":   {"internal/osfile", "runtime/journal"},
	"runtime/backend":        {"internal/nohost", "internal/filelock", "internal/jsontext", "internal/osfile", "runtime/backend/disk", "runtime/journal", "runtime/state", "runtime/secrets", "internal/value/urn"},
	// Stores of objects implement a contract of backend, which knows none of them.
	"runtime/backend/bucket":   {"runtime/backend"},
	"runtime/backend/postgres": {"runtime/backend"},
	// A service implements that contract too.
	"runtime/backend/service": {"runtime/backend", "internal/serviceapi", "internal/printable"},
	// Key services implement a contract of secrets, which knows none of them.
	"runtime/secrets/keyservice": {"internal/nohost", "runtime/secrets"},
	// Services that keep secrets themselves implement that contract too.
	"runtime/secrets/service": {"runtime/secrets", "internal/serviceapi"},
	"workspace/project": {"internal/confine", "internal/git", "internal/jsontext", "internal/osfile", "internal/yamlnode", "runtime/secrets", "schema",
		"internal/value", "internal/diag"},
	// langhost implements providers too: components written in YAML are served as one.
	"langhost": {
		"internal/confine", "internal/literal", "langhost/policy", "langhost/pcl", "workspace", "workspace/crd", "workspace/sources", "workspace/compiler", "internal/environ",
		"parser", "parser/ast", "check", "check/packages", "check/program", "eval", "builtins", "schema", "internal/value",
		"internal/value/urn", "internal/diag", "runtime/monitor", "runtime/monitor/rpc", "runtime/provider", "runtime/plugin", "runtime/dynamic",
		"workspace/project", "internal/memory", "internal/value/wire", "internal/transport",
	},
	// Policy packs: an analyzer over the language side.
	"langhost/policy": {"workspace", "parser", "parser/ast", "check", "check/program", "eval", "builtins", "schema", "runtime/analyzer", "runtime/monitor",
		"internal/value", "internal/value/urn", "internal/diag"},
	// Golden files, for tests of all packages.
	"internal/corpus": {},
	// Reads and writes the files of tests.
	"internal/testfile": {},
	// Validates with JSON Schemas, for the same.
	"internal/testschema": {"internal/testfile"},
	// Words of other tools, for hints.
	"internal/phrasebook": {},
	"internal/environ":    {},
	// From a folder to a checked program: all of the language side but the evaluator, and nothing of the engine side.
	"workspace": {"internal/git", "parser", "parser/ast", "check", "schema", "workspace/crd", "workspace/project", "internal/confine", "internal/diag"},
	// From definitions of Kubernetes' kinds to schemas. It knows neither programs nor clusters.
	"workspace/crd": {"internal/confine", "internal/osfile", "internal/parallel", "internal/yamlnode", "schema", "internal/diag"},
	// Jobs on many machines. It knows neither projects nor engines.
	"runtime/queue": {"internal/git", "internal/osfile"},
	// The projects below a folder: which there are, and in which order. It starts nothing.
	"workspace/projects": {"internal/confine", "internal/parallel", "workspace", "workspace/project", "parser/ast", "check",
		"internal/value", "internal/diag"},
	// Environments: the evaluator of Pulumi ESC, and nothing else of a machine than files of a project.
	"workspace/environments": {"internal/confine", "internal/osfile", "parser", "internal/value", "internal/diag", "internal/printable", "internal/serviceapi"},
	"workspace/compiler":     {"internal/supervise", "workspace", "internal/environ", "internal/diag"},
	// The licences of what is linked, as a test.
	"internal/notices": {},
	// Which version and edition this is.
	"internal/release": {},
	// Commands that end with the process that started them.
	"internal/supervise": {},
	// gRPC between processes of one machine.
	"internal/transport": {},
	// Dividing network addresses.
	"internal/cidr": {},
	// Regular expressions that are compiled at their first use.
	"internal/lazyregexp": {},
	"internal/functions":  {"internal/value"},
	// The door to files that programs name, and addresses of the public network.
	"internal/confine": {"internal/osfile"},
	// How much memory a process takes.
	"internal/memory": {},
	// File URLs and paths.
	"internal/fileurl": {},
	// Independent work on all processors.
	"internal/parallel": {},
	// Calls on files that mean something else on Windows.
	"internal/osfile": {},
	// A lock between processes that edit one file.
	"internal/filelock": {"internal/osfile"},
	// Changes of files, noticed by looking.
	"internal/watch": {},
	"langhost/pcl":   {"internal/confine", "internal/literal", "parser", "parser/ast", "builtins", "schema", "internal/diag"},
	"runtime/engine": {
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/engine/internal/providers",
		"runtime/engine/internal/apply",
		"runtime/engine/internal/slots", "internal/confine",
		"runtime/analyzer", "runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "internal/value",
		"internal/value/urn", "internal/diag",
	},
	// Deciding is apart from doing: see TestPlanningIsPure.
	"runtime/engine/internal/plan": {"runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "internal/value",
		"internal/value/urn", "internal/diag"},
	"runtime/engine/internal/resources": {
		"runtime/engine/internal/plan", "runtime/monitor", "runtime/state", "runtime/journal", "internal/value", "internal/value/urn", "internal/diag",
	},
	"runtime/engine/internal/slots": {"runtime/monitor"},
	"runtime/engine/internal/apply": {
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/engine/internal/providers",
		"runtime/monitor", "runtime/provider", "runtime/state", "runtime/journal", "internal/value", "internal/value/urn", "internal/diag",
	},
	"runtime/engine/internal/providers": {"internal/parallel",
		"runtime/engine/internal/plan", "runtime/engine/internal/resources", "runtime/monitor", "runtime/provider",
		"runtime/state",
		"internal/value", "internal/value/urn",
	},
	// Text from elsewhere, made harmless for terminals.
	"internal/printable": {},
	// The one reader of JSON.
	"internal/jsontext": {},
	// The YAML library, and trees with exact places.
	"internal/yamlnode": {"internal/diag"},
	// Texts as literals of a program, for all that write programs.
	"internal/literal": {},
	// Runs git.
	"internal/git": {},
}

// anywhere lists packages that every package may import.
var anywhere = []string{"internal/fileurl", "internal/lazyregexp"}

// wiring lists the trees that may import everything.
var wiring = []string{"cmd", "tools"}

// guests lists libraries with the packages that may import them; a trailing slash includes everything below.
// tools/bench/floor measures the cost of the libraries alone.
var guests = []struct {
	library string
	rooms   []string
}{
	{"gopkg.in/yaml.v3", []string{"internal/yamlnode"}},
	{"github.com/zclconf/go-cty/", []string{"builtins"}},
	// PCL, which langhost/pcl translates, is written in HCL's syntax.
	{"github.com/hashicorp/hcl/", []string{"internal/diag", "parser", "langhost/pcl", "workspace/environments"}},
	{"google.golang.org/grpc", []string{"internal/transport", "internal/value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "tools/bench/floor",
		"cmd/internal/output/report"}},
	{"google.golang.org/grpc/", []string{"internal/transport", "internal/value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "tools/bench/floor",
		"cmd/internal/output/report"}},
	{"google.golang.org/protobuf/", []string{"internal/transport", "internal/value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost",
		"tools/bench/floor", "cmd/internal/output/report"}},
	{"google.golang.org/genproto/", []string{"internal/value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost"}},
	{"google.golang.org/api/", []string{"runtime/backend/bucket"}},
	{"cloud.google.com/", []string{"runtime/backend/bucket"}},
	{"github.com/aws/", []string{"runtime/backend/bucket"}},
	{"github.com/Azure/", []string{"runtime/backend/bucket", "runtime/secrets/keyservice", "tools/bench/requests"}}, // makes a container
	{"gocloud.dev/", []string{"runtime/backend/bucket", "runtime/secrets/keyservice"}},
	{"github.com/jackc/", []string{"runtime/backend/postgres", "runtime/queue"}},
	{"github.com/riverqueue/", []string{"runtime/queue"}},
	{"github.com/pulumi/esc", []string{"workspace/environments", "test/service/host"}},
	{"github.com/pulumi/esc/", []string{"workspace/environments", "test/service/host"}},
	{"github.com/pulumi/pulumi/", []string{"internal/value/wire", "runtime/monitor/rpc", "runtime/plugin", "langhost", "tools/bench/floor",
		"cmd/internal/output/report"}},
	{"github.com/spf13/", []string{"cmd/"}},
	{"go.lsp.dev/", []string{"editor/lsp", "editor/lsp/internal/protocol"}},
	{"github.com/modelcontextprotocol/", []string{"editor/mcp"}},
	{"github.com/charmbracelet/", []string{"cmd/internal/output/view"}},
	{"github.com/aymanbagabas/", []string{"cmd/internal/output/view"}},
	{"github.com/evanw/esbuild/", []string{"runtime/dynamic/bundle"}},
	{"github.com/go-sourcemap/", []string{"runtime/dynamic/bundle"}},
	{"aead.dev/minisign", []string{"runtime/plugin/install"}},
	// Templates find methods by their names, so that the linker keeps every method: docs/design/size.md.
	{"text/template", []string{"release"}},
	{"html/template", []string{"release"}},
}

func isWiring(pkg string) bool {
	return slices.ContainsFunc(wiring, func(w string) bool { return pkg == w || strings.HasPrefix(pkg, w+"/") })
}

func TestPackagesImportOnlyWhatTheMapAllows(t *testing.T) {
	for _, f := range code(t) {
		if isWiring(f.pkg) || f.pkg == "internal/layout" || f.pkg == "." {
			continue
		}
		allowed, known := mayImport[f.pkg]
		if !known {
			t.Errorf("%s: the package %s is not on the map of the house; find the room its code belongs in", f.path, f.pkg)
			continue
		}
		for _, i := range f.imports {
			ours, is := strings.CutPrefix(i, module+"/")
			if is && !slices.Contains(allowed, ours) && !slices.Contains(anywhere, ours) {
				t.Errorf("%s imports %s, but %s may import only: %s", f.path, ours, f.pkg, strings.Join(allowed, ", "))
			}
		}
	}
}

// TestPlanningIsPure fails if the package that plans steps could wait, lock, or access files or the network.
func TestPlanningIsPure(t *testing.T) {
	impure := []string{"context", "sync", "sync/atomic", "os", "io", "io/fs", "net", "net/http", "os/exec", "time"}
	found := false
	for _, f := range code(t) {
		if f.pkg != "runtime/engine/internal/plan" {
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
	for _, f := range code(t) {
		if f.pkg == "." {
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
			esc := i == "github.com/pulumi/esc" || strings.HasPrefix(i, "github.com/pulumi/esc/") // see guests
			if strings.HasPrefix(i, "github.com/pulumi/") && !esc && i != stubs && !strings.HasPrefix(i, stubs+"/") {
				t.Errorf("%s imports %s; of Pulumi's modules only %s and esc may be used", f.path, i, stubs)
			}
		}
	}
}

func TestNoReadingOfTheEnvironmentBelowCmd(t *testing.T) {
	for _, f := range code(t) {
		if isWiring(f.pkg) || f.pkg == "." {
			continue
		}
		for _, call := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ(", "os.UserHomeDir(", "os.ExpandEnv("} {
			if strings.Contains(f.text, call) {
				t.Errorf("%s calls %s): the environment is read in cmd and passed on", f.path, call)
			}
		}
	}
}

func TestPackageNamesSaySomething(t *testing.T) {
	for _, f := range sources(t) {
		for _, empty := range []string{"util", "utils", "common", "types", "misc", "helpers"} {
			if f.pkg == "check/types" { // of expressions: the types are what it finds out
				continue
			}
			if path.Base(f.pkg) == empty || strings.TrimSuffix(path.Base(f.path), ".go") == empty {
				t.Errorf("%s: the name %q tells a newcomer nothing", f.path, empty)
			}
		}
	}
}

// TestMapIsComplete fails if the map lists a package that no longer exists.
func TestMapIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range code(t) {
		seen[f.pkg] = true
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the map lists %s, but no such package exists", pkg)
		}
	}
}
