package check_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

// withPackage adds a package n to those of testdata.
func withPackage(text string) func(*check.Options) {
	return func(o *check.Options) {
		o.Schemas = schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
			if d.PackageName() == "n" {
				return []byte(text), nil
			}
			return os.ReadFile("testdata/" + d.PackageName() + ".json")
		})
	}
}

func TestPlainItemsAndDefaults(t *testing.T) {
	t.Parallel()
	const nested = `{"name": "n", "types": {"n:index:In": {"type": "object", "required": ["a", "b"], "properties": {
	  "a": {"type": "string", "default": "x"}, "b": {"type": "string", "defaultInfo": {"environment": ["B"]}}}}},
	  "resources": {"n:index:R": {"requiredInputs": ["env"], "inputProperties": {
	    "env": {"type": "string", "defaultInfo": {"environment": ["ENV"]}},
	    "in": {"$ref": "#/types/n:index:In"},
	    "items": {"type": "array", "items": {"type": "string", "plain": true}},
	    "entries": {"type": "object", "additionalProperties": {"type": "string", "plain": true}}}}}}`
	const program = `name: p
resources:
  pet: {type: 'random:RandomPet'}
  r:                                      #! Y211 n:R needs env (string)
    type: n:R
    properties:
      items: [a, '${pet.id}']             #! Y221 property "items[1]" must be known
      entries:
        k: ${pet.id}                      #! Y221 property "entries.k" must be known
      in: {}                              #! Y211 property "in" needs b
`
	_, diags := checkText(t, "Main.yaml", program, withPackage(nested))
	expectFaults(t, program, diags)
}

// Deprecation notes may contain HTML; messages show them as plain text.
func TestDeprecationWithoutHTML(t *testing.T) {
	t.Parallel()
	const deprecated = `{"name": "n", "resources": {"n:index:R": {"deprecationMessage": "use <b>S</b>", "inputProperties": {
	  "old": {"type": "string", "deprecationMessage": "use <span pulumi-lang-yaml=\"` + "`new`" + `\">` + "`new`" + `</span> instead"}}}}}`
	_, diags := checkText(t, "Main.yaml", "name: p\nresources:\n  r: {type: 'n:R', properties: {old: x}}\n",
		withPackage(deprecated))
	require.Len(t, diags, 2)
	require.Equal(t, "use S", diags[0].Detail)
	require.Equal(t, "use `new` instead", diags[1].Detail)
}
