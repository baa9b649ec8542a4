package parser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Advice about a JSON file shows JSON; names, expressions and other commands stay as they are.
func TestAdviceInJSON(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"write `dependsOn: ${file}` under its options": "write `\"dependsOn\": \"${file}\"` under its options",
		"write `options: {dependsOn: [\"${name}\"]}`":  "write `\"options\": {\"dependsOn\": [\"${name}\"]}`",
		"write a list: `- {key: …, value: …}`":         "write a list: `[{\"key\": \"…\", \"value\": \"…\"}]`",
		"for example: fn::join: [\"-\", [eu, 1]]":      "for example: \"fn::join\": [\"-\", [\"eu\", 1]]",
		"indent `dependsOn` under `options`":           "move `dependsOn` under `options`",
		"write `${name}` with the name of a resource":  "write `\"${name}\"` with the name of a resource",
		"write `package:module:Type`":                  "write `package:module:Type`",
		"write `protect: true`":                        "write `\"protect\": true`",
		"write `[for item in list : value]`":           "write `[for item in list : value]`",
		"a map is written `{key = value}`":             "a map is written `{key = value}`",
		"write `a ? b : c`":                            "write `a ? b : c`",
		"write `coalesce(a, \"b\")`":                   "write `coalesce(a, \"b\")`",
		"write `${a > 5 ? b: c}`":                      "write `\"${a > 5 ? b: c}\"`",
		"write `name: \"\\a\"`":                        "write `\"name\": \"\\u0007\"`",
		"write `{name, type}`":                         "write `{name, type}`",
		"set it with: yamlhost config set a VALUE":     "set it with: yamlhost config set a VALUE",
		"one ` alone":                                  "one ` alone",
	} {
		for name, detail := range map[string]string{"Main.json": want, "Main.yaml": given} {
			src := diag.NewSource(name, []byte("{}"))
			found := InJSON(diag.Diagnostics{{Subject: diag.NewRange(src, 0, 1), Detail: given}})
			require.Equal(t, detail, found[0].Detail)
		}
	}
}
