package slots

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// At most as many goroutines run concurrently as there are slots, and all get their turn.
func TestEachKeepsToTheLimit(t *testing.T) {
	p := NewPool(t.Context(), 3, func() {})
	var now, most, all atomic.Int32
	p.Each(50, func(int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		all.Add(1)
		now.Add(-1)
	})
	require.LessOrEqual(t, most.Load(), int32(3))
	require.Equal(t, int32(50), all.Load())
}

// A goroutine that waits for another one frees its slot.
func TestWaitingHoldsNoSlot(t *testing.T) {
	p := NewPool(t.Context(), 1, func() {})
	first, done := p.Slot(), make(chan struct{})
	require.NoError(t, first.Take(t.Context()))
	go func() {
		second := p.Slot()
		if second.Take(t.Context()) == nil {
			second.Free()
			close(done)
		}
	}()
	require.NoError(t, first.Wait(t.Context(), done))
	first.Free()
	first.Free() // a second time does nothing
	require.NoError(t, p.Slot().Take(t.Context()))
}

// After the end of the operation Take and Wait return at once.
func TestNothingBeginsAfterTheEnd(t *testing.T) {
	running, stop := context.WithCancel(t.Context())
	p := NewPool(running, 1, func() {})
	stop()
	require.ErrorIs(t, p.Slot().Take(t.Context()), monitor.ErrShutdown)
	require.ErrorIs(t, p.Wait(t.Context(), make(chan struct{})), monitor.ErrShutdown)
	done := make(chan struct{})
	close(done)
	require.NoError(t, p.Wait(t.Context(), done), "what is over is over")
	p.Each(1, func(int) { t.Error("begun") })
}
