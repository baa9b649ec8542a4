package parser

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// generated returns a program of n resources, each with about nine nested properties and 700 bytes long.
func generated(n int) []byte {
	var b strings.Builder
	b.WriteString(
		"name: generated\nconfig:\n  zone: {type: string, default: a}\nvariables:\n  prefix: \"p-${zone}\"\nresources:\n")
	for i := range n {
		before := "zone"
		if i > 0 {
			before = fmt.Sprintf("server%d.address", i-1)
		}
		fmt.Fprintf(&b, `  server%d:
    type: docs:index:Server
    properties:
      name: "${prefix}-server-%d"
      zone: ${zone}
      size: 4
      description: |
        The server with number %d,
        which talks to ${%s}.
      tags:
        owner: team-%d
        cost-center: "%d"
        generated: true
        nested: {a: 1, b: [x, 'y', "z ${prefix}"], c: {d: null}}
      disks:
        - {name: root, size: 40, type: fast}
        - name: data-%d
          size: 400
          labels: {backup: daily, tier: "gold"}
      network:
        interfaces:
          - address: 10.0.%d.%d
            public: false
            upstream: ${%s}
    options:
      protect: false
      ignoreChanges: [tags, "disks[0].size"]
`, i, i, i, before, i%7, i%100, i, i/250%250, i%250, before)
	}
	fmt.Fprintf(&b, "outputs:\n  last: ${server%d.id}\n", n-1)
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		text := generated(n)
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
