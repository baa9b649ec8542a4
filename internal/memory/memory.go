// Package memory limits the garbage of processes with large heaps: by default the runtime collects when the heap has
// doubled, which is cheap for small heaps but doubles the memory of large ones.
package memory

import (
	"cmp"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Enough is the memory in bytes that a process may use before the runtime collects earlier than at twice the live heap.
const Enough = 448 << 20

// enough is Enough or the value set by Within, in bytes; 0 before Bound.
var enough atomic.Int64

// Within replaces Enough by a smaller number of bytes, for a command that prefers more collections to more memory. It
// does nothing before Bound.
func Within(bytes int64) {
	if enough.Load() > 0 {
		enough.Store(bytes)
		debug.SetMemoryLimit(limit(live()))
	}
}

// large is the memory in bytes from which on a heap has less room: half of its live size.
const large = 1920 << 20

// Bound makes the runtime collect earlier once the process uses Enough, for the rest of its life. If more than five
// eighths of Enough are live, the limit grows by four bytes for each live byte, as the heap does without a limit, up to
// 1920 MiB, and from there on it is one and a half times the live heap. A heap with less room is collected over and
// over: a preview of 100,000 resources took a fifth more CPU with three bytes instead of four. Bound does nothing if
// the environment sets GOGC or GOMEMLIMIT.
func Bound(getenv func(name string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		enough.CompareAndSwap(0, Enough)
		watch(func() { debug.SetMemoryLimit(limit(live())) })
	}
}

// gathering is the number of calls of Gather that have not ended, with the percentage from before the first.
var gathering struct {
	sync.Mutex
	calls, percent int
}

// Gather lets the heap grow without a collection while a program is read and checked, since nearly all that this
// allocates stays in use until its end: a collection would cost much and free little. After end, one begins at once,
// beside the rest of the program, if the heap has grown enough since the last one: it frees what only the reading
// needed, before evaluation takes as much again. Gather does nothing without Bound, and in a server.
func Gather() (end func()) {
	if enough.Load() == 0 || serving.Load() {
		return func() {}
	}
	g := &gathering
	g.Lock()
	defer g.Unlock()
	if g.calls++; g.calls == 1 {
		g.percent = debug.SetGCPercent(-1)
		debug.SetMemoryLimit(math.MaxInt64)
	}
	return func() {
		g.Lock()
		defer g.Unlock()
		if g.calls--; g.calls == 0 {
			// All of the heap may be live. The collection finds out, and sets the limit by what it finds.
			debug.SetMemoryLimit(limit(read("/memory/classes/heap/objects:bytes")))
			debug.SetGCPercent(g.percent)
		}
	}
}

// limit returns the runtime's memory limit for a number of live bytes.
func limit(live uint64) int64 {
	enough := cmp.Or(enough.Load(), Enough)
	if serving.Load() {
		return max(enough, 2*int64(live))
	}
	return max(enough, min(4*int64(live)-enough*3/2, max(large, int64(live)*3/2)))
}

// live returns the size of the heap after the last collection, in bytes.
func live() uint64 { return read("/gc/heap/live:bytes") }

// read returns a number of the runtime's; 0 if it has none of that name.
func read(name string) uint64 {
	samples := []metrics.Sample{{Name: name}}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return samples[0].Value.Uint64()
}

// watch calls fn now and after each collection.
func watch(fn func()) {
	fn()
	type sentinel struct{ _ *byte }
	runtime.AddCleanup(&sentinel{}, watch, fn)
}

// servingPercent lets the heap of a server grow by half before the runtime collects.
const servingPercent = 50

// serving is set in a long-running process, which returns unused memory.
var serving atomic.Bool

// Serve sets the garbage collector for a server: the heap stays near its live size, and a large heap is not collected
// over and over. It does nothing if the environment sets GOGC or GOMEMLIMIT. Call Rest when the server is idle.
func Serve(getenv func(name string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		serving.Store(true)
		debug.SetGCPercent(servingPercent)
		debug.SetMemoryLimit(limit(live()))
	}
}

// Rest runs a collection and returns unused memory to the system.
func Rest() { debug.FreeOSMemory() }
