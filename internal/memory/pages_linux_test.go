package memory

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is allocated after Expect lies where the system was asked for huge pages, and what is not allocated takes no
// memory. Without Bound, while a program is gathered, and for a heap that is there already, Expect asks for nothing and
// collects nothing.
func TestExpect(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages that a process can ask for")
	}
	percent, was, limited := debug.SetGCPercent(100), bound.Swap(false), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limited)
		bound.Store(was)
	}()
	asked := process.expected + 256<<20
	require.Zero(t, forced(func() { Expect(asked) }), "the process is not bound")
	bound.Store(true)
	gather := Gather(0)
	require.Zero(t, forced(func() { Expect(asked) }), "a program is gathered")
	gather.Collect()
	kept := make([]byte, asked)
	require.Zero(t, forced(func() { Expect(asked) }), "the heap is as large")
	runtime.KeepAlive(kept)
	kept = nil
	runtime.GC()

	require.EqualValues(t, 1, forced(func() { Expect(asked) }))
	_, touched := advised(t)
	require.Less(t, touched, 64<<10, "KiB of 256 MiB that nobody has touched")
	require.Equal(t, 100, debug.SetGCPercent(100), "the percentage is as before")
	require.Zero(t, forced(func() { Expect(asked + 1<<20) }), "too little to be worth it")

	var pieces [][]byte
	for range 64 {
		pieces = append(pieces, make([]byte, 1<<20))
	}
	huge := 0
	ranges, _ := advised(t)
	for _, piece := range pieces {
		at, err := strconv.ParseUint(fmt.Sprintf("%p", piece)[2:], 16, 64)
		require.NoError(t, err)
		for _, r := range ranges {
			if r.from <= at && at+1<<20 <= r.to {
				huge++
			}
		}
	}
	require.Greater(t, huge, 48, "of 64 pieces; some may have found room elsewhere")
}

// mapped is a part of the address space.
type mapped struct{ from, to uint64 }

// advised returns the parts for which huge pages were asked, neighbours as one, and how many KiB of them are in memory.
func advised(t *testing.T) (all []mapped, touched int) {
	text, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	head := regexp.MustCompile(`^([0-9a-f]+)-([0-9a-f]+) `)
	var at mapped
	var resident int
	for line := range strings.Lines(string(text)) {
		if m := head.FindStringSubmatch(line); m != nil {
			at.from, _ = strconv.ParseUint(m[1], 16, 64)
			at.to, _ = strconv.ParseUint(m[2], 16, 64)
		} else if size, found := strings.CutPrefix(line, "Rss:"); found {
			resident, err = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(size), " kB"))
			require.NoError(t, err)
		} else if strings.HasPrefix(line, "VmFlags:") && strings.Contains(line, " hg") {
			touched += resident
			if n := len(all); n > 0 && all[n-1].to == at.from {
				all[n-1].to = at.to
			} else {
				all = append(all, at)
			}
		}
	}
	return all, touched
}
