package life

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// automation is a folder with Pulumi's automation package for Node.js, installed by its lock file.
var automation = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs(filepath.Join(kept, "automation"))
	if err == nil && kept == "" {
		dir, err = os.MkdirTemp("", "automation")
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for _, name := range []string{"package.json", "package-lock.json", "drive.js"} {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(filepath.Join("testdata/automation", name))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
	}
	if err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the automation package: %s", text)
	}
	return dir, nil
})

// TestAutomation drives a project with Pulumi's automation package, once with the Pulumi CLI and once with our program
// under its name. The same calls must have the same results.
func TestAutomation(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	dir, err := automation()
	require.NoError(t, err)
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	drive := func(script string) string {
		s := newSandbox(t)
		s.write("Pulumi.yaml", `name: auto
runtime: yaml
config:
  size: {type: integer}
  colour: {type: string, default: blue}
  pw: {type: string, secret: true}
resources:
  r: {type: simple:Resource, properties: {value: true}, options: {version: 2.0.0}}
outputs: {name: "${r.value}", secret: "${pw}"}
`)
		bin, backend := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bin, "pulumi"), []byte(script), 0o755))
		cmd := exec.Command(node, "drive.js", s.dir, backend)
		cmd.Dir = dir
		cmd.Env = append(environment(bin+":"+s.bin, filepath.Dir(s.dir), backend), "PULUMI_CONFIG_PASSPHRASE=")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil {
			require.ErrorAs(t, err, &exit)
			require.NoError(t, err, "%s\n%s", out, exit.Stderr)
		}
		return string(out)
	}
	bin, err := binaries()
	require.NoError(t, err)
	// A Pulumi CLI that is built from its module does not report a version.
	stock := drive("#!/bin/sh\n[ \"$1\" = version ] && echo v3.259.0 && exit\nexec " + filepath.Join(bin, "pulumi") +
		" \"$@\"\n")
	require.NoError(t, exec.Command(filepath.Join(bin, "yamlhost"), "shim", filepath.Join(bin, "shim")).Run())
	require.Equal(t, stock, drive("#!/bin/sh\nexec "+filepath.Join(bin, "shim", "pulumi")+" \"$@\"\n"))
}
