package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/editor"
	editormcp "github.com/yamlhost/yamlhost/editor/mcp"
)

// spoiled is a line that is not a message, and its answer.
type spoiled struct {
	text string
	code int
	id   any
}

// anySpoiled draws a line that is not a message.
func anySpoiled(t *rapid.T) spoiled {
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		text := rapid.StringMatching(`[^\n]{1,40}`).Filter(func(s string) bool {
			return !json.Valid([]byte(s)) && strings.TrimSpace(s) != ""
		}).Draw(t, "text")
		return spoiled{text, -32700, nil}
	case 1:
		text := rapid.SampledFrom([]string{"5", "null", "true", `"a"`, "1e9", "[]", "[5]", "[[]]",
			`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "{}", `{"jsonrpc":"2.0"}`}).Draw(t, "value")
		return spoiled{text, -32600, nil}
	case 2:
		id := rapid.SampledFrom([]string{"{}", "[]", "true", "1.5", "1e3", "9007199254740993"}).Draw(t, "id")
		return spoiled{`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, -32600, nil}
	case 3:
		rest := rapid.SampledFrom([]string{`"jsonrpc":"1.0","method":"ping"`, `"method":"ping"`,
			`"jsonrpc":"2.0","method":5`, `"jsonrpc":"2.0"`, `"jsonrpc":2,"method":"ping"`,
			`"jsonrpc":"2.0","method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000)}).
			Draw(t, "rest")
		return spoiled{`{"id":"sent",` + rest + `}`, -32600, "sent"}
	case 4: // half of a message, and two messages
		whole := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
		if rapid.Bool().Draw(t, "twice") {
			return spoiled{whole + " " + whole, -32700, nil}
		}
		return spoiled{whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "length")], -32700, nil}
	case 5:
		return spoiled{strings.Repeat("[", 20_000), -32700, nil}
	}
	if rapid.IntRange(0, 9).Draw(t, "long") > 0 {
		return spoiled{"\x00\xff", -32700, nil}
	}
	return spoiled{`{"jsonrpc":"2.0","id":8,"method":"` + strings.Repeat("x", 17<<20) + `"}`, -32600, nil}
}

// TestLinesThatAreNoMessages sends random such lines between calls. Each must be answered by one error, with the id of
// the message if it has one, and the calls must be answered too.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var input, want []string
		hello := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			if rapid.IntRange(0, 2).Draw(t, "call") == 0 {
				input = append(input, fmt.Sprintf(`{"jsonrpc":"2.0","id":"call %d","method":"ping"}`, i))
				want = append(want, fmt.Sprint("call ", i, " 0"))
				continue
			}
			line := anySpoiled(t)
			input = append(input, line.text)
			want = append(want, fmt.Sprint(line.id, " ", line.code))
		}
		input = append(append([]string{hello}, input...), `{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		want = append(want, "hello 0", "last 0")

		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			err := editormcp.Serve(context.Background(), fromClient, toClient, editor.NewSession(opener{}),
				editormcp.Options{Version: "test", Folder: folder, Root: filepath.Dir})
			toClient.Close()
			ended <- err
		}()
		go func() { _, _ = io.WriteString(toServer, strings.Join(input, "\n")+"\n") }() // fails if the server has ended
		var got []string
		answers := bufio.NewReader(fromServer)
		for range want {
			text, err := answers.ReadBytes('\n')
			require.NoError(t, err, got)
			var answer struct {
				Version string `json:"jsonrpc"`
				ID      any
				Error   struct {
					Code    int
					Message string
				}
			}
			require.NoError(t, json.Unmarshal(text, &answer))
			require.Equal(t, "2.0", answer.Version)
			require.Equal(t, answer.Error.Code != 0, answer.Error.Message != "")
			got = append(got, fmt.Sprint(answer.ID, " ", answer.Error.Code))
		}
		require.ElementsMatch(t, want, got)
		toServer.Close()
		require.NoError(t, <-ended)
	})
}
