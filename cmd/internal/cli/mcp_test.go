package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// conversation sends lines to `yamlhost mcp` and returns its answers by their ids.
func conversation(t *testing.T, x *terminal, args []string, lines ...string) map[string]answer {
	t.Helper()
	hello := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	ready := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	streams := console.Streams{In: fromClient, Out: toClient, Err: &x.err}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Run(context.WithoutCancel(t.Context()), append([]string{"mcp"}, args...), streams, x.world)
		toClient.Close()
		fromClient.Close()
	}()
	hangUp := len(args) > 0 && args[0] == "." // the number of answers to a malformed line is not known
	waiting := map[string]bool{"hello": true}
	for _, line := range lines {
		var asked struct{ ID string }
		if json.Unmarshal([]byte(line), &asked) == nil && asked.ID != "" {
			waiting[asked.ID] = true
		}
	}
	go func() {
		for _, line := range append([]string{hello, ready}, lines...) {
			if _, err := io.WriteString(toServer, line+"\n"); err != nil {
				return // the server has ended
			}
		}
		if hangUp {
			toServer.Close()
		}
	}()
	answers := map[string]answer{}
	scanner := bufio.NewScanner(fromServer)
	scanner.Buffer(nil, 1<<22)
	for scanner.Scan() {
		a := answer{line: scanner.Text()}
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &a), a.line)
		id, _ := a.ID.(string)
		answers[id] = a
		if delete(waiting, id); len(waiting) == 0 && len(lines) > 0 && answers["hello"].line != "" {
			toServer.Close()
		}
	}
	<-ended
	return answers
}

type answer struct {
	line   string
	ID     any
	Result struct {
		IsError bool
		Content []struct{ Text string }
		Tools   []struct{ Name string }
	}
	Error *struct{ Message string }
}

func (a answer) text() string {
	var all []string
	for _, c := range a.Result.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

func calling(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool,
		arguments)
}

const secretProgram = `name: one
config:
  password: {type: string, secret: true}
resources:
  pet:
    type: random:RandomPet
    properties: {prefix: "${password}", lengthh: 2}
outputs:
  shown: ${password}
`

// TestAssistant calls every tool, and expects no secret of configuration or state in the answers.
func TestAssistant(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, strings.Replace(secretProgram, ", lengthh: 2", "", 1))
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=canary-passphrase")
	for _, args := range [][]string{{"stack", "init", "dev"}, {"config", "set", "--secret", "password", "canary-password"},
		{"up", "--yes"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
	}
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(secretProgram), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "..", "outside.yaml"), []byte("name: canary-outside\n"),
		0o644))
	require.NoError(t, os.Symlink(filepath.Join(x.world.Dir, "..", "outside.yaml"),
		filepath.Join(x.world.Dir, "link.yaml")))
	answers := conversation(t, x, []string{"--allow-plan"},
		`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`,
		calling("check", "check", `{}`), calling("explain", "explain", `{"code":"y210"}`),
		calling("schema", "schema", `{"type":"random:RandomPet"}`),
		calling("tokens", "schema", `{"type":"random","query":"pet"}`),
		calling("functions", "functions", `{"name":"fn::join"}`), calling("graph", "graph", `{"file":"Pulumi.yaml"}`),
		calling("plan", "plan", `{}`),
		calling("up", "check", `{"file":"../outside.yaml"}`), calling("absolute", "check", `{"file":"/etc/passwd"}`),
		calling("link", "check", `{"file":"link.yaml"}`), calling("folder", "graph", `{"file":"."}`),
		calling("none", "check", `{"file":"none.yaml"}`), calling("settings", "check", `{"file":"Pulumi.dev.yaml"}`),
		calling("code", "explain", `{"code":"Y999"}`), calling("package", "schema", `{"type":"nothing:Here"}`),
		calling("wrong", "check", `{"file":3}`), calling("more", "check", `{"other":true}`), calling("tool", "destroy", `{}`),
		`{"jsonrpc":"2.0","id":"method","method":"no/such"}`,
	)
	var tools []string
	for _, tool := range answers["tools"].Result.Tools {
		tools = append(tools, tool.Name)
	}
	require.ElementsMatch(t, []string{"check", "explain", "schema", "functions", "graph", "plan"}, tools)
	require.Contains(t, answers["check"].text(), "lengthh")
	require.Contains(t, answers["explain"].text(), "Y210")
	require.Contains(t, answers["schema"].text(), `"separator"`)
	require.Contains(t, answers["tokens"].text(), "random:RandomPet")
	require.Contains(t, answers["functions"].text(), "join(")
	require.Contains(t, answers["graph"].text(), `"resource:pet"`)
	require.Contains(t, answers["plan"].text(), "lengthh")
	for id, want := range map[string]string{"up": "outside of the folder", "absolute": "outside of the folder",
		"link":   "outside of the folder",
		"folder": "not a file", "none": "does not exist", "code": "there is no code", "package": "not known here"} {
		require.True(t, answers[id].Result.IsError, id)
		require.Contains(t, answers[id].text(), want, id)
	}
	for _, id := range []string{"wrong", "more", "tool", "method"} {
		require.True(t, answers[id].Result.IsError || answers[id].Error != nil, answers[id].line)
	}
	require.NotContains(t, x.err.String(), "canary")
	for id, a := range answers {
		require.NotContains(t, a.line, "canary", id)
	}
}

// TestAssistantMayNotPlan expects no tool for previews without --allow-plan.
func TestAssistantMayNotPlan(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	answers := conversation(t, x, nil, `{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`,
		calling("plan", "plan", `{}`))
	require.Len(t, answers["tools"].Result.Tools, 5)
	require.NotNil(t, answers["plan"].Error, answers["plan"].line)
}

// TestAssistantOfASubfolder expects that a server for a subfolder does not read the project around it.
func TestAssistantOfASubfolder(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	sub := filepath.Join(x.world.Dir, "sub")
	require.NoError(t, os.Mkdir(sub, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(sub, "Main.yaml"), []byte("outputs: {o: 1}\n"), 0o644))
	answers := conversation(t, x, []string{sub}, calling("check", "check", `{"file":"Main.yaml"}`))
	require.Contains(t, answers["check"].text(), "belongs to a project outside")
}

// TestMalformedMessages expects that the server does not crash.
func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{`, `[]`, `null`, `{"jsonrpc":"1.0","id":"a","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[]}`, "\x00\xff"} {
		x := newTerminal(t, onePet)
		conversation(t, x, []string{"."}, line)
		require.NotContains(t, x.err.String(), "panic", line)
		require.NotContains(t, x.err.String(), "goroutine", line)
	}
}
