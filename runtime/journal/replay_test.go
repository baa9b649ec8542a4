package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func name(i int) urn.URN { return urn.New("dev", "p", "", "pkg:index:Res", fmt.Sprint("r", i)) }

func res(i int, deps ...int) *state.Resource {
	r := &state.Resource{URN: name(i), Type: "pkg:index:Res", Custom: true, ID: fmt.Sprint("id", i),
		Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	for _, d := range deps {
		r.Dependencies = append(r.Dependencies, name(d))
	}
	return r
}

func urns(s *state.Snapshot) []urn.URN {
	var list []urn.URN
	for _, r := range s.Resources {
		list = append(list, r.URN)
	}
	return list
}

func TestReplay(t *testing.T) {
	t.Parallel()
	base := func() *state.Snapshot {
		return &state.Snapshot{Resources: []*state.Resource{res(1), res(2, 1), res(3)}, Pending: []state.Operation{
			{Resource: res(8), Kind: state.Creating}, {Resource: res(9), Kind: state.Updating}}}
	}
	begin := func(step int64, kind state.OperationKind, i int) Entry {
		return Entry{Step: step, Begin: &state.Operation{Resource: res(i), Kind: kind}}
	}
	changed := res(2, 1)
	changed.Protect = true
	for _, c := range []struct {
		name    string
		entries []Entry
		want    []urn.URN
		pending []state.OperationKind
	}{
		{"nothing", nil, []urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Creating}}, // E6.31
		{"added before what is left, in order of completion, E6.30",
			[]Entry{{Add: []Amended{{5, res(5)}}}, {Remove: []ID{1}, Add: []Amended{{4, res(1)}}}},
			[]urn.URN{name(5), name(1), name(2), name(3)}, []state.OperationKind{state.Creating}},
		{"amended keep their place", []Entry{{Amend: []Amended{{2, changed}}}},
			[]urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Creating}},
		{"under way", []Entry{begin(1, state.Deleting, 3), begin(2, state.Updating, 2)},
			[]urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Deleting, state.Updating, state.Creating}},
		{"ended", []Entry{begin(1, state.Deleting, 3), {Step: 1, Remove: []ID{3}}},
			[]urn.URN{name(1), name(2)}, []state.OperationKind{state.Creating}},
		{"failed", []Entry{begin(1, state.Deleting, 3), {Step: 1}},
			[]urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Creating}},
		{"retried", []Entry{begin(1, state.Creating, 8), {Step: 1, Add: []Amended{{8, res(8)}}, Retried: name(8)}},
			[]urn.URN{name(8), name(1), name(2), name(3)}, nil},
		{"retried in vain", []Entry{begin(1, state.Creating, 8), {Step: 1}},
			[]urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Creating}},
		{"added and removed", []Entry{{Add: []Amended{{4, res(4)}}}, {Remove: []ID{4}}},
			[]urn.URN{name(1), name(2), name(3)}, []state.OperationKind{state.Creating}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := base()
			s, err := Replay(b, c.entries)
			require.NoError(t, err)
			require.Equal(t, c.want, urns(s))
			var kinds []state.OperationKind
			for _, op := range s.Pending {
				kinds = append(kinds, op.Kind)
			}
			require.Equal(t, c.pending, kinds)
			require.Equal(t, base(), b, "the base is left alone")
		})
	}
	for want, entries := range map[string][]Entry{
		"begins step 1 twice":        {begin(1, state.Creating, 4), begin(1, state.Creating, 5)},
		"without a number":           {begin(0, state.Creating, 4)},
		"ends step 1":                {{Step: 1}},
		"ends step 2":                {begin(2, state.Creating, 4), {Step: 2}, {Step: 2}},
		"removes entry 4":            {{Remove: []ID{4}}},
		"removes entry 1":            {{Remove: []ID{1, 1}}},
		"changes entry 2":            {{Remove: []ID{2}}, {Amend: []Amended{{2, res(2)}}}},
		"adds entry 3":               {{Add: []Amended{{3, res(3)}}}},
		"adds entry 7":               {{Add: []Amended{{7, res(3)}, {7, res(4)}}}},
		"adds entry 6":               {{Add: []Amended{{6, nil}}}},
		"begins step 3 on no":        {{Step: 3, Begin: &state.Operation{}}},
		"entry 2: the journal adds ": {{}, {Add: []Amended{{0, res(3)}}}},
	} {
		_, err := Replay(base(), entries)
		require.ErrorContains(t, err, want)
	}
}

func TestReplayNormalises(t *testing.T) { // E6.32: including resources that were not visited yet
	t.Parallel()
	renamed := res(7)
	renamed.Aliases = []urn.URN{name(1)}
	s, err := Replay(&state.Snapshot{Resources: []*state.Resource{res(1), res(2, 1)}},
		[]Entry{{Remove: []ID{1}, Add: []Amended{{3, renamed}}}})
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	require.Equal(t, []urn.URN{name(7)}, s.Resources[1].Dependencies)
}

// operation simulates an engine on a random graph: it creates, updates, replaces, keeps and deletes, several steps at a
// time, and writes the journal of such an engine.
type operation struct {
	t       *rapid.T
	base    *state.Snapshot
	old     map[int]ID // by resource number
	next    ID
	step    int64
	open    []func() // ends of the steps in progress
	entries []Entry
	ready   []int // finished resources of the new program
}

func drawOperation(t *rapid.T) *operation {
	o := &operation{t: t, old: map[int]ID{}, base: &state.Snapshot{Manifest: state.NewManifest("test", time.Time{})}}
	n := rapid.IntRange(0, 8).Draw(t, "base")
	for i := range n {
		var deps []int
		if i > 0 {
			deps = rapid.SliceOfDistinct(rapid.IntRange(0, i-1), rapid.ID[int]).Draw(t, "deps")
		}
		o.base.Resources = append(o.base.Resources, res(i, deps...))
		o.old[i] = ID(i + 1)
	}
	o.next = ID(n)
	for i := range rapid.IntRange(0, 12).Draw(t, "program") {
		o.register(i)
		for len(o.open) > 0 && rapid.Bool().Draw(t, "end") {
			o.end()
		}
	}
	for len(o.open) > 0 {
		o.end()
	}
	o.deleteLeftovers()
	return o
}

func (o *operation) id() ID { o.next++; return o.next }

func (o *operation) begin(kind state.OperationKind, r *state.Resource, end func(step int64)) {
	o.step++
	step := o.step
	o.entries = append(o.entries, Entry{Step: step, Begin: &state.Operation{Resource: r, Kind: kind}})
	o.open = append(o.open, func() { end(step) })
}

func (o *operation) end() {
	i := rapid.IntRange(0, len(o.open)-1).Draw(o.t, "which")
	end := o.open[i]
	o.open = append(o.open[:i], o.open[i+1:]...)
	end()
}

// register makes resource i depend on finished ones only, as the engine does.
func (o *operation) register(i int) {
	var deps []int
	if len(o.ready) > 0 {
		deps = rapid.SliceOfDistinct(rapid.SampledFrom(o.ready), rapid.ID[int]).Draw(o.t, "deps")
	}
	r := res(i, deps...)
	old, exists := o.old[i]
	delete(o.old, i)
	if rapid.IntRange(0, 9).Draw(o.t, "skip") == 0 && exists {
		o.old[i] = old // not in the program
		return
	}
	done := func() { o.ready = append(o.ready, i) }
	switch {
	case !exists:
		o.begin(state.Creating, r, func(step int64) {
			o.entries = append(o.entries, Entry{Step: step, Add: []Amended{{o.id(), r}}})
			done()
		})
	case rapid.Bool().Draw(o.t, "same"):
		o.entries = append(o.entries, Entry{Remove: []ID{old}, Add: []Amended{{o.id(), r}}})
		done()
	case rapid.Bool().Draw(o.t, "replace"):
		o.begin(state.Creating, r, func(step int64) {
			left := o.base.Resources[old-1].Clone()
			left.Delete = true
			o.entries = append(o.entries, Entry{Step: step, Amend: []Amended{{old, left}}, Add: []Amended{{o.id(), r}}})
			done()
			o.begin(state.Deleting, left, func(step int64) {
				o.entries = append(o.entries, Entry{Step: step, Remove: []ID{old}})
			})
		})
	default:
		o.begin(state.Updating, r, func(step int64) {
			o.entries = append(o.entries, Entry{Step: step, Remove: []ID{old}, Add: []Amended{{o.id(), r}}})
			done()
		})
	}
}

// deleteLeftovers deletes the resources that are not in the program, dependants first.
func (o *operation) deleteLeftovers() {
	for i := len(o.base.Resources) - 1; i >= 0; i-- {
		if id, left := o.old[i]; left {
			o.begin(state.Deleting, o.base.Resources[i], func(step int64) {
				o.entries = append(o.entries, Entry{Step: step, Remove: []ID{id}})
			})
			o.end()
		}
	}
}

func TestEveryPrefixVerifies(t *testing.T) { // D9
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := drawOperation(t)
		require.NoError(t, o.base.Verify())
		replayer := NewReplayer(o.base)
		for i := range len(o.entries) + 1 {
			s, err := Replay(o.base, o.entries[:i])
			require.NoError(t, err)
			if err := s.Verify(); err != nil {
				t.Fatalf("after %d entries: %v", i, err)
			}
			stepwise, err := replayer.Snapshot()
			require.NoError(t, err)
			require.Equal(t, s, stepwise, "a replayer does the same one entry at a time")
			if i < len(o.entries) {
				require.NoError(t, replayer.Apply(o.entries[i]))
			}
		}
	})
}

func TestResumeFromAnyCheckpoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := drawOperation(t)
		replayer := NewReplayer(o.base)
		for _, e := range o.entries {
			if rapid.IntRange(0, 3).Draw(t, "checkpoint") == 0 {
				s, origin, err := replayer.Checkpoint()
				require.NoError(t, err)
				text, err := state.Encode(s, nil)
				require.NoError(t, err)
				read, err := state.Decode(text, nil)
				require.NoError(t, err)
				replayer, err = Resume(read, origin)
				require.NoError(t, err)
			}
			require.NoError(t, replayer.Apply(e))
		}
		want, err := Replay(o.base, o.entries)
		require.NoError(t, err)
		got, err := replayer.Snapshot()
		require.NoError(t, err)
		wantText, err := state.Encode(want, nil)
		require.NoError(t, err)
		gotText, err := state.Encode(got, nil)
		require.NoError(t, err)
		require.Equal(t, string(wantText), string(gotText))
	})
	_, err := Resume(&state.Snapshot{}, Origin{IDs: []ID{1}})
	require.ErrorContains(t, err, "does not fit")
	_, err = Resume(&state.Snapshot{Resources: []*state.Resource{res(1), res(2)}}, Origin{IDs: []ID{1, 1}})
	require.ErrorContains(t, err, "the same number")
}
