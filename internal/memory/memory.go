// Package memory fits the runtime to a program that works for seconds on a large heap. It limits the garbage, since by
// default the runtime collects when the heap has doubled, which is cheap for small heaps but doubles the memory of
// large ones; and it asks for huge pages.
package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Enough is the memory in bytes that a process may use before the runtime collects earlier than at a multiple of the
// live heap. With the program's own pages that makes 300 MiB.
const Enough = 244 << 20

// bound is set by Bound.
var bound atomic.Bool

// large is the memory in bytes from which on a heap has less room: a third of its live size, so that about two GiB
// suffice for 100,000 resources. What is larger than that itself has a half.
const large = 1920 << 20

// Bound makes the runtime collect earlier once the process uses Enough, for the rest of its life. If more than five
// eighths of Enough are live, the limit grows by four bytes for each live byte, as the heap does without a limit, up to
// 1920 MiB. A heap with less room is collected over and over: a preview of 100,000 resources took a fifth more CPU with
// three bytes instead of four. Bound does nothing if the environment sets GOGC or GOMEMLIMIT.
func Bound(getenv func(name string) string) {
	if getenv("GOMEMLIMIT") == "" && getenv("GOGC") == "" {
		bound.Store(true)
		watch(func() {
			process.mu.Lock()
			defer process.mu.Unlock()
			if process.gatherings == 0 {
				debug.SetMemoryLimit(limit(live()))
				process.resume()
			}
		})
	}
}

// process is what this process has set in the runtime.
var process settings

type settings struct {
	mu         sync.Mutex
	gatherings int  // those that have not ended
	off        bool // whether collections by percentage are off
	percent    int  // the percentage from before
	expected   int  // bytes of heap for which huge pages were asked so far
}

// resume turns collections by percentage on again. The caller has locked p.mu.
func (p *settings) resume() {
	if p.off {
		p.off = false
		debug.SetGCPercent(p.percent)
	}
}

// Gathering is a time in which no collection begins, because nearly all that is allocated stays in use. Its methods are
// for the goroutine that began it; after the first of them, others do nothing.
type Gathering struct{ ended bool }

// Gather begins a Gathering, for the time in which a program is read and checked: a collection would cost much and free
// little. text is the size of the program in bytes; a run with it will need about forty times that. Gather has no
// effect without Bound, and in a server.
func Gather(text int) *Gathering {
	if !bound.Load() || serving.Load() {
		return &Gathering{ended: true}
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.gatherings++; process.gatherings == 1 {
		if !process.off {
			process.off, process.percent = true, debug.SetGCPercent(-1)
		}
		debug.SetMemoryLimit(math.MaxInt64)
		process.expect(40 * text)
	}
	return &Gathering{}
}

// Collect ends the gathering. If no other one is under way, a collection begins, beside the rest of the program, if the
// heap has grown enough since the last one: it frees what only the reading needed, before evaluation takes as much
// again.
func (g *Gathering) Collect() {
	g.end(func() {
		// All of the heap may be live. The collection finds out, and sets the limit by what it finds.
		debug.SetMemoryLimit(limit(read(objects)))
		process.resume()
	})
}

// End ends the gathering in a process that will soon end, where collecting is in vain: a collection begins only when
// the heap has grown by half, and beyond Enough.
func (g *Gathering) End() {
	g.end(func() { debug.SetMemoryLimit(max(Enough, int64(read(objects))*3/2)) })
}

// end calls last if this is the last gathering.
func (g *Gathering) end(last func()) {
	if g.ended {
		return
	}
	g.ended = true
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.gatherings--; process.gatherings == 0 {
		last()
	}
}

// Expect prepares for a heap of a number of bytes: on Linux, what it does not have yet is to come in huge pages. That
// takes a sixth to a half off the time of a large run on a virtual machine, where the first touch of each ordinary page
// of 4 KiB and each look at another one cost much. Many systems give huge pages only to those who ask (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled), which Go's runtime does not. Memory that stays untouched is not taken.
// Expect does nothing without Bound, in a server, while a program is gathered, and if little is missing.
func Expect(bytes int) {
	if bytes < worthwhile || !bound.Load() || serving.Load() {
		return
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.gatherings == 0 {
		process.expect(bytes)
	}
}

const (
	// block is the size in bytes of what is asked for at once. It is small because a block that holds memory from
	// before is cleared, and so touched.
	block = 4 << 20
	// worthwhile is the number of bytes for which expect and Room collect. For less, a collection costs too much.
	worthwhile = 4 * block
)

// expect makes the heap larger by blocks in huge pages and frees them, so that what is allocated next lies there. No
// other collection begins meanwhile. The caller has locked p.mu.
func (p *settings) expect(bytes int) {
	missing := bytes - max(p.expected, int(read(objects)))
	if !hugePages || missing < worthwhile {
		return
	}
	p.expected = bytes
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(math.MaxInt64)
	for range missing / block {
		adviseHuge(make([]byte, block))
	}
	debug.FreeOSMemory()
	debug.SetMemoryLimit(limit)
	debug.SetGCPercent(percent)
}

// Room is called before an object of a number of bytes is allocated. If the heap would exceed its goal with that
// object, Room collects garbage and returns when the collection has ended. The runtime would collect in that case,
// too, but only after the allocation, when the heap has exceeded its goal by the whole object.
func Room(bytes int) {
	if bytes >= worthwhile && read(objects)+uint64(bytes) > read("/gc/heap/goal:bytes") {
		runtime.GC()
	}
}

// limit returns the runtime's memory limit for a number of live bytes.
func limit(live uint64) int64 {
	heap := int64(live)
	if serving.Load() {
		return max(Enough, 2*heap)
	}
	most := max(large, heap*4/3)
	if heap > large {
		most = heap * 3 / 2
	}
	return max(Enough, min(4*heap-Enough*3/2, most))
}

// objects is the runtime's name of the size of the heap, in bytes, with what the next collection will free.
const objects = "/memory/classes/heap/objects:bytes"

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
