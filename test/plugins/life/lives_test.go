package life

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// examplePlugins builds the built-in providers of yamlhost as plugins for the Pulumi CLI, with constant random numbers.
// Their folder is separate from the other plugins, because an installed plugin has precedence over a built-in one.
var examplePlugins = sync.OnceValues(func() (string, error) {
	bin, err := binaries()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(bin, "examples")
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "embedded"), "./tools/bench/pulumi-resource-embedded")
	cmd.Dir = "../../.."
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build pulumi-resource-embedded: %s", text)
	}
	for _, name := range []string{"command", "random"} {
		link := filepath.Join(dir, "pulumi-resource-"+name)
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) { // of an earlier run
			return "", err
		}
		if err := os.Symlink("embedded", link); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// lives lists projects that both language hosts understand: examples, and those of testdata/lives.
var lives = []struct {
	path    string
	change  []string          // configuration that is set between two updates
	unread  bool              // its providers cannot read their resources
	stays   bool              // its providers cannot delete their resources
	differs []knownDifference // between the hosts
}{
	{path: "../../../examples/commands"},
	{path: "../../../examples/component-package", differs: []knownDifference{
		// We send defaults of the schema, to components too.
		{rule: "L3.15", stock: `("inputs": \{\n +)("words": "good morning")`, ours: "${1}\"length\": 2,\n      ${2}"},
		{rule: "L3.15", stock: `("propertyDependencies": \{\n +)("words": \[\]\n +\}[^{}]*"urn": "[^"]*::morning")`,
			ours: "${1}\"length\": [],\n      ${2}"},
	}},
	{path: "../../../examples/configuration", change: []string{"replicas", "3"}, differs: []knownDifference{
		{rule: "L2.33", stock: `"v1\.1"`, ours: `"v1.10"`}, // a text stays a text
	}},
	{path: "../../../examples/hello", change: []string{"words", "3"}},
	{path: "../../../examples/json-program"},
	{path: "../../../examples/replacement", change: []string{"generation", "2"}},
	{path: "../../../examples/secrets", differs: []knownDifference{
		// We do not make a value secret because it is beside a secret in a variable.
		{rule: "L9.31", stock: `"user": \{\s*"4dabf18193072939515e22adb298388d": "\w+",\s*"plaintext": "\\"admin\\""\s*\}`,
			ours: `"user": "admin"`},
	}},
	{path: "testdata/lives/component", unread: true, stays: true},
	{path: "testdata/lives/conformance", change: []string{"flag", "false"}, unread: true},
	{path: "testdata/lives/package", change: []string{"title", "Walden Two"}},
	{path: "testdata/lives/shelf", change: []string{"kind", "film"}},
}

// TestLivesUnderBothHosts previews, updates, refreshes, changes and destroys projects with the Pulumi CLI and provider
// processes, once with Pulumi's own language host for YAML and once with ours. Both must have the same steps of
// previews and updates, the same resources in the state, and the same outputs. Only the source positions differ: ours
// are lines and columns of the program, those of the other host are places in its own code.
func TestLivesUnderBothHosts(t *testing.T) {
	t.Parallel()
	plugins, err := examplePlugins()
	require.NoError(t, err)
	base := newStack(t)
	for _, project := range lives {
		t.Run(filepath.Base(project.path), func(t *testing.T) {
			t.Parallel()
			live := func(host string) *life {
				p := hostProgram{path: project.path}
				s := base.sandbox(t, p, host)
				s.env = append(s.env, "PATH="+plugins+":"+path(s.env))
				return liveUnder(s, project.change, project.unread, project.stays)
			}
			stock, ours := live("stock"), live("ours")
			for _, d := range project.differs {
				stock.mend(t, d)
			}
			require.Equal(t, stock.steps, ours.steps)
			require.Equal(t, stock.did, ours.did)
			for i := range stock.did {
				require.Equal(t, stock.outputs[i], ours.outputs[i], "after %s", stock.did[i])
				require.Equal(t, stock.states[i], ours.states[i], "after %s", stock.did[i])
			}

			require.NotEmpty(t, ours.positions)
			for urn, position := range ours.positions {
				requireDeclared(t, project.path, urn, position)
				require.NotRegexp(t, declaredAt, stock.positions[urn], "the other host knows better by now")
			}
		})
	}
}

// knownDifference is a difference that a rule requires: a pattern of the stock host's text in outputs or state, and the
// text of ours in its place.
type knownDifference struct{ rule, stock, ours string }

// mend replaces the text of the stock host, which must occur, by that of ours.
func (l *life) mend(t *testing.T, d knownDifference) {
	t.Helper()
	pattern, found := regexp.MustCompile(d.stock), false
	for _, texts := range [][]string{l.outputs, l.states} {
		for i, text := range texts {
			found = found || pattern.MatchString(text)
			texts[i] = pattern.ReplaceAllString(text, d.ours)
		}
	}
	require.True(t, found, "the hosts do not differ any more by %s", d.rule)
}

// path is the PATH of an environment.
func path(env []string) string {
	for _, v := range slices.Backward(env) {
		if list, found := strings.CutPrefix(v, "PATH="); found {
			return list
		}
	}
	return ""
}

// life holds the results of a project's life.
type life struct {
	steps     []string          // "operation URN", in order of URNs within each command
	did       []string          // the command before each of states
	states    []string          // resources as JSON, without what differs by chance
	outputs   []string          // as JSON
	positions map[string]string // of resources of the program, by URN
}

func liveUnder(s *sandbox, change []string, unread, stays bool) *life {
	s.t.Helper()
	l := &life{positions: map[string]string{}}
	plan := func() {
		s.t.Helper()
		var preview struct{ Steps []struct{ Op, URN string } }
		require.NoError(s.t, json.Unmarshal([]byte(s.pulumi("preview", "--json", "--stack", "dev")), &preview))
		var steps []string
		for _, step := range preview.Steps {
			steps = append(steps, step.Op+" "+step.URN)
		}
		slices.Sort(steps)
		l.steps = append(l.steps, strings.Join(steps, "\n"))
	}
	act := func(what ...string) {
		s.t.Helper()
		s.pulumi(append(what, "--yes", "--skip-preview", "--parallel", "1", "--stack", "dev")...)
		l.did = append(l.did, strings.Join(what, " "))
		l.states = append(l.states, l.state(s, s.pulumi("stack", "export", "--show-secrets", "--stack", "dev")))
		l.outputs = append(l.outputs, s.pulumi("stack", "output", "--json", "--show-secrets", "--stack", "dev"))
	}
	plan()
	act("up")
	if !unread {
		act("refresh")
	}
	if change != nil {
		s.pulumi(append([]string{"config", "set", "--stack", "dev"}, change...)...)
		plan()
		act("up")
	}
	if !stays {
		act("destroy")
		require.Equal(s.t, "[]", l.states[len(l.states)-1])
	}
	return l
}

// state returns an exported state without random text, with resources sorted by URN, and records their positions.
func (l *life) state(s *sandbox, exported string) string {
	s.t.Helper()
	text := strings.ReplaceAll(exported, filepath.Dir(s.dir), "ROOT")
	text = regexp.MustCompile(`\$2a\$10\$[^"\\]*`).ReplaceAllString(text, "BCRYPT") // salted by chance
	var export struct {
		Deployment struct{ Resources []map[string]any }
	}
	require.NoError(s.t, json.Unmarshal([]byte(text), &export))
	resources := export.Deployment.Resources
	for _, r := range resources {
		urn := fmt.Sprint(r["urn"])
		if position, found := r["sourcePosition"]; found {
			l.positions[urn] = fmt.Sprint(position)
		}
		for _, name := range []string{"created", "modified", "sourcePosition", "stackTrace"} {
			delete(r, name)
		}
		normal("", r)
		normal("dependencies", r["dependencies"])
		if properties, ok := r["propertyDependencies"].(map[string]any); ok {
			for _, list := range properties {
				normal("dependencies", list)
			}
		}
	}
	for _, r := range resources {
		withoutParts(resources, r)
	}
	slices.SortFunc(resources, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["urn"]),
			fmt.Sprint(b["urn"]))
	})
	if resources == nil {
		resources = []map[string]any{}
	}
	indented, err := json.MarshalIndent(resources, "", "  ")
	require.NoError(s.t, err)
	return string(indented)
}

// withoutParts removes the dependencies of a resource on parts of a component that it depends on as well, because the
// component implies them (L9.43). Only our host reports the dependencies of each output of a component.
func withoutParts(resources []map[string]any, r map[string]any) {
	parents := map[any]any{}
	for _, other := range resources {
		parents[other["urn"]] = other["parent"]
	}
	rest := func(v any) []any {
		list, _ := v.([]any)
		return slices.DeleteFunc(slices.Clone(list), func(urn any) bool { return slices.Contains(list, parents[urn]) })
	}
	if r["dependencies"] != nil {
		r["dependencies"] = rest(r["dependencies"])
	}
	properties, _ := r["propertyDependencies"].(map[string]any)
	for name, list := range properties {
		properties[name] = rest(list)
	}
}

// declaredAt is a position in a program: file, line and column.
var declaredAt = regexp.MustCompile(`^project:///([^#]*\.(?:yaml|json))#(\d+),(\d+)$`)

// requireDeclared fails unless a resource's position is the key that declares it: its name, the part of the name that a
// component adds, or, for a component of a package, the name of its type. The stack is at the start of the text.
func requireDeclared(t *testing.T, dir, urn, position string) {
	t.Helper()
	place := declaredAt.FindStringSubmatch(position)
	require.NotNil(t, place, "%s is declared at %s", urn, position)
	line, err := strconv.Atoi(place[2])
	require.NoError(t, err)
	column, err := strconv.Atoi(place[3])
	require.NoError(t, err)
	parts := strings.Split(urn, "::")
	name, types := parts[len(parts)-1], parts[len(parts)-2]
	if types == "pulumi:pulumi:Stack" {
		require.Equal(t, "1,1", place[2]+","+place[3])
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, place[1]))
	require.NoError(t, err)
	lines := bytes.Split(text, []byte("\n"))
	require.LessOrEqual(t, line, len(lines))
	key := regexp.MustCompile(`^(?:"([^"]+)"|([\w-]+)):`).FindSubmatch(lines[line-1][column-1:])
	require.NotNil(t, key, "%s is declared at %s", urn, position)
	found := string(key[1]) + string(key[2])
	typ := types[strings.LastIndexByte(types, ':')+1:]
	require.True(t, name == found || strings.HasSuffix(name, "-"+found) || filepath.Dir(place[1]) != "." && typ == found,
		"%s is declared at %s, where the text has %q", urn, position, found)
}
