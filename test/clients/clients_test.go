// Package clients drives a project by Pulumi's automation packages, through this program under the name pulumi and,
// where one is on PATH, beside the Pulumi CLI. The same calls must have the same results.
package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
)

const program = `name: shop
runtime: yaml
config: {size: {type: integer, default: 3}}
outputs: {size: "${size}", pi: 3}
`

// driver drives the project in a folder with a pulumi in the folder bin, and returns what it sees as lines.
type driver func(t *testing.T, bin, project, backend string) string

func TestNode(t *testing.T) {
	if _, err := os.Stat("node_modules/@pulumi/pulumi"); err != nil {
		t.Skip("the package for Node.js is not installed: npm ci")
	}
	beside(t, func(t *testing.T, bin, project, backend string) string {
		cmd := exec.Command("node", "drive.js", project, backend)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, errors.String())
		}
		return string(out)
	})
}

func TestGo(t *testing.T) {
	beside(t, func(t *testing.T, bin, project, backend string) string {
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		env := auto.EnvVars(map[string]string{"PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_BACKEND_URL": "file://" + backend})
		var seen strings.Builder
		say := func(what string, values ...any) { fmt.Fprintln(&seen, what, values) }
		ctx := context.Background()
		stack, err := auto.NewStackLocalSource(ctx, "dev", project, env)
		require(t, err)
		_, err = auto.NewStackLocalSource(ctx, "dev", project, env)
		say("created twice", auto.IsCreateStack409Error(err))
		_, err = auto.SelectStackLocalSource(ctx, "nowhere", project, env)
		say("selected", auto.IsSelectStack404Error(err))
		say("absent key", stack.RemoveConfig(ctx, "absent"))
		say("absent tag", stack.RemoveTag(ctx, "absent"))
		say("absent plugin", stack.Workspace().RemovePlugin(ctx, "nowhere", "9.9.9"))
		list, err := stack.Workspace().ListStacks(ctx)
		require(t, err)
		for _, s := range list {
			say("stack", s.Name, s.Current, s.LastUpdate != "", s.ResourceCount != nil && *s.ResourceCount == 0)
		}
		preview, err := stack.Preview(ctx)
		require(t, err)
		say("preview", preview.ChangeSummary, preview.StdErr, preview.StdOut != "")
		for range 2 {
			up, err := stack.Up(ctx, optup.SuppressOutputs())
			require(t, err)
			say("up", up.StdErr, up.StdOut != "", up.Summary.Result, *up.Summary.ResourceChanges, up.Outputs["size"])
		}
		refresh, err := stack.Refresh(ctx)
		require(t, err)
		say("refresh", refresh.StdErr, refresh.StdOut != "")
		destroy, err := stack.Destroy(ctx)
		require(t, err)
		say("destroy", destroy.StdErr, destroy.StdOut != "", *destroy.Summary.ResourceChanges)
		require(t, stack.Workspace().RemoveStack(ctx, "dev"))
		return seen.String()
	})
}

// beside compares what a client sees of this program with what it sees of the Pulumi CLI, or without that with what
// the CLI of the pinned version has shown. YAMLHOST_UPDATE=1 records that.
func beside(t *testing.T, drive driver) {
	own, err := filepath.Abs("../../bin/yamlhost")
	require(t, err)
	if named := os.Getenv("YAMLHOST_BINARY"); named != "" {
		own = named
	}
	cli, missing := exec.LookPath("pulumi") // before a driver changes PATH
	bin := t.TempDir()
	require(t, os.Symlink(own, filepath.Join(bin, "pulumi")))
	run := func(bin string) string {
		dir := t.TempDir()
		for _, sub := range []string{"home", "backend", "project"} {
			require(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
		}
		require(t, os.WriteFile(filepath.Join(dir, "project", "Pulumi.yaml"), []byte(program), 0o644))
		t.Setenv("PULUMI_HOME", filepath.Join(dir, "home"))
		t.Setenv("PULUMI_SKIP_UPDATE_CHECK", "true")
		return drive(t, bin, filepath.Join(dir, "project"), filepath.Join(dir, "backend"))
	}
	file := filepath.Join("testdata", t.Name()+".txt")
	got := run(bin)
	want, err := os.ReadFile(file)
	if missing == nil {
		t.Logf("compared with %s", cli)
		want, err = []byte(run(filepath.Dir(cli))), nil
		if os.Getenv("YAMLHOST_UPDATE") != "" {
			require(t, os.WriteFile(file, want, 0o644))
		}
	} else {
		t.Log("there is no Pulumi CLI on PATH: compared with what is recorded of it")
	}
	require(t, err)
	if got != string(want) {
		t.Errorf("on %s a client sees\n%s\nand of the Pulumi CLI\n%s", runtime.GOOS, got, want)
	}
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
