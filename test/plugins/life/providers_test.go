package life

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestProviders runs testdata/providers: the life of a stack with each provider of the public conformance suite, as a
// script that describes the purpose of the provider. The name of a script up to the first dot is the provider's.
//
// Besides the commands of testscript, scripts have these. In counts the stack and default providers are resources too.
//
//	new COUNTS          makes a stack, previews, and brings it up with these changes, like create=3
//	up COUNTS           brings it up with these changes; refresh, destroy likewise. With "!", the operation has to fail
//	settled             neither a preview nor an update finds anything to do
//	output NAME JSON    the stack's output has this value
//	state NAME PATH JSON  what the state says of a resource: a secret is {"secret": value}, what is missing is absent
//	count DIR N         a folder has as many files
//	forget              empties the state, where a provider cannot delete
func TestProviders(t *testing.T) {
	t.Parallel()
	bin, err := binaries()
	require.NoError(t, err)
	runScripts(t, "testdata/providers", bin)
}

// TestComponents runs testdata/components: components of the provider shelf.
func TestComponents(t *testing.T) {
	t.Parallel()
	bin, err := binaries()
	require.NoError(t, err)
	runScripts(t, "testdata/components", bin)
}

// runScripts runs the scripts of a folder with further folders of plugins; $PLUGINS is the last of them.
func runScripts(t *testing.T, dir, bin string, plugins ...string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for _, dir := range []string{"home", "backend"} {
				if err := os.Mkdir(filepath.Join(e.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			for _, v := range environment(bin, filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "backend")) {
				name, value, _ := strings.Cut(v, "=")
				if name == "PATH" {
					value = strings.Join(append(slices.Clone(plugins), value), ":")
				}
				e.Setenv(name, value)
			}
			if len(plugins) > 0 {
				e.Setenv("PLUGINS", plugins[len(plugins)-1])
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"new": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(ts.Exec("yamlhost", "stack", "init", "dev"))
				ts.Check(ts.Exec("yamlhost", "preview"))
				operate(ts, "up", neg, args)
			},
			"up":      func(ts *testscript.TestScript, neg bool, args []string) { operate(ts, "up", neg, args) },
			"refresh": func(ts *testscript.TestScript, neg bool, args []string) { operate(ts, "refresh", neg, args) },
			"destroy": func(ts *testscript.TestScript, neg bool, args []string) { operate(ts, "destroy", neg, args) },
			"settled": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(ts.Exec("yamlhost", "preview", "--expect-no-changes"))
				ts.Check(ts.Exec("yamlhost", "up", "--yes", "--skip-preview", "--expect-no-changes"))
			},
			"output": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(ts.Exec("yamlhost", "stack", "output", "--json", "--show-secrets"))
				same(ts, parsed(ts, ts.ReadFile("stdout")), args[:1], args[1])
			},
			"state": func(ts *testscript.TestScript, _ bool, args []string) {
				resource := resourcesIn(ts)[args[0]]
				if resource == nil {
					ts.Fatalf("the state has no %s", args[0])
				}
				same(ts, resource, strings.Split(args[1], "."), args[2])
			},
			"count": func(ts *testscript.TestScript, _ bool, args []string) {
				found, err := filepath.Glob(ts.MkAbs(filepath.Join(args[0], "*")))
				ts.Check(err)
				if strconv.Itoa(len(found)) != args[1] {
					ts.Fatalf("%s has %d files", args[0], len(found))
				}
			},
			"forget": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(ts.Exec("yamlhost", "state", "delete", "--all", "--yes"))
				if left := resourcesIn(ts); len(left) > 0 {
					ts.Fatalf("still in the state: %v", left)
				}
			},
		},
	})
}

// TestEveryProviderHasAScript fails for a provider of the suite without a script, and for a script without a provider.
func TestEveryProviderHasAScript(t *testing.T) {
	t.Parallel()
	bin, err := binaries()
	require.NoError(t, err)
	list, err := exec.Command(filepath.Join(bin, "conformance"), "list").Output()
	require.NoError(t, err)
	scripts, err := filepath.Glob("testdata/providers/*.txtar")
	require.NoError(t, err)
	scripted := map[string]bool{}
	for _, s := range scripts {
		provider, _, _ := strings.Cut(filepath.Base(s), ".")
		scripted[provider] = true
	}
	var without []string
	providers := strings.Fields(string(list))
	for _, p := range providers {
		if !scripted[p] {
			without = append(without, p)
		}
		delete(scripted, p)
	}
	require.Empty(t, without, "providers without a script")
	require.Empty(t, scripted, "scripts of no provider")
	require.Len(t, providers, 58, "the suite has as many providers")
}

// operate runs an operation and compares its counts with the wanted ones. For an operation that must fail, the arguments
// are flags, and then patterns of its output.
func operate(ts *testscript.TestScript, operation string, neg bool, args []string) {
	if neg {
		line := []string{operation, "--yes", "--skip-preview"}
		for len(args) > 0 && strings.HasPrefix(args[0], "--") {
			line, args = append(line, args[0]), args[1:]
		}
		if ts.Exec("yamlhost", line...) == nil {
			ts.Fatalf("%s was to fail", operation)
		}
		printed := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		for _, pattern := range args {
			if !regexp.MustCompile(pattern).MatchString(printed) {
				ts.Fatalf("%s does not match:\n%s", pattern, printed)
			}
		}
		return
	}
	ts.Check(ts.Exec("yamlhost", operation, "--yes", "--skip-preview", "--json"))
	wanted := map[string]int{}
	for _, arg := range args {
		name, number, _ := strings.Cut(arg, "=")
		n, err := strconv.Atoi(number)
		ts.Check(err)
		wanted[name] = n
	}
	got, err := summary(ts.ReadFile("stdout"))
	ts.Check(err)
	if !reflect.DeepEqual(got, wanted) {
		ts.Fatalf("%s: %v, wanted %v", operation, got, wanted)
	}
}

// summary returns the counts of changes in events.
func summary(events string) (map[string]int, error) {
	for _, line := range strings.Split(strings.TrimSpace(events), "\n") {
		var event struct {
			SummaryEvent *struct{ ResourceChanges map[string]int }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if event.SummaryEvent != nil {
			return event.SummaryEvent.ResourceChanges, nil
		}
	}
	return nil, fmt.Errorf("no summary in %s", events)
}

func parsed(ts *testscript.TestScript, text string) any {
	var v any
	ts.Check(json.Unmarshal([]byte(text), &v))
	return v
}

// same compares the value at a path of maps and lists with JSON text, or with "absent".
func same(ts *testscript.TestScript, v any, path []string, wanted string) {
	for _, key := range path {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i >= len(inner) {
				ts.Fatalf("%s: the list has %d elements", strings.Join(path, "."), len(inner))
			}
			v = inner[i]
		default:
			v = nil
		}
	}
	if wanted == "absent" {
		if v != nil {
			ts.Fatalf("%s is %v", strings.Join(path, "."), v)
		}
		return
	}
	if w := parsed(ts, wanted); !reflect.DeepEqual(v, w) {
		got, _ := json.Marshal(v)
		ts.Fatalf("%s is %s, wanted %s", strings.Join(path, "."), got, wanted)
	}
}

// resourcesIn returns the resources of the state by name, with plain secrets.
func resourcesIn(ts *testscript.TestScript) map[string]any {
	ts.Check(ts.Exec("yamlhost", "stack", "export", "--show-secrets"))
	var export struct {
		Deployment struct{ Resources []map[string]any }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &export))
	byName := map[string]any{}
	for _, r := range export.Deployment.Resources {
		urn := r["urn"].(string)
		byName[urn[strings.LastIndex(urn, "::")+2:]] = shown(r)
	}
	return byName
}

const (
	signature       = "4dabf18193072939515e22adb298388d"
	secretSignature = "1b47061264138c4ac30d75fd1eb44270"
)

// shown replaces secrets in the form of the state by {"secret": value}.
func shown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v[signature] == secretSignature {
			var plain any
			text, _ := v["plaintext"].(string)
			if err := json.Unmarshal([]byte(text), &plain); err != nil {
				return map[string]any{"secret": "unreadable: " + text}
			}
			return map[string]any{"secret": shown(plain)}
		}
		for k, element := range v {
			v[k] = shown(element)
		}
	case []any:
		for i, element := range v {
			v[i] = shown(element)
		}
	}
	return v
}
