package engine

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// meeting is shared by providers that complete creates and deletes only when the expected number is in flight, each
// after some time.
type meeting struct {
	size int
	time time.Duration

	mu      sync.Mutex
	here    int
	most    int
	waiting chan struct{} // closed when the expected number of calls has arrived
}

type participant struct {
	*intercepted
	*meeting
}

// of wraps the providers of a cloud.
func (m *meeting) of(c *cloud) provider.Loader {
	return intercepting{c, func(i *intercepted) answering { return participant{i, m} }}
}

// meet returns when it was called size times since the last return.
func (m *meeting) meet(ctx context.Context) error {
	m.mu.Lock()
	if m.waiting == nil {
		m.waiting = make(chan struct{})
	}
	waiting := m.waiting
	m.here++
	m.most = max(m.most, m.here)
	if m.here == m.size {
		close(waiting)
		m.here, m.waiting = 0, nil
	}
	m.mu.Unlock()
	select {
	case <-waiting:
		if m.time > 0 {
			time.Sleep(m.time)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p participant) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if err := p.meet(ctx); err != nil {
		return provider.CreateResponse{}, err
	}
	return p.Configured.Create(ctx, r)
}

func (p participant) Delete(ctx context.Context, r provider.DeleteRequest) error {
	if err := p.meet(ctx); err != nil {
		return err
	}
	return p.Configured.Delete(ctx, r)
}

// independent returns a program that registers n independent resources concurrently.
func independent(n int) Program {
	return inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		errs := make([]error, n)
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				_, errs[i] = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true,
					Name: fmt.Sprintf("r%d", i), Parent: stack, Inputs: value.EmptyMap()})
			})
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// E5.2, E5.3, E5.4: the maximum number of calls is in flight at all times, and never more. If there were fewer calls
// while work is left, those in flight would wait forever.
func TestAsManyAtOnceAsAllowed(t *testing.T) {
	for _, parallel := range []int{1, 8, 50} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w := newWorld()
			w.cloud.log = func(string, ...any) {}
			o, _ := w.options(parallel, false)
			m := &meeting{size: parallel}
			o.Providers = m.of(w.cloud)
			result, err := Update(ctx, o, independent(200))
			require.NoError(t, err)
			require.False(t, result.Failed)
			require.Len(t, w.cloud.inventory(), 200)
			w.state = result.Snapshot
			o, _ = w.options(parallel, false)
			o.Providers = m.of(w.cloud)
			result, err = Destroy(ctx, o, nil)
			require.NoError(t, err)
			require.False(t, result.Failed)
			require.Empty(t, w.cloud.inventory(), "deletions too")
			require.Equal(t, parallel, m.most)
		})
	}
}

// BenchmarkSlowProvider creates 200 independent resources of 200 ms each. The ideal is 200 × 0.2 s / parallel.
func BenchmarkSlowProvider(b *testing.B) {
	for _, parallel := range []int{10, 50} {
		b.Run(fmt.Sprintf("parallel %d", parallel), func(b *testing.B) {
			for b.Loop() {
				c := newCloud()
				o := benchOptions(nil, c)
				m := &meeting{size: 1, time: 200 * time.Millisecond}
				o.Parallel, o.Providers = parallel, m.of(c)
				if result, err := Update(b.Context(), o, independent(200)); err != nil || result.Failed {
					b.Fatal(err, "failed")
				}
			}
			ideal := 200 * 0.2 / float64(parallel)
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/ideal, "×ideal")
		})
	}
}
