package engine

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sections holds the number of rules in each section of the engine: E1.1 to E1.50, and so on.
var sections = []int{50, 83, 57, 131, 54, 57, 77, 34, 100, 10}

// TestEveryRuleHasATest looks for the number of each rule of the engine in the tests of this repository: in Go tests,
// and in the lines of scripts that begin with #. Rules that none of them names are listed in testdata/untested.txt,
// each with a reason; a rule in neither place fails.
func TestEveryRuleHasATest(t *testing.T) {
	tested := citedRules(t)
	listed := map[string]string{}
	file, err := os.Open("testdata/untested.txt")
	require.NoError(t, err)
	defer file.Close()
	reason := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			reason = strings.TrimPrefix(line, "# ")
		default:
			for rule := range strings.FieldsSeq(line) {
				require.NotEmpty(t, reason, "%s needs a reason above it", rule)
				require.Empty(t, listed[rule], "%s is listed twice", rule)
				listed[rule] = reason
			}
		}
	}
	var missing, stale []string
	rules := 0
	for s, n := range sections {
		for i := 1; i <= n; i++ {
			rules++
			rule := "E" + strconv.Itoa(s+1) + "." + strconv.Itoa(i)
			switch {
			case !tested[rule] && listed[rule] == "":
				missing = append(missing, rule)
			case tested[rule] && listed[rule] != "":
				stale = append(stale, rule)
			}
			delete(listed, rule)
		}
	}
	require.Empty(t, missing, "rules without a test; write one, or explain in testdata/untested.txt")
	require.Empty(t, listed, "these are no rules")
	if len(stale) > 0 {
		t.Logf("tested meanwhile, to be taken off testdata/untested.txt: %s", strings.Join(stale, " "))
	}
	t.Logf("%d of %d rules are named by tests", len(tested), rules)
}

var citation = regexp.MustCompile(`E(\d+)\.(\d+)(?:–(?:E(\d+)\.)?(\d+))?`)

// citedRules returns the rules that tests cite, alone or in a range.
func citedRules(t *testing.T) map[string]bool {
	cited := map[string]bool{}
	note := func(text string) {
		for _, m := range citation.FindAllStringSubmatch(text, -1) {
			section, _ := strconv.Atoi(m[1])
			from, _ := strconv.Atoi(m[2])
			to := from
			if m[4] != "" && (m[3] == "" || m[3] == m[1]) {
				to, _ = strconv.Atoi(m[4])
			}
			if section < 1 || section > len(sections) {
				continue
			}
			for n := from; n <= min(to, sections[section-1]); n++ {
				cited["E"+m[1]+"."+strconv.Itoa(n)] = true
			}
		}
	}
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && path != root {
				return fs.SkipDir
			}
			return nil
		}
		own := filepath.Base(path) == "rules_test.go"
		script := strings.HasSuffix(path, ".txtar")
		if own || !script && !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !script {
			note(string(text))
			return err
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"),
			func(l string) bool { return !strings.HasPrefix(l, "#") })
		note(strings.Join(lines, "\n"))
		return nil
	}))
	return cited
}
