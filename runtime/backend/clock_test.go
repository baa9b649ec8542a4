package backend

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// A clock that jumps forward or back during a run does no harm: the lock, the entries, the intermediate states and the
// order of the history stay correct (F6.11).
func TestClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"an hour back": -time.Hour, "an hour forward": time.Hour,
		"a year back": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clock atomic.Int64 // in nanoseconds; writes of the state file read it concurrently
			clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
			o := testOptions(1)
			o.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
			d := prepared(t)
			b, err := open("file:///state", o, d)
			require.NoError(t, err)
			b.schedule.leastJournal = 1
			var made []urn.URN
			for run := range 3 {
				s := begin(t, b)
				for i := range 4 {
					r, n := resource(run*4+i), len(s.Base().Resources)
					require.NoError(t, s.Append(t.Context(), journal.Entry{Step: int64(i + 1),
						Begin: &state.Operation{Resource: r, Kind: state.Creating}}))
					require.NoError(t, s.Append(t.Context(), journal.Entry{Step: int64(i + 1),
						Add: []journal.Amended{{ID: journal.ID(n + i + 1), Resource: r}}}))
					made = append(made, r.URN)
					if clock.Add(int64(time.Second)); i == 1 {
						clock.Add(int64(jump))
					}
				}
				other, err := open("file:///state", testOptions(1), d)
				require.NoError(t, err)
				_, err = other.Begin(t.Context(), testRef, b64Options)
				var locked *LockedError
				require.ErrorAs(t, err, &locked, "the lock holds, however old it looks")
				require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded",
					Message: fmt.Sprint(run)}))
				loaded, err := b.Load(t.Context(), testRef, openB64)
				require.NoError(t, err)
				require.NoError(t, loaded.Snapshot.Verify())
				require.Len(t, loaded.Snapshot.Resources, len(made))
			}
			history, err := b.History(t.Context(), testRef, 0)
			require.NoError(t, err)
			var order []string
			for _, r := range history {
				order = append(order, r.Message)
			}
			require.Equal(t, []string{"2", "1", "0"}, order, "the newest first")
		})
	}
}
