package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// language is a language host whose plugins are this test binary in the mode of an option. Like real language hosts it
// runs them in separate processes.
type language struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
}

func languageHost(ctx context.Context) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	server := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(server, language{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() { <-ctx.Done(); server.Stop() }()
	_ = server.Serve(listener)
	return 0
}

type sender struct {
	stream pulumirpc.LanguageRuntime_RunPluginServer
	stderr bool
}

func (s sender) Write(p []byte) (int, error) {
	text := append([]byte(nil), p...)
	r := &pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}}
	if s.stderr {
		r.Output = &pulumirpc.RunPluginResponse_Stderr{Stderr: text}
	}
	return len(p), s.stream.Send(r)
}

func (language) RunPlugin(r *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	mode := r.GetInfo().GetOptions().GetFields()["mode"].GetStringValue()
	if mode == "refuse" {
		return errors.New("cannot find module 'express'")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(stream.Context(), self, r.GetArgs()...)
	command.Dir, command.Env = r.GetPwd(), append(r.GetEnv(), childMode+"="+mode, "RUN_FROM="+
		r.GetInfo().GetProgramDirectory())
	command.Stdout, command.Stderr = sender{stream, false}, sender{stream, true}
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	_ = command.Run() // the exit code is sent below
	return stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(
		command.ProcessState.ExitCode())}})
}

// scriptHost returns a host with a plugin in source form. Its language host is this test binary.
func scriptHost(t *testing.T, script plugin.Script, change func(*plugin.Options)) *plugin.Host {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	o := plugin.Options{
		Env: []string{childMode + "=language"}, Home: t.TempDir(), ProgramDir: t.TempDir(), PulumiVersion: "3.200.0",
		ReadScript: func(string) (plugin.Script, error) { return script, nil }, Languages: map[string][]string{"toy": {self}},
		StartLimit: 5 * time.Second,
	}
	testfile.Write(t, filepath.Join(o.Home, "plugins", "resource-misfit-v1.0.0", "PulumiPlugin.yaml"), "runtime: toy\n")
	if change != nil {
		change(&o)
	}
	host := plugin.NewHost(o)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return host
}

func toy(mode string) plugin.Script {
	return plugin.Script{Language: "toy", Options: map[string]any{"mode": mode}}
}

// The language host runs a plugin in source form, which then works like any other plugin (F2.30, F9.10).
func TestScript(t *testing.T) {
	t.Parallel()
	p, err := scriptHost(t, toy("serve"), nil).Load(t.Context(), provider.Package{Name: "misfit", Version: "1.0.0"})
	require.NoError(t, err)
	configured, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.EmptyMap()})
	require.NoError(t, err)
	got, err := configured.Invoke(t.Context(), provider.InvokeRequest{Token: "env"})
	require.NoError(t, err)
	dir, _ := got.Result.Get("RUN_FROM").AsString()
	require.Equal(t, "resource-misfit-v1.0.0", filepath.Base(dir))

	_, err = create(t.Context(), configured, "crash")
	var crash *provider.CrashError
	require.ErrorAs(t, err, &crash)
	require.Equal(t, "exit status 3", crash.Exit, "that of the plugin, not of its host")
	require.Contains(t, crash.Output, "panic: out of cheese")
	require.NoError(t, p.Close())
}

// The process of a plugin in source form ends when the plugin is closed.
func TestScriptEnds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	p, pid := loadMisfit(t, scriptHost(t, toy("serve"), nil))
	require.DirExists(t, fmt.Sprintf("/proc/%d", pid))
	require.NoError(t, p.Close())
	require.Eventually(t, func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		return err != nil
	}, time.Minute, 5*time.Millisecond)
}

func TestScriptFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script plugin.Script
		change func(*plugin.Options)
		wrong  string
	}{
		"no language host": {script: plugin.Script{Language: "cobol"},
			wrong: "plugin misfit is written in cobol, and no pulumi-language-cobol that could run it is on $PATH"},
		"no language": {wrong: "does not say which language it is written in; it needs `runtime: …`"},
		"another Pulumi": {script: plugin.Script{Language: "toy", Requires: ">=4.0.0"},
			wrong: "plugin misfit requires the version >=4.0.0 of Pulumi, and this program is compatible with 3.200.0"},
		"no range": {script: plugin.Script{Language: "toy", Requires: "new"},
			wrong: "which is not a range of versions"},
		"cannot be run at all": {change: func(o *plugin.Options) { o.ReadScript = nil }, wrong: "which cannot be run here"},
		"cannot be read": {change: func(o *plugin.Options) {
			o.ReadScript = func(string) (plugin.Script, error) { return plugin.Script{}, errors.New("line 2 is not YAML") }
		}, wrong: "start plugin misfit: line 2 is not YAML"},
		"ends at once": {script: toy("exit"),
			wrong: "plugin misfit stopped unexpectedly (exit status 7); its last output:\n    cannot find my configuration"},
		"its host refuses": {script: toy("refuse"), wrong: "cannot find module 'express'"},
		"prints something else": {script: toy("nonsense"),
			wrong: `plugin misfit printed "Welcome to my program!" where its port was expected`},
		"no port": {script: toy("silent"), change: func(o *plugin.Options) { o.StartLimit = time.Second / 2 },
			wrong: "plugin misfit did not print its port within 3s; its last output:\n    thinking"},
		"the host's host is not a host": {script: toy("serve"), change: func(o *plugin.Options) {
			o.Env = []string{childMode +
				"=exit"}
		}, wrong: "stopped unexpectedly (exit status 7)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := scriptHost(t, c.script, c.change).Load(t.Context(), provider.Package{Name: "misfit"})
			require.ErrorContains(t, err, c.wrong)
		})
	}
}
