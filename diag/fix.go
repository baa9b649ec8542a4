package diag

import (
	"bytes"
	"cmp"
	"slices"
)

// ApplyFixes is the text of a source with the first fix of each finding applied, every other byte kept, and how many were.
// A fix is left out when one of its edits touches another source or what an earlier fix changes; so are all the fixes of
// findings about other sources.
func ApplyFixes(src *Source, ds Diagnostics) (text []byte, applied int) {
	var edits []Edit
	for _, d := range ds.Sorted() {
		if len(d.Fixes) == 0 || !fits(src, edits, d.Fixes[0].Edits) {
			continue
		}
		edits = append(edits, d.Fixes[0].Edits...)
		applied++
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	var b bytes.Buffer
	at := int32(0)
	for _, e := range edits {
		b.Write(src.text[at:e.Range.Start])
		b.WriteString(e.Text)
		at = e.Range.End
	}
	b.Write(src.text[at:])
	return b.Bytes(), applied
}

func fits(src *Source, taken, wanted []Edit) bool {
	for i, e := range wanted {
		r := e.Range
		if r.Source != src || r.Start < 0 || r.Start > r.End || int(r.End) > len(src.text) {
			return false
		}
		for _, other := range slices.Concat(taken, wanted[:i]) {
			if r.Start < other.Range.End && other.Range.Start < r.End || r.Start == other.Range.Start {
				return false
			}
		}
	}
	return len(wanted) > 0
}
