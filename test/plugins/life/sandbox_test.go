package life

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// kept is a folder that keeps the binaries, so that the next run links only changed ones; none by default.
var kept = os.Getenv("YAMLHOST_LIFE_BINARIES")

// binaries builds all programs once for all tests: yamlhost and the plugins, each conformance provider under its own
// name, and in stock/ the Pulumi CLI's own language host.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := kept, error(nil)
	if kept != "" {
		err = os.MkdirAll(dir, 0o755)
	} else {
		dir, err = os.MkdirTemp("", "yamlhost-life-")
	}
	if err != nil {
		return "", err
	}
	for _, b := range []struct{ in, out, pkg string }{
		{"../../..", "yamlhost", "./cmd/yamlhost"},
		{"../../..", "service", "./test/service"},
		{"..", "pulumi-resource-shelf", "./shelf"},
		{"..", "wiretap", "./wiretap"},
		{"..", "pulumi-language-nodejs", "./nodehost"},
		{"..", "conformance", "./conformance"},
		{"../../..", "pulumi-language-yaml", "./cmd/pulumi-language-yaml"},
		{"..", "stock/pulumi-language-yaml", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"},
		{"..", "pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"},
	} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, b.out), b.pkg)
		cmd.Dir = b.in
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %s", b.pkg, text)
		}
	}
	names, err := exec.Command(filepath.Join(dir, "conformance"), "list").Output()
	if err != nil {
		return "", err
	}
	for _, name := range strings.Fields(string(names)) {
		link := filepath.Join(dir, "pulumi-resource-"+name)
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
			return "", err
		}
		if err := os.Symlink(filepath.Join(dir, "conformance"), link); err != nil {
			return "", err
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := binaries(); err == nil && kept == "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// sandbox is a project with a backend and a home of its own.
type sandbox struct {
	t   *testing.T
	dir string // the project
	bin string
	env []string
	in  string // the folder that programs read

	service string // the URL of the test server; see serve
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	bin, err := binaries()
	require.NoError(t, err)
	root := t.TempDir()
	project, home, backend := filepath.Join(root, "project"), filepath.Join(root, "home"), filepath.Join(root, "backend")
	for _, d := range []string{project, home, backend} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	return &sandbox{t: t, dir: project, bin: bin, env: environment(bin, home, backend)}
}

// environment returns the environment of a user with only a home and a backend.
func environment(bin, home, backend string) []string {
	return []string{
		"HOME=" + home,
		"PULUMI_HOME=" + filepath.Join(home, ".pulumi"),
		"PATH=" + bin + ":/usr/bin:/bin",
		"PULUMI_BACKEND_URL=file://" + backend,
		"PULUMI_CONFIG_PASSPHRASE=life",
		"NO_COLOR=1",
		"PULUMI_SKIP_UPDATE_CHECK=1",
	}
}

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644))
}

// run runs yamlhost, requires the exit code, and returns standard output and standard error.
func (s *sandbox) run(code int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	return s.program(code, "yamlhost", args...)
}

// pulumi runs the Pulumi CLI, which must succeed.
func (s *sandbox) pulumi(args ...string) (stdout string) {
	s.t.Helper()
	stdout, _ = s.program(0, "pulumi", append(args, "--non-interactive")...)
	return stdout
}

func (s *sandbox) program(code int, name string, args ...string) (stdout, stderr string) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.in), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(s.t, err)
	}
	require.Equal(s.t, code, cmd.ProcessState.ExitCode(), "%s %s\n%s\n%s", name, strings.Join(args, " "), out.String(),
		errs.String())
	return out.String(), errs.String()
}

// try runs yamlhost and returns its whole output and whether it exited with 0.
func (s *sandbox) try(args ...string) (output string, ok bool) {
	cmd := exec.Command(filepath.Join(s.bin, "yamlhost"), args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

// changes runs an operation with --json and returns its counts.
func (s *sandbox) changes(args ...string) map[string]int {
	s.t.Helper()
	out, _ := s.run(0, append(args, "--json")...)
	counts, err := summary(out)
	require.NoError(s.t, err)
	return counts
}

// resources returns the stack's exported resources by name.
func (s *sandbox) resources() map[string]map[string]any {
	s.t.Helper()
	out, _ := s.run(0, "stack", "export", "--show-secrets")
	var export struct {
		Deployment struct{ Resources []map[string]any }
	}
	require.NoError(s.t, json.Unmarshal([]byte(out), &export))
	byName := map[string]map[string]any{}
	for _, r := range export.Deployment.Resources {
		urn := r["urn"].(string)
		byName[urn[strings.LastIndex(urn, "::")+2:]] = r
	}
	return byName
}
