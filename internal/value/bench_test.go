package value_test

import (
	"testing"

	"github.com/yamlhost/yamlhost/internal/value"
)

// BenchmarkMapOf builds maps of sorted and of unsorted entries.
func BenchmarkMapOf(b *testing.B) {
	sorted := []value.Entry{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}, {Key: "e"}, {Key: "f"}, {Key: "g"}}
	mixed := []value.Entry{{Key: "f"}, {Key: "b"}, {Key: "c"}, {Key: "g"}, {Key: "e"}, {Key: "a"}, {Key: "d"}}
	for name, entries := range map[string][]value.Entry{"sorted": sorted, "mixed": mixed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.MapOf(entries...)
			}
		})
	}
}

// BenchmarkDeepWithoutDeps removes the dependencies from a map in which every tenth value has some.
func BenchmarkDeepWithoutDeps(b *testing.B) {
	var items []value.Value
	for i := range 10 {
		v := value.MapOf(value.Entry{Key: "a", Value: value.Int(i)}, value.Entry{Key: "b", Value: value.String("c")})
		if i == 5 {
			v = v.DependingOn("urn:pulumi:dev::p::a:b:C::d")
		}
		items = append(items, v)
	}
	v := value.MapOf(value.Entry{Key: "items", Value: value.List(items...)})
	b.ReportAllocs()
	for b.Loop() {
		v.DeepWithoutDeps()
	}
}
