package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// slow is shared by providers that announce each create and then wait to be released or cancelled.
type slow struct {
	creating chan string
	proceed  chan struct{}
	cancels  chan struct{} // one for each provider that was told to cancel
	fail     chan error    // fails a create
}

type slowProcess struct {
	*intercepted
	*slow
}

func (s slowProcess) Cancel(context.Context) error {
	s.cancels <- struct{}{}
	return nil
}

func (s slowProcess) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	s.creating <- r.Name
	select {
	case <-s.proceed:
		return s.Configured.Create(ctx, r)
	case err := <-s.fail:
		return provider.CreateResponse{}, err
	case <-ctx.Done():
		return provider.CreateResponse{}, ctx.Err()
	}
}

// interrupted runs a program of two resources and calls interrupt during the creation of the first one.
func interrupted(t *testing.T, o Options, w *world, interrupt func(s *slow)) (*Result, error) {
	result, last, err := interruptedProgram(t, o, w, interrupt)
	require.ErrorIs(t, last, monitor.ErrShutdown)
	return result, err
}

// interruptedProgram is interrupted, and also returns the error of the last registration.
func interruptedProgram(t *testing.T, o Options, w *world, interrupt func(s *slow)) (*Result, error, error) {
	s := &slow{creating: make(chan string, 2), proceed: make(chan struct{}), cancels: make(chan struct{}, 9),
		fail: make(chan error, 1)}
	o.Providers = intercepting{w.cloud, func(i *intercepted) answering { return slowProcess{i, s} }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupting := make(chan struct{})
	go func() {
		defer close(interrupting)
		<-s.creating
		if o.Terminate == nil {
			cancel()
		}
		interrupt(s)
	}()
	var second error
	result, err := Update(ctx, o, inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		for _, name := range []string{"a", "b"} {
			_, second = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: name,
				Parent: stack, Inputs: value.EmptyMap()})
			if second != nil {
				return second
			}
		}
		return nil
	}))
	<-interrupting
	require.Zero(t, w.cloud.open)
	return result, second, err
}

// E3.55, E5.50, E5.53, E9.97: providers are asked to cancel; calls in flight are completed and recorded; nothing else
// starts.
func TestFirstInterruptFinishesWhatIsInFlight(t *testing.T) {
	w := newWorld()
	o, m := w.options(4, false)
	var last []string
	told := false
	o.Events = func(e Event) {
		switch e := e.(type) {
		case *Message:
			last = append(last, e.Text)
		case *Summary:
			last = append(last, e.Result)
		}
	}
	result, err := interrupted(t, o, w, func(s *slow) {
		select {
		case <-s.cancels:
			told = true
		case <-time.After(time.Minute):
		}
		close(s.proceed)
	})
	require.NoError(t, err)
	require.True(t, told, "while the call goes on")
	require.True(t, result.Canceled)
	require.False(t, result.Terminated)
	require.Equal(t, []string{"update canceled", "failed"}, last)
	require.Equal(t, map[string]bool{"a-1": true}, managedBy(result.Snapshot))
	require.Empty(t, result.Snapshot.Pending)
	m.requireSound(t, nil)
}

// A step that its provider ends because of the interrupt is no failure of its own: its events, and the summary, say
// that it was interrupted. Any other failure counts as one, whenever it happens.
func TestStepsEndedByAnInterrupt(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		interrupted bool
	}{
		{"ended", &provider.Error{Message: "the command was cancelled", Outcome: provider.Unclear,
			Cause: context.Canceled}, true},
		{"failed", &provider.Error{Message: "no such image", Outcome: provider.Unclear}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			o, m := w.options(4, false)
			var failed []*StepFailed
			var faults []*Message
			var summary *Summary
			o.Events = func(e Event) {
				switch e := e.(type) {
				case *StepFailed:
					failed = append(failed, e)
				case *Message:
					faults = append(faults, e)
				case *Summary:
					summary = e
				}
			}
			_, last, err := interruptedProgram(t, o, w, func(s *slow) { s.fail <- c.err })
			require.NoError(t, err)
			require.ErrorIs(t, last, monitor.ErrReported)
			require.Len(t, failed, 1)
			require.Equal(t, c.interrupted, failed[0].Interrupted)
			require.NotEmpty(t, faults)
			require.Equal(t, c.interrupted, faults[0].Interrupted)
			require.Equal(t, c.interrupted, summary.Interrupted)
			require.Equal(t, "failed", summary.Result, "as the Pulumi CLI reports an interrupted operation")
			m.requireSound(t, nil)
		})
	}
}

// E5.16, E5.51: calls are abandoned, and become pending operations.
func TestSecondInterruptGivesUp(t *testing.T) {
	w := newWorld()
	o, m := w.options(4, false)
	terminate := make(chan struct{})
	o.Terminate = terminate
	result, err := interrupted(t, o, w, func(*slow) { close(terminate) })
	require.NoError(t, err)
	require.True(t, result.Terminated)
	require.Empty(t, managedBy(result.Snapshot))
	require.Len(t, result.Snapshot.Pending, 1)
	require.Equal(t, state.Creating, result.Snapshot.Pending[0].Kind)
	m.requireSound(t, nil)
}

// E2.6, E2.68: a program may wait for the end of all steps; requests after that are refused.
func TestSignalAndWaitForShutdown(t *testing.T) {
	w := newWorld()
	o, _ := w.options(1, false)
	result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
		if _, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"}); err != nil {
			return err
		}
		if err := m.SignalAndWaitForShutdown(ctx); err != nil {
			return err
		}
		_, err := m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:f"})
		if !errors.Is(err, monitor.ErrShutdown) {
			return errors.New("a request after the end was not refused")
		}
		return nil
	})
	require.NoError(t, err)
	require.False(t, result.Failed)
	require.Len(t, result.Snapshot.Resources, 1)
}

// E7.22, E9.59: an interrupted refresh keeps what was read, in the state's order, and leaves the rest as it was.
func TestInterruptedRefreshKeepsWhatWasRead(t *testing.T) {
	w := newWorld()
	o, _ := w.options(1, false)
	result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
		return runScript(ctx, m, "res a v=1\nres b v=1\nres c v=1")
	})
	require.NoError(t, err)
	w.state = result.Snapshot
	for _, id := range []string{"a-1", "b-1", "c-1"} {
		w.cloud.objects[id] = w.cloud.objects[id].With("v", value.String("drifted"))
	}
	o, m := w.options(1, false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ending := ""
	o.Events = func(e Event) {
		switch e := e.(type) {
		case *StepFinished:
			if e.Step.URN.Name() == "b" {
				cancel()
			}
		case *Summary:
			ending = e.Result
		}
	}
	result, err = Refresh(ctx, o, nil)
	require.NoError(t, err)
	require.True(t, result.Canceled)
	require.Equal(t, "failed", ending) // E8.10: canceled is only for a second interrupt
	require.Zero(t, w.cloud.open)
	var found []string
	for _, r := range result.Snapshot.Resources {
		if v, ok := r.Inputs.Lookup("v"); ok {
			found = append(found, r.URN.Name()+" "+plan.Printed(v))
		}
	}
	require.Equal(t, []string{"a drifted", "b drifted", "c 1"}, found)
	m.requireSound(t, w.state)
}

// A program that ignores its context does not delay an interrupted operation, and its later requests are refused.
func TestInterruptOfAStubbornProgram(t *testing.T) { // E5.50
	t.Parallel()
	w := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	asked, done := make(chan error, 1), make(chan struct{})
	o, _ := w.options(4, false)
	result, err := Update(ctx, o, func(_ context.Context, m monitor.Monitor) error {
		background := context.Background()
		if _, err := m.RegisterResource(background, monitor.RegisterRequest{Type: urn.RootStackType,
			Name: "p-dev"}); err != nil {
			return err
		}
		cancel()
		<-done
		_, err := m.RegisterResource(background, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: "late"})
		asked <- err
		return err
	})
	require.NoError(t, err)
	require.True(t, result.Canceled)
	close(done)
	require.ErrorIs(t, <-asked, monitor.ErrShutdown)
}
