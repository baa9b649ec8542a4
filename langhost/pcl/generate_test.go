package pcl_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/parser"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestCorpus translates the programs of testdata/*.txtar: files below in/ are PCL, with folders for local components;
// out/Main.yaml is the program in YAML, out/faults has its faults. The parser reads the result without errors.
func TestCorpus(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *update, func(t *testing.T, a *txtar.Archive) []txtar.File {
		folders := map[string]pcl.Sources{}
		for _, f := range a.Files {
			name, inside := strings.CutPrefix(f.Name, "in/")
			require.True(t, inside, f.Name)
			folder := strings.TrimSuffix(path.Dir(name), ".")
			if folders[folder] == nil {
				folders[folder] = pcl.Sources{}
			}
			folders[folder][path.Base(name)] = f.Data
		}
		program, diags := pcl.Generate(t.Context(), folders[""],
			pcl.Options{Component: func(folder string) (pcl.Sources, error) {
				if sources := folders[folder]; sources != nil {
					return sources, nil
				}
				return nil, fmt.Errorf("there is no folder %s", folder)
			}})
		if diags.HasErrors() {
			var b bytes.Buffer
			require.NoError(t, diag.WriteText(&b, diags, diag.TextOptions{}))
			return []txtar.File{{Name: "out/faults", Data: b.Bytes()}}
		}
		_, found := parser.Parse(diag.NewSource("Main.yaml", []byte(program.Text)), parser.Options{})
		for _, d := range found {
			require.NotEqual(t, diag.Error, d.Severity, "%s\n%s", d.Summary, program.Text)
		}
		return []txtar.File{
			{Name: "out/Main.yaml", Data: []byte(program.Text)},
			{Name: "out/packages", Data: []byte(strings.Join(program.Packages, "\n") + "\n")},
		}
	}, "testdata/*.txtar")
}

// The arguments of a call by position have names in the schema only. Without it they are a fault, or the one argument
// may be the map of all: none is passed as something else.
func TestArgumentsWithoutSchema(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := []string{`"text"`, `3`, `true`, `[1, 2]`, `"x-${name}"`, `[for x in name : x]`, `1 + 2`, `!name`, `-1`,
			`{a = 1}`, `name`, `{for k, v in name : k => v}`}
		args := rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(t, "arguments")
		text := "config \"name\" \"map(string)\" {}\nv = invoke(" +
			strings.Join(append([]string{`"zoo:index:get"`}, args...), ", ") + ")\n"
		program, diags := pcl.Generate(context.Background(), pcl.Sources{"main.pp": []byte(text)}, pcl.Options{})
		mayBeMap := len(args) == 0 || len(args) == 1 && slices.Contains(kinds[len(kinds)-3:], args[0])
		require.Equal(t, !mayBeMap, diags.HasErrors(), "%s\n%s", text, program.Text)
	})
}
