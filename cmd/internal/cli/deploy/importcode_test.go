package deploy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/cli/deploy"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func inputs(depth int) *rapid.Generator[value.Value] {
	text := rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"$", "${", "$$", "}", "y", `"`, "'", "fn::", " ", "\n", ": ", "#", "<<", "\t", "é", "\u0085", "\x7f", "1", "-"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
	})
	return rapid.Custom(func(t *rapid.T) value.Value {
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind == 0:
			return value.Bool(rapid.Bool().Draw(t, "bool"))
		case kind == 1:
			return value.Number(rapid.Float64().Draw(t, "number"))
		case kind == 2:
			return value.String(text.Draw(t, "secret")).Secret()
		case kind == 3 && depth > 0:
			return value.List(rapid.SliceOfN(inputs(depth-1), 0, 3).Draw(t, "list")...)
		case kind == 4 && depth > 0:
			return value.Map(rapid.MapOfN(text, inputs(depth-1), 0, 3).Draw(t, "map"))
		}
		return value.String(text.Draw(t, "text"))
	})
}

// meant returns the value of an expression as imported programs have them.
func meant(t *rapid.T, e ast.Expr) value.Value {
	switch e := e.(type) {
	case *ast.Bool:
		return value.Bool(e.Value)
	case *ast.Number:
		return value.Number(e.Value)
	case *ast.String:
		return value.String(e.Value)
	case *ast.List:
		items := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			items[i] = meant(t, item)
		}
		return value.List(items...)
	case *ast.Map:
		m := map[string]value.Value{}
		for _, entry := range e.Entries {
			m[entry.Key.(*ast.String).Value] = meant(t, entry.Value)
		}
		return value.Map(m)
	case *ast.Call:
		require.Equal(t, "secret", e.Name.Value)
		return meant(t, e.Argument).Secret()
	}
	t.Fatalf("%T", e)
	return value.Null
}

// The code that an import writes means the inputs of the state, whatever their texts and keys are.
func TestImportedInputs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := value.MapOf(value.Entry{Key: "p", Value: inputs(3).Draw(t, "inputs")})
		name := "r" + rapid.SampledFrom([]string{"", "$$", "${x}", "$", " ", "'"}).Draw(t, "name")
		u := urn.URN("urn:pulumi:dev::p::t:i:R::" + name)
		i := &deploy.Importing{Planned: []deploy.PlannedImport{{Entry: deploy.ImportEntry{Type: "t:i:R", Name: name}, Urn: u}},
			Result: &state.Snapshot{Resources: []*state.Resource{{URN: u, Type: "t:i:R", Inputs: want}}}}
		text := i.Program()
		file, diags := parser.Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\nruntime: yaml\n"+text)), parser.Options{})
		require.False(t, diags.HasErrors(), "%v\n%s", diags, text)
		require.Len(t, file.Resources, 1)
		r := file.Resources[0]
		if r.LogicalName != nil {
			require.Equal(t, name, r.LogicalName.Value)
		} else {
			require.Equal(t, name, r.Name.Value)
		}
		require.Len(t, r.Properties, 1)
		got := value.MapOf(value.Entry{Key: r.Properties[0].Name.Value, Value: meant(t, r.Properties[0].Value)})
		require.True(t, value.Equal(want, got), "%v\n%v\n%s", want, got, text)
	})
}
