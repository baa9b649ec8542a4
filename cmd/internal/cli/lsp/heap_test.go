package lsp

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
)

// live returns the number of bytes in use after garbage collection.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC() // the second collection frees the contents of pools
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryStaysFlat makes a thousand edits all over a program, right and wrong ones, with an editor's requests after
// each. Afterwards at most 5% more memory may be in use than before. It is not parallel, since other tests use memory
// too.
func TestMemoryStaysFlat(t *testing.T) {
	const resources, edits = 200, 1000
	e := generated(t, resources)
	ask := func(wrong bool) {
		t.Helper()
		require.Equal(t, wrong, e.diagnose() > 0)
		ctx, snapshot := t.Context(), e.session.Snapshot()
		_, err := editor.TokenParts(ctx, snapshot, e.path)
		require.NoError(t, err)
		pos, _ := e.find(resources/2, "upstream: ${")
		_, err = editor.Complete(ctx, snapshot, e.path, pos+len("upstream: ${th"))
		require.NoError(t, err)
		_, err = editor.HoverAt(ctx, snapshot, e.path, pos)
		require.NoError(t, err)
		_, err = editor.Symbols(ctx, snapshot, e.path)
		require.NoError(t, err)
	}
	edit := func(i int) {
		resource := i * 7 % resources
		change := func(what, replacement string, wrong bool) {
			start, end := e.find(resource, what)
			e.replace(start, end, replacement)
			ask(wrong)
		}
		switch i % 5 {
		case 0:
			change("size: ", "sizo: ", true)
			change("sizo: ", "size: ", false)
		case 1:
			change("  size: ", " size: ", true)
			change(" size: ", "  size: ", false)
		case 2:
			change("title: thing", "title: ${nope}", true)
			change("title: ${nope}", "title: thing", false)
		default:
			start, _ := e.find(resource, "\n      enabled: ")
			e.replace(start-1, start, strconv.Itoa(i%10))
			ask(false)
		}
	}
	for i := range 10 {
		edit(i) // fills caches
	}
	before := live()
	for i := range edits {
		edit(i)
	}
	after := live()
	t.Logf("%d bytes, after the edits %d", before, after)
	require.Less(t, after, before+before/20)
	runtime.KeepAlive(e)
}
