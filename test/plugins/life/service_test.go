package life

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serve starts the test server in a process of its own and makes it the sandbox's backend. behaviour is a
// host.Behaviour as JSON.
func (s *sandbox) serve(behaviour string) {
	s.t.Helper()
	dir := s.t.TempDir()
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command(filepath.Join(s.bin, "service"), "--dir", dir, "--ready-file", ready)
	cmd.Stderr = os.Stderr
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var where struct{ URL, Token string }
	require.Eventually(s.t, func() bool {
		text, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(text, &where) == nil
	}, time.Minute, 10*time.Millisecond)
	s.env = append(s.env, "PULUMI_BACKEND_URL="+where.URL, "PULUMI_ACCESS_TOKEN="+where.Token)
	s.service = where.URL
	s.behave(behaviour)
}

// behave changes the behaviour of the test server.
func (s *sandbox) behave(behaviour string) {
	s.t.Helper()
	q, err := http.NewRequest(http.MethodPut, s.service+"/test/behaviour", bytes.NewReader([]byte(behaviour)))
	require.NoError(s.t, err)
	answer, err := http.DefaultClient.Do(q)
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	require.Equal(s.t, http.StatusOK, answer.StatusCode)
}

// TestService runs whole lives of stacks with the Pulumi CLI on the server of other tests, with different capabilities
// and faults. It proves that the server speaks the real protocol.
func TestService(t *testing.T) {
	t.Parallel()
	for name, behaviour := range map[string]string{
		"journal":     `{}`,
		"deltas":      `{"forget": ["journal"]}`,
		"checkpoints": `{"forget": ["journal", "delta", "batch-encrypt", "schema"], "version": 7}`,
		"answers lost and calls twice": `{"forget": ["capabilities"], "faults": [
			{"call": "journalentries", "kind": "twice"}, {"call": "PATCH", "after": 2, "times": 2, "kind": "lose-answer"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.serve(behaviour)
			dir := t.TempDir()
			s.write("Pulumi.yaml", strings.ReplaceAll(shelfProgram, "DIR", dir))
			unchanged := func() { s.pulumi("preview", "--expect-no-changes") }

			s.pulumi("login")
			require.Contains(t, s.pulumi("whoami", "--verbose"), "Organizations: tester, team")
			s.pulumi("stack", "init", "team/library/dev")
			s.pulumi("config", "set", "--secret", "key", "hunter2")
			require.Equal(t, "hunter2\n", s.pulumi("config", "get", "key"))
			s.pulumi("up", "--yes")
			unchanged()
			s.pulumi("config", "set", "title", "Walden Two")
			s.pulumi("up", "--yes", "--skip-preview")
			s.pulumi("config", "set", "kind", "film") // replaces
			s.pulumi("up", "--yes", "--skip-preview")
			unchanged()
			require.Len(t, items(t, dir), 2)
			s.pulumi("refresh", "--yes", "--skip-preview")
			unchanged()
			require.Contains(t, s.pulumi("stack", "output", "--json", "--show-secrets"), "borrowed from Ann")

			exported := s.pulumi("stack", "export")
			require.NotContains(t, exported, "borrowed from Ann")
			s.write("exported.json", exported)
			s.pulumi("stack", "import", "--file", "exported.json")
			unchanged()
			require.Contains(t, s.pulumi("stack", "export", "--version", "1"), `"title": "Walden"`)
			var history []struct {
				Kind, Result string
				Version      int
			}
			require.NoError(t, json.Unmarshal([]byte(s.pulumi("stack", "history", "--json")), &history))
			require.Len(t, history, 5)
			require.Equal(t, 5, history[0].Version)

			s.pulumi("stack", "tag", "set", "colour", "blue")
			require.Contains(t, s.pulumi("stack", "tag", "ls"), "blue")
			s.pulumi("stack", "rename", "team/library/prod")
			unchanged()
			require.Contains(t, s.pulumi("stack", "ls", "--json"), `"resourceCount": 4`)
			s.pulumi("destroy", "--yes", "--skip-preview")
			require.Empty(t, items(t, dir))
			s.pulumi("stack", "rm", "--yes")
			require.NoError(t, os.Remove(filepath.Join(s.dir, "exported.json")))
		})
	}
}

// turns lists the commands of a stack's life. SHELF is the shelf, PROJECT the beginning of the URNs of its items, and
// found an existing item.
var turns = []string{
	"stack init dev",
	"config set shelf:dir SHELF",
	"config set --secret key hunter2",
	"up --yes --skip-preview",
	"config set title Emma",
	"up --yes --skip-preview",
	"config set kind film",
	"up --yes --skip-preview", // replaces
	"refresh --yes --skip-preview",
	"preview --expect-no-changes",
	"import shelf:index:Item found found-00000000 --yes --skip-preview --protect=false --generate-code=false",
	"state protect PROJECTfound --yes",
	"state unprotect --all --yes",
	"state rename PROJECTfound kept --yes",
	"up --yes --skip-preview", // deletes what the program does not have
	"stack export --file exported.json",
	"stack import --file exported.json",
	"preview --expect-no-changes",
	"stack tag set colour blue",
	"stack change-secrets-provider passphrase",
	"up --yes --skip-preview --expect-no-changes",
	"stack change-secrets-provider default",
	"config set title Persuasion",
	"up --yes --skip-preview --target PROJECTfirst --target-dependents",
	"state delete PROJECTsecond --yes",
	"up --yes --skip-preview",
	"destroy --yes --skip-preview",
	"up --yes --skip-preview",
	"stack rename prod",
	"destroy --yes --skip-preview",
	"stack rm --yes --preserve-config",
}

// TestServiceInTurn runs the life of a stack of the service with the Pulumi CLI and yamlhost in turn, one command each,
// starting with either. After each command the state equals that of a folder after the same commands. The test takes
// minutes and runs with the other long comparisons (make compare-hosts).
func TestServiceInTurn(t *testing.T) {
	t.Parallel()
	if os.Getenv("YAMLHOST_COMPARE_HOSTS") == "" {
		t.Skip("YAMLHOST_COMPARE_HOSTS is not set")
	}
	for starter, behaviour := range map[string]string{"pulumi": `{}`, "yamlhost": `{"forget": ["journal"]}`} {
		t.Run(starter+" first", func(t *testing.T) {
			t.Parallel()
			hosted, folder := newSandbox(t), newSandbox(t)
			hosted.serve(behaviour)
			hosted.in, folder.in = "life\n", "life\n" // a new passphrase
			who := map[string]string{"pulumi": "yamlhost", "yamlhost": "pulumi"}
			compared := 0
			for turn, tool := 0, starter; turn < len(turns); turn, tool = turn+1, who[tool] {
				var states []string
				for _, s := range []*sandbox{hosted, folder} {
					shelf := filepath.Join(filepath.Dir(s.dir), "shelf")
					if turn == 0 {
						require.NoError(t, os.Mkdir(shelf, 0o755))
						s.write("Pulumi.yaml", strings.ReplaceAll(shelfProgram, "DIR", shelf))
						item := fmt.Sprintf(`{"Title": "Found", "Kind": "map", "Path": %q, "Revision": 1}`,
							filepath.Join(shelf, "found-00000000.json"))
						require.NoError(t, os.WriteFile(filepath.Join(shelf, "found-00000000.json"), []byte(item), 0o600))
					}
					command := strings.NewReplacer("SHELF", shelf, "PROJECT", "urn:pulumi:dev::library::shelf:index:Item::").
						Replace(turns[turn])
					s.program(0, tool, append(strings.Fields(command), "--non-interactive")...)
					if turn < len(turns)-1 {
						l := &life{positions: map[string]string{}}
						states = append(states, l.state(s, first(s.run(0, "stack", "export", "--show-secrets"))))
					}
				}
				if turn < len(turns)-1 {
					require.Equal(t, states[1], states[0], "after %s %s", tool, turns[turn])
					compared++
				}
			}
			t.Logf("%d states were equal", compared)
		})
	}
}
