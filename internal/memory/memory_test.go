package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, Enough, limit(0))
	require.EqualValues(t, Enough, limit(100<<20))
	require.EqualValues(t, Enough, limit(Enough*5/8))
	require.EqualValues(t, 2<<30-Enough*3/2, limit(512<<20), "a heap that grows has nearly the room that it has without a limit")
	require.EqualValues(t, large, limit(1<<30))
	require.EqualValues(t, 2048<<20, limit(1536<<20), "from there on a third of the heap is its room")
	require.EqualValues(t, 3<<30, limit(2<<30), "and a half of what is larger than that")
}

// The function is called after each collection, not only after the first.
func TestWatch(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 100)
	watch(func() {
		select {
		case called <- struct{}{}:
		default:
		}
	})
	for range 4 {
		runtime.GC()
		<-called
	}
}

func TestBound(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	Bound(func(name string) string { return map[string]string{"GOGC": "50"}[name] })
	require.Equal(t, before, debug.SetMemoryLimit(-1), "the environment decides")
	Bound(func(string) string { return "" })
	require.GreaterOrEqual(t, debug.SetMemoryLimit(-1), int64(Enough))
	require.Less(t, debug.SetMemoryLimit(-1), int64(1)<<40)
}

// No collection begins by size while anybody gathers; afterwards the percentage is what it was. Servers and processes
// without a limit are left alone.
func TestGather(t *testing.T) {
	before, was, limited := debug.SetGCPercent(77), bound.Swap(false), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limited)
		bound.Store(was)
	}()
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	unbound := Gather(0)
	require.Equal(t, 77, percent())
	unbound.Collect()
	bound.Store(true)
	first, second := Gather(0), Gather(0)
	require.Equal(t, -1, percent())
	require.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1))
	first.Collect()
	first.Collect() // in vain
	require.Equal(t, -1, percent())
	second.Collect()
	require.Equal(t, 77, percent())
	require.Less(t, debug.SetMemoryLimit(-1), int64(math.MaxInt64))

	Gather(0).End()
	require.Equal(t, -1, percent(), "no collection begins before the limit")
	require.Less(t, debug.SetMemoryLimit(-1), int64(math.MaxInt64))
	Gather(0).Collect()
	require.Equal(t, 77, percent(), "the percentage is the first one")
}

// Whatever begins and ends gatherings, in any order and more than once: while one is under way nothing is collected by
// size, once the last has ended there is a limit, and after Collect, or the next collection, the percentage is that
// from before the first.
func TestGatherings(t *testing.T) {
	before, was, limited := debug.SetGCPercent(100), bound.Swap(true), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limited)
		bound.Store(was)
	}()
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	rapid.Check(t, func(t *rapid.T) {
		original := rapid.IntRange(10, 500).Draw(t, "percent")
		debug.SetGCPercent(original)
		debug.SetMemoryLimit(Enough)
		var all []*Gathering
		end := func() {
			for _, g := range all {
				g.End()
			}
			Gather(0).Collect()
		}
		defer end() // also of a run that fails, before it is made smaller
		ended := map[int]bool{}
		under, off := 0, false
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) {
				all = append(all, Gather(0))
				under, off = under+1, true
			},
			"end": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				i, collect := rapid.IntRange(0, len(all)-1).Draw(t, "which"), rapid.Bool().Draw(t, "collect")
				if collect {
					all[i].Collect()
				} else {
					all[i].End()
				}
				if !ended[i] {
					ended[i] = true
					under--
					off = under > 0 || !collect
				}
			},
			"": func(t *rapid.T) {
				switch now := percent(); {
				case under > 0:
					require.Equal(t, -1, now)
				case !off:
					require.Equal(t, original, now)
				default: // until a collection, which may have been
					require.Contains(t, []int{-1, original}, now)
				}
				require.Equal(t, under > 0, debug.SetMemoryLimit(-1) == math.MaxInt64)
			},
		})
		end()
		require.Equal(t, original, percent())
	})
}

// A collection comes before an object with which the heap exceeds its goal, and not before others.
func TestRoom(t *testing.T) {
	percent, limited := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limited)
	}()
	kept := make([]byte, 64<<20)
	runtime.GC() // the goal is twice what is live now
	require.Zero(t, forced(func() { Room(32 << 20) }), "below the goal")
	require.EqualValues(t, 1, forced(func() { Room(128 << 20) }))
	debug.SetMemoryLimit(96 << 20)
	require.EqualValues(t, 1, forced(func() { Room(48 << 20) }), "the limit is a goal, too")
	debug.SetMemoryLimit(72 << 20)
	require.Zero(t, forced(func() { Room(worthwhile - 1) }), "too little to be worth it")
	require.EqualValues(t, 1, forced(func() { Room(worthwhile) }))
	runtime.KeepAlive(kept)
}

// Room never collects in vain: where it does, the runtime would collect because of the object as well.
func TestRoomIsNeverInVain(t *testing.T) {
	percent, limited := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limited)
	}()
	kept := make([]byte, 32<<20)
	rapid.Check(t, func(t *rapid.T) {
		debug.SetGCPercent(rapid.IntRange(20, 300).Draw(t, "percent"))
		size := rapid.IntRange(worthwhile/2, 8*worthwhile).Draw(t, "size")
		runtime.GC()
		if forced(func() { Room(size) }) == 0 {
			return
		}
		before := cycles()
		object := make([]byte, size)
		for began := time.Now(); cycles() == before; time.Sleep(time.Millisecond) {
			require.Less(t, time.Since(began), time.Minute, "the runtime does not collect")
		}
		runtime.KeepAlive(object)
	})
	runtime.KeepAlive(kept)
}

// cycles returns how many collections have ended.
func cycles() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}

// forced returns how many collections were asked for while a function ran.
func forced(during func()) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	during()
	runtime.ReadMemStats(&after)
	return after.NumForcedGC - before.NumForcedGC
}

// A server's heap may grow by half at any size, so its limit must be higher.
func TestServe(t *testing.T) {
	before := debug.SetGCPercent(100)
	limited := debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limited)
		serving.Store(false)
	}()
	Serve(func(name string) string { return map[string]string{"GOGC": "50"}[name] })
	require.Equal(t, 100, debug.SetGCPercent(100), "the environment decides")
	Serve(func(string) string { return "" })
	require.Equal(t, servingPercent, debug.SetGCPercent(100))
	require.EqualValues(t, 4<<30, limit(2<<30))
}
