package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Origins maps the texts of which a program's parts were read to their places in its whole text. A nil Origins
// belongs to a program that was read as one text. It is immutable.
type Origins struct {
	Whole *diag.Source
	// Start is where a part begins: a byte offset in Whole; ok is false for what is no part. It is safe for concurrent
	// use.
	Start func(part *diag.Source) (offset int, ok bool)
}

// Place is a range of the whole text for one of a part, and any other range as it is.
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

// Findings are findings with every place in the whole text. Those given are not changed.
func (o *Origins) Findings(diags diag.Diagnostics) diag.Diagnostics {
	if o == nil || len(diags) == 0 {
		return diags
	}
	placed := make(diag.Diagnostics, len(diags))
	for i, d := range diags {
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
