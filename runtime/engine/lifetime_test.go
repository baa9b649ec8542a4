package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// E2.68: a program that waits for the shutdown is released when all steps have ended; meanwhile no request is admitted,
// and a second wait is an error.
func TestWaitingForShutdown(t *testing.T) {
	l := newLifetime(t.Context(), nil, nil)
	signal := l.gate.beginProgram()
	require.NoError(t, l.gate.enter())
	waited := make(chan error, 1)
	go func() { waited <- l.gate.shutDown(t.Context()) }()
	<-signal
	require.ErrorIs(t, l.gate.enter(), monitor.ErrShutdown)
	require.Error(t, l.gate.shutDown(t.Context()), "already waiting")
	l.leave()
	l.gate.closeRequests()
	l.gate.finishWaiting()
	l.gate.finishWaiting() // a second time does nothing
	require.NoError(t, <-waited)
}

// E4.130, E5.42, E5.51: a failure prevents new steps; calls in flight continue.
func TestBailingStopsWhatIsNotBegun(t *testing.T) {
	calls := context.WithoutCancel(t.Context())
	l := newLifetime(t.Context(), calls, nil)
	require.ErrorIs(t, l.abort(), monitor.ErrReported)
	told, failed := l.told.Load(), l.programFailed.Load()
	require.True(t, told)
	require.False(t, failed)
	require.Error(t, l.running.Err())
	require.NoError(t, l.calls.Err())
	require.False(t, l.terminated.Load())
}
