// Package memory keeps the garbage of a process small where its values are large: the runtime collects when the heap
// has doubled, which is cheap for small heaps and gives large ones twice the memory that they need.
package memory

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Enough is how much memory, in bytes, a process may take before the runtime collects earlier than when the heap has
// doubled.
const Enough = 448 << 20

// enough is Enough, or what Within says, in bytes; 0 where Bound has done nothing.
var enough atomic.Int64

// Within puts fewer bytes in the place of Enough, for a command that would rather collect once more than be large. It
// does nothing in a process that is not bound.
func Within(bytes int64) {
	if enough.Load() > 0 {
		enough.Store(bytes)
		debug.SetMemoryLimit(limit(live()))
	}
}

// Bound makes the runtime collect earlier once the process takes Enough, for the rest of its life. Where more than five
// eighths of Enough is live, the limit grows by four bytes for each live one, as the heap does without a limit: a large
// heap with less room is collected again and again. A preview of 100,000 resources took a fifth more CPU with three
// bytes. It does nothing where the environment decides.
func Bound(getenv func(name string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		enough.CompareAndSwap(0, Enough)
		watch(func() { debug.SetMemoryLimit(limit(live())) })
	}
}

// limit is the runtime's limit for as many live bytes.
func limit(live uint64) int64 {
	enough := cmp.Or(enough.Load(), Enough)
	if serving.Load() {
		return max(enough, 2*int64(live))
	}
	return max(enough, 4*int64(live)-enough*3/2)
}

// live returns the size of the heap after the last collection, in bytes.
func live() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return samples[0].Value.Uint64()
}

// watch calls a function now and after each collection.
func watch(then func()) {
	then()
	type sentinel struct{ _ *byte }
	runtime.AddCleanup(&sentinel{}, watch, then)
}

// servingPercent lets the heap of a server grow by a half before the runtime collects.
const servingPercent = 50

// serving is set where a process stays for long, and gives back what it does not need.
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

// Rest collects, and gives back to the system what is not in use. It takes as long as a collection.
func Rest() { debug.FreeOSMemory() }
