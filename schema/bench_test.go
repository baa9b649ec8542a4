package schema_test

import (
	"testing"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// BenchmarkComplete completes inputs that need no conversion, and inputs with one converted member.
func BenchmarkComplete(b *testing.B) {
	rule := schema.ObjectOf(&schema.Property{Name: "ports", Type: &schema.Array{Item: schema.Number}},
		&schema.Property{Name: "name", Type: schema.String}, &schema.Property{Name: "on", Type: schema.Bool})
	inputs := schema.ObjectOf(&schema.Property{Name: "name", Type: schema.String},
		&schema.Property{Name: "size", Type: schema.Number}, &schema.Property{Name: "rules", Type: &schema.Array{Item: rule}},
		&schema.Property{Name: "tags", Type: &schema.Map{Item: schema.String}},
		&schema.Property{Name: "mode", Type: schema.String, Default: "plain"})
	given := func(size value.Value) value.Value {
		rule := mapOf("ports", value.List(value.Int(80), value.Int(443)), "name", text("web"), "on", value.Bool(true))
		return mapOf("name", text("a"), "size", size, "rules", value.List(rule, rule, rule),
			"tags", mapOf("a", text("b"), "c", text("d")), "mode", text("plain"))
	}
	for name, v := range map[string]value.Value{"fitting": given(value.Int(3)), "converted": given(text("3"))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (schema.Converter{}).Complete(inputs, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
