//go:build linux

package kill

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forge is the server whose objects a dynamic type manages. It can withhold a response so that yamlhost dies in the
// middle of a call.
type forge struct {
	mu      sync.Mutex
	objects map[string]string // id to text
	next    int
	hold    string   // the HTTP method to withhold responses to; empty for none
	before  bool     // the call is held before it changes anything, not afterwards
	held    chan int // receives the PID of the type's process once a call is held
	release chan struct{}
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ ID, Text string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	hold, before := f.hold == r.Method, f.before
	f.mu.Unlock()
	pid, _ := strconv.Atoi(r.Header.Get("Process"))
	if hold && before {
		f.held <- pid
		<-f.release
		return
	}
	f.mu.Lock()
	switch r.Method {
	case http.MethodPost:
		f.next++
		body.ID = fmt.Sprint(f.next)
		f.objects[body.ID] = body.Text
	case http.MethodPatch:
		f.objects[body.ID] = body.Text
	case http.MethodDelete:
		delete(f.objects, body.ID)
	}
	body.Text = f.objects[body.ID]
	f.mu.Unlock()
	if hold {
		f.held <- pid
		<-f.release
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

const killedSource = `
const call = async (method, body) => {
  const r = await fetch(process.env.FORGE, { method, headers: { process: String(process.pid) }, body: JSON.stringify(body) });
  return r.json();
};
export default {
  async create(inputs) { const o = await call("POST", { text: inputs.text }); return { id: o.ID, outs: { text: o.Text } }; },
  async update(id, _olds, news) { const o = await call("PATCH", { id, text: news.text }); return { outs: { text: o.Text } }; },
  async read(id) { const o = await call("PUT", { id }); return o.Text ? { id, props: { text: o.Text }, inputs: { text: o.Text } } : {}; },
  async delete(id) { await call("DELETE", { id }); },
};
`

// TestDynamicKilled kills yamlhost in the middle of a call to a dynamic type: no object is lost or created twice, and
// the type's process does not outlive yamlhost (D9, D15).
func TestDynamicKilled(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("dynamic types need node, which is not on PATH")
	}
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/before=%t", method, before), func(t *testing.T) {
				t.Parallel()
				f := &forge{objects: map[string]string{}, held: make(chan int, 1), release: make(chan struct{})}
				server := httptest.NewServer(f)
				t.Cleanup(server.Close)
				killDynamic(t, f, server.URL, method, before)
			})
		}
	}
}

func killDynamic(t *testing.T, f *forge, url, method string, before bool) {
	b := newBenchAt(t, &outcome{points: map[string]int{}}, *seed, "")
	dir := b.project()
	b.environ = append(slices.DeleteFunc(b.environ, func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+os.Getenv("PATH"), "FORGE="+url, "PULUMI_CONFIG_PASSPHRASE=x")
	write := func(text string) {
		program := "name: kill\nruntime: yaml\ndynamic: {Note: {provider: ./note.js, env: [FORGE]}}\n"
		if text != "" {
			program += "resources: {note: {type: 'dynamic:Note', properties: {text: " + text + "}}}\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(program), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.js"), []byte(killedSource), 0o600))
	write("one")
	up := []string{"up", "--yes", "--skip-preview", "--non-interactive"}
	require.Equal(t, 0, b.run("", 0, "stack", "init", "dev").code, b.said)
	text := "one"
	if method != http.MethodPost {
		require.Equal(t, 0, b.run("", 0, up...).code, b.said)
		text = "two"
	}
	if method == http.MethodDelete {
		text = ""
	}
	write(text)

	f.mu.Lock()
	f.hold, f.before = method, before
	f.mu.Unlock()
	cmd := exec.Command(b.self, append([]string{"-C", dir}, up...)...)
	cmd.Env = b.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	var code int
	select {
	case code = <-f.held:
	case <-time.After(runPatience):
		t.Fatal("the code of the type was never called")
	}
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return syscall.Kill(code, 0) != nil || zombie(code) }, time.Minute,
		10*time.Millisecond, "the process of the code lives on")
	f.mu.Lock()
	f.hold = ""
	f.mu.Unlock()
	close(f.release)

	made := ""
	for id := range f.objects {
		made = id
	}
	objects := fmt.Sprint(f.objects)
	e := b.run("", 0, up...)
	if method == http.MethodPost {
		// The object may or may not exist: the run stops without changes, and a flag settles the creation.
		require.Equal(t, 10, e.code, b.said)
		require.Equal(t, objects, fmt.Sprint(f.objects))
		require.Contains(t, b.said, "note")
		s, _, _, err := b.view()
		require.NoError(t, err)
		require.Len(t, s.Pending, 1)
		e = b.run("", 0, append(slices.Clone(up), "--settle-pending", string(s.Pending[0].Resource.URN)+"="+made)...)
	}
	require.Equal(t, 0, e.code, b.said)
	want := map[string]string{"1": text}
	if text == "" {
		want = map[string]string{}
	}
	require.Equal(t, want, f.objects, "nothing is lost and nothing is there twice")
	require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview", "--non-interactive", "--expect-no-changes").code,
		b.said)
	require.Equal(t, 0, b.run("", 0, "destroy", "--yes", "--skip-preview", "--non-interactive").code, b.said)
	require.Empty(t, f.objects)
}

// stubbornSource starts a process in a session of its own and never returns from create, so it does not notice that
// yamlhost died.
const stubbornSource = `
import { spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
export default {
  async create() {
    const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    writeFileSync(process.env.MARK + ".new", process.pid + " " + child.pid);
    renameSync(process.env.MARK + ".new", process.env.MARK);
    for (;;) {}
  },
};
`

// The process of a dynamic type ends with yamlhost even if it is busy, and so do the processes that it started.
func TestDynamicKilledStubborn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what has left its group is found on Linux only")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("dynamic types need node, which is not on PATH")
	}
	b := newBenchAt(t, &outcome{points: map[string]int{}}, *seed, "")
	dir, mark := b.project(), filepath.Join(t.TempDir(), "mark")
	b.environ = append(slices.DeleteFunc(b.environ, func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+os.Getenv("PATH"), "MARK="+mark, "PULUMI_CONFIG_PASSPHRASE=x")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.js"), []byte(stubbornSource), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: kill\nruntime: yaml\ndynamic: {Note: "+
		"{provider: ./note.js, env: [MARK]}}\nresources: {note: {type: 'dynamic:Note', properties: {text: one}}}\n"), 0o600))
	require.Equal(t, 0, b.run("", 0, "stack", "init", "dev").code, b.said)
	cmd := exec.Command(b.self, "-C", dir, "up", "--yes", "--skip-preview", "--non-interactive")
	cmd.Env, cmd.SysProcAttr = b.environ, &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	var pids []int
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(mark)
		if err != nil {
			return false
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(field)
			pids = append(pids, pid)
		}
		return true
	}, runPatience, 10*time.Millisecond, "the code of the type was never called")
	require.Len(t, pids, 2)
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.Wait()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }, time.Minute,
			10*time.Millisecond, "a process of the code lives on")
	}
}

// zombie reports whether a process has ended but was not reaped yet.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
