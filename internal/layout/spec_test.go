package layout

import (
	"os"
	"path/filepath"
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
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ruleAnchor.FindAllStringSubmatch(string(text), -1) {
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
	eachCitingFile(t, func(path, text string) {
		found := citedRules(text)
		if strings.HasSuffix(path, ".go") {
			for _, line := range strings.Split(text, "\n") {
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
	})
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

// eachCitingFile calls fn with every file that may cite rules, except the pages that define them.
func eachCitingFile(t *testing.T, fn func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules") || rel == "docs/spec" {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".txtar", ".md":
		case ".yaml", ".txt":
			if !strings.Contains(rel, "testdata/") && !strings.HasPrefix(rel, "internal/layout/") {
				return nil
			}
		default:
			return nil
		}
		if rel == specPages['D'] || rel == "internal/layout/spec_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			fn(rel, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
