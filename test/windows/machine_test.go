//go:build linux

// Package windows drives yamlhost.exe and plugins under Wine: `make windows-test` builds them.
package windows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

var (
	built = flag.String("built", "", "the folder with yamlhost.exe, pulumi-resource-drawer.exe, node.exe and yamlhost")
	wine  = flag.String("wine", "/usr/lib/wine/wine64", "Wine's program")
	kills = flag.Int("kills", 20, "how many runs are killed")
)

// machine is an installation of Wine in a temporary folder, with the drive C: below it.
type machine struct {
	prefix string
	env    []string
}

// newMachine installs Wine and the plugin. When the test ends, so do all processes of the machine.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if *built == "" {
		t.Skip("the programs are not built: make windows-test")
	}
	m := &machine{prefix: t.TempDir()}
	m.env = []string{"PATH=/usr/bin:/bin", "HOME=" + m.prefix, "WINEPREFIX=" + m.prefix, "WINEARCH=win64", "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree,mshtml=;winemenubuilder.exe=d", "LC_ALL=C.UTF-8", `PULUMI_HOME=C:\home`,
		"PULUMI_BACKEND_URL=file://C:/state?create_dir=true", "PULUMI_CONFIG_PASSPHRASE=p", `DRAWER=C:\drawer`}
	t.Cleanup(func() {
		m.end(t)
		require.Eventually(t, func() bool { return len(m.processes(t, "")) == 0 }, time.Minute, 50*time.Millisecond,
			"processes outlive the test")
	})
	// A server that stays spares most of the time of every start, and meets no program while it ends.
	require.NoError(t, m.command(t, "/usr/lib/wine/wineserver64", "-p").Run())
	require.NoError(t, m.command(t, *wine, "wineboot", "-i").Run())
	// Node.js refuses the Windows 7 that Wine says it is.
	require.NoError(t, m.command(t, *wine, "reg", "add", `HKCU\Software\Wine`, "/v", "Version", "/d", "win10", "/f").Run())
	out, err := exec.CommandContext(t.Context(), "x86_64-w64-mingw32-gcc", "-shared", "-o",
		m.path("windows/system32/bcryptprimitives.dll"), "testdata/prng.c", "-ladvapi32").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.MkdirAll(m.path("drawer"), 0o700))
	for home, ending := range map[string]string{"home": ".exe", "linux": ""} {
		dir := m.path(home + "/plugins/resource-drawer-v1.0.0")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		text := testfile.Bytes(t, filepath.Join(*built, "pulumi-resource-drawer"+ending))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-resource-drawer"+ending), text, 0o700))
	}
	return m
}

// end ends all processes of the machine, also those that Wine's server has lost, which it does not end.
func (m *machine) end(t *testing.T) {
	t.Helper()
	server := exec.Command("/usr/lib/wine/wineserver64", "-k")
	server.Env = m.env
	_ = server.Run() // fails if there is no process
	for pid := range m.running(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// path returns the path of a file on the drive C:.
func (m *machine) path(p string) string {
	return filepath.Join(m.prefix, "drive_c", filepath.FromSlash(p))
}

// limit is the time that a command has at most. Wine may lose a process, and a test that waits for it says nothing.
const limit = 6 * time.Minute

// command returns a command in the machine's environment. It is killed when the limit is over, and when the test ends.
func (m *machine) command(t *testing.T, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = m.env
	cmd.WaitDelay = 10 * time.Second // Wine's services keep the output open
	return cmd
}

// processes returns the command lines of all processes of the machine that contain a text.
func (m *machine) processes(t *testing.T, text string) (lines []string) {
	t.Helper()
	for _, line := range m.running(t) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// running returns the number and the command line of each process of the machine. That of one that has just ended is
// empty.
func (m *machine) running(t *testing.T) map[int]string {
	t.Helper()
	lines := map[int]string{}
	paths := testfile.Match(t, "/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte("WINEPREFIX="+m.prefix+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // the process may have ended
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		lines[pid] = string(line)
	}
	return lines
}

// objects returns the titles of the plugin's objects in ascending order.
func (m *machine) objects(t *testing.T) (titles []string) {
	t.Helper()
	paths := testfile.Match(t, m.path("drawer/*.json"))
	for _, path := range paths {
		text := testfile.Bytes(t, path)
		var o struct{ Title string }
		require.NoError(t, json.Unmarshal(text, &o))
		titles = append(titles, o.Title)
	}
	slices.Sort(titles)
	return titles
}

// project is a folder of the machine.
type project struct {
	*machine
	t   *testing.T
	dir string
	env []string // more variables
}

// project makes a folder with a program.
func (m *machine) project(t *testing.T, name, program string) *project {
	t.Helper()
	p := &project{machine: m, t: t, dir: m.path("projects/" + name)}
	require.NoError(t, os.MkdirAll(p.dir, 0o700))
	if program != "" {
		p.write("Pulumi.yaml", "name: "+name+"\nruntime: yaml\n"+program)
	}
	return p
}

// write writes a file of the project.
func (p *project) write(name, text string) {
	p.t.Helper()
	testfile.Write(p.t, filepath.Join(p.dir, filepath.FromSlash(name)), text)
}

// read reads a file of the project.
func (p *project) read(name string) string {
	p.t.Helper()
	return testfile.Text(p.t, filepath.Join(p.dir, filepath.FromSlash(name)))
}

// start returns a command of yamlhost.exe in the project's folder.
func (p *project) start(args ...string) *exec.Cmd {
	cmd := p.command(p.t, append([]string{*wine, filepath.Join(*built, "yamlhost.exe")}, args...)...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(cmd.Env), p.env...)
	return cmd
}

// result runs a command of yamlhost.exe and returns what it printed and how it ended.
func (p *project) result(args ...string) (out, faults string, err error) {
	p.t.Helper()
	cmd := p.start(args...)
	texts := [2]string{}
	files := [2]*os.File{} // and no pipes, which Wine's services would keep open
	for i := range files {
		f, err := os.CreateTemp(p.prefix, "output")
		require.NoError(p.t, err)
		files[i] = f
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	err = cmd.Run()
	for i, f := range files {
		text, readErr := os.ReadFile(f.Name())
		require.NoError(p.t, errors.Join(readErr, f.Close(), os.Remove(f.Name())))
		texts[i] = string(text)
	}
	return texts[0], wineError.ReplaceAllString(texts[1], ""), err
}

// wineError matches what Wine prints when one thread of a process closes its connection while another ends.
var wineError = regexp.MustCompile(`(?m)^wine client error:.*\n`)

// run runs a command of yamlhost.exe, which has to succeed, and returns its standard output.
func (p *project) run(args ...string) string {
	p.t.Helper()
	out, faults, err := p.result(args...)
	require.NoError(p.t, err, "%s:\n%s%s", args, out, faults)
	return out
}

// says is run, with all that the command printed.
func (p *project) says(args ...string) string {
	p.t.Helper()
	out, faults, err := p.result(args...)
	require.NoError(p.t, err, "%s:\n%s%s", args, out, faults)
	return out + faults
}

// fails runs a command of yamlhost.exe, which has to fail, and returns its messages.
func (p *project) fails(args ...string) string {
	p.t.Helper()
	out, faults, err := p.result(args...)
	require.Error(p.t, err, "%s:\n%s", args, out)
	return faults
}

// onLinux runs the same command on Linux with the same files, and returns all that it printed: the results first.
func (p *project) onLinux(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(*built, "yamlhost"), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.prefix, "PULUMI_HOME=" + p.path("linux"),
		"PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_BACKEND_URL=file://" + p.path("state"), "DRAWER=" + p.path("drawer")}
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	require.NoError(p.t, cmd.Run(), "%s:\n%s%s", args, &out, &faults)
	return out.String() + faults.String()
}

// state returns the file of a stack's state.
func (p *project) state(stack string) string {
	p.t.Helper()
	return testfile.Text(p.t, p.path("state/.pulumi/stacks/"+filepath.Base(p.dir)+"/"+stack+".json"))
}
