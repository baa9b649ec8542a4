package parser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestSyntax parses common syntax errors of YAML. Each must cause one finding, which points at the cause.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text         string
		line, column int
		at, summary  string
		detail       string // a part of it
	}{
		"tab as indentation": {"variables:\n\ta: b\n", 2, 1, "\t", "a tab cannot be used for indentation", "spaces"},
		"tab behind spaces": {"variables:\n  a:\n  \tb: c\n", 3, 3, "\t", "a tab cannot be used for indentation",
			"spaces"},
		"quote never closed": {"variables:\n  a: \"b\n  c: d\n", 2, 6, "\"", "the text that begins here is never closed",
			"missing quote"},
		"single quote in text": {"variables:\n  a: 'it's'\n", 2, 10, "s", "nothing may follow a quoted text", "twice"},
		"quote closed far below": {"variables:\n  a: \"b\n  c: \"d\"\n", 2, 6, "\"",
			"the text that begins here is never closed", "missing quote"},
		"text behind quotes": {"variables:\n  a: \"b\" c\n", 2, 10, "c", "nothing may follow a quoted text",
			"quote all of it"},
		"bracket never closed": {"variables:\n  a: [b, c\n", 2, 6, "[", "`[` is never closed", "`]`"},
		"brace never closed":   {"variables: {a: {b: c}\n", 1, 12, "{", "`{` is never closed", "`}`"},
		"text behind a brace": {"variables:\n  a: {b}-c\n  d: e\n", 2, 6, "{b}-c", "nothing may follow `}`",
			"put a text that begins with `{` in quotes"},
		"text behind two braces": {"variables:\n  a: {{b}}-c # d\n  e: f\n", 2, 6, "{{b}}-c # d", "nothing may follow `}`",
			"`${name}`"},
		"brace text in a list": {"variables:\n  a: [{b}-c, d]\n", 2, 7, "{b}-c", "nothing may follow `}`", "quotes"},
		"text behind a list":   {"variables:\n  a: [b] c\n", 2, 6, "[b] c", "nothing may follow `]`", "quotes"},
		"comma in a list":      {"variables:\n  a: [b, 'c' 'd']\n", 2, 12, "'", "a comma is missing after this", ""},
		"comma between lines":  {"variables: {\n  a: b\n  c: d\n}\n", 2, 6, "b", "a comma is missing after this", ""},
		"wrong bracket":        {"variables: {a: [b}}\n", 1, 18, "}", "`}` cannot close `[`", ""},
		"bracket too many":     {"variables:\n  a: [b]]\n", 2, 9, "]", "`]` closes nothing", ""},
		"two colons":           {"variables:\n  a: b: c\n", 2, 7, ":", "a second `: ` in one entry", "quotes"},
		"two colons on the next": {"variables:\n  a: b\n    c: d\n", 3, 5, "c", "this line is indented like none of those around it",
			"align"},
		"condition in the open": {"variables:\n  a: ${a ? b : c}\n", 2, 6, "${a ? b : c}",
			"an expression with `: ` in it needs quotes around the whole text", "'${…}'"},
		"expression in brackets": {"variables: {a: ${b}}\n", 1, 16, "${",
			"`${…}` needs quotes in a list or map that is written in brackets", "'${…}'"},
		"expression in a list": {"variables:\n  a: [${b}, c]\n", 2, 7, "${",
			"`${…}` needs quotes in a list or map that is written in brackets", "'${…}'"},
		"bad indentation": {"variables:\n    a: b\n  c: d\n", 3, 3, "c",
			"this line is indented like none of those around it", "align"},
		"bad list indentation": {"variables:\n  a:\n    - b\n   - c\n", 4, 4, "-",
			"this line is indented like none of those around it", "align"},
		"unknown anchor (L1.28)": {"variables:\n  a: *b\n", 2, 6, "*b", "there is no anchor called `b`", "&b"},
		"missing colon":          {"variables:\n  a b\n  c: d\n", 2, 3, "a b", "`:` is missing after a key", "key: value"},
		"equals sign":            {"variables:\n  a: 1\n  b = c\n", 3, 3, "b = c", "`:` is missing after a key", "write `b: …`"},
		"no blank":               {"variables:\n  b:c\n  a: 1\n", 2, 3, "b:c", "`:` is missing after a key", "write `b: …`"},
		"URL for an entry": {"variables:\n  a:\n    b: c\n    http://d\n", 4, 5, "http://d", "`:` is missing after a key",
			"key: value"},
		"list behind a key": {"variables:\n  a: - b\n", 2, 6, "-", "a list item cannot follow a key on the same line",
			"next line"},
		"unknown escape": {"variables:\n  a: \"b\\qc\"\n", 2, 8, "\\q", "there is no escape `\\q`", "backslash"},
		"half a surrogate": {"{\"variables\": {\"a\": \"\\ud83d\\u0041\"}}\n", 1, 22, "\\ud83d",
			"there is no escape `\\ud83d`", "character itself"},
		"text behind a bar": {"variables:\n  a: | b\n    c\n", 2, 7, " b", "nothing may follow `|` or `>` on its line",
			"next line"},
		"at sign": {"variables:\n  a: @b\n", 2, 6, "@", "a text without quotes cannot begin with `@`",
			"quotes"},
		"in Windows lines": {"variables:\r\n  b: c\r\n  a: @b\r\n", 3, 6, "@",
			"a text without quotes cannot begin with `@`", "quotes"},
		"behind a mark": {"\uFEFFvariables: @b\n", 1, 13, "@", "a text without quotes cannot begin with `@`",
			"quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parse(c.text)
			require.NotNil(t, file)
			require.Len(t, diags, 1)
			d := diags[0]
			require.Equal(t, c.summary, d.Summary)
			require.Equal(t, diag.Syntax, d.Code)
			require.Equal(t, diag.Position{Line: c.line, Column: c.column}, d.Subject.StartPosition())
			require.Equal(t, c.at, d.Subject.Text())
			require.Contains(t, d.Detail, c.detail)
		})
	}
}

// TestEachMissingComma removes each comma of a JSON program in turn. There must be one finding, at the value before the
// comma, with a fix that restores it.
func TestEachMissingComma(t *testing.T) {
	t.Parallel()
	const text = `{
  "name": "a",
  "resources": {
    "pet": {"type": "random:RandomPet", "properties": {"length": 3, "prefix": "x"}},
    "id": {
      "type": "random:RandomId",
      "properties": {
        "byteLength": 4,
        "keepers": {"a": "b, c", "d": true}
      },
      "options": {
        "dependsOn": ["${pet}"],
        "protect": false,
        "ignoreChanges": [
          "keepers",
          "byteLength"
        ]
      }
    }
  },
  "outputs": {"all": [1, 2.5, null, [], {}, "x"], "last": "${pet.id}"}
}
`
	quoted := false
	for i := range len(text) {
		quoted = quoted != (text[i] == '"')
		if text[i] != ',' || quoted {
			continue
		}
		broken := text[:i] + text[i+1:]
		_, diags := parse(broken)
		if plain := strings.IndexByte("0123456789", text[i-1]) >= 0 && text[i+1] == ' ' && text[i+2] != '"'; plain {
			continue // YAML reads 1 2.5 as a string
		}
		require.Len(t, diags, 1, broken)
		require.Equal(t, "a comma is missing after this", diags[0].Summary, broken)
		require.Equal(t, int32(i), diags[0].Subject.End)
		require.Equal(t, []diag.Edit{{Range: diag.Range{Source: diags[0].Subject.Source, Start: int32(i), End: int32(i)},
			Text: ","}}, diags[0].Fixes[0].Edits)
	}
}

// TestSyntaxFallback checks rare errors of the YAML parser: the finding has a range and does not quote the parser.
func TestSyntaxFallback(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"tag handle":   "a: !x!y z\n",
		"directive":    "%YAML 1.1\n%YAML 1.1\n---\na: b\n",
		"empty anchor": "a: & b\n",
		"verbatim tag": "a: !<x y\n",
		"zero indent":  "a: |0\n  b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := parse(text)
			require.True(t, diags.HasErrors())
			for _, d := range diags {
				require.NotContains(t, d.Summary, "yaml:")
				require.False(t, d.Subject.IsZero())
			}
		})
	}
}
