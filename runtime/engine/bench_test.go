package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// discard is a journal that drops all entries.
type discard struct{}

func (discard) Append(context.Context, journal.Entry) error { return nil }

func (discard) Held(context.Context) error { return nil }

func (d discard) Defer(ctx context.Context, e journal.Entry) error { return d.Append(ctx, e) }

// many registers n resources with nested inputs, each depending on an earlier one.
func many(ctx context.Context, m monitor.Monitor, n int, text string) error {
	stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	if err != nil {
		return err
	}
	nested := value.MapOf(value.Entry{Key: "a", Value: value.String("x")},
		value.Entry{Key: "b", Value: value.List(value.Int(1), value.Int(2))},
		value.Entry{Key: "c", Value: value.MapOf(value.Entry{Key: "d", Value: value.Bool(true)},
			value.Entry{Key: "e", Value: value.String("y")})})
	var before urn.URN
	for i := range n {
		r := monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: fmt.Sprintf("r%d", i), Parent: stack.URN,
			Inputs: value.MapOf(value.Entry{Key: "v", Value: value.String(text)}, value.Entry{Key: "nested", Value: nested})}
		if before != "" {
			r.Dependencies = []urn.URN{before}
		}
		answer, err := m.RegisterResource(ctx, r)
		if err != nil {
			return err
		}
		before = answer.URN
	}
	return nil
}

func benchOptions(base *state.Snapshot, c *cloud) Options {
	c.log = func(string, ...any) {}
	return Options{Project: "p", Stack: "dev", Base: base, Journal: discard{}, Providers: c, Now: time.Now, Parallel: 4}
}

// BenchmarkOperations measures the engine's own cost for 1,000 and 10,000 resources with a provider in memory.
func BenchmarkOperations(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		run := func(b *testing.B, base *state.Snapshot, c *cloud, text string) *state.Snapshot {
			result, err := Update(b.Context(), benchOptions(base, c),
				func(ctx context.Context, m monitor.Monitor) error { return many(ctx, m, n, text) })
			if err != nil || result.Failed {
				b.Fatal(err, "failed")
			}
			return result.Snapshot
		}
		b.Run(fmt.Sprintf("create/%d", n), func(b *testing.B) {
			for b.Loop() {
				run(b, nil, newCloud(), "1")
			}
		})
		c := newCloud()
		base := run(b, nil, c, "1")
		b.Run(fmt.Sprintf("same/%d", n), func(b *testing.B) {
			for b.Loop() {
				run(b, base, c, "1")
			}
		})
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			for b.Loop() {
				run(b, base, c, "2")
			}
		})
		b.Run(fmt.Sprintf("destroy/%d", n), func(b *testing.B) {
			for b.Loop() {
				o := benchOptions(base, c)
				o.Journal, o.DryRun = nil, true
				if r, err := Destroy(b.Context(), o, nil); err != nil || r.Failed {
					b.Fatal(err, "failed")
				}
			}
		})
	}
}
