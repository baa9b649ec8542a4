package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// bigProgram returns a program with n resources of nine properties with nested values. In each group of ten, every
// resource depends on the previous one.
func bigProgram(n int) string {
	var b strings.Builder
	b.WriteString("name: p\nconfig:\n  size: {type: integer, default: 3}\nvariables:\n  label: x-${size}\nresources:\n")
	for i := range n {
		before := "${label}"
		if i%10 > 0 {
			before = fmt.Sprintf("${r%d.computed}", i-1)
		}
		fmt.Fprintf(&b, `  r%d:
    type: zoo:Typed
    properties:
      s: %s
      n: %d
      i: ${size}
      b: true
      ls: [one, two, 'three-${label}', '${label}']
      mi: {a: 1, b: 2, c: 3}
      ms: {first: x, second: '${label}', third: 'a ${size} b'}
      obj:
        a: name-%d
        b: 5
        deep:
          - {a: inner, b: 1}
          - {a: '${label}', deep: [{a: innermost}]}
      pet: {kind: cat, lives: 9}
`, i, before, i, i)
	}
	b.WriteString("outputs:\n  last: ${r0.computed}\n")
	return b.String()
}

// BenchmarkCheck checks parsed programs; cpu-ms/op is the CPU time of this process, without that of other processes.
func BenchmarkCheck(b *testing.B) {
	schemas := loader()
	for _, n := range []int{10, 1000, 10_000} {
		text := bigProgram(n)
		file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
		if diags.HasErrors() {
			b.Fatal(diags[0].Summary)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				if _, diags := check.Check(b.Context(), file, check.Options{Project: "p", Schemas: schemas}); diags.HasErrors() {
					b.Fatal(diags[0].Summary)
				}
			}
		})
	}
}

// BenchmarkText parses and checks the same programs: the work of `yamlhost check` without start-up and output.
func BenchmarkText(b *testing.B) {
	schemas := loader()
	for _, n := range []int{10, 100, 1000, 10_000} {
		text := []byte(bigProgram(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				file, _ := parser.Parse(diag.NewSource("Main.yaml", text), parser.Options{})
				if _, diags := check.Check(b.Context(), file, check.Options{Project: "p", Schemas: schemas}); diags.HasErrors() {
					b.Fatal(diags[0].Summary)
				}
			}
		})
	}
}

// reportCPU starts to measure the CPU time of the process; the returned function reports it per iteration.
func reportCPU(b *testing.B) func() {
	before := cpuTime()
	return func() {
		if used := cpuTime() - before; used > 0 {
			b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op")
		}
	}
}

// BenchmarkFaults checks programs in which every resource has the same few faults.
func BenchmarkFaults(b *testing.B) {
	schemas := loader()
	for _, n := range []int{10, 1000, 10_000} {
		text := strings.NewReplacer("lives", "livs", "zoo:Typed", "zoo:Typd", "${label}", "${lable}").Replace(bigProgram(n))
		file, _ := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, diags := check.Check(b.Context(), file, check.Options{Project: "p", Schemas: schemas}); !diags.HasErrors() {
					b.Fatal("nothing found")
				}
			}
		})
	}
}

// BenchmarkKeystroke changes one character in the middle of a text, parses it anew and checks it with what the check
// before has left: what an editor does for each key.
func BenchmarkKeystroke(b *testing.B) {
	schemas := loader()
	for _, n := range []int{1000, 10_000} {
		text := bigProgram(n)
		pos := strings.Index(text, fmt.Sprintf("a: name-%d\n", n/2)) + len("a: name-")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			document := parser.NewDocument(diag.NewSource("Main.yaml", []byte(text)))
			options := check.Options{Project: "p", Schemas: schemas}
			file, _ := document.File(parser.Options{})
			_, previous, _ := check.Recheck(b.Context(), file, options, nil)
			b.ReportAllocs()
			defer reportCPU(b)()
			for i := 0; b.Loop(); i++ {
				document = document.Edit(parser.Edit{Start: pos, End: pos + 1, Text: fmt.Sprint(i % 10)})
				file, _ := document.File(parser.Options{})
				_, previous, _ = check.Recheck(b.Context(), file, options, previous)
			}
		})
	}
}
