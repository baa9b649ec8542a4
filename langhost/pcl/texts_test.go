package pcl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// A text, a template and a key mean the same in YAML, in the PCL made of it, as HCL reads that, and in the YAML made of
// the PCL.
func TestTextsThereAndBack(t *testing.T) {
	t.Parallel()
	texts := rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"$", "${", "$$", "}", "y", `"`, `\`, "'", " ", "\n", ": ", "#", "<<", "\t", "é", "\u0085", "\x7f", "1", "%{",
			"fn::", "%"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		parts := []literal.Part{{Text: texts.Draw(t, "before")}, {Expression: "ref"}, {Text: texts.Draw(t, "between")},
			{Expression: "ref"}, {Text: texts.Draw(t, "behind")}}
		want := []string{text, parts[0].Text + "R" + parts[2].Text + "R" + parts[4].Text, text}
		program := "config:\n  ref: {type: string}\noutputs:\n  o: [" + literal.JSON(literal.Text(text)) + ", " +
			literal.JSON(literal.Template(parts)) + ", {" + literal.JSON(literal.Key(text)) + ": x}, '${" +
			strings.ReplaceAll(literal.QuotedTemplate(parts), "'", "''") + "}']\n"
		want = append(want, want[1])
		require.Equal(t, want, read(t, program))

		file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(program)), parser.Options{})
		require.False(t, diags.HasErrors())
		module, diags := pcl.Convert(context.Background(), file, pcl.Options{})
		require.False(t, diags.HasErrors(), "%v", diags)
		body, found := hclsyntax.ParseConfig([]byte(module.Files["main.pp"]), "main.pp", hcl.InitialPos)
		require.False(t, found.HasErrors(), "%v\n%s", found, module.Files["main.pp"])
		for _, block := range body.Body.(*hclsyntax.Body).Blocks {
			if block.Type != "output" {
				continue
			}
			v, found := block.Body.Attributes["value"].Expr.Value(&hcl.EvalContext{
				Variables: map[string]cty.Value{"ref": cty.StringVal("R")}})
			require.False(t, found.HasErrors(), "%v\n%s", found, module.Files["main.pp"])
			items := v.AsValueSlice()
			var key string
			for name := range items[2].AsValueMap() {
				key = name
			}
			require.Equal(t, want, []string{items[0].AsString(), items[1].AsString(), key, items[3].AsString()},
				module.Files["main.pp"])
		}
		again, diags := pcl.Generate(context.Background(), pcl.Sources{"main.pp": []byte(module.Files["main.pp"])}, pcl.Options{})
		require.False(t, diags.HasErrors(), "%v\n%s", diags, module.Files["main.pp"])
		require.Equal(t, want, read(t, again.Text), "%s\n%s", module.Files["main.pp"], again.Text)
	})
}

// The default of a configuration value is the same text in a project file, where the section config has data and the
// section configuration expressions, and a secret one is accepted there.
func TestDefaultsInProjectFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"$", "${", "$$", "}", "%{", `"`, `\`, "x", "1", "-", ": ", "2020-01-01"}
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "pieces"), "")
		})
		one, other := text.Draw(t, "one"), text.Draw(t, "other")
		quoted, secret := literal.Quoted(one), ""
		if rapid.Bool().Draw(t, "secret") {
			secret = "secret = true\n"
		}
		source := "config \"a\" \"string\" {\ndefault = " + quoted + "\n" + secret + "}\n" +
			"config \"b\" \"list(string)\" {\ndefault = [" + literal.Quoted(other) + "]\n}\n"
		program, diags := pcl.Generate(context.Background(), pcl.Sources{"main.pp": []byte(source)}, pcl.Options{Project: true})
		require.False(t, diags.HasErrors(), "%v\n%s", diags, source)
		content := "name: p\nruntime: yaml\n" + program.Text
		_, diags = project.Parse(diag.NewSource("Pulumi.yaml", []byte(content)))
		file, more := parser.Parse(diag.NewSource("Pulumi.yaml", []byte(content)), parser.Options{Project: true})
		for _, d := range append(diags, more...) {
			require.Equal(t, diag.Portability, d.Severity, "%s%s", content, d.Summary)
		}
		require.Len(t, file.Config, 2)
		for _, c := range file.Config {
			want := one
			e := c.Default
			if list, is := e.(*ast.List); is {
				want, e = other, list.Items[0]
			}
			require.IsType(t, &ast.String{}, e, content)
			require.Equal(t, want, e.(*ast.String).Value, content)
		}
	})
}

// read returns the texts in the output of a program, with R for references.
func read(t *rapid.T, program string) []string {
	file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(program)), parser.Options{})
	require.False(t, diags.HasErrors(), "%v\n%s", diags, program)
	var text func(e ast.Expr) string
	text = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.String:
			return e.Value
		case *ast.Access:
			return "R"
		case *ast.Map:
			return text(e.Entries[0].Key)
		case *ast.Template:
			all := ""
			for _, part := range e.Parts {
				all += text(part)
			}
			return all
		}
		t.Fatalf("%T", e)
		return ""
	}
	list, ok := file.Outputs[0].Value.(*ast.List)
	require.True(t, ok)
	texts := make([]string, len(list.Items))
	for i, item := range list.Items {
		texts[i] = text(item)
	}
	return texts
}
