package value_test

import (
	"strings"
	"testing"

	"github.com/yamlhost/yamlhost/internal/value"
)

// The text is a megabyte of JSON, a list of objects such as programs read.
func BenchmarkFromJSON(b *testing.B) {
	item := `{"name": "a name of usual length", "tags": {"a": "b", "c": "d\n"}, "count": 17, "ratio": 0.25, "on": true, "list": [1, 2, 3, null]}`
	text := "[" + strings.Repeat(item+",\n", 1<<20/len(item)) + item + "]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.FromJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
