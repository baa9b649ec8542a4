package layout

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	madeTarget  = regexp.MustCompile("(?m)(?:`|^    )make ([a-z][a-z0-9-]*)")
	namedPath   = regexp.MustCompile("`((?:[a-z0-9_-]+/)+[A-Za-z0-9_.-]+|[a-z_]+_test\\.go)`")
	makeRule    = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
)

// pages are the texts that people read, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := everyPage(t)
	maps.DeleteFunc(found, func(name, _ string) bool {
		for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md"} {
			if is, _ := path.Match(pattern, name); is {
				return false
			}
		}
		return true
	})
	require.Greater(t, len(found), 10)
	return found
}

// everyPage returns the texts of pages and of all other Markdown files in the repository, by path.
func everyPage(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range files(t, ".md") {
		// opening.md is a part of docs/figures.md, which has its links.
		if path.Base(name) != "opening.md" && !strings.Contains(name, "testdata/") {
			found[name] = read(t, name)
		}
	}
	return found
}

// anchor is the name of a heading in links to it.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	all := everyPage(t)
	for name, text := range all {
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, fragment, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
				continue
			}
			if fragment == "" {
				continue
			}
			there := strings.Contains(all[target], `<a id="`+fragment+`"></a>`)
			for _, h := range pageHeading.FindAllStringSubmatch(all[target], -1) {
				there = there || anchor(h[1]) == fragment
			}
			if !there {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// TestComparisonsAreShown holds each cell of the tables of docs/comparison.md to a link: of the column about this program
// to a page, of the others to a manual, unless a dash says that none is known.
func TestComparisonsAreShown(t *testing.T) {
	rows := 0
	for line := range strings.SplitSeq(read(t, "docs/comparison.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "yamlhost" {
			continue
		}
		rows++
		for i, cell := range cells[1:] {
			link := pageLink.FindStringSubmatch(cell)
			if cell == "–" && i > 0 {
				continue
			}
			if link == nil || strings.HasPrefix(link[1], "https://") != (i > 0) {
				t.Errorf("docs/comparison.md: nothing shows %q in the row %s", cell, cells[0])
			}
		}
	}
	if rows < 15 {
		t.Errorf("docs/comparison.md has %d rows", rows)
	}
}

// TestMakeTargets holds the pages and the Makefile to each other: a target that is named exists, and CONTRIBUTING.md or
// the README names each.
func TestMakeTargets(t *testing.T) {
	targets := map[string]bool{} // whether a newcomer is told of it
	for _, m := range makeRule.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = false
	}
	for name, text := range pages(t) {
		for _, m := range madeTarget.FindAllStringSubmatch(text, -1) {
			if _, exists := targets[m[1]]; !exists {
				t.Errorf("%s names make %s, which the Makefile does not have", name, m[1])
			}
			targets[m[1]] = targets[m[1]] || path.Dir(name) == "."
		}
	}
	for target, told := range targets {
		switch target {
		case "all", "always", "run-destroy", "clean", "conformance-accept": // said where they belong, or plain
		default:
			if !told {
				t.Errorf("neither README.md nor CONTRIBUTING.md says what make %s is for", target)
			}
		}
	}
}

// TestPathsOfPagesExist looks for every folder and file of ours that a page names.
func TestPathsOfPagesExist(t *testing.T) {
	top := map[string]bool{}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		top[e.Name()] = e.IsDir()
	}
	tests := map[string]bool{}
	for _, f := range sources(t) {
		tests[path.Base(f.path)] = true
	}
	for name, text := range pages(t) {
		for _, m := range namedPath.FindAllStringSubmatch(text, -1) {
			first, _, deep := strings.Cut(m[1], "/")
			switch {
			case !deep && !tests[m[1]]:
				t.Errorf("%s names %s, which does not exist", name, m[1])
			case deep && top[first] && first != "bin":
				if matches, err := filepath.Glob(filepath.Join(root, m[1])); err != nil || len(matches) == 0 {
					t.Errorf("%s names %s, which does not exist", name, m[1])
				}
			}
		}
	}
}

// TestMapNamesEveryRoom holds docs/architecture.md to the table of imports, and to the folders around it.
func TestMapNamesEveryRoom(t *testing.T) {
	page := read(t, "docs/architecture.md")
	for pkg := range mayImport {
		if !strings.Contains(page, "`"+pkg+"`") {
			t.Errorf("docs/architecture.md says nothing of %s", pkg)
		}
	}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && name != "bin" && name != "docs" {
			if !strings.Contains(page, "`"+name) {
				t.Errorf("docs/architecture.md says nothing of the folder %s", name)
			}
		}
	}
}

// TestDependencies requires that the page about dependencies names each module of go.mod once, and no other.
func TestDependencies(t *testing.T) {
	t.Parallel()
	required, named := map[string]bool{}, map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		required[m[1]] = true
	}
	page := read(t, "docs/design/dependencies.md")
	for _, m := range regexp.MustCompile("`([a-z0-9.]+\\.[a-z]+(?:/[^`]+)?)`").FindAllStringSubmatch(page, -1) {
		if named[m[1]]++; !required[m[1]] && m[1] != "go.mod" {
			t.Errorf("docs/design/dependencies.md names %s, which go.mod does not require", m[1])
		}
	}
	for module := range required {
		if named[module] != 1 {
			t.Errorf("docs/design/dependencies.md names %s %d times instead of once", module, named[module])
		}
	}
	if len(required) < 50 {
		t.Errorf("only %d modules were found in go.mod", len(required))
	}
}
