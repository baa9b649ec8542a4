package phrasebook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOperator(t *testing.T) {
	t.Parallel()
	for text, advice := range map[string]string{
		"a === b":           "`===` is written `==`",
		"a !== b":           "`!==` is written `!=`",
		"a == 'x'":          "inside of `${…}`, a string needs double quotes",
		"a and b":           "`and` is written `&&`",
		"a ?? b":            "`a ?? b` is written `coalesce(a, b)`",
		"a | upper":         "`a | f` is written `f(a)`",
		"a = b":             "`=` alone compares nothing: equality is `==`",
		"{ a }":             "`${{ … }}` is of GitHub Actions: here it is `${…}`; a map is written `{key = value}`",
		"a || b":            "",
		"[for a in b : a c": "",
		"{for a in b : a c": "",
		"a >= b != c":       "",
		`a == "x and 'y'"`:  "",
		"android.brand":     "",
		"notes.is-in":       "",
		"a.and":             "",
		`"\"" + 'x'`:        "inside of `${…}`, a string needs double quotes",
		"a if b else c":     "a choice is written `condition ? one : other`",
		"a <> b":            "`<>` is written `!=`",
		`f"x {a}"`:          "a text with values is written `\"hello ${name}\"`",
		"a.b.toLowerCase()": "`toLowerCase` is of JavaScript: write `lower(a.b)`",
		`a["x"].upper()`:    "`upper` is of Python: write `upper(a[\"x\"])`",
		"a?.b()":            "a function is called by its name: `b(a)`; a method of a resource with `call(a, \"b\", {})`",
		`upper("a.b(c)")`:   "",
		`if"x"`:             "",
		"Math.max(a, b)":    "`Math` is of JavaScript: write `min`, `max`, `floor`, `ceil`, `round`, `abs`",
		"x.toFixed(2)":      "`toFixed` is of JavaScript: write `format(\"%.2f\", x)`",
		"l.push(1)":         "`push` is of JavaScript: write `concat(l, [value])`",
		"a =~ b":            "a pattern is matched by `regex(\"pattern\", text)`",
		"!Ref a":            "`!Ref name` is written `${name}`",
		".Values.a":         "`Values` is of Helm: configuration is written by its name alone: declare it under `config`",
		"[x for x in l]":    "a list from a list is written `[for item in list : value]`",
		"[for x in l : x":   "",
		"users.map(u => u)": "a function over a list is written `[for item in list : value]`",
	} {
		require.Equal(t, advice, Operator(text), text)
	}
}
