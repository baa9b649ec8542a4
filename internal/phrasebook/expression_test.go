package phrasebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOperator(t *testing.T) {
	t.Parallel()
	for text, advice := range map[string]string{
		"a === b":                          "`===` is written `==`",
		"a !== b":                          "`!==` is written `!=`",
		"a == 'x'":                         "inside of `${…}`, a string needs double quotes",
		"a and b":                          "`and` is written `&&`",
		"a ?? b":                           "`a ?? b` is written `coalesce(a, b)`",
		"a | upper":                        "`a | f` is written `f(a)`",
		"a = b":                            "`=` alone compares nothing: equality is `==`",
		"{ a }":                            "`${{ … }}` is of GitHub Actions: here it is `${…}`; a map is written `{key = value}`",
		"a || b":                           "",
		"[for a in b : a c":                "",
		"{for a in b : a c":                "",
		"a >= b != c":                      "",
		`a == "x and 'y'"`:                 "",
		"android.brand":                    "",
		"notes.is-in":                      "",
		"a.and":                            "",
		`"c:\\" ?? a`:                      "`a ?? b` is written `coalesce(a, b)`",
		`upper("\\" and a)`:                "`and` is written `&&`",
		`a + "${b === "c"}"`:               "`===` is written `==`",
		`a + "${f("b ?? c")} ?? " !`:       "",
		`a + "%{ for b in c }%{ else }" !`: "",
		`a + "$${b and c}" !`:              "",
		`"\"" + 'x'`:                       "inside of `${…}`, a string needs double quotes",
		"a if b else c":                    "a choice is written `condition ? one : other`",
		"a <> b":                           "`<>` is written `!=`",
		`f"x {a}"`:                         "a text with values is written `\"hello ${name}\"`",
		"a.b.toLowerCase()":                "`toLowerCase` is of JavaScript: write `lower(a.b)`",
		`base.getOutput("vpcId")`:          "`getOutput` is of Pulumi in other languages: write `base.outputs[\"name\"]`",
		`a["x"].upper()`:                   "`upper` is of Python: write `upper(a[\"x\"])`",
		"a?.b()":                           "a function is called by its name: `b(a)`; a method of a resource with `call(a, \"b\", {})`",
		`upper("a.b(c)")`:                  "",
		`if"x"`:                            "",
		"Math.max(a, b)":                   "`Math` is of JavaScript: write `min`, `max`, `floor`, `ceil`, `round`, `abs`",
		"x.toFixed(2)":                     "`toFixed` is of JavaScript: write `format(\"%.2f\", x)`",
		"l.push(1)":                        "`push` is of JavaScript: write `concat(l, [value])`",
		"a =~ b":                           "a pattern is matched by `regex(\"pattern\", text)`",
		"!Ref a":                           "`!Ref name` is written `${name}`",
		".Values.a":                        "`Values` is of Helm: configuration is written by its name alone: declare it under `config`",
		"[x for x in l]":                   "a list from a list is written `[for item in list : value]`",
		"[for x in l : x":                  "",
		"users.map(u => u)":                "a function over a list is written `[for item in list : value]`",
	} {
		require.Equal(t, advice, Operator(text), text)
	}
}

// quotedText draws a text in double quotes, and the same with spaces for what is text in it: its words, escapes and
// directives, but not its expressions.
func quotedText(t *rapid.T, depth int) (text, plain string) {
	text, plain = `"`, `"`
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		part := rapid.SampledFrom([]string{"a ?? b", `\\`, `\"`, `\u00e9`, "$${", "%%{", "}", "{", "$ ", "'", " and ", "é", "%{ if x }",
			`%{ if f("}") }`, "${"}).Draw(t, "part")
		text += part
		if part != "${" {
			plain += strings.Repeat(" ", len(part))
			continue
		}
		inner, bare := code(t, depth-1)
		text, plain = text+inner+"}", plain+"  "+bare+" "
	}
	return text + `"`, plain + `"`
}

// code draws an expression with texts in it, and the same with spaces for what is in quotes.
func code(t *rapid.T, depth int) (text, plain string) {
	for range rapid.IntRange(1, 4).Draw(t, "pieces") {
		part := rapid.SampledFrom([]string{"a", " === ", " and ", "{k = ", "f(", "1.5", " | ", `"`}).Draw(t, "piece")
		bare := part
		switch {
		case part == `"` && depth > 0:
			part, bare = quotedText(t, depth)
		case part == `"`:
			part, bare = "b", "b"
		case part == "{k = ":
			part, bare = part+"2}", bare+"2}"
		}
		text, plain = text+part, plain+bare
	}
	return text, plain
}

// What stands in quotes is no operator, and what stands outside of them is one, however texts and expressions nest.
func TestUnquoted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, plain := code(t, 3)
		require.Equal(t, plain, unquoted(text), text)
	})
	rapid.Check(t, func(t *rapid.T) { // no text is too broken
		text := rapid.StringOf(rapid.SampledFrom([]rune("\"\\${}%a "))).Draw(t, "text")
		require.Len(t, unquoted(text), len(text))
	})
}
