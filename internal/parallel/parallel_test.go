package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/parallel"
)

// Each number is passed once, and all calls have returned when Each returns.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 7, 100} {
		for _, batch := range []int{1, 3, 100, 1000} {
			counts := make([]int, n)
			parallel.Each(n, batch, func(i int) { counts[i]++ })
			for i, count := range counts {
				require.Equal(t, 1, count, "%d of %d in batches of %d", i, n, batch)
			}
		}
	}
}

// A panic reaches the caller from any goroutine, with its stack.
func TestEachPanics(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	defer func() {
		switch r := recover().(type) {
		case parallel.Panic:
			require.Equal(t, "the reason", r.Value)
			require.Contains(t, r.Error(), "TestEachPanics")
		default: // with a single processor
			require.Equal(t, "the reason", r)
		}
		require.Positive(t, calls.Load())
	}()
	parallel.Each(1000, 1, func(int) {
		if calls.Add(1) == 10 {
			panic("the reason")
		}
	})
}
