package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// needInterpreters skips the test if node or python3 is missing. It returns PATH as an entry of an environment.
func needInterpreters(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"node", "python3"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("dynamic types need %s, which is not on PATH", name)
		}
	}
	return "PATH=" + os.Getenv("PATH")
}

// labels is a fake of the label API of a forge.
type labels struct {
	mu   sync.Mutex
	made map[string]map[string]any // by id; guarded by mu
	next int
	seen []string // the method and the token of each request
}

func (l *labels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := strings.TrimPrefix(r.URL.Path, "/labels/")
	l.seen = append(l.seen, r.Method+" "+r.Header.Get("Authorization"))
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch r.Method {
	case http.MethodPost:
		l.next++
		id = fmt.Sprint(l.next)
		l.made[id] = body
	case http.MethodPatch:
		l.made[id] = body
	case http.MethodDelete:
		delete(l.made, id)
	}
	label, found := l.made[id]
	if !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": json.Number(id), "name": label["name"], "color": label["color"],
		"url": "/labels/" + id})
}

// labelSource is the label provider of Pulumi's documentation, with the address of the server from the configuration,
// and with diff and read added.
const labelSource = `import * as pulumi from "@pulumi/pulumi";

interface Label { name: string; color: string }
let server: string, auth: string;

async function call(method: string, path: string, body?: object) {
  const r = await fetch(server + path, { method, headers: { authorization: auth }, body: body && JSON.stringify(body) });
  if (r.status === 404) return undefined;
  return r.json();
}

const provider: pulumi.dynamic.ResourceProvider = {
  configure(req) { server = req.config.require("server"); auth = req.config.require("dynamic:token"); },
  async create(inputs: Label) {
    const label = await call("POST", "/labels", inputs);
    return { id: label.id.toString(), outs: label };
  },
  diff(_id, olds: Label, news: Label) {
    return { changes: olds.color !== news.color, replaces: olds.name !== news.name ? ["name"] : [] };
  },
  async update(id, _olds, news: Label) { return { outs: await call("PATCH", "/labels/" + id, news) }; },
  async read(id) {
    const label = await call("GET", "/labels/" + id);
    return label && { id, props: label, inputs: { name: label.name, color: label.color } };
  },
  async delete(id) { await call("DELETE", "/labels/" + id); },
};
export default provider;
`

// TestDynamicLife manages labels on a server with a dynamic type: create, update in place, replacement, drift, import,
// read, and destroy after the source file is removed.
func TestDynamicLife(t *testing.T) {
	t.Parallel()
	path := needInterpreters(t)
	forge := &labels{made: map[string]map[string]any{}}
	server := httptest.NewServer(forge)
	t.Cleanup(server.Close)

	program := func(rest string) string {
		return "name: forge\nruntime: yaml\ndynamic:\n  Label:\n    provider: ./label.ts\n    inputs:\n      name: " +
			"string\n      color: {type: string, default: ffffff}\n" + rest
	}
	x := newTerminal(t,
		program("resources:\n  bug: {type: \"dynamic:Label\", properties: {name: bug}}\noutputs: {url: \"${bug.url}\"}\n"))
	x.world.Env = append(x.world.Env, path, "PULUMI_CONFIG_PASSPHRASE=x")
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o644))
	}
	run := func(args ...string) string {
		t.Helper()
		require.Equal(t, 0, x.run(args...), "yamlhost %s\n%s%s", strings.Join(args, " "), x.out.String(), x.err.String())
		return x.out.String() + x.err.String()
	}
	write("label.ts", labelSource)
	run("stack", "init", "dev")
	run("config", "set", "server", server.URL)
	run("config", "set", "--secret", "dynamic:token", "hunter2-token")

	run("preview")
	require.Empty(t, forge.made, "a preview creates nothing")
	run("run")
	require.Equal(t, map[string]map[string]any{"1": {"name": "bug", "color": "ffffff"}}, forge.made)
	require.Contains(t, forge.seen, "POST hunter2-token")
	require.Contains(t, run("run", "--expect-no-changes"), "3 unchanged")

	write("Pulumi.yaml", program("resources:\n  bug: {type: \"dynamic:Label\", properties: {name: bug, color: d94f0b}}\n"))
	run("run")
	require.Equal(t, "d94f0b", forge.made["1"]["color"], "a color is changed in place")

	write("Pulumi.yaml",
		program("resources:\n  bug: {type: \"dynamic:Label\", properties: {name: defect, color: d94f0b}}\n"))
	run("run")
	require.Equal(t, map[string]map[string]any{"2": {"name": "defect", "color": "d94f0b"}}, forge.made,
		"a name is changed by replacing")

	forge.made["2"]["color"] = "000000"
	run("refresh", "--yes")
	run("run")
	require.Equal(t, "d94f0b", forge.made["2"]["color"], "drift is seen and corrected")

	forge.made["7"] = map[string]any{"name": "old", "color": "111111"}
	write("Pulumi.yaml",
		program("resources:\n  bug: {type: \"dynamic:Label\", properties: {name: defect, color: d94f0b}}\n"+
			"  taken: {type: \"dynamic:Label\", properties: {name: old, color: \"111111\"}, options: {import: \"7\"}}\n"+
			"  seen: {type: \"dynamic:Label\", get: {id: \"7\"}}\noutputs: {color: \"${seen.color}\"}\n"))
	run("run")
	require.Contains(t, run("stack", "output", "color"), "111111")
	require.Contains(t, run("run", "--expect-no-changes"), "unchanged")

	state := run("stack", "export")
	require.NotContains(t, state, "fetch(server", "the code is sealed")
	require.NotContains(t, state, "hunter2")
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "label.ts")))
	run("destroy", "--yes")
	require.Empty(t, forge.made, "the code in the state destroys what it made")
}

// A preview shows the changed lines of a provider's code, although the state keeps the code encrypted.
func TestDynamicCodeChangeIsShown(t *testing.T) {
	t.Parallel()
	path := needInterpreters(t)
	x := newTerminal(t, "name: one\nruntime: yaml\ndynamic: {Note: {provider: ./note.ts}}\n"+
		"resources: {note: {type: dynamic:Note, properties: {text: t}}}\n")
	x.world.Env = append(x.world.Env, path, "PULUMI_CONFIG_PASSPHRASE=p")
	write := func(body string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "note.ts"), []byte(body), 0o644))
	}
	const code = "export default {\n  async create(inputs: any) {\n    const id = \"first\";\n" +
		"    return { id, outs: inputs };\n  },\n};\n"
	write(code)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	write(strings.Replace(code, "first", "second", 1))
	require.Equal(t, 0, x.run("preview"), x.err.String())
	require.Regexp(t, `- +const id = "first"`, x.out.String())
	require.Regexp(t, `\+ +const id = "second"`, x.out.String())
}

// TestDynamicWithoutNode requires one clear error and no changes if node is missing.
func TestDynamicWithoutNode(t *testing.T) {
	t.Parallel()
	x := newTerminal(t,
		"name: bare\nruntime: yaml\ndynamic:\n  Label: {provider: ./label.ts}\nresources:\n  bug: {type: \"dynamic:Label\"}\n")
	x.world.Env = append(x.world.Env, "PATH="+t.TempDir(), "PULUMI_CONFIG_PASSPHRASE=x")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "label.ts"),
		[]byte("export default { create: () => ({ id: 'x' }) };\n"), 0o644))
	require.Equal(t, 0, x.run("check"), "checking runs nothing: "+x.out.String())
	require.Equal(t, 14, x.run("run"))
	require.Contains(t, x.err.String(),
		"label.ts needs Node.js 18 or newer, and there is no node on PATH: install it; nothing was done")
	require.Equal(t, 1, strings.Count(x.err.String(), "error["), x.err.String())
}

// TestDynamicExample runs the example and destroys its stack.
func TestDynamicExample(t *testing.T) {
	t.Parallel()
	path := needInterpreters(t)
	d := newDesk(t, "dynamic")
	d.world.Env = append(d.world.Env, path)
	d.run(t, "run", "-s", "dev")
	require.FileExists(t, filepath.Join(d.world.Dir, "objects", "bread-butter.txt"))
	require.Contains(t, d.run(t, "stack", "output", "path", "-s", "dev"), "objects/bread-butter.txt")
	d.run(t, "run", "--expect-no-changes", "-s", "dev")
	d.run(t, "destroy", "--yes", "-s", "dev")
	require.NoFileExists(t, filepath.Join(d.world.Dir, "objects", "bread-butter.txt"))
}
