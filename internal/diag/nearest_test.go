package diag

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	names := []string{"bucket", "Bucket2", "queue", "queues", "vpc"}
	x := NewNames(names)
	for name, want := range map[string][]string{
		"bukcet": {"bucket"}, "buckt": {"bucket"}, "bucketx": {"Bucket2", "bucket"}, "bucked": {"bucket"},
		"queue": {"queues"},
		"quue":  {"queue"}, "subnet": nil, "vpx": {"vpc"},
	} {
		require.Equal(t, want, x.Near(name), name)
	}
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("resource%04d", i))
	}
	require.Contains(t, NewNames(many).Near("resuorce0042"), "resource0042")
	require.LessOrEqual(t, len(NewNames(many).Near("resource00421")), suggestMost)
}

func TestMeant(t *testing.T) {
	t.Parallel()
	require.Equal(t, "length", Meant("lenght", []string{"length", "height"}))
	require.Empty(t, Meant("ab", []string{"abc", "abd"}), "several may have been meant")
	require.Equal(t, "resource0001", Meant("resuorce0001", []string{"resource0001", "resource0002"}), "the nearer one")
	require.Empty(t, Meant("resuorceX001", []string{"resource0001", "resource1001"}), "equally near")
	require.Empty(t, Meant("protected", []string{"protect"[:4]}))
}

func TestWord(t *testing.T) {
	t.Parallel()
	src := NewSource("x", []byte(`tpye "tpye" 'it''s'`))
	rng, ok := NewRange(src, 0, 4).Word("tpye")
	require.True(t, ok)
	require.Equal(t, NewRange(src, 0, 4), rng)
	rng, ok = NewRange(src, 5, 11).Word("tpye")
	require.True(t, ok)
	require.Equal(t, NewRange(src, 6, 10), rng)
	_, ok = NewRange(src, 12, 19).Word("it's")
	require.False(t, ok)
}

// Capitalisation warnings with the same summary become one at the first place, with a fix for all places.
func TestFolded(t *testing.T) {
	t.Parallel()
	src := NewSource("x", []byte("Fn::A Fn::A Fn::B"))
	old := func(start int, summary string) Diagnostic {
		rng := NewRange(src, start, start+5)
		return Diagnostic{Severity: Warning, Code: Capitalisation, Summary: summary, Subject: rng,
			Fixes: []Fix{{Label: "Write it", Edits: []Edit{{rng, "fn"}}}}}
	}
	folded := Folded(Diagnostics{old(6, "a"), old(12, "b"), old(0, "a"), {Severity: Warning, Code: Ignored, Summary: "a"}})
	require.Len(t, folded, 3)
	require.Equal(t, NewRange(src, 0, 5), folded[1].Subject)
	require.Equal(t, []Related{{NewRange(src, 6, 11), "and here"}}, folded[1].Related)
	text, n := ApplyFixes(src, folded)
	require.Equal(t, 2, n)
	require.Equal(t, "fn fn fn", string(text))
}
