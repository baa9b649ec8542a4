package mask

import (
	"fmt"
	"strings"
	"testing"
)

func secretNumber(i int) string { return fmt.Sprintf("s3cr3t/%d+%x", i, i*7919) }

// BenchmarkLearnAndHide learns n secrets and masks as many texts: the time for each must not depend on n.
func BenchmarkLearnAndHide(b *testing.B) {
	for _, n := range []int{100, 1000, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := New()
				for i := range n {
					m.LearnText(secretNumber(i))
					m.Hide("resource " + secretNumber(i/2) +
						" was created in a line of usual length, with nothing else of interest in it")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/secret")
		})
	}
}

// BenchmarkHide masks a megabyte of text.
func BenchmarkHide(b *testing.B) {
	line := "a line of a log that begins like a secret: s3cr3t/12345, and goes on\n"
	text := strings.Repeat(line, 1<<20/len(line))
	for _, n := range []int{1, 100, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New()
			for i := range n {
				m.LearnText(secretNumber(i))
			}
			m.Hide("x")
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Hide(text)
			}
		})
	}
}
