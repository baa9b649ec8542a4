package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApplyFixes(t *testing.T) {
	t.Parallel()
	src, other := NewSource("a.yaml", []byte("a: lenght\r\n# é kept\nb: lenght")), NewSource("b.yaml", []byte("lenght"))
	fix := func(s *Source, start, end int, text string) Diagnostic {
		return Diagnostic{Subject: NewRange(s, start, end), Fixes: []Fix{{Edits: []Edit{{NewRange(s, start, end), text}}}}}
	}
	text, n := ApplyFixes(src, Diagnostics{
		fix(src, 24, 30, "length"), fix(src, 3, 9, "length"), fix(src, 5, 7, "overlaps"), fix(other, 0, 6, "elsewhere"),
		fix(src, 29, 99, "outside"), {Subject: NewRange(src, 0, 1)},
	})
	require.Equal(t, "a: length\r\n# é kept\nb: length", string(text))
	require.Equal(t, 2, n)
	text, n = ApplyFixes(src, nil)
	require.Equal(t, string(src.Text()), string(text))
	require.Zero(t, n)
}

func TestSurely(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, meant string
		want         bool
	}{
		{"lenght", "length", true}, {"Length", "length", true}, {"protect", "probes", false}, {"web", "wbe", true},
		{"resourceGruopNam", "resourceGroupName", true}, {"ab", "cd", false},
	} {
		require.Equal(t, c.want, Surely(c.typed, c.meant), c.typed)
	}
}
