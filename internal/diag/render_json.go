package diag

import (
	"encoding/json"
	"io"
)

// Record is the JSON form of a finding, which is a stable interface for other programs (Appendix A). Empty fields are
// omitted.
type Record struct {
	Severity string          `json:"severity"`
	Code     Code            `json:"code,omitempty"`
	Summary  string          `json:"summary"`
	Detail   string          `json:"detail,omitempty"`
	Place    *PlaceRecord    `json:"place,omitempty"`
	Related  []RelatedRecord `json:"related,omitempty"`
	Fixes    []FixRecord     `json:"fixes,omitempty"`
}

// PlaceRecord is a range of a file. End is exclusive.
type PlaceRecord struct {
	File  string      `json:"file"`
	Start PointRecord `json:"start"`
	End   PointRecord `json:"end"`
}

// PointRecord is a position in a file.
type PointRecord struct {
	Line   int `json:"line"`   // 1-based
	Column int `json:"column"` // 1-based, in Unicode code points
	Offset int `json:"offset"` // 0-based, in bytes
}

// RelatedRecord is another range that belongs to a finding.
type RelatedRecord struct {
	Message string       `json:"message"`
	Place   *PlaceRecord `json:"place,omitempty"`
}

// FixRecord is a change that solves the problem.
type FixRecord struct {
	Label string       `json:"label"`
	Edits []EditRecord `json:"edits"`
	Guess bool         `json:"guess,omitempty"` // whether it is a suggestion, which `check --fix` does not apply
}

// EditRecord replaces the text of a range.
type EditRecord struct {
	Place *PlaceRecord `json:"place,omitempty"`
	Text  string       `json:"text"`
}

// Records returns the JSON form of findings, in the order of Sorted. It is never nil, so that it is encoded as an empty
// list if there are no findings.
func (ds Diagnostics) Records() []Record {
	records := make([]Record, 0, len(ds))
	for _, d := range ds.Sorted() {
		r := Record{
			Severity: d.Severity.String(), Code: d.Code, Summary: d.Summary, Detail: d.Detail,
			Place: d.Subject.Record(),
		}
		for _, related := range d.Related {
			r.Related = append(r.Related, RelatedRecord{Message: related.Message, Place: related.Range.Record()})
		}
		for _, fix := range d.Fixes {
			edits := make([]EditRecord, len(fix.Edits))
			for i, edit := range fix.Edits {
				edits[i] = EditRecord{Place: edit.Range.Record(), Text: edit.Text}
			}
			r.Fixes = append(r.Fixes, FixRecord{Label: fix.Label, Edits: edits, Guess: fix.Guess})
		}
		records = append(records, r)
	}
	return records
}

// Record returns the JSON form of a range, nil for the zero one.
func (r Range) Record() *PlaceRecord {
	if r.IsZero() {
		return nil
	}
	point := func(p Position, offset int32) PointRecord {
		return PointRecord{Line: p.Line, Column: p.Column, Offset: int(offset)}
	}
	return &PlaceRecord{
		File: r.Source.Name(), Start: point(r.StartPosition(), r.Start), End: point(r.EndPosition(), r.End),
	}
}

// Document is the JSON document that WriteJSON writes.
type Document struct {
	Diagnostics []Record `json:"diagnostics"`
}

// WriteJSON writes findings as {"diagnostics": [...]}, indented, with a line break at the end.
func WriteJSON(w io.Writer, ds Diagnostics) error {
	return encode(w, Document{ds.Records()})
}

// encode writes v as indented JSON with a line break at the end.
func encode(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
