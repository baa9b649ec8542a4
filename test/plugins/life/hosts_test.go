package life

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestBothHosts previews and updates each program twice with the Pulumi CLI, with Pulumi's own language host for YAML
// and with ours, and compares the calls of the two to the engine. A difference that testdata/differences.yaml does not
// explain is a failure, and so is an unused explanation.
//
// The programs are those in testdata/programs; where YAMLHOST_COMPARE_HOSTS is set, as `make compare-hosts` does, and
// YAMLHOST_CONFORMANCE names a folder with ready-made programs of the conformance suite, those too.
func TestBothHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the Pulumi CLI some 170 times: not in short mode")
	}
	bin, err := binaries()
	require.NoError(t, err)
	base := newStack(t)
	list := readDifferences(t)

	programs := hostPrograms(t)
	var (
		mu       sync.Mutex
		ran      int
		same     int
		calls    int
		byReason = map[string]map[string]bool{}
		turn     = make(chan struct{}, 2)
	)
	t.Run("programs", func(t *testing.T) {
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				turn <- struct{}{}
				defer func() { <-turn }()
				stock, ours := base.run(t, bin, p, "stock"), base.run(t, bin, p, "ours")
				for _, c := range ours.positions {
					require.True(t, c.good, "%s has the position %s", c.call, c.position)
				}

				differences := compare(stock, ours)
				mu.Lock()
				defer mu.Unlock()
				ran++
				calls += ours.count()
				if len(differences) == 0 {
					same++
				}
				for _, d := range differences {
					if e := list.explain(p.name, d); e != nil {
						if byReason[e.Rule] == nil {
							byReason[e.Rule] = map[string]bool{}
						}
						byReason[e.Rule][p.name] = true
						t.Logf("%s: %s", e.Rule, d)
						continue
					}
					t.Errorf("not explained: %s", d)
				}
				if t.Failed() {
					t.Logf("stock host: exit code %d\n%s\nour host: exit code %d\n%s", stock.exit, stock.output, ours.exit,
						ours.output)
				}
			})
		}
	})
	if t.Failed() || ran < len(programs) { // -run may select some
		return
	}
	for _, e := range list {
		if !e.used && (e.Program != "" || suiteRoot() != "") {
			t.Errorf("no program needs the explanation %s: %s", e.Rule, e.Reason)
		}
	}
	t.Logf("%d programs with %d calls: %d identical, %d with explained differences", len(programs), calls, same,
		len(programs)-same)
	for _, rule := range slices.Sorted(maps.Keys(byReason)) {
		t.Logf("%-6s %d: %s", rule, len(byReason[rule]), strings.Join(slices.Sorted(maps.Keys(byReason[rule])), " "))
	}
}

// hostProgram is a program for both hosts: one file, or a folder.
type hostProgram struct{ name, path string }

func hostPrograms(t *testing.T) []hostProgram {
	t.Helper()
	var programs []hostProgram
	files, err := filepath.Glob("testdata/programs/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 60)
	for _, f := range files {
		programs = append(programs, hostProgram{strings.TrimSuffix(filepath.Base(f), ".yaml"), f})
	}
	if root := suiteRoot(); root != "" {
		folders, err := filepath.Glob(filepath.Join(root, "projects", "l[12]-*"))
		require.NoError(t, err)
		require.NotEmpty(t, folders)
		for _, f := range folders {
			if _, err := os.Stat(filepath.Join(f, "Main.yaml")); err == nil { // others are several programs in turn
				programs = append(programs, hostProgram{filepath.Base(f), f})
			}
		}
	}
	return programs
}

// suiteRoot returns the folder with programs of the conformance suite; empty if they are not run.
func suiteRoot() string {
	if os.Getenv("YAMLHOST_COMPARE_HOSTS") == "" {
		return ""
	}
	return os.Getenv("YAMLHOST_CONFORMANCE")
}

// stackFiles holds the files of a stack as the Pulumi CLI creates it, because creating one for each program would take
// longer than running it.
type stackFiles struct{ settings, checkpoint, meta string }

const stackProject = "suite"

func newStack(t *testing.T) stackFiles {
	t.Helper()
	s := newSandbox(t)
	s.write("Pulumi.yaml", "name: "+stackProject+"\nruntime: yaml\n")
	s.pulumi("stack", "init", "dev")
	backend := filepath.Join(filepath.Dir(s.dir), "backend", ".pulumi")
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(path...))
		require.NoError(t, err)
		return string(text)
	}
	return stackFiles{
		settings:   read(s.dir, "Pulumi.dev.yaml"),
		checkpoint: read(backend, "stacks", stackProject, "dev.json"),
		meta:       read(backend, "meta.yaml"),
	}
}

// commands matches the lines of a program that begin with "#$": arguments of Pulumi CLI commands to run first.
var commands = regexp.MustCompile(`(?m)^#\$ (.*)$`)

// sandbox returns a new project with a program and a stack, for the Pulumi CLI with one of the hosts.
func (b stackFiles) sandbox(t *testing.T, p hostProgram, host string) *sandbox {
	t.Helper()
	s := newSandbox(t)
	if info, err := os.Stat(p.path); err == nil && info.IsDir() {
		require.NoError(t, os.CopyFS(s.dir, os.DirFS(p.path)))
	} else {
		text, err := os.ReadFile(p.path)
		require.NoError(t, err)
		s.write("Pulumi.yaml", string(text))
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "Pulumi.yaml"))
	require.NoError(t, err)
	var project struct{ Name string }
	require.NoError(t, yaml.Unmarshal(text, &project))

	own, err := os.ReadFile(filepath.Join(s.dir, "Pulumi.dev.yaml"))
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	s.write("Pulumi.dev.yaml", b.settings+string(own))
	s.write("../backend/.pulumi/meta.yaml", b.meta)
	s.write("../backend/.pulumi/stacks/"+project.Name+"/dev.json",
		strings.ReplaceAll(b.checkpoint, "organization/"+stackProject+"/", "organization/"+project.Name+"/"))
	s.env = append(s.env, "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true", "SHELF_DIR="+t.TempDir())
	if host == "stock" {
		s.env = append(s.env, "PATH="+filepath.Join(s.bin, "stock")+":"+s.bin+":/usr/bin:/bin")
	}
	for _, line := range commands.FindAllStringSubmatch(string(text), -1) {
		s.pulumi(append(strings.Fields(line[1]), "--stack", "dev")...)
	}
	return s
}

// run runs a program in a new project and returns the calls to the engine.
func (b stackFiles) run(t *testing.T, bin string, p hostProgram, host string) transcript {
	t.Helper()
	s := b.sandbox(t, p, host)
	root := filepath.Dir(s.dir)
	log := filepath.Join(root, "calls.json")
	s.env = append(s.env, "PULUMI_DEBUG_GRPC="+log)
	cmd := exec.Command(filepath.Join(bin, "pulumi"), "up", "--yes", "--stack", "dev", "--non-interactive")
	cmd.Dir, cmd.Env = s.dir, s.env
	output, _ := cmd.CombinedOutput()
	require.NotNil(t, cmd.ProcessState)
	exit := cmd.ProcessState.ExitCode()
	if _, err := os.Stat(log); errors.Is(err, os.ErrNotExist) { // the CLI has refused the stack before any call
		require.NotZero(t, exit, string(output))
		return transcript{exit: exit, output: string(output), asked: map[string][]any{}}
	}
	c := readTranscript(t, log, root)
	c.exit, c.output = exit, string(output)
	return c
}

// transcript holds the calls to the engine's monitor, by run (the preview, the update), method, and resource or
// function. It includes the calls of providers that construct components.
type transcript struct {
	exit      int
	output    string
	asked     map[string][]any
	positions []position
}

type position struct {
	call, position string
	good           bool
}

func (c transcript) count() int {
	n := 0
	for _, requests := range c.asked {
		n += len(requests)
	}
	return n
}

const monitorService = "/pulumirpc.ResourceMonitor/"

func readTranscript(t *testing.T, path, root string) transcript {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	c := transcript{asked: map[string][]any{}}
	runs := []string{"preview", "update"}
	run := -1
	packages := map[string]map[string]any{} // by reference
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var entry struct {
			Method, Progress string
			Request          map[string]any
			Response         struct{ Ref string }
		}
		require.NoError(t, json.Unmarshal(bytes.ReplaceAll(lines.Bytes(), []byte(root), []byte("ROOT")), &entry))
		if entry.Progress == "response_completed" && entry.Method == monitorService+"RegisterPackage" {
			packages[entry.Response.Ref] = entry.Request
		}
		if entry.Progress != "request_started" {
			continue
		}
		if entry.Method == "/pulumirpc.LanguageRuntime/Run" {
			run++
			continue
		}
		method, monitor := strings.CutPrefix(entry.Method, monitorService)
		switch method {
		case "RegisterResource", "ReadResource", "RegisterResourceOutputs", "Invoke", "ResourceInvoke", "Call",
			"RegisterPackage":
		default: // calls about the engine itself
			monitor = false
		}
		if !monitor {
			continue
		}
		r := entry.Request
		what := first3(r, "urn", "tok", "packageName")
		if what == "" {
			what = fmt.Sprint(r["type"], "::", r["name"])
		}
		key := runs[run] + " " + method + " " + what
		if p, ok := r["sourcePosition"].(map[string]any); ok && (method == "RegisterResource" || method == "ReadResource") {
			uri := fmt.Sprint(p["uri"])
			c.positions = append(c.positions, position{key, fmt.Sprint(p),
				strings.HasSuffix(uri, ".yaml") && strings.Contains(uri, "ROOT") && p["line"] != nil})
		}
		// The last two describe the caller's support of aliases and of the response; ours is larger.
		for _, name := range []string{"sourcePosition", "stackTrace", "stackTraceHandle", "parentStackTraceHandle",
			"aliasSpecs", "supportsPartialValues"} {
			delete(r, name)
		}
		// A package without parameters may be named by version and address, or be registered first and then named by
		// reference.
		if method == "RegisterPackage" && r["parameterization"] == nil && r["extension"] == nil {
			continue
		}
		if p := packages[fmt.Sprint(r["packageRef"])]; p != nil && p["parameterization"] == nil && p["extension"] == nil {
			delete(r, "packageRef")
			if version := p["version"]; version != nil {
				r["version"] = version
			}
			if url := p["downloadUrl"]; url != nil && url != "" {
				r["pluginDownloadURL"] = url
			}
		}
		c.asked[key] = append(c.asked[key], normal("", r))
	}
	require.NoError(t, lines.Err())
	for _, requests := range c.asked {
		sort.Slice(requests, func(i, j int) bool { return text(requests[i]) < text(requests[j]) })
	}
	return c
}

func first3(r map[string]any, names ...string) string {
	for _, n := range names {
		if s, ok := r[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// chance matches text that differs from run to run: the IDs of providers and items.
var chance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|-[0-9a-f]{8}\b`)

// normal returns a request without random text, and with sets sorted.
func normal(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = normal(k, member)
		}
	case []any:
		for i, item := range v {
			v[i] = normal("", item)
		}
		switch key {
		case "dependencies", "urns", "additionalSecretOutputs", "replaceOnChanges":
			sort.Slice(v, func(i, j int) bool { return text(v[i]) < text(v[j]) })
		}
	case string:
		return chance.ReplaceAllString(v, "CHANCE")
	}
	return v
}

func text(v any) string {
	s, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(s)
}

// difference is one place where the hosts differ: a member of a request, or a whole request.
type difference struct {
	Call, Path  string
	Stock, Ours string // JSON; empty: absent
}

func (d difference) String() string {
	return fmt.Sprintf("%s %s: stock %s ours %s", d.Call, d.Path, d.Stock, d.Ours)
}

func compare(stock, ours transcript) []difference {
	var differences []difference
	if stock.exit != ours.exit {
		differences = append(differences, difference{"exit", "", fmt.Sprint(stock.exit), fmt.Sprint(ours.exit)})
	}
	keys := map[string]bool{}
	for _, asked := range []map[string][]any{stock.asked, ours.asked} {
		for key := range asked {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		s, o := stock.asked[key], ours.asked[key]
		for i := range max(len(s), len(o)) {
			var a, b any
			if i < len(s) {
				a = s[i]
			}
			if i < len(o) {
				b = o[i]
			}
			differences = appendDifferences(differences, key, "", a, b)
		}
	}
	return differences
}

func appendDifferences(list []difference, call, path string, stock, ours any) []difference {
	s, ok1 := stock.(map[string]any)
	o, ok2 := ours.(map[string]any)
	if ok1 && ok2 {
		keys := maps.Clone(s)
		maps.Copy(keys, o)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			sv, sok := s[key]
			ov, ook := o[key]
			switch {
			case !sok:
				list = append(list, difference{call, path + "." + key, "", text(ov)})
			case !ook:
				list = append(list, difference{call, path + "." + key, text(sv), ""})
			default:
				list = appendDifferences(list, call, path+"."+key, sv, ov)
			}
		}
		return list
	}
	sl, ok1 := stock.([]any)
	ol, ok2 := ours.([]any)
	if ok1 && ok2 && len(sl) == len(ol) {
		for i := range sl {
			list = appendDifferences(list, call, fmt.Sprintf("%s[%d]", path, i), sl[i], ol[i])
		}
		return list
	}
	if a, b := text(stock), text(ours); a != b {
		d := difference{call, path, a, b}
		if stock == nil && path == "" {
			d.Stock = ""
		}
		if ours == nil && path == "" {
			d.Ours = ""
		}
		list = append(list, d)
	}
	return list
}

// explanation explains a difference of the hosts by the rule of ours. Patterns are regular expressions that must match
// the whole text; an omitted one matches everything.
type explanation struct {
	Rule, Reason            string
	Program                 string // of testdata/programs
	Suite                   string // of the conformance suite
	Fails                   string // "stock" if that host rejects the program
	Call, Path, Stock, Ours string
	used                    bool
}

// matches reports whether the explanation applies to a difference.
func (e *explanation) matches(d difference) bool {
	if e.Fails != "" {
		switch {
		case d.Call == "exit":
			return d.Stock != "0" && d.Ours == "0"
		case d.Path == "" && d.Stock == "" && (strings.HasPrefix(d.Call, "update ") ||
			strings.HasPrefix(d.Call, "preview RegisterResourceOutputs ")):
			return true
		}
	}
	return (e.Call != "" || e.Path != "") && whole(e.Call, d.Call) && whole(e.Path, d.Path) && whole(e.Stock, d.Stock) &&
		whole(e.Ours, d.Ours)
}

// whole reports whether a pattern matches the whole text; an empty pattern matches everything.
func whole(pattern, s string) bool {
	return pattern == "" || regexp.MustCompile(`(?s)^(?:`+pattern+`)$`).MatchString(s)
}

type explanations []*explanation

func readDifferences(t *testing.T) explanations {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.yaml")
	require.NoError(t, err)
	var list explanations
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&list))
	for _, e := range list {
		require.NotEmpty(t, e.Rule)
		require.NotEmpty(t, e.Reason)
		require.True(t, e.Program != "" || e.Suite != "", "%s names no program", e.Reason)
		require.True(t, e.Call != "" || e.Path != "" || e.Fails != "", "%s explains everything", e.Reason)
		require.Contains(t, []string{"", "stock"}, e.Fails, e.Reason)
		for _, pattern := range []string{e.Program, e.Suite, e.Call, e.Path, e.Stock, e.Ours} {
			_, err := regexp.Compile(pattern)
			require.NoError(t, err)
		}
	}
	return list
}

// explain returns the explanation of a difference; nil if there is none.
func (list explanations) explain(program string, d difference) *explanation {
	for _, e := range list {
		named := (e.Program != "" && whole(e.Program, program)) || (e.Suite != "" && whole(e.Suite, program))
		if named && e.matches(d) {
			e.used = true
			return e
		}
	}
	return nil
}
