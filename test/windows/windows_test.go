//go:build linux

package windows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const items = 5

// program has items resources of the plugin with one title.
func program(title string) string {
	var text strings.Builder
	text.WriteString("resources:\n")
	for i := range items {
		fmt.Fprintf(&text, "  item%d:\n    type: drawer:Item\n    properties:\n      title: %s\n      kind: thing\n", i, title)
	}
	return text.String()
}

// repeated is a list of n equal texts.
func repeated(text string, n int) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}

// slow returns variables with which the plugin takes long for a change.
func slow(delay time.Duration) []string { return []string{"DRAWER_DELAY=" + delay.String()} }

// Every command works on Windows as on Linux.
func TestCommands(t *testing.T) {
	m := newMachine(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, *machine)
	}{
		{"life", life}, {"both", both}, {"new", newProject}, {"commands", commands}, {"names", names}, {"carriage", carriage},
		{"locks", locks}, {"orphans", orphans}, {"watch", watch}, {"tests", tests}, {"lsp", lsp}, {"ui", ui}, {"several", several}, {"convert", convert},
		{"folders", folders}, {"servers", servers}, {"pipe", pipe}, {"dynamic", dynamic}, {"examples", examples}, {"programs", programs}, {"terminal", terminal},
		{"endings", endings},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, m) })
	}
}

// A stack lives a whole life.
func life(t *testing.T, m *machine) {
	p := m.project(t, "life", program("one"))
	p.run("stack", "init", "dev")
	p.run("check")
	p.run("preview")
	p.run("run", "--yes")
	require.Equal(t, repeated("one", items), m.objects(t))
	require.Contains(t, p.says("up", "--yes", "--skip-preview"), fmt.Sprint(items+1, " unchanged"))
	p.write("Pulumi.yaml", "name: life\nruntime: yaml\n"+program("two"))
	p.run("up", "--yes", "--skip-preview")
	require.Equal(t, repeated("two", items), m.objects(t))
	require.Contains(t, p.says("drift"), "There is no drift.")
	require.NoError(t, os.RemoveAll(m.path("drawer")))
	require.NoError(t, os.Mkdir(m.path("drawer"), 0o700))
	require.Contains(t, p.says("drift"), "item0 does not exist any more")
	p.run("refresh", "--yes", "--skip-preview")
	p.run("up", "--yes", "--skip-preview")
	require.Equal(t, repeated("two", items), m.objects(t))

	p.run("config", "set", "--secret", "word", "geheim")
	require.Equal(t, "geheim", strings.TrimSpace(p.run("config", "get", "word")))
	require.NotContains(t, p.read("Pulumi.dev.yaml"), "geheim")
	p.run("stack", "export", "--file", "state.json")
	p.run("stack", "import", "--file", "state.json")
	require.Contains(t, p.run("stack", "history"), "update succeeded")
	const item0 = "urn:pulumi:dev::life::drawer:index:Item::item0"
	p.run("state", "rename", item0, "other", "--yes")
	p.run("state", "rename", strings.Replace(item0, "item0", "other", 1), "item0", "--yes")
	p.run("state", "protect", item0, "--yes")
	require.Contains(t, p.fails("destroy", "--yes", "--skip-preview"), "protected")
	p.run("state", "unprotect", item0, "--yes")
	p.run("state", "taint", item0)
	p.run("state", "untaint", item0)
	p.run("state", "verify")
	require.Contains(t, p.run("graph"), `"resource:item0"`)
	require.NoError(t, os.WriteFile(m.path("drawer/x-1.json"), []byte(`{"id":"x-1","title":"two","kind":"thing","revision":1}`), 0o600))
	require.Contains(t, p.says("import", "drawer:index:Item", "x", "x-1", "--yes", "--protect=false"), "imported")
	p.run("destroy", "--yes", "--skip-preview")
	require.Empty(t, m.objects(t))
	p.run("stack", "rm", "dev", "--yes")
	require.Empty(t, m.processes(t, "pulumi-resource-drawer"), "plugins end with the command")
}

// changing are the parts of a state that differ from run to run: times, and random ids.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(item\d|part)-[a-z0-9]{10}|crc32c:[0-9a-f]{8}`)

// steady replaces those parts.
func steady(state string) string { return changing.ReplaceAllString(state, "…$2") }

// A program makes the same state on both systems, byte for byte, and each goes on with the stack of the other.
func both(t *testing.T, m *machine) {
	p := m.project(t, "both", program("one")+"  part:\n    type: drawer:Item\n    properties:\n      title: {fn::readFile: texts/title.txt}\n      kind: thing\n")
	p.write("texts/title.txt", "one")
	p.run("stack", "init", "windows")
	p.onLinux("stack", "init", "linux")
	p.run("up", "--yes", "--skip-preview", "--stack", "windows", "--parallel", "1")
	p.onLinux("up", "--yes", "--skip-preview", "--stack", "linux", "--parallel", "1")
	one, other := steady(p.state("windows")), steady(p.state("linux"))
	require.Equal(t, strings.ReplaceAll(other, "linux", "windows"), one)
	require.NotContains(t, one, `\\`, "no backslash reaches a state")
	require.Equal(t, p.run("stack", "export", "--stack", "linux"), p.onLinux("stack", "export", "--stack", "linux"))

	// begun there, continued here, and the reverse
	p.write("texts/title.txt", "two")
	require.Contains(t, p.says("up", "--yes", "--skip-preview", "--stack", "linux"), "1 updated")
	require.Contains(t, p.onLinux("up", "--yes", "--skip-preview", "--stack", "windows"), "1 updated")
	require.Contains(t, p.onLinux("up", "--yes", "--skip-preview", "--stack", "linux"), fmt.Sprint(items+2, " unchanged"))
	require.Contains(t, p.says("up", "--yes", "--skip-preview", "--stack", "windows"), fmt.Sprint(items+2, " unchanged"))
	p.onLinux("destroy", "--yes", "--skip-preview", "--stack", "windows")
	p.run("destroy", "--yes", "--skip-preview", "--stack", "linux")
	require.Empty(t, m.objects(t))
	require.Empty(t, m.processes(t, "pulumi-resource-drawer"))
}

// A project is made of a template, and lives with the built-in providers.
func newProject(t *testing.T, m *machine) {
	p := m.project(t, "made", "")
	p.run("new", "hello", "--dir", "first", "--yes")
	p.dir += "/first"
	p.run("up", "--yes", "--skip-preview")
	require.Contains(t, p.run("stack", "output", "greeting"), "Hello, ")
	require.Contains(t, p.says("up", "--yes", "--skip-preview"), "unchanged")
	p.run("destroy", "--yes", "--skip-preview")
}

// Commands of the package command run in cmd.exe as written, and end with an interrupt.
func commands(t *testing.T, m *machine) {
	p := m.project(t, "commands", `resources:
  made:
    type: command:local:Command
    properties:
      create: echo made %GREETING% "in quotes" & echo second
      update: echo updated %PULUMI_COMMAND_STDOUT:~0,4%
      delete: echo gone>gone.txt
      environment: {GREETING: hello}
      triggers: [1]
outputs: {said: "${made.stdout}"}
`)
	p.run("stack", "init", "dev")
	p.run("up", "--yes", "--skip-preview")
	require.Equal(t, "made hello \"in quotes\" \r\nsecond\r", strings.TrimSuffix(p.run("stack", "output", "said"), "\n"))
	p.run("destroy", "--yes", "--skip-preview")
	require.Equal(t, "gone\r\n", p.read("gone.txt"))
	p.run("stack", "rm", "dev", "--yes") // an example has the same name
}

// Names that Windows keeps for itself are refused on both systems with one sentence, since backends are shared.
func names(t *testing.T, m *machine) {
	p := m.project(t, "names", "resources: {}\n")
	for _, name := range []string{"con", "NUL.txt", "com1", "a."} {
		want := p.fails("stack", "init", name)
		require.Contains(t, want, "cannot be the name of a stack", name)
		require.Equal(t, 1, strings.Count(want, "\n"), want)
	}
	require.Contains(t, p.fails("stack", "init", "a:b"), "cannot be the name of a stack")
}

// Files keep their line breaks when they are rewritten.
func carriage(t *testing.T, m *machine) {
	p := m.project(t, "carriage", "")
	p.write("Pulumi.yaml", "name:   carriage\r\nruntime: yaml\r\nvariables:\r\n    a:   1\r\noutputs: {b: \"${a}\"}\r\n")
	p.write("Pulumi.dev.yaml", "config:\r\n  carriage:a: b # note\r\n")
	p.run("fmt")
	p.run("stack", "init", "dev")
	p.run("config", "set", "c", "d")
	p.run("config", "set", "--secret", "e", "f")
	p.run("config", "rm", "c")
	p.run("fmt")
	for _, name := range []string{"Pulumi.yaml", "Pulumi.dev.yaml"} {
		text := p.read(name)
		require.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"), "%s: %q", name, text)
	}
	require.Contains(t, p.read("Pulumi.dev.yaml"), "carriage:a: b # note\r\n")
}

// reached waits until a text stands in the plugin's log more than once per item.
func (p *project) reached(text string, times int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		log, err := os.ReadFile(p.path("drawer/log"))
		return err == nil && strings.Count(string(log), text) > times
	}, time.Minute, 10*time.Millisecond, "no %s", text)
}

// begun counts a text in the plugin's log.
func (m *machine) begun(text string) int {
	log, err := os.ReadFile(m.path("drawer/log"))
	if err != nil {
		return 0
	}
	return strings.Count(string(log), text)
}

// While a run goes on, a second process is refused; when the first is killed, its plugin ends with it, and the next run
// takes the lock over.
func locks(t *testing.T, m *machine) {
	p := m.project(t, "locks", program("one"))
	p.run("stack", "init", "dev")
	p.env = slow(time.Minute)
	before := m.begun("begin-create")
	first := p.start("up", "--yes", "--skip-preview")
	require.NoError(t, first.Start())
	p.reached("begin-create", before)
	require.NotEmpty(t, m.processes(t, "pulumi-resource-drawer"))
	require.Contains(t, p.fails("up", "--yes", "--skip-preview"), "lock")
	require.NotContains(t, p.run("stack", "ls"), "error")
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	require.Eventually(t, func() bool { return len(m.processes(t, "pulumi-resource-drawer")) == 0 }, time.Minute,
		20*time.Millisecond, "the plugin outlives its host")
	p.env = nil
	p.run("up", "--yes", "--skip-preview", "--settle-pending", "retry")
	require.Equal(t, repeated("one", items), m.objects(t))
	p.run("destroy", "--yes", "--skip-preview")
}

// When the program is killed, the commands that it has started end with all their processes.
func orphans(t *testing.T, m *machine) {
	p := m.project(t, "orphans", "resources:\n  wait:\n    type: command:local:Command\n    properties:\n      create: helper stay there.txt\n")
	p.env = []string{m.helper(t)}
	p.run("stack", "init", "dev")
	cmd := p.start("up", "--yes", "--skip-preview")
	require.NoError(t, cmd.Start())
	require.Eventually(t, p.there, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return len(m.processes(t, "stay")) == 0 }, time.Minute, 20*time.Millisecond,
		"a command's processes outlive the program")
}

// watch shows a new plan after a change.
func watch(t *testing.T, m *machine) {
	p := m.project(t, "watch", "variables: {a: 1}\noutputs: {b: \"${a}\"}\n")
	p.run("stack", "init", "dev")
	cmd := p.start("watch")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := make(chan string, 1000)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	wait := func(text string) {
		t.Helper()
		for {
			select {
			case line := <-lines:
				if strings.Contains(line, text) {
					return
				}
			case <-time.After(time.Minute):
				t.Fatal("watch does not show ", text)
			}
		}
	}
	wait("b: 1")
	p.write("Pulumi.yaml", strings.Replace(p.read("Pulumi.yaml"), "a: 1", "a: 27", 1))
	wait("b: 27")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// Test cases run.
func tests(t *testing.T, m *machine) {
	p := m.project(t, "tests", "resources:\n  a: {type: \"random:RandomPet\"}\n")
	p.write("some.test.yaml", "cases:\n  one:\n    expect: {count: 1}\n  two:\n    expect: {count: 2}\n")
	out, faults, err := p.result("test")
	require.ErrorContains(t, err, "14", out+faults)
	require.Contains(t, out+faults, "2 cases, 1 failed")
}

// lsp answers an editor over standard input and output with the right addresses of files.
func lsp(t *testing.T, m *machine) {
	p := m.project(t, "lsp", "")
	cmd := p.start("lsp")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	send := func(text string) { _, _ = fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(text), text) }
	const uri = "file:///c%3A/projects/lsp/Pulumi.yaml"
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":"file:///c%3A/projects/lsp","capabilities":{}}}`)
	send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"` + uri + `","languageId":"yaml","version":1,"text":"name: lsp\r\nruntime: yaml\r\noutputs:\r\n  a: ${nothing}\r\n"}}}`)
	r := bufio.NewReader(out)
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			require.NoError(t, err)
			if line == "\r\n" {
				break
			}
			if text, found := strings.CutPrefix(line, "Content-Length: "); found {
				length, err = strconv.Atoi(strings.TrimSpace(text))
				require.NoError(t, err)
			}
		}
		text := make([]byte, length)
		_, err := io.ReadFull(r, text)
		require.NoError(t, err)
		if bytes.Contains(text, []byte("publishDiagnostics")) {
			require.Contains(t, string(text), `"uri":"`+uri+`"`, "an address comes back as it was sent")
			require.Contains(t, string(text), "nothing")
			break
		}
	}
	send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	send(`{"jsonrpc":"2.0","method":"exit"}`)
	require.NoError(t, cmd.Wait())
}

// ui serves its page.
func ui(t *testing.T, m *machine) {
	p := m.project(t, "ui", "variables: {a: 1}\n")
	p.run("stack", "init", "dev")
	cmd := p.start("ui", "--no-browser", "--ready-file", "ready.json")
	require.NoError(t, cmd.Start())
	var ready struct{ URL string }
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(p.dir + "/ready.json")
		return err == nil && json.Unmarshal(text, &ready) == nil
	}, time.Minute, 10*time.Millisecond)
	answer, err := http.Get(ready.URL)
	require.NoError(t, err)
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Contains(t, string(page), "<html")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// Projects that read each other run in their order.
func several(t *testing.T, m *machine) {
	p := m.project(t, "several", "")
	p.write("one/Pulumi.yaml", "name: one\nruntime: yaml\noutputs: {a: from one}\n")
	p.write("two/Pulumi.yaml", "name: two\nruntime: yaml\nresources:\n  one: {type: \"pulumi:pulumi:StackReference\", properties: {name: organization/one/dev}}\n"+
		"outputs: {b: \"${one.outputs.a}\"}\n")
	out, faults, err := p.result("run", "--all", "--yes", "--stack", "dev")
	require.NoError(t, err, out+faults)
	p.dir += "/two"
	require.Equal(t, "from one\n", p.run("stack", "output", "b", "--stack", "dev"))
	p.dir = m.path("projects/several")
	p.run("destroy", "--all", "--yes", "--stack", "dev")
}

// Other formats are converted.
func convert(t *testing.T, m *machine) {
	p := m.project(t, "convert", "")
	p.write("manifests/a.yaml", "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: a}\r\ndata: {b: c}\r\n")
	p.run("convert", "--from", "kubernetes", "--out", "made", "manifests")
	require.Contains(t, p.read("made/Pulumi.yaml"), "kubernetes:core/v1:ConfigMap")
}

// Paths may be long, absolute, and on a drive.
func folders(t *testing.T, m *machine) {
	long := strings.Repeat("long-folder-name/", 20)
	p := m.project(t, "folders", "")
	p.write(long+"Pulumi.yaml", "name: folders\nruntime: yaml\noutputs: {a: {fn::readFile: b.txt}}\n")
	p.write(long+"b.txt", "text")
	dir := `C:\projects\folders\` + strings.ReplaceAll(strings.TrimSuffix(long, "/"), "/", `\`)
	p.run("-C", dir, "stack", "init", "dev")
	p.run("-C", dir, "up", "--yes", "--skip-preview", "--stack", "dev")
	require.Equal(t, "text\n", p.run("-C", dir, "stack", "output", "a", "--stack", "dev"))
	p.run("-C", dir, "destroy", "--yes", "--skip-preview", "--stack", "dev")
}

// Projects and states may lie on a server, and paths may have the prefix that lifts the limit of their length. What is
// written has slashes all the same, and another spelling of the same place finds it.
func servers(t *testing.T, m *machine) {
	require.NoError(t, os.MkdirAll(filepath.Join(m.prefix, "dosdevices/unc/server"), 0o700))
	require.NoError(t, os.Symlink(m.path(""), filepath.Join(m.prefix, "dosdevices/unc/server/share")))
	p := m.project(t, "servers", "resources:\n  pet: {type: \"random:RandomPet\", properties: {prefix: {fn::readFile: texts/a.txt}}}\n"+
		"outputs: {a: {fn::readFile: ./texts/a.txt}, b: {fn::stringAsset: x}}\ninclude: ['parts\\*.yaml']\n")
	p.write("texts/a.txt", "text")
	p.write("parts/one.yaml", "outputs: {c: from a part}\n")
	const folder = `\projects\servers`
	for i, root := range []string{`\\server\share`, `\\?\C:`, `\\?\UNC\server\share`, `//server/share`} {
		p.env = []string{"PULUMI_BACKEND_URL="} // the one of login
		stack := fmt.Sprint("s", i)
		require.NoError(t, os.MkdirAll(m.path("states/100%25 "+stack), 0o700))
		said := p.says("login", root+`\states\100%25 `+stack)
		require.NotContains(t, said, `\`)
		p.run("-C", root+folder, "stack", "init", stack)
		plan := root + folder + `\plan.json`
		p.run("-C", root+folder, "preview", "--stack", stack, "--save-plan", plan)
		require.NotContains(t, p.read("plan.json"), `\\`)
		p.run("-C", root+folder, "up", "--yes", "--stack", stack, "--plan", plan)
		require.Equal(t, "text\n", p.run("-C", root+folder, "stack", "output", "a", "--stack", stack))
		require.Equal(t, "from a part\n", p.run("-C", `C:`+folder, "stack", "output", "c", "--stack", stack))
		require.Contains(t, p.says("up", "--yes", "--skip-preview", "--stack", stack), "unchanged")
		state, err := os.ReadFile(m.path("states/100%25 " + stack + "/.pulumi/stacks/servers/" + stack + ".json"))
		require.NoError(t, err, "the path of a folder is no URL")
		require.NotContains(t, string(state), `\\`)
		p.run("-C", root+folder, "destroy", "--yes", "--skip-preview", "--stack", stack)
		p.run("logout")
	}
}

// A reader of the output that goes away is no fault.
func pipe(t *testing.T, m *machine) {
	p := m.project(t, "pipe", "")
	cmd := p.start("explain")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	var faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &faults
	require.NoError(t, r.Close())
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	_ = cmd.Wait()
	require.Empty(t, faults.String())
}

// Resources of classes in JavaScript live, and both systems leave the same state and go on with it.
func dynamic(t *testing.T, m *machine) {
	node := filepath.Join(*built, "node.exe")
	if _, err := os.Stat(node); err != nil {
		t.Skip("there is no Node.js for Windows: make windows-test fetches it")
	}
	p := m.project(t, "dynamic", "dynamic:\n  Label: {provider: ./code/label.ts, inputs: {name: string}}\n"+
		"resources:\n  bug: {type: \"dynamic:Label\", properties: {name: \"${title}\"}}\nvariables: {title: Zürich}\n")
	p.write("code/other.ts", "export const id: string = '1'\n")
	p.write("code/label.ts", `import { id } from './other'
export default {
  async create(inputs: any) { console.log('made'); return { id, outs: inputs } },
  async update(id: string, olds: any, news: any) { return { outs: news } },
  async delete() {},
}
`)
	p.env = []string{"WINEPATH=Z:" + strings.ReplaceAll(*built, "/", `\`)}
	p.run("stack", "init", "windows")
	p.onLinux("stack", "init", "linux")
	require.Contains(t, p.says("up", "--yes", "--skip-preview", "--stack", "windows"), "made")
	p.onLinux("up", "--yes", "--skip-preview", "--stack", "linux")
	// the code is sealed, and nothing is sealed twice to the same text
	sealed := regexp.MustCompile(`"(ciphertext|salt|encryptionsalt)": *"[^"]*"`)
	same := func(state string) string { return sealed.ReplaceAllString(steady(state), "") }
	require.Equal(t, strings.ReplaceAll(same(p.state("linux")), "linux", "windows"), same(p.state("windows")))

	p.write("Pulumi.yaml", strings.Replace(p.read("Pulumi.yaml"), "Zürich", "Genève", 1))
	require.Contains(t, p.onLinux("up", "--yes", "--skip-preview", "--stack", "windows"), "1 updated")
	require.Contains(t, p.says("up", "--yes", "--skip-preview", "--stack", "linux"), "1 updated")
	require.Contains(t, p.state("linux"), "Genève")
	p.onLinux("destroy", "--yes", "--skip-preview", "--stack", "windows")
	p.run("destroy", "--yes", "--skip-preview", "--stack", "linux")
	require.Empty(t, m.processes(t, "node.exe"), "its process ends with the program")
}

// passing matches what differs from run to run in reports: times, ids and what is derived from chance.
var passing = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|[+-]\d\d:\d\d| UTC)?|` +
	`( · |,? in | <span class="dim">in )?\b\d+(\.\d+)? ?(ms|s|µs)\b(</span>)?|"(sequence|timestamp|duration|durationSeconds)": ?\d+|time="[0-9.]+"|` +
	`"(seed|ciphertext|salt|encryptionsalt)": ?"[^"]*"`)

// What is written about a program is the same on both systems, byte for byte: findings, graphs, plans and all reports of
// every example. So no backslash of a path gets into a text that another system may read.
func examples(t *testing.T, m *machine) {
	entries, err := os.ReadDir("../../examples")
	require.NoError(t, err)
	for _, e := range entries {
		if _, err := os.Stat("../../examples/" + e.Name() + "/Pulumi.yaml"); err != nil {
			continue // several projects, or none
		}
		t.Run(e.Name(), func(t *testing.T) {
			p := m.project(t, "examples/"+e.Name(), "")
			require.NoError(t, os.CopyFS(p.dir, os.DirFS("../../examples/"+e.Name())))
			p.env = []string{"WINEPATH=Z:" + strings.ReplaceAll(*built, "/", `\`)}
			commands := [][]string{{"check", "--format", "json"}, {"check", "--format", "sarif"}, {"graph", "--format", "json"}, {"test"}}
			preview := []string{"preview", "--stack", "dev", "--parallel", "1", "--save-plan", "plan.json"}
			files := []string{"plan.json"}
			for _, kind := range []string{"text", "json", "events", "markdown", "junit", "sarif", "github", "gitlab", "html"} {
				files = append(files, "report."+kind)
				preview = append(preview, "--out", kind+"=report."+kind)
			}
			// commands and hooks call programs of Linux, custom-resources a plugin that is not here
			if !slices.Contains([]string{"commands", "hooks", "custom-resources"}, e.Name()) {
				commands = append(commands, preview)
			} else {
				files = nil
			}
			texts := func(run func(...string) string) map[string]string {
				texts := map[string]string{}
				for _, args := range commands {
					texts[strings.Join(args, " ")] = run(args...)
				}
				for _, name := range files {
					texts[name] = p.read(name)
					require.NoError(t, os.Remove(filepath.Join(p.dir, name)))
				}
				return texts
			}
			p.run("stack", "init", "dev")
			there, here := texts(p.says), texts(p.onLinux)
			for name, text := range here {
				assert.Equal(t, passing.ReplaceAllString(text, ""), passing.ReplaceAllString(there[name], ""), name)
			}
		})
	}
}

// Runs that are killed while they update lose nothing: the next run finds every object and ends the update.
func TestKills(t *testing.T) {
	m := newMachine(t)
	p := m.project(t, "kills", program("begin"))
	p.run("stack", "init", "dev")
	p.run("up", "--yes", "--skip-preview")
	delay := slow(time.Second)
	hit := 0
	for i := range *kills {
		title := fmt.Sprint("title", i)
		p.write("Pulumi.yaml", "name: kills\nruntime: yaml\n"+program(title))
		before := m.begun("begin-update")
		p.env = delay
		cmd := p.start("up", "--yes", "--skip-preview")
		require.NoError(t, cmd.Start())
		p.reached("begin-update", before)
		time.Sleep(rand.N(2 * time.Second))
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			hit++
		}
		p.env = nil
		p.run("up", "--yes", "--skip-preview")
		require.Equal(t, repeated(title, items), m.objects(t), "after kill %d", i)
	}
	require.Greater(t, hit, *kills/2, "runs were killed before their end")
	t.Logf("%d of %d runs were killed before their end", hit, *kills)
	p.run("state", "verify")
	p.run("destroy", "--yes", "--skip-preview")
	require.Empty(t, m.objects(t))
}
