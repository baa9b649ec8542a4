package report

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// writeSARIF writes the findings as SARIF 2.1.0.
func writeSARIF(w io.Writer, r *Record) error {
	return diag.WriteSARIF(w, r.fromRoot(), diag.Tool{Name: "yamlhost", Version: r.Version})
}

// writeGitHub writes the findings as workflow commands.
func writeGitHub(w io.Writer, r *Record) error { return diag.WriteGitHub(w, r.fromRoot()) }

// fromRoot returns the findings with file paths relative to the repository's root: code hosts need these to show
// them.
func (r *Record) fromRoot() diag.Diagnostics {
	ds := r.diagnostics()
	if r.Root == "" {
		return ds
	}
	renamed := map[*diag.Source]*diag.Source{}
	place := func(rng diag.Range) diag.Range {
		if rng.Source == nil {
			return rng
		}
		if renamed[rng.Source] == nil {
			renamed[rng.Source] = rng.Source.Renamed(r.rooted(rng.Source.Name()))
		}
		rng.Source = renamed[rng.Source]
		return rng
	}
	for i := range ds {
		d := &ds[i]
		d.Subject = place(d.Subject)
		d.Related = append([]diag.Related(nil), d.Related...)
		for k := range d.Related {
			d.Related[k].Range = place(d.Related[k].Range)
		}
		fixes := append([]diag.Fix(nil), d.Fixes...)
		for k := range fixes {
			fixes[k].Edits = append([]diag.Edit(nil), fixes[k].Edits...)
			for n := range fixes[k].Edits {
				fixes[k].Edits[n].Range = place(fixes[k].Edits[n].Range)
			}
		}
		d.Fixes = fixes
	}
	return ds
}

// rooted is a path of the working directory as the repository has it.
func (r *Record) rooted(name string) string {
	if r.Root == "" {
		return name
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	rel, err := filepath.Rel(r.Root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return name
	}
	return filepath.ToSlash(rel)
}
