package backend

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// thirtyResources returns a backend whose state has thirty resources, with the path and the content of the state file.
func thirtyResources(t *testing.T) (b *Backend, path string, text []byte) {
	t.Helper()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	next := *s.Base()
	for i := range 30 {
		next.Resources = append(next.Resources, resource(i))
	}
	require.NoError(t, s.Commit(t.Context(), &next, &Record{Kind: "update"}))
	path = filepath.Join(dir, "stacks/p/dev.json")
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	return b, path, text
}

// A state with one flipped bit is rejected. The error has the offset of the bit and the original text.
func TestEveryFlippedBitOfAState(t *testing.T) {
	t.Parallel()
	_, _, text := thirtyResources(t)
	changed, err := verifyChecksum(text)
	require.NoError(t, err)
	require.False(t, changed)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			flipped := bytes.Clone(text)
			for bit := w; bit < 8*len(text); bit += workers {
				flipped[bit/8] ^= 1 << (bit % 8)
				_, err := verifyChecksum(flipped)
				if f, ok := err.(*FlippedError); !ok || f.Offset != bit/8 || !bytes.Equal(f.mended, text) {
					t.Errorf("bit %d of byte %d: %v", bit%8, bit/8, err)
					return
				}
				flipped[bit/8] ^= 1 << (bit % 8)
			}
		})
	}
	group.Wait()
}

// The error about a damaged state suggests a repair. The repair restores the exact state after a flipped bit, and the
// newest sound copy after a truncation.
func TestWayOnFromADamagedState(t *testing.T) {
	t.Parallel()
	b, path, text := thirtyResources(t)
	resources := func() int {
		loaded, err := b.Load(t.Context(), testRef, openB64)
		require.NoError(t, err)
		require.False(t, loaded.Altered)
		return len(loaded.Snapshot.Resources)
	}
	refused := func(damaged []byte) *CorruptError {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := b.Load(t.Context(), testRef, nil)
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.NotNil(t, corrupt.Previous)
		require.Contains(t, err.Error(), "yamlhost state repair")
		_, err = b.Begin(t.Context(), testRef, b64Options)
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, string(damaged), read(t, path), "nothing is written")
		return corrupt
	}
	for bit := 0; bit < 8*len(text); bit += 997 {
		flipped := bytes.Clone(text)
		flipped[bit/8] ^= 1 << (bit % 8)
		require.True(t, refused(flipped).Previous.Mended)
		aside, err := b.Restore(t.Context(), testRef)
		require.NoError(t, err)
		require.Equal(t, string(flipped), read(t, aside))
		require.Equal(t, string(text), read(t, path))
	}
	for cut := range len(text) {
		_, err := (stored{path: path, raw: text[:cut]}).decode(nil)
		require.Error(t, err, cut)
		if cut%499 == 0 {
			require.False(t, refused(text[:cut]).Previous.Mended)
			_, err := b.Restore(t.Context(), testRef)
			require.NoError(t, err)
			require.Equal(t, 30, resources(), cut)
		}
	}
}

// A state file edited by hand is used with a warning. A file of another program has no checksum and causes no warning.
func TestEditedState(t *testing.T) {
	t.Parallel()
	b, path, text := thirtyResources(t)
	for name, c := range map[string]struct {
		text    string
		altered bool
	}{
		"as it was":              {string(text), false},
		"with a line break":      {string(text) + "\n", false},
		"with another ID":        {strings.Replace(string(text), `"id":"id29"`, `"id":"another"`, 1), true},
		"with a word changed":    {strings.Replace(string(text), `"id":"id29"`, `"id":"ge29"`, 1), true},
		"without the checksum":   {string(text[:len(text)-checksumLength]) + "}", false},
		"reformatted":            {indented(t, text), false},
		"with another checksum":  {strings.Replace(string(text), `"crc32c:`, `"crc64x:`, 1), false},
		"with a broken checksum": {string(text[:len(text)-6]) + "zzzz\"}", true},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		loaded, err := b.Load(t.Context(), testRef, openB64)
		require.NoError(t, err, name)
		require.Equal(t, c.altered, loaded.Altered, name)
		require.Len(t, loaded.Snapshot.Resources, 30, name)
		s, err := b.Begin(t.Context(), testRef, b64Options)
		require.NoError(t, err, name)
		require.Equal(t, c.altered, s.Altered(), name)
		require.NoError(t, s.Commit(t.Context(), nil, nil))
		require.Equal(t, 1, strings.Count(read(t, path), checksumMember), name)
	}
}

func indented(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, text, "", "  "))
	return out.String()
}

// A state file that is a symbolic link stays one, and the state is written to its target.
func TestLinkedState(t *testing.T) {
	t.Parallel()
	b, path, text := thirtyResources(t)
	target := filepath.Join(t.TempDir(), "elsewhere.json")
	require.NoError(t, os.WriteFile(target, text, 0o600))
	require.NoError(t, os.Remove(path))
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no links here:", err)
	}
	s := begin(t, b)
	next := *s.Base()
	next.Resources = next.Resources[:7]
	require.NoError(t, s.Commit(t.Context(), &next, nil))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	require.NotEqual(t, string(text), read(t, target))
	c, err := state.DecodeCheckpoint([]byte(read(t, target)), nil)
	require.NoError(t, err)
	require.Len(t, c.Snapshot.Resources, 7)
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(target)} {
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, n := range names {
			require.NotContains(t, n.Name(), disk.TemporarySuffix)
		}
	}
}
