package backend

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// manualClock is a clock that only moves when told to. It is safe for concurrent use.
type manualClock struct{ now atomic.Int64 }

func (c *manualClock) read() time.Time { return time.Unix(0, c.now.Load()).UTC() }

func (c *manualClock) pass(d time.Duration) { c.now.Add(int64(d)) }

// TestHeldInAStore stops a run for random times after the beginning of a step was recorded, while another run may take
// over. Right before the call of the provider, Held must report the loss as soon as the clock could show it, and no
// loss that did not happen.
func TestHeldInAStore(t *testing.T) { // D14
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		clock := &manualClock{}
		length := time.Duration(rapid.IntRange(10, 100).Draw(rt, "lease")) * time.Second
		a := openMemory(t, m, 1, func(o *Options) { o.Now, o.Lease = clock.read, length })
		require.NoError(rt, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
		s := begin(rt, a)
		var lost time.Duration // how long ago another run took over
		taken := false
		for i := range rapid.IntRange(1, 6).Draw(rt, "steps") {
			if !taken && rapid.Bool().Draw(rt, "append") {
				require.NoError(rt, s.Append(t.Context(), journal.Entry{Step: int64(i + 1),
					Begin: &state.Operation{Resource: resource(i), Kind: state.Creating}}))
			}
			if !taken && rapid.IntRange(0, 3).Draw(rt, "take over") == 0 {
				taken = true
				if rapid.Bool().Draw(rt, "cancel") {
					_, err := openMemory(t, m, 2).Cancel(testRef)
					require.NoError(rt, err)
				} else {
					require.NoError(rt, other(openMemory(t, m, 2), 7))
				}
			}
			stopped := time.Duration(rapid.Int64Range(0, int64(2*length)).Draw(rt, "stopped"))
			clock.pass(stopped)
			if taken {
				lost += stopped
			}
			err := s.Held(t.Context())
			switch {
			case taken && lost >= sureFor(length):
				require.ErrorAs(rt, err, new(*LockLostError))
			case !taken:
				require.NoError(rt, err)
			}
		}
		if err := s.Close(); taken {
			return // whether the loss shows is a matter of the clock
		} else {
			require.NoError(rt, err)
		}
	})
}

// TestHeldWithoutAnAnswer expects that a store out of reach does not stop a run whose lease has not ended, and stops
// one whose lease may have.
func TestHeldWithoutAnAnswer(t *testing.T) { // D14
	t.Parallel()
	m := newMemory()
	clock := &manualClock{}
	a := openMemory(t, m, 1, func(o *Options) { o.Now, o.Lease = clock.read, time.Minute })
	require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	s := begin(t, a)
	var away atomic.Bool
	m.before = func(_, key string) error {
		if away.Load() && strings.HasSuffix(key, "lease.json") {
			return errors.New("the store is away")
		}
		return nil
	}
	away.Store(true)
	clock.pass(20 * time.Second)
	require.NoError(t, s.Held(t.Context()))
	clock.pass(20 * time.Second)
	require.ErrorContains(t, s.Held(t.Context()), "the store is away")
	away.Store(false)
	require.NoError(t, s.Held(t.Context()))
	require.NoError(t, s.Close())
}

// TestHeldInAFolder expects that a cancelled run on a folder learns of it right before a call.
func TestHeldInAFolder(t *testing.T) { // D14
	t.Parallel()
	d := prepared(t)
	b, err := open("file:///state", testOptions(1), d)
	require.NoError(t, err)
	s := begin(t, b)
	require.NoError(t, s.Held(t.Context()))
	_, err = b.Cancel(testRef)
	require.NoError(t, err)
	require.ErrorAs(t, s.Held(t.Context()), new(*LockLostError))
	_ = s.Close() // nothing was journaled that it could not write
}

// leasing is an operation in a service that only leases.
type leasing struct {
	Update
	length      time.Duration
	taken, away bool
	asked       int
}

func (l *leasing) Renew(context.Context) (time.Duration, error) {
	l.asked++
	switch {
	case l.away:
		return 0, errors.New("no route to host")
	case l.taken:
		return 0, &LockLostError{Ref: testRef, Lease: true}
	}
	return l.length / 2, nil
}

// TestHeldInAService is TestHeldInAStore for a service, which may also be away.
func TestHeldInAService(t *testing.T) { // D14
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clock := &manualClock{}
		service := &leasing{length: time.Duration(rapid.IntRange(1, 300).Draw(rt, "lease")) * time.Second}
		r := &remote{update: service, ref: testRef, clock: clock.read, renewed: func() {}}
		r.granted(clock.read(), service.length/2)
		var sinceAnswer, sinceLoss time.Duration
		for range rapid.IntRange(1, 8).Draw(rt, "calls") {
			service.away = rapid.IntRange(0, 3).Draw(rt, "away") == 0
			service.taken = service.taken || rapid.IntRange(0, 3).Draw(rt, "taken") == 0
			stopped := time.Duration(rapid.Int64Range(0, int64(service.length)).Draw(rt, "stopped"))
			clock.pass(stopped)
			sinceAnswer += stopped
			if service.taken {
				sinceLoss += stopped
			}
			before := service.asked
			err := r.hold(rt.Context())
			asked := service.asked > before
			switch {
			case !service.away && service.taken && sinceLoss >= sureFor(service.length):
				require.ErrorAs(rt, err, new(*LockLostError))
			case service.away && sinceAnswer >= service.length*3/4:
				require.Error(rt, err)
			case !service.taken || !asked:
				require.NoError(rt, err)
			}
			if err != nil {
				return // a fault is final until the end
			}
			if asked && !service.away {
				sinceAnswer = 0
			}
		}
	})
}
