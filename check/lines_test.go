package check_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/diag"
)

// TestLineEditsStayInTheirEntry deletes and doubles each line of ten programs, and moves each by a column: broken YAML is told in
// the entry that was touched, and what the others declare is still there.
func TestLineEditsStayInTheirEntry(t *testing.T) {
	t.Parallel()
	l := builtinLoader()
	edits, strays := 0, 0
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
			changed := map[string]string{"deleted": "", "doubled": line + line, "moved right": " " + line, "moved left": line[1:]}
			first, last := entryOf(lines, i)
			for what, with := range changed {
				edits++
				text := strings.Join(lines[:i], "") + with + strings.Join(lines[i+1:], "")
				added := strings.Count(with, "\n") - 1
				for _, d := range findings(t, text, l) {
					at := d.Subject.StartPosition().Line - 1
					inside := at >= first && at <= last+max(added, 0)
					if d.Code != diag.Syntax && !lost(d, lines, first, last) || d.Code == diag.Syntax && inside {
						continue
					}
					strays++
					if os.Getenv("YAMLHOST_MISTAKES") != "" {
						t.Logf("%s:%d %s (entry %d-%d): line %d: %s %s\n%s", p.name, i+1, what, first+1, last+1, at+1, d.Code, d.Summary, line)
					}
				}
			}
		}
	}
	t.Logf("%d edits, %d findings outside of the entry that was touched", edits, strays)
	require.Greater(t, edits, 500)
	require.LessOrEqual(t, 100*strays, 5*edits, fmt.Sprintf("%d of %d", strays, edits))
}

// lost reports whether a finding says that there is no such name as one that an entry before first or behind last declares.
func lost(d diag.Diagnostic, lines []string, first, last int) bool {
	if d.Code != diag.Undeclared {
		return false
	}
	for i, line := range lines {
		if (i < first || i > last) && strings.HasPrefix(line, "  "+d.Subject.Text()+":") {
			return true
		}
	}
	return false
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
