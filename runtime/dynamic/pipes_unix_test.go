//go:build unix

package dynamic

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// A host script takes its requests from pipes that the environment names, as on Windows, and the code sees no trace.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	for program, c := range map[string]struct{ flag, script, code string }{
		"node": {"-e", nodeHost,
			"exports.default = { create(i) { return { id: i.a + String(process.env." + pipeVariable + ") } } }"},
		"python3": {"-c", pythonHost, `{"entry": "p.py", "files": {"p.py": "import os\nclass P:\n    def create(self, i):\n` +
			`        return {'id': i['a'] + str(os.environ.get('` + pipeVariable + `'))}\n"}}`},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			path := findProgram(program, filepath.SplitList(os.Getenv("PATH")))
			if path == "" {
				t.Skipf("there is no %s on PATH", program)
			}
			name := filepath.Join(t.TempDir(), "p")
			require.NoError(t, syscall.Mkfifo(name+"-requests", 0o600))
			require.NoError(t, syscall.Mkfifo(name+"-answers", 0o600))
			cmd := exec.Command(path, c.flag, c.script)
			cmd.Env = append(os.Environ(), pipeVariable+"="+name)
			cmd.Stderr = os.Stderr
			require.NoError(t, cmd.Start())
			requests, err := os.OpenFile(name+"-requests", os.O_RDWR, 0) // also before the script opens it
			require.NoError(t, err)
			answers, err := os.OpenFile(name+"-answers", os.O_RDWR, 0)
			require.NoError(t, err)
			lines := bufio.NewReader(answers)
			ask := func(n int, method string, args map[string]any) (answer reply) {
				line, err := json.Marshal(map[string]any{"n": n, "m": method, "a": args})
				require.NoError(t, err)
				_, err = requests.Write(append(line, '\n'))
				require.NoError(t, err)
				for answer.N != n || answer.Begun {
					line, err := lines.ReadBytes('\n')
					require.NoError(t, err)
					answer = reply{}
					require.NoError(t, json.Unmarshal(line, &answer))
				}
				return answer
			}
			ask(1, "load", map[string]any{"code": c.code, "file": "p"})
			ask(2, "configure", map[string]any{"project": "p", "stack": "s", "config": map[string]any{}})
			got := ask(3, "create", map[string]any{"inputs": map[string]any{"a": "Zürich "}})
			none := map[string]string{"node": "undefined", "python3": "None"}[program]
			require.JSONEq(t, `{"id": "Zürich `+none+`"}`, string(got.OK))
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			require.NoError(t, requests.Close())
			require.NoError(t, answers.Close())
		})
	}
}

// Windows accepts command lines of up to 32,767 characters, in which quotes and backslashes are escaped.
func TestScriptsFitIntoACommandLine(t *testing.T) {
	t.Parallel()
	for _, script := range []string{nodeHost, pythonHost} {
		require.Less(t, len(script)+strings.Count(script, `"`)+strings.Count(script, `\`), 30_000)
	}
}

// A limit ends a process that reads nothing, however large the requests are that wait for it.
func TestRequestsThatNobodyReads(t *testing.T) {
	t.Parallel()
	if findProgram("node", filepath.SplitList(os.Getenv("PATH"))) == "" {
		t.Skip("there is no node on PATH")
	}
	p := startCode(t, "t.js", "module.exports = { create(i) { if (!i.text) return { id: 'a' }; for (;;); } };\n",
		os.Getenv("PATH"))
	_, err := p.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Inputs: value.EmptyMap()})
	require.NoError(t, err)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			_, err := p.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Timeout: 2,
				Inputs: strs("text", strings.Repeat("x", 4<<20))})
			assert.ErrorAs(t, err, new(*provider.Error))
		})
	}
	wait.Wait()
}
