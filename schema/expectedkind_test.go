package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// L9.14: an unknown value has the kind of its type, if the type has one.
func TestExpectedKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ  schema.Type
		want value.Kind
	}{
		"text":              {schema.String, value.KindString},
		"integer":           {schema.Integer, value.KindNumber},
		"optional":          {&schema.Optional{Elem: schema.Bool}, value.KindBool},
		"optional anything": {&schema.Optional{Elem: schema.Any}, value.KindAny},
		"enum":              {&schema.Enum{Base: schema.Number}, value.KindNumber},
		"list":              {&schema.Array{Item: schema.String}, value.KindList},
		"object":            {&schema.Object{}, value.KindMap},
		"resource":          {schema.AnyResource, value.KindResource},
		"union":             {&schema.Union{Members: []schema.Type{schema.String, schema.Bool}}, value.KindAny},
		"nothing":           {nil, value.KindAny},
	} {
		require.Equal(t, c.want, schema.ExpectedKind(c.typ), name)
	}
}
