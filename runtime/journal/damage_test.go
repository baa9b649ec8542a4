package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// thirty returns the records of a run, as the engine writes them, that creates twelve resources, updates the last one
// and deletes the one before. objects are the IDs of the objects that may exist after each record.
func thirty(t *testing.T) (data []byte, ends []int, entries []Entry, objects []map[string]urn.URN) {
	t.Helper()
	there := map[string]urn.URN{}
	add := func(e Entry, change func()) {
		if change != nil {
			change()
		}
		now := map[string]urn.URN{}
		maps.Copy(now, there)
		entries, objects = append(entries, e), append(objects, now)
	}
	for i := 1; i <= 12; i++ {
		r := res(i)
		if i > 3 {
			r = res(i, i-3)
		}
		begun := r.Clone()
		begun.ID = ""
		// The call is made once the beginning is durable: from then on the object may exist.
		add(Entry{Step: int64(i), Begin: &state.Operation{Resource: begun, Kind: state.Creating}},
			func() { there[r.ID] = r.URN })
		add(Entry{Step: int64(i), Add: []Amended{{ID(i), r}}}, nil)
	}
	add(Entry{Step: 13, Begin: &state.Operation{Resource: res(12, 9), Kind: state.Updating}}, nil)
	changed := res(12, 9)
	changed.Protect = true
	add(Entry{Step: 13, Remove: []ID{12}, Add: []Amended{{13, changed}}}, nil)
	add(Entry{Step: 14, Begin: &state.Operation{Resource: res(11), Kind: state.Deleting}}, nil)
	add(Entry{Step: 14, Remove: []ID{11}}, func() { delete(there, res(11).ID) })
	for i := range 2 {
		out := res(12, 9)
		out.Taint = i == 1
		add(Entry{Amend: []Amended{{13, out}}}, nil)
	}
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{})
	require.NoError(t, err)
	ends = []int{len(f.data)}
	for _, e := range entries {
		require.NoError(t, log.Append(t.Context(), e))
		ends = append(ends, len(f.data))
	}
	require.Len(t, entries, 30)
	return f.data, ends, entries, objects
}

// unknown returns the objects that are neither resources nor pending operations of a snapshot.
func unknown(s *state.Snapshot, objects map[string]urn.URN) (lost []string) {
	known, open := map[string]int{}, map[urn.URN]bool{}
	for _, r := range s.Resources {
		known[r.ID]++
	}
	for _, op := range s.Pending {
		open[op.Resource.URN] = true
	}
	for id, u := range objects {
		if known[id] == 0 && !open[u] {
			lost = append(lost, id)
		}
	}
	for id, n := range known {
		if n > 1 {
			lost = append(lost, "twice: "+id)
		}
	}
	return lost
}

// Every flipped bit of a journal is corrected: the records are as they were written, and the correction is reported.
func TestEveryFlippedBit(t *testing.T) {
	t.Parallel()
	data, _, entries, _ := thirty(t)
	want, err := Replay(nil, entries)
	require.NoError(t, err)
	text, err := state.Encode(want, nil)
	require.NoError(t, err)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			flipped := bytes.Clone(data)
			for bit := w; bit < 8*len(data); bit += workers {
				flipped[bit/8] ^= 1 << (bit % 8)
				if err := sameJournal(flipped, text); err != nil {
					t.Errorf("bit %d of byte %d: %v", bit%8, bit/8, err)
					return
				}
				flipped[bit/8] ^= 1 << (bit % 8)
			}
		})
	}
	group.Wait()
}

func sameJournal(data, want []byte) error {
	c, err := Read(data, nil)
	if err != nil {
		return err
	}
	if c.Mended != 1 || len(c.Gaps) > 0 || c.Torn > 0 {
		return fmt.Errorf("mended %d, gaps %v, torn %d", c.Mended, c.Gaps, c.Torn)
	}
	replayer, _, err := c.Replayer(nil, testHeader.Base)
	if err != nil {
		return err
	}
	s, err := replayer.Snapshot()
	if err != nil {
		return err
	}
	if got, err := state.Encode(s, nil); err != nil || !bytes.Equal(want, got) {
		return fmt.Errorf("another state comes out: %w", err)
	}
	return nil
}

// A journal that is cut at any byte, as by a loss of power, names every object that may exist.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	data, ends, _, objects := thirty(t)
	for cut := range len(data) + 1 {
		c, err := Read(data[:cut], nil)
		require.NoError(t, err)
		replayer, _, err := c.Replayer(nil, testHeader.Base)
		if cut < ends[0] { // without its header a journal is damaged, not empty
			var damage *DamageError
			require.ErrorAs(t, err, &damage, cut)
			require.NotEmpty(t, damage.Missing)
			_, missing, _, err := c.Salvage(nil, testHeader.Base)
			require.NoError(t, err, "the way on")
			require.NotEmpty(t, missing)
			continue
		}
		require.NoError(t, err, cut)
		n := 0
		for n < 30 && ends[n+1] <= cut {
			n++
		}
		require.Len(t, c.Entries, n, cut)
		if n == 0 {
			continue
		}
		s, err := replayer.Snapshot()
		require.NoError(t, err)
		require.NoError(t, s.Verify(), cut)
		require.Empty(t, unknown(s, objects[n-1]), cut)
	}
}

// Valid records behind an unreadable one prove damage. They are used if they are consistent on their own; otherwise the
// error lists what is missing, and Salvage returns the rest.
func TestDestroyedRecords(t *testing.T) {
	t.Parallel()
	data, ends, entries, objects := thirty(t)
	used, refused := 0, 0
	for from := range 30 {
		for to := from + 1; to <= 30; to++ {
			for name, destroy := range map[string]func([]byte){
				"all": func(part []byte) { copy(part, bytes.Repeat([]byte("x"), len(part))) },
				"the payload": func(part []byte) {
					copy(part[frameSize:], bytes.Repeat([]byte("x"), len(part)-frameSize))
				},
				"the length": func(part []byte) { binary.LittleEndian.PutUint32(part, ^binary.LittleEndian.Uint32(part)) },
			} {
				damaged := bytes.Clone(data)
				destroy(damaged[ends[from]:ends[to]])
				what := fmt.Sprintf("%s of records %d to %d", name, from, to)
				c, err := Read(damaged, nil)
				require.NoError(t, err, what)
				require.NotEmpty(t, c.Gaps, what)
				replayer, _, err := c.Replayer(nil, testHeader.Base)
				if err != nil {
					refused++
					var damage *DamageError
					require.ErrorAs(t, err, &damage, what)
					require.NotEmpty(t, damage.Missing, what)
					require.Contains(t, err.Error(), fmt.Sprintf("from byte %d on", ends[from]), what)
					if replayer, _, _, err = c.Salvage(nil, testHeader.Base); err != nil {
						t.Fatal(what, err)
					}
					_, err = replayer.Snapshot()
					require.NoError(t, err, what)
					continue
				}
				used++
				s, err := replayer.Snapshot()
				require.NoError(t, err, what)
				require.NoError(t, s.Verify(), what)
				require.Empty(t, unknown(s, objects[29]), "%s: %v", what, entries[from])
			}
		}
	}
	require.Positive(t, used)
	require.Positive(t, refused)
	damaged := bytes.Clone(data)
	copy(damaged[ends[6]:ends[8]], bytes.Repeat([]byte("x"), ends[8]-ends[6]))
	c, err := Read(damaged, nil)
	require.NoError(t, err)
	_, _, err = c.Replayer(nil, testHeader.Base)
	require.ErrorContains(t, err, "missing: what step 4 of the run was")

	text, err := c.Covering(IdentityOf([]byte("next")))
	require.NoError(t, err)
	again, err := Read(text, nil)
	require.NoError(t, err)
	require.Empty(t, again.Gaps)
	_, done, err := again.Replayer(nil, IdentityOf([]byte("next")))
	require.NoError(t, err)
	require.True(t, done)
}
