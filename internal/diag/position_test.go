package diag

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestPositionsInLongLines compares positions in texts of long and short lines with counts from the start of each line.
func TestPositionsInLongLines(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"a", "é", "€", "😀", "\xff", "\xf0\x9f", "\r", "\n", "\r\n",
		strings.Repeat("x", stride-1), strings.Repeat("€", stride), strings.Repeat("😀x", stride), strings.Repeat("\xff", stride+1)})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces"), "")
		src := NewSource("x", []byte(text))
		for range 20 {
			offset := rapid.IntRange(0, len(text)).Draw(t, "offset")
			before := text[:offset]
			start := strings.LastIndexByte(before, '\n') + 1
			units := 0
			for _, r := range before[start:] {
				units += utf16.RuneLen(r)
			}
			pos := Position{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1}
			require.Equal(t, pos, src.Position(offset))
			line, column := src.PositionUTF16(offset)
			require.Equal(t, []int{pos.Line - 1, units}, []int{line, column})

			rest, _, _ := strings.Cut(text[start:], "\n")
			if end := start + len(strings.TrimSuffix(rest, "\r")); offset < end && utf8.RuneStart(text[offset]) {
				require.Equal(t, offset, src.Offset(pos))
				require.Equal(t, offset, src.OffsetUTF16(line, column))
				require.Equal(t, end, src.Offset(Position{pos.Line, len(text) + 1}))
			}
		}
	})
}
