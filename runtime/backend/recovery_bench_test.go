package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// BenchmarkRecovery measures how long Begin takes after a run that was killed after 10,000 steps, which are 20,000
// records. Begin reads and applies the journal, writes the state and removes the journal, with every sync.
func BenchmarkRecovery(b *testing.B) {
	const steps = 10_000
	o := testOptions(1)
	killed := b.TempDir()
	stacks, err := Open("file://"+killed, o)
	require.NoError(b, err)
	stacks.schedule.interval = 1 << 60 // the run writes no state file
	require.NoError(b, stacks.Create(b.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	quick := b64Options
	quick.NoSync = true
	s, err := stacks.Begin(b.Context(), testRef, quick)
	require.NoError(b, err)
	for i := range steps {
		r, step := resource(i), int64(i+1)
		require.NoError(b, s.Append(b.Context(), journal.Entry{Step: step,
			Begin: &state.Operation{Resource: r, Kind: state.Creating}}))
		require.NoError(b, s.Append(b.Context(), journal.Entry{Step: step,
			Add: []journal.Amended{{ID: journal.ID(i + 1), Resource: r}}}))
	}
	info, err := os.Stat(filepath.Join(killed, ".pulumi/stacks/p/dev.yamlhost-journal"))
	if err != nil {
		info, err = os.Stat(stacks.files.journalOf(testRef).journalFile())
	}
	require.NoError(b, err)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		require.NoError(b, os.CopyFS(dir, os.DirFS(killed)))
		next := testOptions(2)
		next.Process.Alive = func(int, string) bool { return false }
		again, err := Open("file://"+dir, next)
		require.NoError(b, err)
		b.StartTimer()
		s, err := again.Begin(b.Context(), testRef, b64Options)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		require.Len(b, s.Base().Resources, steps)
		require.NoError(b, s.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(info.Size())/steps, "journal-bytes/step")
}
