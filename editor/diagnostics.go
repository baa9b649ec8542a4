package editor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Diagnostics returns the findings of `yamlhost check` for a file and its program, in the same order, by the absolute
// path of the file of each.
func Diagnostics(ctx context.Context, s *Snapshot, path string) (map[string]diag.Diagnostics, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, err
	}
	byPath := map[string]diag.Diagnostics{path: {}, p.Main: {}}
	for _, d := range p.Findings {
		if d.Severity > diag.Info {
			continue
		}
		file := path
		if !d.Subject.IsZero() {
			file = p.PathOf(d.Subject)
		}
		list := byPath[file]
		list.Add(d)
		byPath[file] = list
	}
	return byPath, nil
}

// Fix is a fix of a finding, with the edits for each file.
type Fix struct {
	Finding diag.Diagnostic
	Label   string
	Edits   map[string][]diag.Edit // by absolute path
}

// Fixes returns the fixes of findings that touch a stretch of a file.
func Fixes(ctx context.Context, s *Snapshot, path string, start, end int) ([]Fix, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, err
	}
	var fixes []Fix
	for _, d := range p.Findings {
		if d.Subject.IsZero() || p.PathOf(d.Subject) != path || int(d.Subject.End) < start || int(d.Subject.Start) > end {
			continue
		}
		for _, fix := range d.Fixes {
			edits := map[string][]diag.Edit{}
			for _, e := range fix.Edits {
				file := p.PathOf(e.Range)
				edits[file] = append(edits[file], e)
			}
			fixes = append(fixes, Fix{Finding: d, Label: fix.Label, Edits: edits})
		}
	}
	return fixes, nil
}
