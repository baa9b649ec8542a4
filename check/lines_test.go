package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestLineEditsStayInTheirEntry deletes, doubles and indents each line of ten programs. All findings must lie in the
// edited entry. Only if that entry is still sound may there be findings about uses of the names that the line declared.
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
			if strings.TrimSpace(line) == "" || strings.HasPrefix(body, "#") || body == line { // a section is not an entry
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

// uses reports whether a text contains the key of a line or of a line above it in the same entry.
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

// meansAnother reports whether the entry of a line is sound without the line but declares something else, which has an
// unrelated finding.
func meansAnother(line string) bool {
	return slices.Contains([]string{
		"  account:\n",   // makes variables of user and password; there is a resource password
		"      kinds:\n", // makes an input of type; the component refers to kinds
	}, line)
}

// entryOf returns the first and last lines of the section entry that contains a line. Entries are at most two columns
// deep.
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
