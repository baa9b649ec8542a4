package notices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

const file = "../../THIRD_PARTY_NOTICES.txt"

// module is the output of go list for a module.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// linked returns the modules that are linked into the programs on any system that they are built for.
func linked(t *testing.T) []module {
	t.Helper()
	found := map[string]module{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "../../cmd/...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err)
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			err := d.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if m := p.Module; m != nil && !m.Main {
				if m.Replace != nil {
					m.Dir, m.Version = m.Replace.Dir, m.Replace.Version
				}
				found[m.Path] = *m
			}
		}
	}
	var all []module
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all
}

var licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^copyright`)

// licence returns the licence and notice files of a module, which must be distributed with it.
func licence(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text := testfile.Text(t, filepath.Join(dir, e.Name()))
		fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	}
	return b.String()
}

// page is the folder of the console's page. tools lists npm packages that build or test the page but are not part of
// it.
const page = "../../cmd/internal/output/page"

var tools = []string{"axe-core", "esbuild", "playwright-core", "typescript"}

// packages returns the npm packages in the page with their versions.
func packages(t *testing.T) map[string]string {
	t.Helper()
	text := testfile.Bytes(t, filepath.Join(page, "package.json"))
	var manifest struct{ DevDependencies map[string]string }
	require.NoError(t, json.Unmarshal(text, &manifest))
	for _, tool := range tools {
		delete(manifest.DevDependencies, tool)
	}
	require.NotEmpty(t, manifest.DevDependencies)
	return manifest.DevDependencies
}

// text returns the whole file. A text that several modules share occurs once.
func text(t *testing.T) string {
	t.Helper()
	users := map[string][]string{}
	var order []string
	add := func(name, licence string) {
		require.NotEmpty(t, licence, "%s has no licence that could be found", name)
		if users[licence] == nil {
			order = append(order, licence)
		}
		users[licence] = append(users[licence], name)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	add("the Go standard library and runtime", licence(t, strings.TrimSpace(string(out))))
	for _, m := range linked(t) {
		add(m.Path+" "+m.Version, licence(t, m.Dir))
	}
	for name, version := range packages(t) {
		licence, err := os.ReadFile(filepath.Join(page, "licences", name+".txt"))
		require.NoError(t, err, "the page of the console has %s in it", name)
		add(name+" "+version, string(licence))
	}
	var b strings.Builder
	b.WriteString(
		"yamlhost contains the software below, under the licences that follow it.\nThis file is generated: make notices\n")
	for _, licence := range order {
		fmt.Fprintf(&b, "\n%s\n\n", strings.Repeat("=", 80))
		for _, name := range users[licence] {
			fmt.Fprintf(&b, "%s\n", name)
		}
		fmt.Fprintf(&b, "\n%s\n\n%s\n", strings.Repeat("-", 80), strings.TrimSpace(licence))
	}
	return b.String()
}

// The notices are current for the linked modules. With NOTICES_UPDATE they are written.
func TestNoticesAreCurrent(t *testing.T) {
	t.Parallel()
	want := text(t)
	if os.Getenv("NOTICES_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err, "make notices writes it")
	if string(got) != want {
		t.Fatal("THIRD_PARTY_NOTICES.txt is not that of what is linked now: make notices writes it anew")
	}
}
