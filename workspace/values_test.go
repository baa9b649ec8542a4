package workspace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// typedValue is a type of configuration with a literal of it.
type typedValue struct {
	notation string
	literal  any
}

func typedValues() *rapid.Generator[typedValue] {
	return rapid.Custom(func(t *rapid.T) typedValue {
		switch rapid.SampledFrom([]string{"integer", "boolean", "number", "list", "object"}).Draw(t, "kind") {
		case "integer":
			return typedValue{"integer", rapid.Int32().Draw(t, "integer")}
		case "boolean":
			return typedValue{"boolean", rapid.Bool().Draw(t, "boolean")}
		case "number":
			return typedValue{"number", float64(rapid.Int32().Draw(t, "number")) / 4}
		case "object":
			return typedValue{"object", rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.Int8(), 0, 3).Draw(t, "object")}
		}
		items := []any{}
		item := rapid.SampledFrom([]string{"string", "integer", "boolean", "list<integer>"}).Draw(t, "items")
		for range rapid.IntRange(0, 3).Draw(t, "count") {
			switch item {
			case "string":
				items = append(items, rapid.StringMatching(`[ -#%-~éß☃]{0,8}`).Draw(t, "text"))
			case "integer":
				items = append(items, rapid.Int16().Draw(t, "integer"))
			case "boolean":
				items = append(items, rapid.Bool().Draw(t, "boolean"))
			default:
				items = append(items, rapid.SliceOfN(rapid.Int16(), 0, 2).Draw(t, "list"))
			}
		}
		return typedValue{"list<" + item + ">", items}
	})
}

// A value of a declared type is the same, and sound, as a literal and as a text in its place: as default and as value
// in the project file, with the program there or in a file of its own, and in a stack's file (L2.15, L2.17).
func TestTextsOfTypedValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	rapid.Check(t, func(r *rapid.T) {
		v := typedValues().Draw(r, "value")
		literal, err := json.Marshal(v.literal)
		require.NoError(r, err)
		text := strconv.Quote(string(literal))
		quoted, err := json.Marshal(string(literal))
		require.NoError(r, err)
		var first *value.Value
		for _, written := range []string{string(literal), string(quoted)} {
			for _, place := range []string{"default", "value", "stack"} {
				for _, own := range []bool{false, true} {
					settings := project.NewSettings("Pulumi.dev.yaml", "p")
					declaration := fmt.Sprintf("{type: %s}", strconv.Quote(v.notation))
					if place == "stack" {
						src := diag.NewSource("Pulumi.dev.yaml", []byte("config: {\"p:v\": "+written+"}\n"))
						var diags diag.Diagnostics
						settings, diags = project.ParseSettings(src, "p")
						require.Empty(r, diags)
					} else {
						declaration = fmt.Sprintf("{type: %s, %s: %s}", strconv.Quote(v.notation), place, written)
					}
					program := "outputs: {o: \"${v}\"}\n"
					file := "name: p\nruntime: yaml\nconfig: {v: " + declaration + "}\n"
					if own {
						write("Main.yaml", program)
					} else {
						require.NoError(r, os.RemoveAll(filepath.Join(dir, "Main.yaml")))
						file += program
					}
					write("Pulumi.yaml", file)
					w, err := workspace.Open(dir, workspace.Options{Shown: workspace.Relative(dir)})
					require.NoError(r, err)
					config, faults, err := project.Merge(w.Project, settings, "dev", nil)
					require.NoError(r, err)
					require.Empty(r, faults, file)
					p, diags := w.Check(t.Context(), workspace.CheckOptions{Schemas: noSchemas, Options: check.Options{
						Config: w.ConfigTexts(config), ConfigKnown: true}})
					for _, d := range diags {
						require.Equal(r, diag.Portability, d.Severity, "%s%s: %s", file, text, d.Summary)
					}
					var got *value.Value
					for _, n := range p.Nodes {
						if n.Name == "v" {
							got = n.Config.Value
						}
					}
					require.NotNil(r, got, file)
					if first == nil {
						first = got
					}
					require.True(r, value.Equal(*first, *got), "%s\n%v, not %v", file, *got, *first)
				}
			}
		}
	})
}
