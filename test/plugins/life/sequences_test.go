package life

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestSequences takes two stacks through the same steps, one with the Pulumi CLI and one with yamlhost. It compares the
// calls to the provider, their order and their content, and the state after each step, resource by resource. Both run
// the program with our language host, so that all differences come from the engines. A difference that
// testdata/sequences.yaml does not explain is a failure, and so is an unused explanation.
//
// A step is a file of testdata/sequences: the program, preceded by the commands of the step. "#$ args" runs both tools;
// with an exclamation mark they must fail. "#@ alter NAME TITLE" changes an item on the shelf by hand, "#@ lose NAME"
// removes it, "#@ put ID" adds one, and "#@ pending KIND TYPE NAME" records a pending operation in the state.
func TestSequences(t *testing.T) {
	t.Parallel()
	steps, err := filepath.Glob("testdata/sequences/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	list := readSequenceDifferences(t)
	taken := map[string][][]tapped{}
	var mu sync.Mutex // guards taken
	t.Run("tools", func(t *testing.T) {
		for _, name := range []string{"pulumi", "yamlhost"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var all [][]tapped
				x := newTapped(t, name)
				for _, path := range steps {
					all = append(all, x.step(path))
				}
				mu.Lock()
				defer mu.Unlock()
				taken[name] = all
			})
		}
	})
	if t.Failed() {
		return
	}
	calls, same := 0, 0
	for i, path := range steps {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		differences := compareSequences(taken["pulumi"][i], taken["yamlhost"][i])
		calls += len(taken["yamlhost"][i])
		if len(differences) == 0 {
			same++
		}
		for _, d := range differences {
			if !list.explain(name, d) {
				t.Errorf("not explained: %s %s", name, d)
			}
		}
	}
	for _, e := range list {
		if !e.used {
			t.Errorf("no step needs the explanation %s: %s", e.Rule, e.Reason)
		}
	}
	t.Logf("%d steps with %d calls: %d without any difference", len(steps), calls, same)
}

// tool is a stack that one of the tools owns, with a wiretap before its provider.
type tool struct {
	*sandbox
	name, shelf, log string
	seen             map[string]string // the placeholders of IDs
}

func newTapped(t *testing.T, name string) *tool {
	t.Helper()
	s := newSandbox(t)
	root := filepath.Dir(s.dir)
	tap := filepath.Join(root, "tap")
	require.NoError(t, os.Mkdir(tap, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(s.bin, "wiretap"), filepath.Join(tap, "pulumi-resource-shelf")))
	x := &tool{sandbox: s, name: name, shelf: filepath.Join(root, "shelf"), log: filepath.Join(root, "calls"),
		seen: map[string]string{}}
	require.NoError(t, os.Mkdir(x.shelf, 0o755))
	s.env = append(s.env, "PATH="+tap+":"+s.bin+":/usr/bin:/bin", "WIRETAP_BEHIND="+s.bin, "WIRETAP_LOG="+x.log)
	s.write("Pulumi.yaml", "name: library\nruntime: yaml\n")
	x.do(0, "stack", "init", "dev")
	return x
}

func (x *tool) do(code int, args ...string) string {
	x.t.Helper()
	stdout, _ := x.program(code, x.name, append(args, "--non-interactive")...)
	return stdout
}

// tapped is a call of a provider.
type tapped struct {
	Process int
	Method  string
	Request any
	Failed  bool
}

// about returns the resource or function of a call; empty if there is none.
func (c tapped) about() string {
	r, _ := c.Request.(map[string]any)
	if urn, ok := r["urn"].(string); ok {
		return urn[strings.LastIndex(urn, "::")+2:]
	}
	tok, _ := r["tok"].(string)
	return tok
}

var directives = regexp.MustCompile(`(?m)^#([$@])(!?) (.*)$`)

// step executes a step and returns the calls that it caused.
func (x *tool) step(path string) []tapped {
	x.t.Helper()
	x.t.Log(filepath.Base(path))
	text, err := os.ReadFile(path)
	require.NoError(x.t, err)
	program := string(text)
	x.write("Pulumi.yaml", strings.ReplaceAll(program, "DIR", x.shelf))
	require.NoError(x.t, os.WriteFile(x.log, nil, 0o600))
	for _, d := range directives.FindAllStringSubmatch(program, -1) {
		words := strings.Fields(d[3])
		if d[1] == "@" {
			x.tamper(words)
			continue
		}
		code := 0
		if d[2] != "" {
			code = map[string]int{"pulumi": 1, "yamlhost": 14}[x.name] // a part of the operation failed
		}
		x.do(code, append(words, "--stack", "dev", "--parallel", "1")...)
	}
	return append(x.calls(), x.state()...)
}

// state returns the resources and operations in the tool's state, in order, as calls of a kind of their own.
func (x *tool) state() []tapped {
	x.t.Helper()
	var export struct{ Deployment map[string]any }
	require.NoError(x.t, json.Unmarshal([]byte(x.do(0, "stack", "export", "--show-secrets", "--stack", "dev")), &export))
	var all []tapped
	for _, part := range []struct{ key, method string }{{"resources", "state"}, {"pending_operations", "pending"}} {
		entries, _ := export.Deployment[part.key].([]any)
		for _, e := range entries {
			all = append(all, tapped{Method: part.method, Request: x.plain("", e)})
		}
	}
	return all
}

// tamper changes items or the state behind the engine's back.
func (x *tool) tamper(words []string) {
	x.t.Helper()
	switch words[0] {
	case "put":
		path := filepath.Join(x.shelf, words[1]+".json")
		text, err := json.Marshal(map[string]any{"title": "Found", "kind": "map", "pages": []int{7}, "path": path,
			"revision": 1})
		require.NoError(x.t, err)
		require.NoError(x.t, os.WriteFile(path, exported(x.t, text), 0o600))
	case "alter", "lose":
		paths, err := filepath.Glob(filepath.Join(x.shelf, words[1]+"-*.json"))
		require.NoError(x.t, err)
		require.Len(x.t, paths, 1)
		if words[0] == "lose" {
			require.NoError(x.t, os.Remove(paths[0]))
			return
		}
		text, err := os.ReadFile(paths[0])
		require.NoError(x.t, err)
		altered := regexp.MustCompile(`"Title": ".*"`).ReplaceAllString(string(text), `"Title": "`+words[2]+`"`)
		require.NotEqual(x.t, string(text), altered)
		require.NoError(x.t, os.WriteFile(paths[0], []byte(altered), 0o600))
	case "pending":
		var state map[string]any
		require.NoError(x.t, json.Unmarshal([]byte(x.do(0, "stack", "export", "--stack", "dev")), &state))
		deployment := state["deployment"].(map[string]any)
		resource := map[string]any{"urn": "urn:pulumi:dev::library::" + words[2] + "::" + words[3], "custom": true,
			"type": words[2], "inputs": map[string]any{"title": "Lost"}}
		for _, r := range deployment["resources"].([]any) {
			switch r := r.(map[string]any); r["type"] {
			case "pulumi:providers:shelf":
				resource["provider"] = fmt.Sprint(r["urn"], "::", r["id"])
			case words[2]:
				if r["urn"] == resource["urn"] {
					resource = r
				}
			}
		}
		deployment["pending_operations"] = []any{map[string]any{"type": words[1], "resource": resource}}
		text, err := json.Marshal(state)
		require.NoError(x.t, err)
		x.write("state.json", string(text))
		x.do(0, "stack", "import", "--stack", "dev", "--file", "state.json")
		require.NoError(x.t, os.Remove(filepath.Join(x.dir, "state.json")))
	default:
		x.t.Fatalf("unknown directive %v", words)
	}
}

// exported converts an item's file to one with the names of the item's Go fields as keys.
func exported(t *testing.T, text []byte) []byte {
	var item map[string]any
	require.NoError(t, json.Unmarshal(text, &item))
	named := map[string]any{}
	for k, v := range item {
		named[strings.ToUpper(k[:1])+k[1:]] = v
	}
	text, err := json.Marshal(named)
	require.NoError(t, err)
	return text
}

// calls reads the calls from the log, without those to processes that only served a schema for the language host.
func (x *tool) calls() []tapped {
	x.t.Helper()
	file, err := os.Open(x.log)
	require.NoError(x.t, err)
	defer file.Close()
	var all []tapped
	busy := map[int]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c tapped
		require.NoError(x.t, json.Unmarshal(lines.Bytes(), &c))
		c.Request = x.plain("", c.Request)
		switch c.Method {
		case "Handshake", "GetSchema", "GetPluginInfo", "Cancel", "Attach", "Parameterize", "GetMapping", "GetMappings":
		default:
			busy[c.Process] = true
		}
		all = append(all, c)
	}
	require.NoError(x.t, lines.Err())
	return slices.DeleteFunc(all, func(c tapped) bool { return !busy[c.Process] })
}

var (
	identity = regexp.MustCompile(`\b[a-z]+-[0-9a-f]{8}\b`)
	uuid     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	address  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// plain replaces text that depends on chance or the machine: folders and addresses, and IDs by the order of their
// occurrence.
func (x *tool) plain(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			v[k] = x.plain(k, member)
		}
	case []any:
		for i, member := range v {
			v[i] = x.plain("", member)
		}
	case string:
		switch key {
		case "randomSeed", "resourceStatusToken", "created", "modified":
			return "CHANCE"
		}
		v = strings.ReplaceAll(v, filepath.Dir(x.dir), "ROOT")
		v = uuid.ReplaceAllString(v, "UUID")
		v = address.ReplaceAllString(v, "ADDRESS")
		return identity.ReplaceAllStringFunc(v, func(id string) string {
			if x.seen[id] == "" {
				name := id[:len(id)-8]
				n := 1
				for known := range x.seen {
					if strings.HasPrefix(known, name) {
						n++
					}
				}
				x.seen[id] = fmt.Sprint(name, "ID", n)
			}
			return x.seen[id]
		})
	}
	return v
}

// compareSequences compares the order of the calls, and then each pair of calls of one method about one subject.
func compareSequences(stock, ours []tapped) []difference {
	order := func(calls []tapped) []any {
		var order []any
		for _, c := range calls {
			order = append(order, strings.TrimSpace(c.Method+" "+c.about()))
		}
		return order
	}
	byCall := func(calls []tapped) map[string][]any {
		m := map[string][]any{}
		for _, c := range calls {
			key := strings.TrimSpace(c.Method + " " + c.about())
			m[key] = append(m[key], map[string]any{"failed": c.Failed, "request": c.Request})
		}
		return m
	}
	var differences []difference
	if a, b := text(order(stock)), text(order(ours)); a != b {
		differences = append(differences, difference{"order", "", a, b})
	}
	s, o := byCall(stock), byCall(ours)
	keys := maps.Clone(s)
	maps.Copy(keys, o)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		for i := range max(len(s[key]), len(o[key])) {
			var a, b any
			if i < len(s[key]) {
				a = s[key][i]
			}
			if i < len(o[key]) {
				b = o[key][i]
			}
			differences = appendDifferences(differences, key, "", a, b)
		}
	}
	return differences
}

// sequenceDifference explains a difference of the engines. As with explanation, patterns must match the whole text.
type sequenceDifference struct {
	Rule, Reason                  string
	Step, Call, Path, Stock, Ours string
	used                          bool
}

type sequenceDifferences []*sequenceDifference

func readSequenceDifferences(t *testing.T) sequenceDifferences {
	t.Helper()
	file, err := os.Open("testdata/sequences.yaml")
	require.NoError(t, err)
	defer file.Close()
	var list sequenceDifferences
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&list))
	for _, e := range list {
		require.NotEmpty(t, e.Rule)
		require.NotEmpty(t, e.Reason)
		require.NotEmpty(t, e.Call+e.Path, "%s explains everything", e.Reason)
	}
	return list
}

func (list sequenceDifferences) explain(step string, d difference) bool {
	for _, e := range list {
		if whole(e.Step, step) && whole(e.Call, d.Call) && whole(e.Path, d.Path) && whole(e.Stock, d.Stock) &&
			whole(e.Ours, d.Ours) {
			e.used = true
			return true
		}
	}
	return false
}
