package literal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// texts generates texts of the characters that mean something in a program, and of any others.
func texts() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{"$", "$$", "${", "}", "%{", "%", "{", `"`, `\`, "'", " ", "\n", ": ", " #", "fn::",
		"x", "name", "y", "no", "1", "-", "[", ",", "\t", "é", "😀", "<<", "~", "|", "&", "*", "!", "\u0085", "\u2028", "\x00",
		"\x7f", "\ufeff", "\ue000", "\U000e0001"})
	return rapid.OneOf(rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
	}), rapid.String())
}

// parsed returns the value of the variable in a program.
func parsed(t *rapid.T, program string) ast.Expr {
	file, diags := parser.Parse(diag.NewSource("Pulumi.yaml", []byte(program)), parser.Options{})
	if diags.HasErrors() || len(file.Variables) != 1 {
		t.Fatalf("%v in\n%s", diags, program)
	}
	return file.Variables[0].Value
}

func isString(t *rapid.T, e ast.Expr, want, program string) {
	s, ok := e.(*ast.String)
	if !ok || s.Value != want {
		t.Fatalf("got %#v, want %q in\n%s", e, want, program)
	}
}

// TestWhatIsWrittenMeansWhatWasRead holds every form of a literal to the law of the package.
func TestWhatIsWrittenMeansWhatWasRead(t *testing.T) {
	const head = "name: p\nruntime: yaml\nvariables:\n"
	forms := map[string]func(text string) string{
		"scalar":       func(text string) string { return "  v: " + literal.Scalar(literal.Text(text)) + "\n" },
		"flow":         func(text string) string { return "  v: " + literal.Flow(literal.Text(text)) + "\n" },
		"expression":   func(text string) string { return "  v: " + literal.Scalar("${"+literal.Quoted(text)+"}") + "\n" },
		"key":          func(text string) string { return "  v:\n    " + literal.Scalar(literal.Key(text)) + ": 1\n" },
		"flow key":     func(text string) string { return "  v: {" + literal.Flow(literal.Key(text)) + ": 1}\n" },
		"item":         func(text string) string { return "  v: [" + literal.Flow(literal.Text(text)) + ", 1]\n" },
		"block item":   func(text string) string { return "  v:\n  - " + literal.Scalar(literal.Text(text)) + "\n" },
		"map in a map": func(text string) string { return "  v: '${{" + quotedKey(text) + " = 1}}'\n" },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := texts().Draw(t, "text")
				program := head + form(text)
				e := parsed(t, program)
				switch e := e.(type) {
				case *ast.List:
					isString(t, e.Items[0], text, program)
				case *ast.Map:
					isString(t, e.Entries[0].Key, text, program)
				default:
					isString(t, e, text, program)
				}
			})
		})
	}
}

func quotedKey(text string) string { return strings.ReplaceAll(literal.Quoted(text), "'", "''") }

// TestTemplatesKeepTheirParts generates templates, in strings and in expressions.
func TestTemplatesKeepTheirParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Custom(func(t *rapid.T) literal.Part {
			if rapid.Bool().Draw(t, "reference") {
				return literal.Part{Expression: "ref"}
			}
			return literal.Part{Text: texts().Draw(t, "text")}
		})
		parts := rapid.SliceOfN(part, 0, 5).Draw(t, "parts")
		const head = "name: p\nruntime: yaml\nconfig: {ref: string}\nvariables:\n  v: "
		content := literal.Template(parts)
		if rapid.Bool().Draw(t, "expression") {
			content = "${" + literal.QuotedTemplate(parts) + "}"
		}
		program := head + literal.JSON(content) + "\n"
		want := ""
		for _, p := range parts {
			if p.Expression != "" {
				want += "\x01ref\x01"
			} else {
				want += p.Text
			}
		}
		if got := spelled(parsed(t, program)); got != want {
			t.Fatalf("got %q, want %q in\n%s", got, want, program)
		}
	})
}

// spelled returns the text of a template, with references between control characters.
func spelled(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.String:
		return e.Value
	case *ast.Access:
		return "\x01" + e.Root.Value + "\x01"
	case *ast.Template:
		text := ""
		for _, part := range e.Parts {
			text += spelled(part)
		}
		return text
	}
	return "?"
}

// TestQuotedScalarsAreJSON compares with the decoder of the standard library.
func TestQuotedScalarsAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		var got string
		if err := json.Unmarshal([]byte(literal.JSON(text)), &got); err != nil || got != text {
			t.Fatalf("%s is %q: %v", literal.JSON(text), got, err)
		}
	})
}

func TestDollarsThatMeanNothingStay(t *testing.T) {
	for text, want := range map[string]string{"costs 5$": "costs 5$", "^a$": "^a$", "$HOME": "$HOME", "$(NS)": "$(NS)",
		"$$": "$$$$", "${x}": "$${x}", "$${x}": "$$$${x}", "$$(NS)": "$$$$(NS)", "100$$": "100$$$$"} {
		if got := literal.Text(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

// FuzzScalar checks that a scalar is read back as the same text, as a key and as a value.
func FuzzScalar(f *testing.F) {
	for _, text := range []string{
		"", "plain", "two words", "a: b", "a:b", "a #b", "#a", "- a", "-", "yes", "NULL", "~", "1.5", "0x1f", "1_000",
		"2001-01-01", "${a.b}",
		"${a ? b : c}", "it's", `"quoted"`, "line\nbreak", " lead", "trail ", "tab\t", "\u0085", "\ufeff", "😃⁉️", "a,b",
		"[x]", "{x}", "&a", "*a", "!t",
		"%d", "@x", "`x`", "? x", "=", "<<", "null:", "::", "\x00\x1b", "${VERSION}", "x:", ".5", "+1", "1e3", "|", ">",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ToValidUTF8(text, "") != text {
			t.Skip("YAML holds Unicode")
		}
		document := literal.Scalar(text) + ": " + literal.Scalar(text) + "\n"
		if len(text) > 100 {
			document = "? " + literal.Scalar(text) + "\n: " + literal.Scalar(text) + "\n"
		}
		var got map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(document), &got), document)
		require.Equal(t, map[string]any{text: text}, got, document)
	})
}
