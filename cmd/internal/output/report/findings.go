package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// qualityJSON is a finding in GitLab's code quality report.
type qualityJSON struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
			End   int `json:"end,omitempty"`
		} `json:"lines"`
	} `json:"location"`
}

var qualitySeverities = map[diag.Severity]string{diag.Error: "critical", diag.Warning: "minor"}

// writeGitLab writes the findings in GitLab's format for the widget of a merge request. A fingerprint does not depend
// on the lines above a finding, so that GitLab recognizes old findings.
func writeGitLab(w io.Writer, r *Record) error {
	list := []qualityJSON{}
	seen := map[string]int{}
	for _, d := range r.fromRoot().Sorted() {
		q := qualityJSON{Description: d.Summary, CheckName: cmp.Or(string(d.Code), "yamlhost"),
			Severity: cmp.Or(qualitySeverities[d.Severity], "info")}
		q.Location.Path, q.Location.Lines.Begin = filepath.ToSlash(r.rooted(r.Program)), 1
		if !d.Subject.IsZero() {
			q.Location.Path = filepath.ToSlash(d.Subject.Source.Name())
			q.Location.Lines.Begin = d.Subject.StartPosition().Line
			q.Location.Lines.End = d.Subject.EndPosition().Line
		}
		key := q.CheckName + "\n" + q.Location.Path + "\n" + d.Summary
		seen[key]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", key, seen[key]))
		q.Fingerprint = hex.EncodeToString(sum[:16])
		if d.Detail != "" {
			q.Description += "; " + strings.ReplaceAll(d.Detail, "\n", "; ") // a description is one line
		}
		list = append(list, q)
	}
	return jsontext.Write(w, list, "  ")
}

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

// rooted returns a path in the working directory relative to the repository's root.
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
