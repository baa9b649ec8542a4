package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestLineEditsStayInTheirEntry deletes and doubles each line of ten programs, and moves each by a column: what is
// found is in the entry that was touched. Only where that entry has nothing wrong, because the edit makes another sound
// program of it, something else may be wrong that uses what the line declared.
func TestLineEditsStayInTheirEntry(t *testing.T) {
	t.Parallel()
	l := builtinLoader()
	edits, changes, strays := 0, 0, 0
	var largest []sampleProgram
	for _, p := range examplePrograms(t) {
		if !strings.HasSuffix(p.name, ".json") && len(findings(t, p.text, l)) == 0 {
			largest = append(largest, p)
		}
	}
	slices.SortFunc(largest, func(a, b sampleProgram) int { return len(b.text) - len(a.text) })
	require.GreaterOrEqual(t, len(largest), 10)
	for _, p := range largest[:10] {
		lines := strings.SplitAfter(p.text, "\n")
		for i, line := range lines {
			body := strings.TrimLeft(line, " ")
			if strings.TrimSpace(line) == "" || strings.HasPrefix(body, "#") || body == line { // a section is no entry
				continue
			}
			first, last := entryOf(lines, i)
			for what, provider := range map[string]string{"deleted": "", "doubled": line + line, "moved right": " " + line,
				"moved left": line[1:]} {
				edits++
				text := strings.Join(lines[:i], "") + provider + strings.Join(lines[i+1:], "")
				added := max(strings.Count(provider, "\n")-1, 0)
				var outside []diag.Diagnostic
				own := 0
				for _, d := range findings(t, text, l) {
					if pos := d.Subject.StartPosition().Line - 1; pos >= first && pos <= last+added {
						own++
					} else {
						outside = append(outside, d)
					}
				}
				for _, d := range outside {
					pos := d.Subject.StartPosition().Line
					if used := strings.Split(text, "\n")[pos-1] + d.Summary; uses(used, lines, first, i) &&
						(own == 0 || meansAnother(line)) {
						changes++
						continue
					}
					strays++
					t.Errorf("%s:%d %s (entry %d-%d, which has %d findings): line %d: %s %s\n%s", p.name, i+1, what, first+1, last+1,
						own, pos, d.Code, d.Summary, line)
				}
			}
		}
	}
	t.Logf("%d edits, %d findings outside of the entry that was touched, and %d about what it means now", edits, strays,
		changes)
	require.Greater(t, edits, 500)
	require.LessOrEqual(t, 100*changes, 3*edits)
}

// uses reports whether a text names a line, or one of those that it stands below in its entry.
func uses(text string, lines []string, first, i int) bool {
	depth := 1 << 10
	for ; i >= first; i-- {
		body := strings.TrimLeft(lines[i], " ")
		key, _, isKey := strings.Cut(strings.TrimSpace(body), ":")
		if indent := len(lines[i]) - len(body); !isKey || indent >= depth || strings.HasPrefix(body, "#") {
			continue
		} else {
			depth = indent
		}
		if strings.Contains(text, key) {
			return true
		}
	}
	return false
}

// meansAnother lists lines without which the rest of their entry is sound and declares something else, which has a
// finding of its own for a reason of its own.
func meansAnother(line string) bool {
	return slices.Contains([]string{
		"  account:\n",   // user and password are variables then, and a resource is called password
		"      kinds:\n", // type is an input then, and what the component says of kinds has no meaning
	}, line)
}

// entryOf are the first and the last line of the entry of a section that holds a line: at most two columns deep.
func entryOf(lines []string, i int) (first, last int) {
	depth := func(i int) int {
		line := strings.TrimRight(lines[i], "\n ")
		if line == "" || strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
			return 1 << 10
		}
		return len(line) - len(strings.TrimLeft(line, " "))
	}
	first, last = i, i
	top := min(2, depth(i))
	for first > 0 && depth(first) > top {
		first--
	}
	for last+1 < len(lines) && depth(last+1) > top {
		last++
	}
	return first, last
}
