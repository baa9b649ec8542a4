package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// shelved serves the schemas in dir. It counts the providers that are loaded, and refuses each of them.
type shelved struct {
	dir    string
	loaded *atomic.Int32
}

func (s shelved) Schema(name string) ([]byte, bool) {
	text, err := os.ReadFile(filepath.Join(s.dir, name+".json"))
	return text, err == nil
}

func (s shelved) Load(context.Context, provider.Package) (provider.Provider, error) {
	s.loaded.Add(1)
	return nil, errors.New("nothing may be asked of a provider")
}

// TestRunRefusesWhatCheckRefuses compares run with check, on the wrong examples of all codes, on the programs with
// annotated faults, and on misspelt programs from the documentation of public providers. If check reports an error, run
// reports it at the same position, loads no provider and leaves no resource in the state.
func TestRunRefusesWhatCheckRefuses(t *testing.T) {
	t.Parallel()
	t.Run("codes", func(t *testing.T) {
		t.Parallel()
		refused := 0
		for _, code := range diag.Codes() {
			if page, _ := diag.Explain(code); page.Command == "check" &&
				refuses(t, string(code), page.Wrong, "../../../check/testdata/corpus") {
				refused++
			}
		}
		require.Greater(t, refused, 30)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		paths, err := filepath.Glob("../../../check/testdata/faults/*.yaml")
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, refuses(t, filepath.Base(path), program(string(text)), "../../../check/testdata"), path)
		}
	})
	t.Run("misspelt", func(t *testing.T) {
		t.Parallel()
		paths, err := filepath.Glob("../../../check/testdata/corpus/*.txtar")
		require.NoError(t, err)
		seeded, refused := 0, 0
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			for _, file := range archive.Files[:min(6, len(archive.Files))] {
				for _, text := range misspelt(string(file.Data), 3) {
					seeded++
					if refuses(t, filepath.Base(path)+"/"+file.Name, program(text), "../../../check/testdata/corpus") {
						refused++
					}
				}
			}
		}
		t.Logf("%d of %d programs with a misspelt name are refused", refused, seeded)
		require.Greater(t, refused, 90)
	})
}

func program(text string) []diag.Example {
	if !strings.Contains("\n"+text, "\nname:") {
		text += "\nname: p\n"
	}
	if !strings.Contains("\n"+text, "\nruntime:") {
		text += "\nruntime: yaml\n"
	}
	return []diag.Example{{Name: "Pulumi.yaml", Text: text}}
}

var aKey = regexp.MustCompile(`(?m)^( {2,}(?:- )?)([a-zA-Z]{4,}):`)

// misspelt returns up to most copies of a program, each with one letter added to one key. The keys are spread over
// the text.
func misspelt(text string, most int) []string {
	keys := aKey.FindAllStringSubmatchIndex(text, -1)
	var texts []string
	for i := range min(most, len(keys)) {
		pos := keys[i*len(keys)/most%len(keys)][5] - 1
		texts = append(texts, text[:pos]+"q"+text[pos:])
	}
	return texts
}

// refuses runs check and run on a program and reports whether check finds an error. If it does, run must fail with the
// same errors.
func refuses(t *testing.T, name string, files []diag.Example, schemas string) bool {
	t.Helper()
	embedded := shelved{schemas, &atomic.Int32{}}
	x := newTerminal(t, "")
	x.world.Embedded = []console.EmbeddedProviders{embedded}
	writeExample(t, x, files)
	exit := x.run("check", "--format", "json")
	var found struct{ Diagnostics []diag.Record }
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &found), "%s: %s", name, x.err.String())
	var refused []string
	for _, d := range found.Diagnostics {
		if d.Severity == "error" {
			head := d.Summary
			if d.Place != nil {
				head = fmt.Sprintf("%s:%d:%d: %s", d.Place.File, d.Place.Start.Line, d.Place.Start.Column, d.Summary)
			}
			refused = append(refused, head)
		}
	}
	refuses := exit == console.CodeProgram || exit == console.CodeConfig
	require.Equal(t, len(refused) > 0, refuses, name)
	if !refuses {
		return false
	}

	var said []string
	x.world.Found = func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			head := d.Summary
			if !d.Subject.IsZero() {
				pos := d.Subject.StartPosition()
				head = fmt.Sprintf("%s:%d:%d: %s", d.Subject.Source.Name(), pos.Line, pos.Column, d.Summary)
			}
			said = append(said, head)
		}
	}
	require.Contains(t, []int{console.CodeProgram, console.CodeConfig}, x.run("run", "--stack", "dev"), name)
	sort.Strings(refused)
	sort.Strings(said)
	require.Subset(t, said, refused, "%s\n%s", name, x.err.String()) // run also reports what the stack lacks
	require.Zero(t, embedded.loaded.Load(), name)
	state := filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks")
	require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(state)),
		func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, "dev.json") {
				var file struct {
					Checkpoint struct {
						Latest struct{ Resources []json.RawMessage }
					}
				}
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, &file))
				require.Empty(t, file.Checkpoint.Latest.Resources, name)
			}
			return err
		}))
	return true
}
