package types

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/schema"
)

func TestMapHint(t *testing.T) {
	t.Parallel()
	object := func(properties ...*schema.Property) *schema.Object {
		return schema.NewObject("", true, func() []*schema.Property { return properties })
	}
	optional := &schema.Property{Name: "may", Type: schema.String}
	required := &schema.Property{Name: "must", Type: schema.String, Required: true}
	for want, wanted := range map[string]schema.Type{
		"write a map, each entry on a line `name: value`": &schema.Map{Item: schema.String},
		"write a map with must":                           object(optional, required),
		"write a map with may":                            object(optional),
		"write `{}`: it has no members":                   object(),
	} {
		require.Equal(t, want, mapHint(wanted))
	}
}
