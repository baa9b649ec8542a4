package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a block of code of a page.
type block struct {
	line int // 1-based, of the first line in the block
	kind string
	text string
}

// blocksOf returns the fenced blocks of a page.
func blocksOf(text string) (found []block) {
	open := false
	for i, line := range strings.Split(text, "\n") {
		switch kind, fence := strings.CutPrefix(line, "```"); {
		case fence && !open:
			found = append(found, block{line: i + 2, kind: kind})
			open = true
		case fence:
			open = false
		case open:
			found[len(found)-1].text += line + "\n"
		}
	}
	return found
}

// everyBlock returns the fenced and the indented blocks of a page.
func everyBlock(text string) []block {
	found := blocksOf(text)
	fenced, open, blank := false, false, true
	for i, line := range strings.Split(text, "\n") {
		fence := strings.HasPrefix(line, "```")
		if fence {
			fenced = !fenced
		}
		empty := strings.TrimSpace(line) == ""
		switch {
		case fenced || fence:
			open = false
		case strings.HasPrefix(line, "    ") && blank && !open:
			found = append(found, block{line: i + 1})
			open = true
			fallthrough
		case strings.HasPrefix(line, "    ") && open:
			found[len(found)-1].text += line[4:] + "\n"
		case empty && open:
			found[len(found)-1].text += "\n"
		default:
			open = false
		}
		blank = empty
	}
	for i := range found {
		if found[i].kind == "" {
			found[i].text = strings.TrimRight(found[i].text, "\n") + "\n"
		}
	}
	return found
}

// TestTutorial follows the page. It writes a block "yaml FILE" to the file and runs the lines of a block "sh"; each
// line of a block "text" must be part of their output. Commands in a block "sh fails" must fail.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/tutorial.md")
	require.NoError(t, err)
	x := emptyTerminal(t)
	x.streams.InTerminal, x.streams.ErrTerminal, x.streams.ReadPassword = false, false, nil
	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"))
	printed, typed := "", 0
	for _, b := range blocksOf(string(page)) {
		kind, name, _ := strings.Cut(b.kind, " ")
		switch kind {
		case "yaml":
			path := filepath.Join(x.world.Dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(b.text), 0o644))
		case "sh":
			printed = ""
			for line := range strings.Lines(b.text) {
				line = strings.TrimSpace(line)
				if dir, ok := strings.CutPrefix(line, "cd "); ok {
					x.world.Dir = filepath.Join(x.world.Dir, dir)
					continue
				}
				if set, ok := strings.CutPrefix(line, "export "); ok {
					x.world.Env = append(x.world.Env, strings.ReplaceAll(set, `"`, ""))
					continue
				}
				args, ok := wordsOf(line)
				require.True(t, ok, line)
				code := x.run(args...)
				require.Equal(t, name == "fails", code != 0, "line %d: %s\n%s%s", b.line, line, x.out.String(), x.err.String())
				printed += x.out.String() + x.err.String()
				typed++
			}
		case "text":
			for line := range strings.Lines(b.text) {
				require.Contains(t, printed, strings.TrimSpace(line), "line %d", b.line)
			}
		default:
			t.Fatalf("line %d: a block of the kind %q", b.line, b.kind)
		}
	}
	require.Greater(t, typed, 25)
	left, err := filepath.Glob(filepath.Join(x.world.Dir, "*.txt"))
	require.NoError(t, err)
	require.Empty(t, left, "what was made is gone")
}
