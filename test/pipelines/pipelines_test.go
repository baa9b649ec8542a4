package pipelines

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v4"
)

// programs holds the projects of the repository for the pipelines.
var programs = map[string]string{
	"zone/Pulumi.yaml": "name: zone\nruntime: yaml\nresources:\n  pet: {type: random:RandomPet}\n" +
		"outputs: {apex: example.com, pet: '${pet.id}'}\n",
	"net work/Pulumi.yaml": "name: network\nruntime: yaml\nresources:\n  zone: {type: 'pulumi:pulumi:StackReference', " +
		"get: {id: 'organization/zone/${pulumi.stack}'}}\n" +
		"  pet: {type: random:RandomPet, properties: {prefix: '${zone.outputs[\"pet\"]}'}}\n" +
		"outputs: {apex: 'net.${zone.outputs[\"apex\"]}', id: '${pet.id}'}\n",
	"apps/web/Pulumi.yaml": "name: web\nruntime: yaml\nresources:\n  net: {type: 'pulumi:pulumi:StackReference', " +
		"get: {id: 'organization/network/${pulumi.stack}'}}\noutputs: {address: 'www.${net.outputs[\"apex\"]}'}\n",
	// Each of these needs one project, in parallel with those above.
	"dns/Pulumi.yaml": "name: dns\nruntime: yaml\nresources:\n  zone: {type: 'pulumi:pulumi:StackReference', " +
		"get: {id: 'organization/zone/${pulumi.stack}'}}\noutputs: {apex: 'dns.${zone.outputs[\"apex\"]}'}\n",
	"apps/mail/Pulumi.yaml": "name: mail\nruntime: yaml\nresources:\n  dns: {type: 'pulumi:pulumi:StackReference', " +
		"get: {id: 'organization/dns/${pulumi.stack}'}}\noutputs: {address: 'mail.${dns.outputs[\"apex\"]}'}\n",
	"apps/api/Pulumi.yaml": "name: api\nruntime: yaml\nresources:\n  net: {type: 'pulumi:pulumi:StackReference', " +
		"get: {id: 'organization/network/${pulumi.stack}'}}\noutputs: {address: 'api.${net.outputs[\"apex\"]}'}\n",
}

// repository returns a folder with the projects, and an environment with a backend of its own and yamlhost on PATH.
func repository(t *testing.T) (dir string, env []string) {
	t.Helper()
	top := t.TempDir()
	bin := filepath.Join(top, "bin")
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "yamlhost"), "./cmd/yamlhost")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	dir = filepath.Join(top, "repository")
	for name, text := range programs {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"home", "state"} {
		if err := os.MkdirAll(filepath.Join(top, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(top, "home"),
		"PULUMI_HOME=" + filepath.Join(top, "home", ".pulumi"), "PULUMI_BACKEND_URL=file://" + filepath.Join(top, "state"),
		"PULUMI_CONFIG_PASSPHRASE=secret", "PULUMI_IGNORE_AMBIENT_PLUGINS=true", "npm_config_offline=true"}
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// try is command, but returns an error.
func try(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	for _, variable := range env {
		if list, found := strings.CutPrefix(variable, "PATH="); found && !filepath.IsAbs(name) {
			for _, folder := range filepath.SplitList(list) {
				if _, fault := os.Stat(filepath.Join(folder, name)); fault == nil {
					path, err = filepath.Join(folder, name), nil
					break
				}
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %v: %w\n%s%s", name, args, err, out.String(), said.String())
	}
	return out.String(), nil
}

// outputs checks the final outputs of the stacks.
func outputs(t *testing.T, dir string, env []string) {
	t.Helper()
	for project, want := range map[string]string{"apps/web": "www.net.example.com\n",
		"apps/api": "api.net.example.com\n", "apps/mail": "mail.dns.example.com\n"} {
		got := command(t, dir, env, "yamlhost", "-C", project, "stack", "output", "address", "--stack", "dev")
		if got != want {
			t.Errorf("%s has %q, not %q", project, got, want)
		}
	}
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	dir, env := repository(t)
	text := command(t, dir, env, "yamlhost", "run", "--all", "--emit", "github-matrix")
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	faults, err := linter.Lint(".github/workflows/yamlhost.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Errorf("actionlint: %v", fault)
	}
	if failed := runWorkflow(t, dir, env, text); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	outputs(t, dir, env)
}

// A failed job skips only the jobs that need its stack, and neither jobs at the same depth nor jobs of the same matrix.
func TestGitHubFailure(t *testing.T) {
	t.Parallel()
	for broken, want := range map[string]map[string]bool{ // whether each stack exists in the end
		"net work": {"zone": true, "dns": true, "apps/mail": true, "apps/web": false, "apps/api": false},
		"apps/api": {"zone": true, "dns": true, "apps/mail": true, "apps/web": true, "apps/api": false},
	} {
		dir, env := repository(t)
		text := command(t, dir, env, "yamlhost", "run", "--all", "--emit", "github-matrix")
		path := filepath.Join(dir, broken, "Pulumi.yaml")
		program, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(program, "nonsense: [\n"...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if failed := runWorkflow(t, dir, env, text); len(failed) == 0 {
			t.Errorf("%s: nothing failed", broken)
		}
		for project, there := range want {
			_, err := try(t, dir, env, "yamlhost", "-C", project, "stack", "export", "--stack", "dev")
			if (err == nil) != there {
				t.Errorf("%s broken: the stack of %s: %v", broken, project, err)
			}
		}
	}
}

type workflow struct {
	Env  map[string]string
	Jobs map[string]job
}

type job struct {
	Needs    []string
	If       string
	Env      map[string]string
	Strategy struct {
		Matrix struct{ Include []map[string]string }
	}
	Steps []struct {
		Uses, Run string
		With      map[string]string
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z]+)\.([A-Za-z_]+) *\}\}`)

// despite matches the only condition that jobs of the workflows have.
var despite = regexp.MustCompile(`^\$\{\{ !cancelled\(\) && needs\.([A-Za-z0-9_-]+)\.result != 'skipped' \}\}$`)

// runWorkflow runs the jobs of a workflow in the order of their needs, each in a checkout of its own, and returns the
// names of the jobs that fail. Variables and secrets are those of env; artefacts go through a folder. As with GitHub, a
// job without a condition is skipped if any of its direct or indirect needs failed or was skipped.
func runWorkflow(t *testing.T, dir string, env []string, text string) (failed []string) {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	artefacts := t.TempDir()
	results := map[string]string{}
	var well func(name string) bool
	well = func(name string) bool {
		return results[name] == "success" &&
			!slices.ContainsFunc(w.Jobs[name].Needs, func(need string) bool { return !well(need) })
	}
	for len(results) < len(w.Jobs) {
		progress := false
		for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
			job := w.Jobs[name]
			if results[name] != "" || slices.ContainsFunc(job.Needs, func(need string) bool { return results[need] == "" }) {
				continue
			}
			progress = true
			goes := !slices.ContainsFunc(job.Needs, func(need string) bool { return !well(need) })
			if job.If != "" {
				part := despite.FindStringSubmatch(job.If)
				if part == nil || !slices.Contains(job.Needs, part[1]) {
					t.Fatalf("nobody here knows the condition %q", job.If)
				}
				goes = results[part[1]] != "skipped"
			}
			if !goes {
				results[name] = "skipped"
				continue
			}
			results[name] = "success"
			for _, matrix := range job.Strategy.Matrix.Include {
				if err := runJob(t, dir, env, artefacts, w.Env, job, matrix); err != nil {
					results[name] = "failure"
					failed = append(failed, name)
				}
			}
		}
		if !progress {
			t.Fatalf("no job can go on: %v", results)
		}
	}
	return failed
}

// runJob runs the steps of one job of a matrix, until one of them fails.
func runJob(t *testing.T, dir string, env []string, artefacts string, common map[string]string, job job,
	matrix map[string]string) error {
	fill := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(found string) string {
			part := expression.FindStringSubmatch(found)
			if part[1] == "matrix" {
				return matrix[part[2]]
			}
			for _, variable := range env {
				if value, is := strings.CutPrefix(variable, part[2]+"="); is {
					return value
				}
			}
			t.Fatalf("%s is not known", found)
			return ""
		})
	}
	checkout := t.TempDir()
	if err := os.CopyFS(checkout, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	variables := slices.Clone(env)
	for _, list := range []map[string]string{common, job.Env} {
		for key, value := range list {
			variables = append(variables, key+"="+fill(value))
		}
	}
	for _, step := range job.Steps {
		switch action, _, _ := strings.Cut(step.Uses, "@"); {
		case step.Run != "":
			if _, err := try(t, checkout, variables, "bash", "-e", "-o", "pipefail", "-c", fill(step.Run)); err != nil {
				return err
			}
		case action == "actions/upload-artifact":
			move(t, filepath.Join(checkout, fill(step.With["path"])), filepath.Join(artefacts, fill(step.With["name"])))
		case action == "actions/download-artifact":
			if err := os.CopyFS(checkout, os.DirFS(filepath.Join(artefacts, fill(step.With["name"])))); err != nil {
				return err
			}
		case action != "actions/checkout":
			t.Fatalf("nobody here knows %q", step.Uses)
		}
	}
	return nil
}

func move(t *testing.T, file, folder string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestGitLab(t *testing.T) {
	t.Parallel()
	tool, err := filepath.Abs("node_modules/.bin/gitlab-ci-local")
	if err != nil {
		t.Fatal(err)
	}
	shim, err := filepath.Abs("node20.cjs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		t.Skip("gitlab-ci-local is not installed: npm ci in test/pipelines")
	}
	if _, err := exec.LookPath("rsync"); err != nil {
		t.Skip("gitlab-ci-local copies checkouts with rsync, which is not installed")
	}
	dir, env := repository(t)
	text := command(t, dir, env, "yamlhost", "run", "--all", "--emit", "gitlab-pipeline")
	if err := os.WriteFile(filepath.Join(dir, ".gitlab-ci.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "one"},
		{"remote", "add", "origin", "git@gitlab.example.com:group/project.git"},
		{"config", "user.name", "a"}, {"config", "user.email", "a@b.c"}} {
		command(t, dir, env, "git", args...)
	}
	args := []string{"--require", shim, tool, "--no-color"}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); name != "HOME" && name != "PATH" {
			args = append(args, "--variable", variable)
		}
	}
	command(t, dir, env, "node", args...)
	outputs(t, dir, env)
	plans := 0
	err = filepath.WalkDir(filepath.Join(dir, ".gitlab-ci-local"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".plan.json") {
			plans++
		}
		return err
	})
	if err != nil || plans < len(programs) {
		t.Errorf("there are %d plans among the artefacts: %v", plans, err)
	}
}
