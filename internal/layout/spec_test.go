package layout

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// specPages holds the pages that define rules, by the letter of a citation.
var specPages = map[byte]string{
	'L': "docs/spec/language.md",
	'E': "docs/spec/engine.md",
	'F': "docs/spec/formats.md",
	'D': "docs/design/decisions.md",
}

var (
	ruleAnchor = regexp.MustCompile(`<a id="([LEFD]\d+(?:\.[A-Z]?\d+)?)"></a>\*\*([LEFD]\d+(?:\.[A-Z]?\d+)?)\*\*`)
	ruleCited  = regexp.MustCompile(`\b([LEF]\d+\.[A-Z]?)(\d+)[a-z]?(?:[–-](?:[LEF]\d+\.[A-Z]?)?(\d+))?\b`)
	decision   = regexp.MustCompile(`\bD\d{1,2}\b`)
)

// TestEveryCitationHasARule fails for a rule that a source file, a test, a corpus or a page cites and docs/spec does
// not define, and for a rule whose anchor and name differ. It logs the rules that nothing cites.
func TestEveryCitationHasARule(t *testing.T) {
	defined := map[string]bool{}
	for letter, page := range specPages {
		for _, m := range ruleAnchor.FindAllStringSubmatch(read(t, page), -1) {
			switch {
			case m[1] != m[2]:
				t.Errorf("%s: the anchor of %s is %s", page, m[2], m[1])
			case m[1][0] != letter:
				t.Errorf("%s defines %s, which belongs to %s", page, m[1], specPages[m[1][0]])
			case defined[m[1]]:
				t.Errorf("%s defines %s twice", page, m[1])
			}
			defined[m[1]] = true
		}
	}
	if len(defined) < 1000 {
		t.Fatalf("only %d rules are defined", len(defined))
	}

	cited := map[string]bool{}
	for _, path := range citingFiles(t) {
		text := read(t, path)
		found := citedRules(text)
		if strings.HasSuffix(path, ".go") {
			for line := range strings.SplitSeq(text, "\n") {
				if _, comment, is := strings.Cut(line, "//"); is {
					found = append(found, decision.FindAllString(comment, -1)...)
				}
			}
		}
		for _, rule := range found {
			cited[rule] = true
			if !defined[rule] {
				t.Errorf("%s cites %s, which %s does not define", path, rule, specPages[rule[0]])
			}
		}
	}
	var unused []string
	for rule := range defined {
		if !cited[rule] {
			unused = append(unused, rule)
		}
	}
	slices.Sort(unused)
	t.Logf("%d rules, %d of them cited; nothing cites %s", len(defined), len(defined)-len(unused),
		strings.Join(unused, " "))
}

// citedRules returns the rules that text names. A range such as E4.13-E4.15 names every rule in it, and a letter behind
// a rule (E4.58c) names a part of that rule.
func citedRules(text string) []string {
	var rules []string
	for _, m := range ruleCited.FindAllStringSubmatch(text, -1) {
		first := m[1] + m[2]
		rules = append(rules, first)
		if m[3] != "" {
			last := m[1] + m[3]
			rules = append(rules, expand(first+"-"+last)...)
		}
	}
	return rules
}

func TestCitedRules(t *testing.T) {
	got := citedRules("see E4.58c, L3.50–L3.52 and F6.9; L10.C5, but not E0x1")
	want := []string{"E4.58", "L3.50", "L3.50", "L3.51", "L3.52", "F6.9", "L10.C5"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// citingFiles returns the paths of the files that may cite rules: all but the pages that define them.
func citingFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, ".go", ".txtar", ".md", ".yaml", ".txt"), func(name string) bool {
		data := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".txt")
		return data && !strings.Contains(name, "testdata/") && !strings.HasPrefix(name, "internal/layout/") ||
			strings.HasPrefix(name, "docs/spec/") || name == specPages['D'] || name == "internal/layout/spec_test.go"
	})
}
