package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const resource = urn.URN("urn:pulumi:dev::proj::misfit:index:Res::name")

// pluginDir returns a directory with links to this test binary under the names of plugins.
func pluginDir(t testing.TB, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, name := range names {
		require.NoError(t, os.Symlink(self, filepath.Join(dir, "pulumi-resource-"+name)))
	}
	return dir
}

func childHost(t testing.TB, mode string, change func(*plugin.Options)) *plugin.Host {
	t.Helper()
	options := plugin.Options{
		Env: []string{childMode + "=" + mode}, Path: []string{pluginDir(t, "misfit")}, ProgramDir: t.TempDir(),
	}
	if change != nil {
		change(&options)
	}
	host := plugin.NewHost(options)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return host
}

func loadChild(t testing.TB, mode string, change func(*plugin.Options)) provider.Configured {
	t.Helper()
	p, err := childHost(t, mode, change).Load(context.Background(), provider.Package{Name: "misfit"})
	require.NoError(t, err)
	configured, err := p.Configure(context.Background(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.NoError(t, err)
	return configured
}

func create(ctx context.Context, c provider.Configured, do string) (provider.CreateResponse, error) {
	return c.Create(ctx, provider.CreateRequest{Subject: provider.SubjectOf(resource),
		Inputs: value.EmptyMap().With("do", value.String(do))})
}

func TestStart(t *testing.T) { // F2.5, F2.7, D10
	t.Parallel()
	short := func(o *plugin.Options) { o.StartLimit, o.EndLimit = 4*time.Second, 100*time.Millisecond }
	for _, c := range []struct {
		mode   string
		change func(*plugin.Options)
		crash  bool
		fails  string
	}{
		{mode: "serve"},
		{mode: "escapes"},
		{mode: "nonsense",
			fails: `plugin misfit printed "Welcome to my program!" where its port was expected; is it a Pulumi plugin?`},
		{mode: "endless line", fails: `plugin misfit printed "` + strings.Repeat("x", 80) + `…" where its port was expected`},
		{mode: "exit", crash: true,
			fails: "plugin misfit stopped unexpectedly (exit status 7); its last output:\n    cannot find my configuration"},
		{mode: "quiet exit", crash: true, fails: "plugin misfit stopped unexpectedly (exit status 0)"},
		{mode: "exit after port", crash: true, fails: "plugin misfit stopped unexpectedly (exit status 4)"},
		{mode: "silent", change: short, fails: "plugin misfit did not print its port within 4s"},
		{mode: "closed", fails: "plugin misfit closed its output without printing its port"},
		{mode: "deaf", change: short, fails: "plugin misfit printed a port, but did not answer there within 4s"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			p, err := childHost(t, c.mode, c.change).Load(t.Context(), provider.Package{Name: "misfit"})
			if c.fails == "" {
				require.NoError(t, err)
				info, err := p.Info(t.Context())
				require.NoError(t, err)
				require.Equal(t, "misfit", info.Name)
				return
			}
			require.ErrorContains(t, err, c.fails)
			var crash *provider.CrashError
			require.Equal(t, c.crash, errors.As(err, &crash))
		})
	}
}

// Policy packs, converters and language hosts that do not start are reported like plugins, as soon, and with what they
// printed.
func TestStartOfOtherKinds(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	pack := func(h *plugin.Host) error {
		_, err := h.LoadPack(t.Context(), self, analyzer.Stack{})
		return err
	}
	converter := func(h *plugin.Host) error {
		_, err := h.LoadConverter(t.Context(), "misfit", plugin.ConverterServices{})
		return err
	}
	language := func(h *plugin.Host) error {
		_, err := h.GenerateProject(t.Context(), "misfit", "", "", "", plugin.ConverterServices{})
		return err
	}
	const deaf = "printed a port, but did not answer there within 2s; its last output:\n    listening"
	const crash = "stopped unexpectedly (exit status 4)"
	const half = "did not print its port within 2s; its last output:\n    wait, I"
	for _, c := range []struct {
		name, mode string
		load       func(*plugin.Host) error
		want       string
	}{
		{"a pack", "deaf", pack, deaf}, {"a pack", "exit after port", pack, crash}, {"a pack", "half a line", pack, half},
		{"a converter", "deaf", converter, deaf}, {"a converter", "exit after port", converter, crash},
		{"a language host", "deaf", language, deaf}, {"a language host", "exit after port", language, crash},
	} {
		t.Run(c.name+" "+c.mode, func(t *testing.T) {
			t.Parallel()
			host := childHost(t, c.mode, func(o *plugin.Options) {
				o.StartLimit, o.EndLimit = 2*time.Second, 100*time.Millisecond
				o.Path = []string{t.TempDir()}
				require.NoError(t, os.Symlink(self, filepath.Join(o.Path[0], "pulumi-converter-misfit")))
				o.Languages = map[string][]string{"misfit": {self}}
			})
			require.ErrorContains(t, c.load(host), c.want)
		})
	}
}

// The dynamic providers of Pulumi get more time to start than other plugins because they load an SDK.
func TestStartOfPulumisDynamicProviders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pulumi-nodejs", "pulumi-python"} {
		_, err := childHost(t, "silent", func(o *plugin.Options) {
			o.Path, o.StartLimit, o.EndLimit = []string{pluginDir(t, name)}, 50*time.Millisecond, 100*time.Millisecond
		}).Load(t.Context(), provider.Package{Name: name})
		require.ErrorContains(t, err, "plugin "+name+" did not print its port within 300ms")
	}
}

func TestStartCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := childHost(t, "silent", nil).Load(ctx, provider.Package{Name: "misfit"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestCrash(t *testing.T) { // D10, E3.56
	t.Parallel()
	for _, c := range []struct{ do, exit, output string }{
		{"crash", "exit status 3", "panic: out of cheese"}, {"kill", "signal: killed", "serving"},
	} {
		t.Run(c.do, func(t *testing.T) {
			t.Parallel()
			configured := loadChild(t, "serve", nil)
			_, err := create(t.Context(), configured, c.do)
			var crash *provider.CrashError
			require.ErrorAs(t, err, &crash)
			require.Equal(t, "misfit", crash.Plugin)
			require.Equal(t, c.exit, crash.Exit)
			require.Contains(t, crash.Output, c.output)
			require.ErrorContains(t, err, "create: plugin misfit stopped unexpectedly ("+c.exit+"); its last output:")
			var outcome *provider.Error
			require.ErrorAs(t, err, &outcome)
			require.Equal(t, provider.Unclear, outcome.Outcome)

			_, err = create(t.Context(), configured, "") // later calls fail, too
			require.ErrorAs(t, err, &crash)
		})
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	configured := loadChild(t, "serve", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := create(ctx, configured, "hang")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "create: stopped waiting for plugin misfit")
	_, err = create(t.Context(), configured, "print") // the plugin still works, and its output on stdout is ignored
	require.NoError(t, err)
}

func TestPartialFailure(t *testing.T) { // E3.50
	t.Parallel()
	configured := loadChild(t, "serve", nil)
	inputs := value.Map(map[string]value.Value{"do": value.String("partial"), "s": value.String("x").Secret()})
	_, err := configured.Create(t.Context(), provider.CreateRequest{Subject: provider.SubjectOf(resource), Inputs: inputs})
	var got *provider.Error
	require.ErrorAs(t, err, &got)
	got.Cause = nil
	require.Equal(t, &provider.Error{
		Outcome: provider.Partial, ID: "half", Outputs: inputs.With("out", value.Int(1)), Inputs: inputs,
		Reasons: []string{"not ready", "not healthy"}, RefreshBeforeUpdate: true,
	}, got)
	require.EqualError(t, err, "2 error(s) occurred:\n    * not ready\n    * not healthy")
}

func TestLog(t *testing.T) { // F2.11, E8.33
	t.Parallel()
	var mu sync.Mutex
	var got []plugin.Message
	configured := loadChild(t, "serve", func(o *plugin.Options) {
		o.Log = func(m plugin.Message) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, m)
		}
	})
	_, err := create(t.Context(), configured, "log")
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []plugin.Message{{URN: resource, Severity: plugin.Warning, Text: "careful",
		Ephemeral: true}}, got)
}

func TestEnvironment(t *testing.T) { // E3.1, E3.2, F2.1–F2.3
	t.Parallel()
	dir := t.TempDir()
	host := childHost(t, "serve", func(o *plugin.Options) {
		o.ProgramDir, o.Project = dir, "proj"
		o.RuntimeOptions = map[string]string{"compiler": "make"}
		o.Env = append(o.Env, "NEW_TOKEN=t", "OLD_TOKEN=o", "PGPASSWORD=g", "PULUMI_CONFIG_PASSPHRASE=p",
			"PULUMI_ACCESS_TOKEN=a", "PULUMI_CONFIG_PASSPHRASE_FILE=f")
		o.Pass = []string{"PULUMI_ACCESS_TOKEN"}
	})
	p, err := host.Load(t.Context(), provider.Package{
		Name: "misfit", Config: map[string]string{"region": "<eu>"},
		EnvVarMappings: map[string]string{"NEW_TOKEN": "OLD_TOKEN", "ABSENT": "OTHER", "PGPASSWORD": "PASSWORD"},
	})
	require.NoError(t, err)
	configured, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.NoError(t, err)
	got, err := configured.Invoke(t.Context(), provider.InvokeRequest{Token: "env", Args: value.EmptyMap()})
	require.NoError(t, err)
	address, err := host.EngineAddress()
	require.NoError(t, err)
	realDir, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"PULUMI_PROJECT": "proj", "PULUMI_CONFIG": `{"region":"\u003ceu\u003e"}`, "PULUMI_RUNTIME_COMPILER": "make",
		"NEW_TOKEN": "t", "OLD_TOKEN": "t", "PASSWORD": "g", "PULUMI_ACCESS_TOKEN": "a", "cwd": realDir, "args": address,
	} {
		require.Equal(t, value.String(want), got.Result.Get(name), name)
	}
	for _, name := range []string{"OTHER", "PGPASSWORD", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} {
		require.False(t, got.Result.Has(name), name)
	}
	require.False(t, got.Result.Has("PULUMI_NODEJS_PROJECT"))
	host = childHost(t, "serve", func(o *plugin.Options) {
		o.Project, o.Path = "proj",
			[]string{pluginDir(t, "pulumi-nodejs")}
	})
	p, err = host.Load(t.Context(), provider.Package{Name: "pulumi-nodejs"})
	require.NoError(t, err)
	configured, err = p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.NoError(t, err)
	got, err = configured.Invoke(t.Context(), provider.InvokeRequest{Token: "env", Args: value.EmptyMap()})
	require.NoError(t, err)
	require.Equal(t, value.String("proj"), got.Result.Get("PULUMI_NODEJS_PROJECT"),
		"keys without a namespace are the project's")
}

// loadMisfit starts the plugin misfit and also returns its PID.
func loadMisfit(t *testing.T, loader provider.Loader) (p provider.Provider, pid int) {
	t.Helper()
	p, err := loader.Load(t.Context(), provider.Package{Name: "misfit"})
	require.NoError(t, err)
	configured, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.NoError(t, err)
	got, err := configured.Invoke(t.Context(), provider.InvokeRequest{Token: "pid"})
	require.NoError(t, err)
	pid, _ = got.Result.Get("pid").AsInt()
	return p, pid
}

func TestCloseEndsStubborn(t *testing.T) { // F2.13, E3.54: the plugin gets Cancel and is killed
	t.Parallel()
	note := filepath.Join(t.TempDir(), "cancelled")
	host := childHost(t, "stubborn", func(o *plugin.Options) {
		o.EndLimit = time.Second
		o.Env = append(o.Env, "CANCELLED="+note)
	})
	p, pid := loadMisfit(t, host)
	require.True(t, running(pid))
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	require.False(t, running(pid), "the process is gone once Close returns")
	require.FileExists(t, note)
	require.NoError(t, host.Close())
	_, err := host.Load(t.Context(), provider.Package{Name: "misfit"})
	require.ErrorContains(t, err, "the host is closed")
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

func TestPluginDiesWithUs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can tie a process to its parent")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(self)
	parent.Env = []string{childMode + "=parent", "PLUGIN_DIR=" + pluginDir(t, "misfit")}
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = stdin.Close() }()
	stdout, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.True(t, running(pid))
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return !running(pid) }, time.Minute, 10*time.Millisecond)
}

func TestNothingIsLeftBehind(t *testing.T) { // not parallel because it counts goroutines
	before := runtime.NumGoroutine()
	host := plugin.NewHost(plugin.Options{Env: []string{childMode + "=serve"}, Path: []string{pluginDir(t, "misfit")}})
	var pids []int
	for range 3 {
		_, pid := loadMisfit(t, host)
		pids = append(pids, pid)
	}
	_, err := host.Load(t.Context(), provider.Package{Name: "absent"})
	var missing *provider.MissingError
	require.ErrorAs(t, err, &missing)
	require.NoError(t, host.Close())
	require.NoError(t, host.Close())
	for _, pid := range pids {
		require.False(t, running(pid))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, 5*time.Millisecond,
		"goroutines before: %d", before) // Eventually uses one more goroutine
}
