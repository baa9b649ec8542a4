package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

var (
	assignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)
	codeSpan   = regexp.MustCompile("`((?:bin/)?yamlhost [^`]*)`")
)

// wordsOf splits a command line as a shell does, as far as pages need it: it removes quotes, and a comment, pipe,
// redirection or further command ends the line. ok is false if the line is not a call of this program.
func wordsOf(line string) (args []string, ok bool) {
	var word strings.Builder
	var quote rune
	inside := false
	flush := func() {
		if inside {
			args = append(args, word.String())
		}
		word.Reset()
		inside = false
	}
scan:
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ':
			flush()
		case strings.ContainsRune("|<>;&", r) || r == '#' && !inside:
			break scan
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	flush()
	for len(args) > 0 && (args[0] == "$" || args[0] == "-" || assignment.MatchString(args[0])) {
		args = args[1:]
	}
	if len(args) < 2 || args[0] != "yamlhost" && args[0] != "bin/yamlhost" {
		return nil, false
	}
	return args[1:], true
}

// Every call of the program on a page uses existing commands and flags. A call in a block of code also has its required
// arguments; a call in a sentence may omit them.
func TestCommandsOnPages(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "internal/diag/explain/*.md"} {
		paths, err := filepath.Glob(filepath.Join("../../..", pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			fenced := false
			for i, line := range strings.Split(string(text), "\n") {
				calls := []string{}
				switch trimmed := strings.TrimSpace(line); {
				case strings.HasPrefix(trimmed, "```"):
					fenced = !fenced
				case fenced, strings.HasPrefix(line, "    "):
					calls = append(calls, strings.TrimSuffix(trimmed, `\`))
				default:
					for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
						calls = append(calls, m[1])
					}
				}
				for _, call := range calls {
					args, ok := wordsOf(call)
					if !ok || slices.Contains(args, "COMMAND") || strings.Contains(call, "…") || strings.Contains(call, "...") {
						continue
					}
					tried++
					if err := wouldRun(args, len(calls) == 1 && (fenced || strings.HasPrefix(line, "    "))); err != nil {
						t.Errorf("%s:%d: %s: %s", path, i+1, call, err)
					}
				}
			}
		}
	}
	require.Greater(t, tried, 150)
}

// wouldRun returns the error with which the program would refuse a command line, without running it. With whole it also
// checks the number of arguments.
func wouldRun(args []string, whole bool) error {
	root := newRoot(&console.Console{World: console.World{Dir: "/"}}, &profile{})
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if cmd == root && cmd.Flags().NArg() > 0 {
		return fmt.Errorf("there is no command %s", cmd.Flags().Arg(0))
	}
	if !whole {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
