package value

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 24+5, Size(String("hello"), 1000))
	require.EqualValues(t, 24+1+24+24+2*(24+3), Size(MapOf(Entry{"k", List(List(String("abc"), String("abc")).Secret())}),
		1000))
	shared := List(String(strings.Repeat("x", 100)))
	for range 100 { // 2^100 texts; Size stops at the limit
		shared = List(shared, shared)
	}
	require.Greater(t, Size(shared, 1<<20), int64(1<<20))
	require.Greater(t, Size(NewAsset(&Asset{Text: strings.Repeat("x", 100)}), 1000), int64(100))
	require.Greater(t,
		Size(NewArchive(&Archive{Assets: MapOf(Entry{"a", NewAsset(&Asset{Text: strings.Repeat("x", 100)})})}), 1000),
		int64(100))
}

// A run has a hundred values for each resource, in the state, the program and the answers of providers.
func TestSizeInMemory(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 3, unsafe.Sizeof(Value{})/unsafe.Sizeof(uintptr(0)), "words")
}
