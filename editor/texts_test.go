package editor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// spelled returns what the output of a program is made of: the texts of its lists, maps, templates and calls, and the
// names that it refers to.
func spelled(t *rapid.T, program string) string {
	file, diags := parser.Parse(diag.NewSource(file, []byte(program)), parser.Options{})
	require.False(t, diags.HasErrors(), "%v\n%s", diags, program)
	require.Len(t, file.Outputs, 1)
	var b strings.Builder
	var spell func(e ast.Expr)
	all := func(open string, items []ast.Expr) {
		b.WriteString("\x01" + open)
		for _, item := range items {
			spell(item)
		}
		b.WriteString("\x02")
	}
	spell = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.String:
			b.WriteString("\x03" + e.Value)
		case *ast.Access:
			b.WriteString("\x04" + e.Root.Value)
		case *ast.Template:
			for _, part := range e.Parts {
				if s, ok := part.(*ast.String); ok {
					b.WriteString(s.Value)
				} else {
					spell(part)
				}
			}
		case *ast.List:
			all("[", e.Items)
		case *ast.Map:
			for _, entry := range e.Entries {
				spell(entry.Key)
				spell(entry.Value)
			}
		case *ast.Call:
			args := e.Args
			if list, ok := e.Argument.(*ast.List); ok {
				args = list.Items
			}
			all(e.Name.Value, args)
		default:
			t.Fatalf("%T in\n%s", e, program)
		}
	}
	spell(file.Outputs[0].Value)
	return b.String()
}

// What an action writes means what was there before, whatever the texts are.
func TestActionsKeepTexts(t *testing.T) {
	t.Parallel()
	texts := rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"$", "${", "$$", "}", "y", `"`, `\`, "'", " ", "\n", ": ", "#", "<<", "\t", "é", "\u0085", "\x7f", "1", "%{"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		parts := []literal.Part{{Text: texts.Draw(t, "before")}, {Expression: "t"}, {Text: texts.Draw(t, "behind")}}
		expression := `join("-", [` + literal.Quoted(text) + ", " + literal.QuotedTemplate(parts) + ", {" +
			literal.Quoted(text) + ` = "x"}])`
		call := `["-", [` + literal.JSON(literal.Text(text)) + ", " + literal.JSON(literal.Template(parts)) + ", {" +
			literal.JSON(literal.Key(text)) + ": x}]]"
		for name, form := range map[string]string{
			"fn::join":    "outputs:\n  o: ¦" + literal.Scalar("${"+expression+"}") + "\n",
			"in brackets": "outputs: {o: ¦" + literal.JSON("${"+expression+"}") + "}\n",
			"inside of":   "outputs:\n  o:\n    fn::¦join: " + call + "\n",
			"in lines":    "outputs:\n  o: ¦" + call + "\n",
		} {
			title := name
			if name == "in brackets" {
				title = "fn::join"
			}
			program, at, _ := strings.Cut("config:\n  t: {type: string}\n"+form, "¦")
			offset := len(program)
			program += at
			before := spelled(t, program)
			actions, err := editor.Actions(t.Context(), snapshotOf(program), file, offset, offset)
			require.NoError(t, err)
			found := false
			for _, action := range actions {
				if action.Kind == editor.RewriteAction && strings.Contains(action.Title, title) {
					found = true
					after := applied(program, action.Edits[file])
					require.Equal(t, before, spelled(t, after), "%s\n%s", program, after)
				}
			}
			require.True(t, found || strings.Contains(text, "<<"), "%s in\n%s", name, program) // which may be a merge
		}
	})
}
