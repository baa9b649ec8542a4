//go:build linux

package windows

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// helper builds the helper in a folder of its own, and returns the variable that puts it on the path.
func (m *machine) helper(t *testing.T) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(m.path("tools"), 0o700))
	out, err := exec.CommandContext(t.Context(), "x86_64-w64-mingw32-gcc", "-municode", "-o",
		m.path("tools/helper.exe"), "testdata/helper.c").CombinedOutput()
	require.NoError(t, err, string(out))
	return `WINEPATH=C:\tools`
}

// Programs get their arguments as they are written, are found by their endings, and their exit codes arrive. Variables
// are found in any letter case, and programs do not get the secret ones.
func programs(t *testing.T, m *machine) {
	path := m.helper(t)
	require.NoError(t, os.WriteFile(m.path("tools/script.cmd"), []byte("@echo script says %1\r\n"), 0o700))
	p := m.project(t, "programs", `hooks:
  args: {command: [helper, args, "a b", "", 'say "x"', 'C:\dir\', '\\s\"', '%PATH%', "ü ^ & |"], onDryRun: true}
  script: {command: [script, word], onDryRun: true}
resources:
  pet: {type: "random:RandomPet", options: {hooks: {beforeCreate: [args, script]}}}
`)
	p.env = []string{path}
	p.run("stack", "init", "dev")
	said := p.says("preview")
	for _, want := range []string{`<a b>`, `<>`, `<say "x">`, `<C:\dir\>`, `<\\s\">`, `<%PATH%>`, `<ü ^ & |>`,
		`script says word`} {
		require.Contains(t, said, want)
	}

	const program = "resources:\n  one: {type: \"command:local:Command\", properties: {create: %q}}\n" +
		"outputs: {said: \"${one.stdout}\"}\n"
	p.write("Pulumi.yaml", "name: programs\nruntime: yaml\n"+fmt.Sprintf(program, "helper exit 300"))
	require.Contains(t, p.fails("up", "--yes", "--skip-preview"), "300")

	p.write("Pulumi.yaml", "name: programs\nruntime: yaml\n"+fmt.Sprintf(program, "set"))
	p.run("config", "set", "--secret", "word", "geheim")
	p.env = nil
	env := []string{path, "Greeting=hello"}
	for _, entry := range m.env {
		if name, text, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "PULUMI_") {
			entry = strings.ToLower(name) + "=" + text
		}
		env = append(env, entry)
	}
	p.machine = &machine{prefix: m.prefix, env: env}
	require.Equal(t, "geheim\n", p.run("config", "get", "word"))
	p.run("up", "--yes", "--skip-preview")
	said = strings.ToLower(p.run("stack", "output", "said"))
	require.Contains(t, said, "greeting=hello")
	require.NotContains(t, said, "pulumi_config_passphrase")
	p.run("destroy", "--yes", "--skip-preview")
}

// there says whether the command "helper stay there.txt" runs. Wine may lose a process that is ended while it starts, so
// tests wait for the file and not for the process.
func (p *project) there() bool {
	_, err := os.Stat(filepath.Join(p.dir, "there.txt"))
	return err == nil
}

// onConsole runs a command of the machine in a console, and returns what it shows and how it ended. during may press
// keys while it runs, and says whether it could. If it could not, or if the console stays open for long, the machine's
// processes are ended, so that the caller has what was shown.
func (p *project) onConsole(during func(keyboard *os.File) bool, args ...string) (shown string, code int) {
	p.t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(p.t, err)
	defer keyboard.Close()
	require.NoError(p.t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	require.NoError(p.t, unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}))
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(p.t, err)
	screen, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(p.t, err)
	cmd := p.command(p.t, append([]string{*wine}, args...)...)
	cmd.Dir, cmd.Env = p.dir, append(append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TERM=xterm"), p.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(p.t, cmd.Start())
	require.NoError(p.t, screen.Close())
	var text bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		part := make([]byte, 1<<10)
		for {
			n, err := keyboard.Read(part)
			if text.Write(part[:n]); err != nil {
				return // the last process has closed the screen
			}
		}
	}()
	if during != nil && !during(keyboard) {
		p.end(p.t)
	}
	_ = cmd.Wait()
	select {
	case <-ended:
	case <-time.After(limit):
		p.end(p.t)
		<-ended
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// interrupted runs a command in a console which "helper stay there.txt" holds up, and which an event or a key ends in
// order. Wine sometimes connects no screen to the console of a busy machine; then the command is run again.
func (p *project) interrupted(during func(keyboard *os.File) bool, args ...string) {
	p.t.Helper()
	shown, code := "", 0
	for range 3 {
		_ = os.Remove(filepath.Join(p.dir, "there.txt")) // there is none at first
		if shown, code = p.onConsole(during, args...); shown != "" {
			break
		}
	}
	require.Equal(p.t, 18, code, shown)
	require.Contains(p.t, shown, "Interrupted.")
	require.Empty(p.t, p.processes(p.t, "stay"), "the command ends with the operation")
	require.NotContains(p.t, p.run("stack", "ls"), "locked")
}

// Ctrl-Break, a window that is closed, the end of a session and that of the machine end an operation in order: what runs
// is told to end, the state is written, and the lock is given back. A command of cmd.exe ends at once.
func endings(t *testing.T, m *machine) {
	path := m.helper(t)
	for _, e := range []struct {
		name   string
		number int
	}{{"break", 1}, {"close", 2}, {"logoff", 5}, {"shutdown", 6}} {
		t.Run(e.name, func(t *testing.T) {
			p := m.project(t, "end-"+e.name, "resources:\n  first: {type: \"random:RandomPet\"}\n"+
				"  wait:\n    type: command:local:Command\n    properties: {create: helper stay there.txt}\n"+
				"    options: {dependsOn: [\"${first}\"]}\n")
			p.env = []string{path}
			p.run("stack", "init", "dev")
			p.interrupted(nil, "helper", "event", fmt.Sprint(e.number), "there.txt",
				"Z:"+strings.ReplaceAll(*built, "/", `\`)+`\yamlhost.exe up --yes --skip-preview`)
			require.Contains(t, p.state("dev"), "random:index/randomPet:RandomPet")
			p.run("state", "verify")
			p.run("destroy", "--yes", "--skip-preview")
			p.run("stack", "rm", "dev", "--yes")
		})
	}
}

// moved matches what Wine's console adds to show a text: it hides and moves the cursor, and clears lines.
var moved = regexp.MustCompile("\x1b\\[\\?25[lh]|\x1b\\[[0-9;]*[A-HJK]|\r")

// A console gets colours and a live view, and its own mode back; text is whole under an old code page. Ctrl-C ends
// an operation in order, with what it has started.
func terminal(t *testing.T, m *machine) {
	path := m.helper(t)
	p := m.project(t, "terminal", "outputs: {a: \"Zürich → ✓\"}\n")
	p.env = []string{path}
	host := "Z:" + strings.ReplaceAll(*built, "/", `\`) + `\yamlhost.exe`
	p.run("stack", "init", "dev")
	shown, code := p.onConsole(nil, host, "up", "--yes", "--skip-preview")
	require.Zero(t, code, shown)
	require.Contains(t, shown, "\x1b[32m", "colours")
	shown, _ = p.onConsole(nil, host, "preview", "--color", "never")
	require.NotRegexp(t, "\x1b\\[[0-9;]*m", shown)
	require.NotContains(t, p.says("preview"), "\x1b", "a file has no colours")

	for page, want := range map[string]string{"437": "Zürich → ✓", "65001": "Zürich → ✓"} {
		shown, _ = p.onConsole(nil, "cmd", "/c", "chcp "+page+" & helper mode & "+host+" stack output a & helper mode")
		shown = moved.ReplaceAllString(shown, "")
		require.Contains(t, shown, want, "code page %s", page)
		modes := regexp.MustCompile(`mode ?(\d+);`).FindAllStringSubmatch(shown, -1)
		require.Len(t, modes, 2, shown)
		require.Equal(t, modes[0][1], modes[1][1], "the console has its mode back")
	}

	p.write("Pulumi.yaml", "name: terminal\nruntime: yaml\nresources:\n"+
		"  wait: {type: \"command:local:Command\", properties: {create: helper stay there.txt}}\n")
	p.interrupted(func(keyboard *os.File) bool {
		begun := assert.Eventually(t, p.there, time.Minute, 10*time.Millisecond)
		_, err := keyboard.Write([]byte{3})
		return begun && assert.NoError(t, err)
	}, host, "up", "--yes", "--skip-preview")
	p.run("destroy", "--yes", "--skip-preview")
}
