package check_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/schema"
)

func TestTypesOfOtherPackages(t *testing.T) { // F8.6, F8.7
	t.Parallel()
	texts := map[string]string{
		"n": `{"name": "n", "resources": {"n:index:R": {"inputProperties": {
		    "rule": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"},
		    "lost": {"$ref": "/gone/v1.0.0/schema.json#/types/gone:index:T"},
		    "part": {"$ref": "/m/v1.2.0/schema.json#/resources/m:index%2Fpart:Part"}},
		  "properties": {
		    "rules": {"type": "array", "items": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"}},
		    "part": {"$ref": "/m/v1.2.0/schema.json#/resources/m:index%2Fpart:Part"},
		    "other": {"$ref": "/gone/v1.0.0/schema.json#/resources/gone:index:R"}},
		  "required": ["rules", "part", "other"]}}}`,
		"m": `{"name": "m", "types": {"m:index:Rule": {"type": "object", "required": ["port"], "properties": {
		    "port": {"type": "integer"}, "name": {"type": "string"}}}},
		  "resources": {"m:index/part:Part": {"properties": {"size": {"type": "integer"}}, "required": ["size"]}}}`,
	}
	loader := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if text, ok := texts[d.Name]; ok && (d.Version == "" || d.Version == "1.2.0") {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("%s: %w", d.Name, schema.ErrNotFound)
	})
	const program = `name: p
resources:
  good:
    type: n:R
    properties: {rule: {port: 80, name: x}, lost: {anything: 1}, part: '${part}'}
  part: {type: 'm:Part'}
  bad:
    type: n:R
    properties:
      rule:
        port: many                          #! Y212 property "rule.port": expected integer, got string
        nmae: x                             #! Y210 did you mean "name"
      part: ${good}                         #! Y218 expected resource(m:Part)
  worse:
    type: n:R
    properties:
      rule: ${good.rules[0].name}           #! Y212 property "rule": expected object, got string
      lost: ${good.rules}
variables:
  v1: ${good.rules[0].port}
  v2: ${good.rules[0].prt}                  #! Y215 did you mean "port"
  v3: ${good.part.size}
  v4: ${good.part.sze}                      #! Y215 did you mean "size"
  v5: ${good.other.anything}
`
	_, diags := checkText(t, "Main.yaml", program, func(o *check.Options) { o.Schemas = loader })
	expectFaults(t, program, diags)
}
