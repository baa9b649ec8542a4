package editor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Diagnostics returns the findings of a file's program by the absolute path of their files. They are the findings of
// `yamlhost check`, in its order.
func Diagnostics(ctx context.Context, s *Snapshot, path string) (map[string]diag.Diagnostics, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, err
	}
	// The file and the program's text have an entry even without findings, so that a client removes those it shows.
	byPath := map[string]diag.Diagnostics{path: {}, p.Main: {}}
	for _, d := range p.Findings {
		if d.Severity > diag.Info {
			continue
		}
		// A finding without a range is about the project, and is shown in the file that was asked for.
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

// Fix is a quick fix of a finding.
type Fix struct {
	Finding diag.Diagnostic
	Label   string
	Edits   map[string][]diag.Edit // by absolute path
	Guess   bool                   // whether it is not certain
}

// Fixes returns the fixes of all findings that touch the bytes from start to end of a file.
func Fixes(ctx context.Context, s *Snapshot, path string, start, end int) ([]Fix, error) {
	p, err := s.Program(ctx, path)
	if err != nil {
		return nil, err
	}
	var fixes []Fix
	for _, d := range p.Findings {
		if d.Subject.IsZero() || p.PathOf(d.Subject) != path || int(d.Subject.End) < start ||
			// Touching is enough: the cursor behind a word is still at it.
			int(d.Subject.Start) > end {
			continue
		}
		for _, fix := range d.Fixes {
			edits := map[string][]diag.Edit{}
			for _, e := range fix.Edits {
				// A fix may be in another file than its finding, as for a key of the project file.
				file := p.PathOf(e.Range)
				edits[file] = append(edits[file], e)
			}
			fixes = append(fixes, Fix{Finding: d, Label: fix.Label, Edits: edits, Guess: fix.Guess})
		}
	}
	return fixes, nil
}
