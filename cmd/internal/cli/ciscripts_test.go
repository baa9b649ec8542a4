//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// comments is a fake of the paginated comment APIs of GitHub and GitLab.
type comments struct {
	mu    sync.Mutex // guards the fields below
	texts []string   // by ID, starting with 1
	calls []string
}

func (c *comments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer hush" && r.Header.Get("PRIVATE-TOKEN") != "hush" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c.calls = append(c.calls, r.Method)
	var body struct {
		Body string `json:"body"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch r.Method {
	case http.MethodGet:
		page := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		list := []map[string]any{}
		for i := (page - 1) * 100; i < min(page*100, len(c.texts)); i++ {
			list = append(list, map[string]any{"id": i + 1, "body": c.texts[i]})
		}
		_ = json.NewEncoder(w).Encode(list)
	case http.MethodPost:
		c.texts = append(c.texts, body.Body)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "{}")
	case http.MethodPatch, http.MethodPut:
		var id int
		_, _ = fmt.Sscan(filepath.Base(r.URL.Path), &id)
		c.texts[id-1] = body.Body
		_, _ = io.WriteString(w, "{}")
	}
}

// A later run changes its comment on a pull request instead of adding one, however many other comments exist.
func TestCommentIsChanged(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the scripts in ci need %s", tool)
		}
	}
	for name, environ := range map[string]func(url string) []string{
		"github": func(url string) []string {
			return []string{"GITHUB_API_URL=" + url, "GITHUB_REPOSITORY=o/r", "PR_NUMBER=3", "GITHUB_TOKEN=hush"}
		},
		"gitlab": func(url string) []string {
			return []string{"GITLAB_CI=true", "CI_API_V4_URL=" + url, "CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=3",
				"GITLAB_TOKEN=hush"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &comments{}
			for i := range 150 {
				api.texts = append(api.texts, fmt.Sprintf("a word of somebody, %d <!-- yamlhost: dev -->", i))
			}
			server := httptest.NewServer(api)
			defer server.Close()
			file := filepath.Join(t.TempDir(), "report.md")
			comment := func(text, key string, more ...string) (string, error) {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				cmd := exec.Command("../../../examples/ci/scripts/comment.sh", file, key)
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, append(environ(server.URL), more...)...)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			for i, c := range []struct{ text, key, want string }{
				{"### first `$(touch x)` \"quoted\" \\ é", "dev", "added a comment"}, {"second", "dev", "changed comment 151"},
				{"another stack", "prod", "added a comment"}, {"third", "dev", "changed comment 151"}} {
				out, err := comment(c.text, c.key)
				require.NoError(t, err, out)
				require.Contains(t, out, c.want, "call %d", i)
				require.NotContains(t, out, "hush")
			}
			require.Len(t, api.texts, 152)
			require.Equal(t, "<!-- yamlhost: dev -->\nthird", api.texts[150])
			require.Equal(t, "<!-- yamlhost: prod -->\nanother stack", api.texts[151])
			out, err := comment("x", "dev", "GITHUB_TOKEN=wrong", "GITLAB_TOKEN=wrong")
			require.Error(t, err, out)
		})
	}
}

// run.sh writes every report and exits with the exit code of the command.
func TestRunScriptLeavesReports(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"))
	program := x.command(t).Path
	script, err := filepath.Abs("../../../examples/ci/scripts/run.sh")
	require.NoError(t, err)
	run := func(folder string, args ...string) int {
		cmd := exec.Command("sh", append([]string{script, folder}, args...)...)
		cmd.Dir, cmd.Env = x.world.Dir, append(x.command(t).Env, "YAMLHOST="+program)
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err, string(out))
		}
		return cmd.ProcessState.ExitCode()
	}
	require.Equal(t, 0, run("out", "preview"))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"),
		[]byte(strings.Replace(onePet, "RandomPet", "RandomPte", 1)), 0o644))
	require.Equal(t, 12, run("failed", "preview"))
	for _, folder := range []string{"out", "failed"} {
		for _, name := range []string{"report.md", "report.html", "report.json", "report.sarif", "junit.xml", "exit-code"} {
			info, err := os.Stat(filepath.Join(x.world.Dir, folder, name))
			require.NoError(t, err)
			require.Positive(t, info.Size(), name)
		}
	}
}

// The CI recipes are valid YAML, and the scripts that they name exist.
func TestRecipesAreRead(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"examples/ci/github/action.yml", "examples/ci/gitlab/templates/yamlhost.yml",
		"examples/ci/azure/azure-pipelines.yml", ".pre-commit-hooks.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../..", path))
		require.NoError(t, err)
		for _, document := range strings.Split(string(text), "\n---\n") {
			_, faults := parser.Data(diag.NewSource(path, []byte(document)))
			require.Empty(t, faults, path)
		}
		for _, script := range []string{"run.sh", "comment.sh"} {
			if strings.Contains(string(text), "scripts/"+script) {
				require.FileExists(t, filepath.Join("../../../examples/ci/scripts", script))
			}
		}
	}
}
