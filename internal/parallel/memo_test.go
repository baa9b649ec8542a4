package parallel_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/parallel"
)

func TestMemoComputesOnce(t *testing.T) {
	t.Parallel()
	var memo parallel.Memo[string, int, error]
	var calls atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			n, err := memo.Get("a", func() (int, error) { return int(calls.Add(1)), nil })
			if n != 1 || err != nil {
				t.Errorf("got %d and %v", n, err)
			}
		})
	}
	group.Wait()
	n, _ := memo.Get("b", func() (int, error) { return int(calls.Add(1)), nil })
	require.Equal(t, 2, n)
}
