package diag

import (
	"bytes"
	"cmp"
	"slices"
)

// Certain reports whether the finding's first fix is certain, so that ApplyFixes applies it.
func (d Diagnostic) Certain() bool { return len(d.Fixes) > 0 && !d.Fixes[0].Guess }

// ApplyFixes applies the first fix of each finding to the text of src if it is certain. It returns the new text and the
// number of fixes applied; it changes no other bytes, and inserts line breaks as src has them. It skips a fix if one of
// its edits is in another source or overlaps an earlier fix.
func ApplyFixes(src *Source, ds Diagnostics) (text []byte, applied int) {
	var edits []Edit // in the order of the text
	for _, d := range ds.Sorted() {
		if !d.Certain() || len(d.Fixes[0].Edits) == 0 {
			continue
		}
		if added, ok := place(src, edits, d.Fixes[0].Edits); ok {
			edits = added
			applied++
		}
	}
	var b bytes.Buffer
	pos := int32(0)
	for _, e := range edits {
		b.Write(src.Text()[pos:e.Range.Start])
		b.WriteString(e.Text)
		pos = e.Range.End
	}
	b.Write(src.Text()[pos:])
	return KeepBreaks(src.Text(), b.Bytes()), applied
}

// place merges the edits wanted into taken, in the order of the text. ok is false if one of them is in another source,
// is out of range or overlaps another edit.
func place(src *Source, taken, wanted []Edit) (all []Edit, ok bool) {
	wanted = slices.Clone(wanted)
	slices.SortStableFunc(wanted, byStart)
	for i, e := range wanted {
		r := e.Range
		if r.Source != src || r.Start < 0 || r.Start > r.End || int(r.End) > src.Len() || i > 0 &&
			touches(wanted[i-1], e) {
			return nil, false
		}
		pos, _ := slices.BinarySearchFunc(taken, e, byStart)
		if pos > 0 && touches(taken[pos-1], e) || pos < len(taken) && touches(e, taken[pos]) {
			return nil, false
		}
	}
	if n := len(taken); n == 0 || byStart(taken[n-1], wanted[0]) < 0 { // findings come in the order of the text
		return append(taken, wanted...), true
	}
	all = append(slices.Clone(taken), wanted...)
	slices.SortStableFunc(all, byStart)
	return all, true
}

func byStart(a, b Edit) int { return cmp.Compare(a.Range.Start, b.Range.Start) }

// touches reports whether edit a overlaps the next edit b or begins at the same offset.
func touches(a, b Edit) bool { return a.Range.End > b.Range.Start || a.Range.Start == b.Range.Start }
