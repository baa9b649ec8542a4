package diag

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/fileurl"
)

// Tool identifies the program that reports the findings.
type Tool struct{ Name, Version string }

// The parts of a SARIF 2.1.0 log that this package writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string     `json:"id"`
		ShortDescription *sarifText `json:"shortDescription,omitempty"`
		FullDescription  *sarifText `json:"fullDescription,omitempty"`
		Help             *sarifText `json:"help,omitempty"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID           string          `json:"ruleId,omitempty"`
		RuleIndex        *int            `json:"ruleIndex,omitempty"`
		Level            string          `json:"level"`
		Message          sarifText       `json:"message"`
		Locations        []sarifLocation `json:"locations,omitempty"`
		RelatedLocations []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes            []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn"`
		EndLine     int        `json:"endLine"`
		EndColumn   int        `json:"endColumn"`
		ByteOffset  int        `json:"byteOffset"`
		ByteLength  int        `json:"byteLength"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// WriteSARIF writes findings as a SARIF 2.1.0 log, which code hosts and editors read, indented and with a final line
// break. Each code is a rule with its explanation. Severities other than errors and warnings are written as notes.
func WriteSARIF(w io.Writer, ds Diagnostics, tool Tool) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: tool.Name, Version: tool.Version, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	rules := make(map[Code]int)
	for _, d := range ds.Sorted() {
		result := sarifResult{RuleID: string(d.Code), Level: levelOf(d.Severity, "note"), Message: sarifText{Text: d.Text()}}
		if d.Code != "" {
			index, known := rules[d.Code]
			if !known {
				index = len(run.Tool.Driver.Rules)
				rules[d.Code] = index
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(d.Code))
			}
			result.RuleIndex = &index
		}
		if !d.Subject.IsZero() {
			result.Locations = []sarifLocation{{Physical: physical(d.Subject, !d.Confidential)}}
		}
		for i, r := range d.Related {
			if !r.Range.IsZero() {
				result.RelatedLocations = append(result.RelatedLocations,
					sarifLocation{ID: &i, Physical: physical(r.Range, false), Message: &sarifText{Text: r.Message}})
			}
		}
		for _, fix := range d.Fixes {
			// SARIF does not allow a fix without changes, and has no word for a guess.
			if change := sarifFixOf(fix); len(change.Changes) > 0 && !fix.Guess {
				result.Fixes = append(result.Fixes, change)
			}
		}
		run.Results = append(run.Results, result)
	}
	return encode(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{run}})
}

func ruleOf(code Code) sarifRule {
	rule := sarifRule{ID: string(code)}
	if page, ok := Explain(code); ok {
		rule.ShortDescription = &sarifText{Text: page.Title}
		rule.FullDescription = &sarifText{Text: page.Summary()}
		rule.Help = &sarifText{Text: page.Text, Markdown: page.Text}
	}
	return rule
}

func physical(r Range, snippet bool) sarifPhysical {
	region := regionOf(r)
	if snippet && r.Text() != "" {
		region.Snippet = &sarifText{Text: string(r.Source.shown(int(r.Start), int(r.End)))}
	}
	return sarifPhysical{Artifact: sarifArtifact{artifactURI(r.Source.Name())}, Region: &region}
}

func regionOf(r Range) sarifRegion {
	start, end := r.StartPosition(), r.EndPosition()
	return sarifRegion{StartLine: start.Line, StartColumn: start.Column, EndLine: end.Line, EndColumn: end.Column,
		ByteOffset: int(r.Start), ByteLength: int(r.End - r.Start)}
}

// artifactURI returns a path as a URI reference. It is relative if the path is, so that the log does not depend on
// where the code is checked out.
func artifactURI(name string) string {
	if filepath.IsAbs(name) {
		return fileurl.Of(name)
	}
	return (&url.URL{Path: strings.TrimPrefix(filepath.ToSlash(name), "./")}).EscapedPath()
}

func sarifFixOf(fix Fix) sarifFix {
	result := sarifFix{Description: sarifText{Text: fix.Label}, Changes: []sarifChange{}}
	places := make(map[*Source]int)
	for _, e := range fix.Edits {
		if e.Range.IsZero() {
			continue
		}
		index, known := places[e.Range.Source]
		if !known {
			index = len(result.Changes)
			places[e.Range.Source] = index
			result.Changes = append(result.Changes,
				sarifChange{Artifact: sarifArtifact{artifactURI(e.Range.Source.Name())}})
		}
		result.Changes[index].Replacements = append(result.Changes[index].Replacements,
			sarifReplacement{Deleted: regionOf(e.Range), Inserted: sarifText{Text: e.Text}})
	}
	return result
}
