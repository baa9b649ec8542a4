//go:build unix

package dynamic

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// cpu returns the CPU time of this process and of the ended processes that it has waited for.
func cpu(b *testing.B) time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &u))
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// BenchmarkCreate bundles a source, starts its process and creates resources concurrently. The metric is the CPU time
// of both processes.
func BenchmarkCreate(b *testing.B) {
	sources := map[string]string{
		"t.ts": "export default { async create(inputs: any) { return { id: inputs.name, outs: inputs }; } };\n",
		"t.py": "class T:\n    def create(self, inputs):\n        return {'id': inputs['name'], 'outs': inputs}\n",
	}
	path := filepath.SplitList(os.Getenv("PATH"))
	for source, text := range sources {
		for _, count := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", source, count), func(b *testing.B) {
				dir := b.TempDir()
				require.NoError(b, os.WriteFile(filepath.Join(dir, source), []byte(text), 0o600))
				before := cpu(b)
				for b.Loop() {
					code, err := bundle.Make(bundle.Options{Dir: dir, Source: source})
					require.NoError(b, err)
					p, err := NewLoader(Options{Dir: dir, Environ: os.Environ(), Path: path}).
						Load(b.Context(), provider.Package{Name: Package})
					require.NoError(b, err)
					c, err := p.Configure(b.Context(), provider.ConfigureRequest{Inputs: strs("source", source, "language",
						string(code.Language), "digest", code.Digest, "code", code.Code).
						With("types", value.EmptyMap().With("T", value.EmptyMap()))})
					require.NoError(b, err)
					var wait sync.WaitGroup
					for i := range count {
						wait.Go(func() {
							name := fmt.Sprint("n", i)
							_, err := c.Create(b.Context(), provider.CreateRequest{Subject: subject("T", name), Inputs: strs("name", name)})
							if err != nil {
								b.Error(err)
							}
						})
					}
					wait.Wait()
					require.NoError(b, p.Close())
				}
				b.ReportMetric((cpu(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
