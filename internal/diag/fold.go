package diag

// Folded is a copy in which all warnings of one old or odd spelling in one text are one finding, at the first of its
// places and with the others as related ones; its fix mends all of them. Everything else stays, in the order of Sorted.
func Folded(ds Diagnostics) Diagnostics {
	type spelling struct {
		source  *Source
		summary string
	}
	first := make(map[spelling]int)
	folded := make(Diagnostics, 0, len(ds))
	for _, d := range ds.Sorted() {
		key := spelling{d.Subject.Source, d.Summary}
		i, again := first[key]
		if d.Severity != Warning || d.Code != Capitalisation || d.Subject.IsZero() {
			folded = append(folded, d)
			continue
		}
		if !again {
			first[key] = len(folded)
			d.Related = append([]Related(nil), d.Related...)
			if len(d.Fixes) > 0 {
				d.Fixes = []Fix{{Label: d.Fixes[0].Label, Edits: append([]Edit(nil), d.Fixes[0].Edits...)}}
			}
			folded = append(folded, d)
			continue
		}
		f := &folded[i]
		f.Related = append(f.Related, Related{Range: d.Subject, Message: "and here"})
		switch {
		case len(d.Fixes) == 0:
		case len(f.Fixes) == 0:
			f.Fixes = d.Fixes
		default:
			f.Fixes[0].Edits = append(f.Fixes[0].Edits, d.Fixes[0].Edits...)
		}
	}
	return folded
}
