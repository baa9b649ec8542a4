package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Origins maps ranges in the blocks of a program, which are read as separate sources, to ranges in the whole text. It
// is nil for a program that was read as one text. It is immutable.
type Origins struct {
	Whole *diag.Source
	// Start returns the byte offset in Whole at which a part begins; ok is false if the source is not a part of Whole.
	// It is safe for concurrent use.
	Start func(part *diag.Source) (offset int, ok bool)
}

// Place returns the range in the whole text that corresponds to r. It returns r unchanged if r is not in a part.
func (o *Origins) Place(r diag.Range) diag.Range {
	if o == nil || r.Source == nil {
		return r
	}
	start, ok := o.Start(r.Source)
	if !ok {
		return r
	}
	return diag.NewRange(o.Whole, start+int(r.Start), start+int(r.End))
}

// Findings returns a copy of diags with every range translated to the whole text, and without the texts that the parts
// hide: the whole text does not know them. It does not modify diags.
func (o *Origins) Findings(diags diag.Diagnostics) diag.Diagnostics {
	if o == nil || len(diags) == 0 {
		return diags
	}
	placed := make(diag.Diagnostics, len(diags))
	for i, d := range diags {
		d = d.Discreet()
		d.Subject = o.Place(d.Subject)
		d.Related = append([]diag.Related(nil), d.Related...)
		for j := range d.Related {
			d.Related[j].Range = o.Place(d.Related[j].Range)
		}
		d.Fixes = append([]diag.Fix(nil), d.Fixes...)
		for j := range d.Fixes {
			edits := append([]diag.Edit(nil), d.Fixes[j].Edits...)
			for k := range edits {
				edits[k].Range = o.Place(edits[k].Range)
			}
			d.Fixes[j].Edits = edits
		}
		placed[i] = d
	}
	return placed
}
