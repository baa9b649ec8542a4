package check_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// The sample in testdata/corpus has programs from the documentation of public providers (Apache License 2.0, see the
// README there), one archive for each provider, and the parts of their schemas that the programs need.

// sampleLoader loads the schemas of the sample.
func sampleLoader() schema.Loader {
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		data, err := os.ReadFile(filepath.Join("testdata/corpus", d.PackageName()+".json"))
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("package %s: %w", d.PackageName(), schema.ErrNotFound)
		}
		return data, err
	})
}

// sampleProgram is a program of the documentation without faults.
type sampleProgram struct{ provider, name, text string }

func samplePrograms(tb testing.TB) []sampleProgram {
	tb.Helper()
	paths, err := filepath.Glob("testdata/corpus/*.txtar")
	require.NoError(tb, err)
	var programs []sampleProgram
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(tb, err)
		for _, file := range archive.Files {
			programs = append(programs, sampleProgram{
				strings.TrimSuffix(filepath.Base(path), ".txtar"), file.Name, string(file.Data)})
		}
	}
	return programs
}

// TestSample checks the sample with its schemas. With -update and YAMLHOST_SCHEMAS it draws a new sample first.
func TestSample(t *testing.T) {
	if dir := os.Getenv("YAMLHOST_SCHEMAS"); *update && dir != "" {
		drawSample(t, dir)
	}
	programs := samplePrograms(t)
	require.Greater(t, len(programs), 80)
	l := sampleLoader()
	for _, p := range programs {
		for _, d := range errorsOf(t, p.provider+"/"+p.name, p.text, l) {
			t.Errorf("%s/%s:%d: %s %s (%s)", p.provider, p.name, d.Subject.StartPosition().Line, d.Code, d.Summary, d.Detail)
		}
	}
}

// sampleSizes are the numbers of programs to draw; twelve for a provider that is not listed.
var sampleSizes = map[string]int{"azure-native": 24, "azure-native-full": 0}

// drawSample picks correct programs, larger ones first. Each uses a resource type or function that no earlier one uses.
func drawSample(t *testing.T, dir string) {
	s, err := openShelf(dir)
	require.NoError(t, err)
	used := make(map[string]map[string]bool) // by package: tokens
	for _, name := range s.names() {
		data, err := s.text(name)
		require.NoError(t, err)
		blocks, l := yamlBlocks(data), s.loader(name)
		numbers := make([]int, len(blocks))
		for i := range numbers {
			numbers[i] = i
		}
		slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(len(blocks[b]), len(blocks[a])) })
		size, special := sampleSizes[name]
		if !special {
			size = 12
		}
		var archive txtar.Archive
		seen := make(map[string]bool)
		for _, i := range numbers {
			if len(archive.Files) == size {
				break
			}
			if len(blocks[i]) > 1800 || len(errorsOf(t, "x", blocks[i], l)) > 0 {
				continue
			}
			tokens := tokensOf(t, blocks[i], l)
			fresh := false
			for token := range tokens {
				fresh = fresh || !seen[token]
			}
			if !fresh {
				continue
			}
			for token, pkg := range tokens {
				seen[token] = true
				if used[pkg] == nil {
					used[pkg] = make(map[string]bool)
				}
				used[pkg][token] = true
			}
			archive.Files = append(archive.Files, txtar.File{
				Name: fmt.Sprintf("%d.yaml", i), Data: []byte(strings.TrimRight(blocks[i], " \n") + "\n")})
		}
		if len(archive.Files) > 0 {
			require.NoError(t, os.WriteFile("testdata/corpus/"+name+".txtar", txtar.Format(&archive), 0o644))
		}
	}
	for pkg, tokens := range used {
		data, err := s.text(pkg)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("testdata/corpus/"+pkg+".json", cutSchema(t, data, tokens), 0o644))
	}
}

var functionLines = regexp.MustCompile(`function: (\S+)`)

// tokensOf returns the canonical tokens that a program uses, by package.
func tokensOf(t *testing.T, text string, l schema.Loader) map[string]string {
	file, _ := parser.Parse(diag.NewSource("x", []byte(text)), parser.Options{})
	program, _ := check.Check(t.Context(), file, check.Options{Project: "docs", Schemas: l})
	tokens := make(map[string]string)
	for _, n := range program.Nodes {
		if n.Resource != nil {
			tokens[n.Resource.Token] = n.Resource.Package.PackageName()
		}
	}
	for _, m := range functionLines.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[1], ":")
		pkg, err := l.Load(t.Context(), schema.Descriptor{Name: name})
		require.NoError(t, err)
		f, err := pkg.ResolveFunction(m[1])
		require.NoError(t, err)
		tokens[f.Token] = name
	}
	return tokens
}

var typeRefs = regexp.MustCompile(`"\$ref": ?"#/(types|resources)/([^"]+)"`)

// cutSchema returns a schema with the given members and the types that they refer to, without descriptions, one member
// on a line.
func cutSchema(t *testing.T, data []byte, tokens map[string]bool) []byte {
	var whole map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &whole))
	sections := make(map[string]map[string]json.RawMessage)
	for _, section := range []string{"types", "resources", "functions"} {
		sections[section] = make(map[string]json.RawMessage)
		if whole[section] != nil {
			all := make(map[string]json.RawMessage)
			require.NoError(t, json.Unmarshal(whole[section], &all))
			sections[section] = all
		}
	}
	kept := map[string]map[string]string{"types": {}, "resources": {}, "functions": {}}
	var keep func(section, token string)
	keep = func(section, token string) {
		raw, known := sections[section][token]
		if !known || kept[section][token] != "" {
			return
		}
		text := withoutDescriptions(t, raw)
		kept[section][token] = text
		for _, m := range typeRefs.FindAllStringSubmatch(text, -1) {
			keep(m[1], strings.ReplaceAll(m[2], "%2F", "/"))
		}
	}
	for token := range tokens {
		keep("resources", token)
		keep("functions", token)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"name\": %s", whole["name"])
	for _, key := range []string{"version", "meta", "allowedPackageNames", "config", "provider"} {
		if whole[key] != nil {
			fmt.Fprintf(&b, ",\n%q: %s", key, withoutDescriptions(t, whole[key]))
		}
	}
	for _, section := range []string{"types", "resources", "functions"} {
		fmt.Fprintf(&b, ",\n%q: {", section)
		for i, token := range slices.Sorted(maps.Keys(kept[section])) {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "\n%q: %s", token, kept[section][token])
		}
		b.WriteString("}")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func withoutDescriptions(t *testing.T, raw json.RawMessage) string {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, member := range v {
				if _, text := member.(string); text && key == "description" {
					delete(v, key)
					continue
				}
				strip(member)
			}
		case []any:
			for _, item := range v {
				strip(item)
			}
		}
	}
	strip(v)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
