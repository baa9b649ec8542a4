package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shelfProgram = `name: library
runtime: yaml
config:
  title: {type: string, default: Walden}
  kind: {type: string, default: book}
resources:
  shelf:
    type: pulumi:providers:shelf
    properties: {dir: DIR}
    defaultProvider: true
  first:
    type: shelf:Item
    properties:
      title: ${title}
      kind: ${kind}
      tags: {language: en}
      pages: [1, 2]
      note: {fn::secret: "borrowed from Ann"}
  second:
    type: shelf:Item
    properties:
      title: after ${first.title}
      tags: {precedes: "${first.path}"}
outputs:
  revision: ${first.revision}
  note: ${first.note}
`

func items(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	return files
}

// TestShelfLife takes a stack through its whole life with a plugin built with pulumi-go-provider.
func TestShelfLife(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := t.TempDir()
	s.write("Pulumi.yaml", strings.ReplaceAll(shelfProgram, "DIR", dir))
	s.run(0, "stack", "init", "dev")

	require.Equal(t, map[string]int{"create": 4}, s.changes("up", "--yes", "--skip-preview"),
		"stack, provider and two items")
	require.Len(t, items(t, dir), 2)
	out, _ := s.run(0, "stack", "output", "--json")
	require.JSONEq(t, `{"revision": 1, "note": "[secret]"}`, out)

	t.Log("again: nothing changes, also not in a preview")
	require.Equal(t, map[string]int{"same": 4}, s.changes("up", "--yes", "--skip-preview"))
	s.run(0, "preview", "--expect-no-changes")

	t.Log("a changed property updates")
	s.run(0, "config", "set", "title", "Walden, or Life in the Woods")
	require.Equal(t, map[string]int{"same": 2, "update": 2}, s.changes("up", "--yes", "--skip-preview"))
	require.Equal(t, float64(2), s.resources()["first"]["outputs"].(map[string]any)["revision"])

	t.Log("a changed kind replaces, and what depends on the item follows")
	s.run(0, "config", "set", "kind", "film")
	before := s.resources()["first"]["id"]
	counts := s.changes("up", "--yes", "--skip-preview")
	require.Equal(t, 1, counts["replace"])
	require.NotEqual(t, before, s.resources()["first"]["id"])
	require.Len(t, items(t, dir), 2, "the original is gone")

	t.Log("what somebody changed by hand, refresh sees and up mends")
	path := s.resources()["first"]["outputs"].(map[string]any)["path"].(string)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "Walden", "Waldo", 1)), 0o600))
	require.Equal(t, 1, s.changes("refresh", "--yes", "--skip-preview")["update"])
	require.Equal(t, 1, s.changes("up", "--yes", "--skip-preview")["update"])

	t.Log("what somebody deleted by hand, refresh forgets and up makes again")
	require.NoError(t, os.Remove(path))
	require.Equal(t, 1, s.changes("refresh", "--yes", "--skip-preview")["delete"])
	require.Equal(t, 1, s.changes("up", "--yes", "--skip-preview")["create"])

	t.Log("destroy leaves nothing")
	s.changes("destroy", "--yes", "--skip-preview")
	require.Empty(t, items(t, dir))
	require.Empty(t, s.resources())
}

// TestShelfFailure: if a plugin refuses a create, there is one message with the place in the program, the created
// resources are kept, and the next run creates the rest.
func TestShelfFailure(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := t.TempDir()
	program := strings.ReplaceAll(shelfProgram, "DIR", dir)
	s.write("Pulumi.yaml", strings.Replace(program, "tags: {precedes:", "fail: create\n      tags: {precedes:", 1))
	s.run(0, "stack", "init", "dev")

	_, stderr := s.run(14, "up", "--yes", "--skip-preview")
	require.Equal(t, 1, strings.Count(stderr, "the shelf is full"), stderr)
	require.Contains(t, stderr, "Pulumi.yaml:")
	require.Contains(t, s.resources(), "first")
	require.NotContains(t, s.resources(), "second")

	s.write("Pulumi.yaml", program)
	require.Equal(t, 1, s.changes("up", "--yes", "--skip-preview")["create"])
	require.Len(t, items(t, dir), 2)
	s.changes("destroy", "--yes", "--skip-preview")
}
