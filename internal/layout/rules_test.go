package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// rulesFile lists every rule of the language with how it is covered: by a "program" of a corpus, by a Go "test", or by
// "none" with the reason.
const rulesFile = "rules.txt"

var (
	citation = regexp.MustCompile(`\bL\d+\.[A-Z]?\d+(?:[–-]L\d+\.[A-Z]?\d+)?`)
	ruleLine = regexp.MustCompile(`^(L\d+\.[A-Z]?\d+) (?:(program)|(test)|none: (.+))$`)
	ruleName = regexp.MustCompile(`^([LEF]\d+\.[A-Z]?)(\d+)$`)
)

// TestEveryRuleHasACase compares rules.txt with the corpora and tests: a rule must be cited where the file lists it.
func TestEveryRuleHasACase(t *testing.T) {
	text := read(t, "internal/layout/"+rulesFile)
	programs, tests := citations(t)
	seen := make(map[string]bool)
	counts := make(map[string]int)
	var open []string
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := ruleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s:%d: %q is not a rule with program, test or none: and a reason", rulesFile, i+1, line)
			continue
		}
		rule := m[1]
		if seen[rule] {
			t.Errorf("%s:%d: %s is listed twice", rulesFile, i+1, rule)
		}
		seen[rule] = true
		switch {
		case m[2] != "":
			counts["program"]++
			if !programs[rule] {
				t.Errorf("%s has no program: write one that names it in its comment (eval/testdata/rules is the place)", rule)
			}
		case m[3] != "":
			counts["test"]++
			if !tests[rule] {
				t.Errorf("%s has no test that names it", rule)
			}
		default:
			counts["none"]++
			open = append(open, rule+": "+m[4])
		}
	}
	for rule := range programs {
		if !seen[rule] && !strings.HasPrefix(rule, "L8.") && !strings.HasPrefix(rule, "L10.") {
			t.Errorf("a program names %s, which %s does not list", rule, rulesFile)
		}
	}
	t.Logf("%d rules: %d with programs, %d with tests, %d with neither", len(seen), counts["program"], counts["test"],
		counts["none"])
	for _, line := range open {
		t.Log(line)
	}
}

// TestEveryGapIsClosedOrExplained looks for a test named after each gap of the stock host (L10.A): a program in
// eval/testdata/gaps, or another test that names it; docs/language.md says why the others have none.
func TestEveryGapIsClosedOrExplained(t *testing.T) {
	page := read(t, "docs/language.md")
	named := make(map[string]bool)
	for _, name := range testFiles(t) {
		for _, found := range gapName.FindAllString(read(t, name), -1) {
			named[found] = true
		}
	}
	const gaps = 51
	explained := 0
	for n := 1; n <= gaps; n++ {
		gap := fmt.Sprint("G", n)
		programs := testfile.Match(t, fmt.Sprintf("../../eval/testdata/gaps/G%02d-*.txtar", n))
		switch {
		case len(programs) > 0 || named[gap]:
		case regexp.MustCompile(`\b` + gap + `\b`).MatchString(page):
			explained++
		default:
			t.Errorf("%s has neither a test named after it nor an entry in docs/language.md", gap)
		}
	}
	t.Logf("%d gaps: %d with tests, %d explained in docs/language.md", gaps, gaps-explained, explained)
}

// gapName matches the name of a gap in a comment or in the name of a test, but no G with digits inside of other text,
// such as base64.
var gapName = regexp.MustCompile(`\bG[1-9]\d?\b`)

// citations returns the rules that programs of corpora and Go tests cite. A range such as L3.50–L3.57 cites every rule
// in it.
func citations(t *testing.T) (programs, tests map[string]bool) {
	t.Helper()
	programs, tests = make(map[string]bool), make(map[string]bool)
	for _, name := range testFiles(t) {
		dst := programs
		if strings.HasSuffix(name, "_test.go") {
			dst = tests
		}
		for _, found := range citation.FindAllString(read(t, name), -1) {
			for _, rule := range expand(found) {
				dst[rule] = true
			}
		}
	}
	return programs, tests
}

// testFiles returns the paths of all Go tests and of all programs of corpora.
func testFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, "_test.go", ".txtar", ".yaml"), func(name string) bool {
		return strings.HasSuffix(name, ".yaml") && !strings.Contains(name, "/testdata/faults/") ||
			strings.HasPrefix(name, "tools/bench/")
	})
}

func expand(found string) []string {
	first, last, isRange := strings.Cut(strings.ReplaceAll(found, "–", "-"), "-")
	a, b := ruleName.FindStringSubmatch(first), ruleName.FindStringSubmatch(last)
	if !isRange || a == nil || b == nil || a[1] != b[1] {
		return slices.DeleteFunc([]string{first, last}, func(s string) bool { return s == "" })
	}
	from, _ := strconv.Atoi(a[2])
	to, _ := strconv.Atoi(b[2])
	var rules []string
	for n := from; n <= to; n++ {
		rules = append(rules, fmt.Sprint(a[1], n))
	}
	return rules
}
