package eval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/yamlhost/yamlhost/eval"
)

// calls returns a program with three calls for each of n variables, in both forms, and references between them.
func calls(n int) string {
	var b strings.Builder
	b.WriteString("variables:\n  v0: {name: start, ports: [80, 443]}\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b,
			"  v%d:\n    name: {fn::join: [\"-\", [n, %d, {fn::upper: \"${v%d.name}\"}]]}\n    ports: ${slice(v%d.ports, 0, "+
				"2)}\n", i, i, i/2, i/2)
	}
	return b.String()
}

// BenchmarkCalls evaluates variables with three calls each: time and memory per call should not grow with their number.
func BenchmarkCalls(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("calls=%d", 3*n), func(b *testing.B) {
			program := mustLoad(b, calls(n), nil)
			b.ReportAllocs()
			for b.Loop() {
				if result, _ := eval.Run(context.Background(), program, newZoo(false).recorder, options()); result.Failed > 0 {
					b.Fatal("something failed")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(3*n), "ns/call")
		})
	}
}

// BenchmarkForEach makes one resource for each of many items.
func BenchmarkForEach(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("items=%d", n), func(b *testing.B) {
			text := fmt.Sprintf(
				"resources:\n  r: {type: zoo:Echo, forEach: %d, properties: {value: \"x-${each.key}\"}}\noutputs: {n: "+
					"\"${length(r[*].computed)}\"}\n", n)
			program := mustLoad(b, text, nil)
			b.ReportAllocs()
			for b.Loop() {
				if result, _ := eval.Run(context.Background(), program, newZoo(false).recorder, options()); result.Failed > 0 {
					b.Fatal("something failed")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}
