package parser

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
)

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		text := corpus.Resources(n)
		src := diag.NewSource("Main.yaml", text)
		b.Run(fmt.Sprintf("resources=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := Parse(src, Options{}); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
		// The YAML parser alone, for comparison.
		b.Run(fmt.Sprintf("yaml=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				var n yaml.Node
				if err := yaml.Unmarshal(text, &n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParseOneLine parses a JSON program on a single line. Counting columns from the start of the line each time
// would take quadratic time.
func BenchmarkParseOneLine(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"variables":{"é":[`)
	for i := range 50000 {
		fmt.Fprintf(&text, `{"k":"ü${é}","n":%d},`, i)
	}
	text.WriteString(`null]}}`)
	src := diag.NewSource("Main.json", []byte(text.String()))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, diags := Parse(src, Options{}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
