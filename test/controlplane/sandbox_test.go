package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sandbox is a project with a home, a backend and a namespace of its own.
type sandbox struct {
	plane
	namespace string
	project   string
	env       []string
}

// failed is the exit code of an operation in which a provider failed.
const failed = 14

// made is the label of all objects of programs.
const made = "made-by=yamlhost"

func (p *plane) sandbox(t *testing.T, namespace string) *sandbox {
	root := t.TempDir()
	s := &sandbox{plane: *p, namespace: namespace, project: filepath.Join(root, "project")}
	s.t = t
	home, backend := filepath.Join(root, "home"), filepath.Join(root, "backend")
	for _, d := range []string{s.project, home, backend} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	s.env = []string{"HOME=" + home, "PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "PATH=" + p.bin + ":/usr/bin:/bin",
		"PULUMI_BACKEND_URL=file://" + backend, "PULUMI_CONFIG_PASSPHRASE=plane", "NO_COLOR=1",
		"PULUMI_SKIP_UPDATE_CHECK=1", "KUBECONFIG=" + filepath.Join(root, "kubeconfig")}
	s.through(p.url)
	p.do("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata": {"name": %q}}`, namespace))
	s.program("resources: {}\n")
	s.yamlhost(0, "stack", "init", "dev")
	return s
}

// through replaces the API server's address for programs by that of a proxy.
func (s *sandbox) through(url string) {
	path := strings.TrimPrefix(s.env[len(s.env)-1], "KUBECONFIG=")
	require.NoError(s.t, os.WriteFile(path, []byte(s.kubeconfig(url, "token: "+token)), 0o600))
}

// program writes the project file: resources in YAML, with NAMESPACE for the namespace and LABELS for labels.
func (s *sandbox) program(resources string) {
	s.t.Helper()
	resources = strings.NewReplacer("NAMESPACE", s.namespace, "LABELS", "{"+strings.ReplaceAll(made, "=", ": ")+"}").
		Replace(resources)
	s.write("Pulumi.yaml", "name: plane\nruntime: yaml\n"+resources)
}

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.project, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644))
}

// command returns a yamlhost command in the project.
func (s *sandbox) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, "yamlhost"), args...)
	cmd.Dir, cmd.Env = s.project, s.env
	return cmd
}

// yamlhost runs the program, requires the exit code, and returns the output.
func (s *sandbox) yamlhost(code int, args ...string) (said string) {
	s.t.Helper()
	said, got := s.try(args...)
	require.Equal(s.t, code, got, "yamlhost %s\n%s", strings.Join(args, " "), said)
	return said
}

// try runs the program and returns its output and exit code.
func (s *sandbox) try(args ...string) (said string, code int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(s.t, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// recorded returns the objects of the state by their paths on the API server.
func (s *sandbox) recorded() map[string]object {
	s.t.Helper()
	cmd := s.command("stack", "export", "--show-secrets", "--stack", "dev")
	out, err := cmd.Output()
	require.NoError(s.t, err, string(out))
	var export struct {
		Deployment struct{ Resources []object }
	}
	require.NoError(s.t, json.Unmarshal(out, &export))
	all := map[string]object{}
	for _, r := range export.Deployment.Resources {
		if outputs, ok := r["outputs"].(map[string]any); ok && outputs["kind"] != nil {
			path := pathOf(object(outputs))
			require.NotContains(s.t, all, path, "it is in the state twice")
			all[path] = r
		}
	}
	return all
}

// folder returns the path of the objects of a kind in a namespace.
func folder(apiVersion, kind, namespace string) string {
	path := "/apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		path = "/api/" + apiVersion
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	plural := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(plural, "y") && !strings.HasSuffix(plural, "ay"):
		return path + "/" + strings.TrimSuffix(plural, "y") + "ies"
	case strings.HasSuffix(plural, "s"):
		return path + "/" + plural + "es"
	}
	return path + "/" + plural + "s"
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func pathOf(o object) string {
	return folder(text(o["apiVersion"]), text(o["kind"]), text(o.at("metadata", "namespace"))) + "/" +
		text(o.at("metadata", "name"))
}

// audit compares the state with the server: each object of the state exists with the same UID, and each object with the
// label of programs is in the state if it is of a kind in the state or of one of kinds. audit returns the number of
// objects.
func (s *sandbox) audit(kinds ...string) int {
	s.t.Helper()
	lost, unknown := s.compare(kinds...)
	require.Empty(s.t, lost, "in the state, not on the server")
	require.Empty(s.t, unknown, "on the server, not in the state")
	return len(s.recorded())
}

func (s *sandbox) compare(kinds ...string) (lost, unknown []string) {
	s.t.Helper()
	recorded := s.recorded()
	folders := map[string]bool{}
	for _, kind := range append(kinds, "v1 ConfigMap", "v1 Secret") {
		version, kind, _ := strings.Cut(kind, " ")
		folders[folder(version, kind, s.namespace)] = true
	}
	uids := map[any]bool{}
	for path, r := range recorded {
		uid := r.at("outputs", "metadata", "uid")
		uids[uid] = true
		folders[path[:strings.LastIndex(path, "/")]] = true
		if code, live := s.get(path); code != 200 || live.at("metadata", "uid") != uid {
			lost = append(lost, fmt.Sprintf("%s (answer %d)", path, code))
		}
	}
	for folder := range folders {
		for _, o := range s.list(folder + "?labelSelector=" + made) {
			if ns := text(o.at("metadata", "namespace")); (ns == "" || ns == s.namespace) && !uids[o.at("metadata", "uid")] {
				unknown = append(unknown, folder+"/"+text(o.at("metadata", "name")))
			}
		}
	}
	slices.Sort(lost)
	slices.Sort(unknown)
	return lost, unknown
}

// settled fails unless a preview and drift find nothing, and state and server agree.
func (s *sandbox) settled() {
	s.t.Helper()
	s.yamlhost(0, "preview", "--expect-no-changes")
	s.yamlhost(0, "drift", "--exit-code")
	s.audit()
}
