package diag

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEditedTexts edits texts of one and of many pieces repeatedly. An edited source must give the same answers as a
// new source of its text.
func TestEditedTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	words := []string{"", "x", "\n", "\r\n", "a line\n", "ü€😀", "\n\n", strings.Repeat("long ", 9000),
		strings.Repeat("- item\n", 7000)}
	for _, lines := range []int{0, 3, 4000, 12_000} {
		src := NewSource("x", []byte(strings.Repeat("key: välue\n", lines)+"end"))
		for range 50 {
			start := random.IntN(src.Len() + 1)
			length := random.IntN(8)
			if random.IntN(20) == 0 {
				length = random.IntN(src.Len() + 1)
			}
			end := min(start+length, src.Len())
			replacement := words[random.IntN(len(words))]
			want := append(append(bytes.Clone(src.Text()[:start]), replacement...), src.Text()[end:]...)
			src = src.Edited(start, end, replacement)
			whole := NewSource("x", want)
			require.True(t, bytes.Equal(want, src.Text()))
			require.Equal(t, whole.Lines(), src.Lines())
			for range 30 {
				offset := random.IntN(len(want) + 2)
				pos := whole.Position(offset)
				require.Equal(t, pos, src.Position(offset))
				require.Equal(t, whole.Offset(pos), src.Offset(pos))
				line, column := whole.PositionUTF16(offset)
				sameLine, sameColumn := src.PositionUTF16(offset)
				require.Equal(t, []int{line, column}, []int{sameLine, sameColumn})
				require.Equal(t, whole.OffsetUTF16(line, column), src.OffsetUTF16(line, column))
				require.Equal(t, whole.Line(pos.Line), src.Line(pos.Line))
				require.Equal(t, NewRange(whole, offset/2, min(offset, len(want))).Text(),
					NewRange(src, offset/2, min(offset, len(want))).Text())
			}
		}
	}
}
