package report

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/drawing"
	"github.com/yamlhost/yamlhost/cmd/internal/output/page"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/schema"
)

// pageResource is a resource on the page, in the order of the tree. Members have one letter because there may be
// thousands of resources.
type pageResource struct {
	Name  string `json:"n"`
	Type  int    `json:"t"` // index into Types
	Words string `json:"w"`
	Depth int    `json:"d,omitempty"`
	// create, update, replace, delete, same, failed …, for the filters and the mark
	Outcome string          `json:"o"`
	Changes []string        `json:"c,omitempty"`
	Because [][]change.Link `json:"y,omitempty"` // chains of causes, root first
	Took    string          `json:"k,omitempty"`
	Heading bool            `json:"h,omitempty"` // a component
	Place   string          `json:"p,omitempty"`
}

// pageContent is what the rows of the page are made from.
type pageContent struct {
	Types     []string       `json:"types"`
	Resources []pageResource `json:"resources"`
}

// Bounds of the page: a resource's changes in lines and characters, and the boxes of the drawing.
const (
	pageLines = 60
	pageLine  = 240
	pageBoxes = 300
)

// WriteHTML writes a page with its data inside, in the form of the console: findings, rows that open, outputs and the
// drawing. It loads nothing from the network. The page is a text with placeholders: html/template would keep every
// method of every type in the program (docs/design/size.md).
func WriteHTML(w io.Writer, r *Record) error {
	content, err := pageJSON(r, pageLines)
	if err != nil {
		return err
	}
	if most := 1 << 20; len(content) > most { // many resources: each gets its share
		if content, err = pageJSON(r, max(2, pageLines*most/len(content)/4)); err != nil {
			return err
		}
	}
	badge, took := `<span class="mark good"><b aria-hidden="true">✓</b> ok</span>`, ""
	if r.Exit.Code != 0 {
		badge = `<span class="mark bad"><b aria-hidden="true">✗</b> ` + html.EscapeString(r.Exit.Name) + `</span>`
	}
	if text := view.Seconds(r.Took); text != "" {
		took = ` <span class="dim">in ` + html.EscapeString(text) + `</span>`
	}
	var remarks strings.Builder
	for _, text := range r.sentences() {
		remarks.WriteString(`<p class="notice">` + html.EscapeString(text) + "</p>")
	}
	rows, drawn := "", ""
	if len(r.Resources) > 0 {
		rows = `<section aria-label="Resources"><h2>Resources</h2><div id="rows"></div></section>` + "\n"
		if drawn, err = pageDrawing(r); err != nil {
			return err
		}
	}
	origin := ""
	for _, p := range r.Origin {
		origin += pageTerm(p[0], p[1])
	}
	if origin != "" {
		origin = `<section aria-label="Origin"><h2>Origin</h2><dl>` + origin + "</dl></section>\n"
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString("yamlhost "+r.Command+" · "+r.name()), "{{command}}", html.EscapeString(r.Command),
		"{{name}}", html.EscapeString(r.name()), "{{badge}}", badge, "{{headline}}", html.EscapeString(r.Headline()),
		"{{took}}", took, "{{remarks}}", remarks.String(), "{{findings}}", pageFindings(r.Findings),
		"{{facts}}", pageOutputs(r.Outputs), "{{rows}}", rows, "{{drawing}}", drawn, "{{origin}}", origin,
		"{{data}}", content,
	).WriteString(w, string(page.File("report.html")))
	return err
}

func pageFindings(findings []view.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i == 0 {
			b.WriteString(`<section aria-label="Findings"><h2>Findings</h2>`)
		}
		fmt.Fprintf(&b, `<pre tabindex="0" class="%s">%s</pre>`, f.Severity, html.EscapeString(textOf(f.Diagnostic, 20)))
	}
	if b.Len() > 0 {
		b.WriteString("</section>\n")
	}
	return b.String()
}

func pageOutputs(outputs []view.Output) string {
	if len(outputs) == 0 {
		return ""
	}
	list := ""
	for _, o := range outputs {
		list += pageTerm(strings.TrimSpace(o.Sign+" "+o.Name), o.Text())
	}
	return `<div class="facts2"><section aria-label="Outputs"><h2>Outputs</h2><dl>` + list +
		"</dl></section></div>\n"
}

func pageTerm(name, text string) string {
	return "<div><dt>" + html.EscapeString(name) + `</dt><dd><span class="text">` + html.EscapeString(text) +
		"</span></dd></div>"
}

// pageJSON returns the resources and their types as JSON, for an element of the page: encoding/json escapes everything
// that could end it. Each has at most so many lines of changes.
func pageJSON(r *Record, lines int) (string, error) {
	kinds := map[string]int{}
	content := pageContent{Types: []string{}, Resources: make([]pageResource, len(r.Resources))}
	for i := range r.Resources {
		item := &r.Resources[i]
		short := schema.CollapseToken(item.URN.Type())
		if item.IsStack() {
			short = "stack"
		}
		if _, known := kinds[short]; !known {
			kinds[short] = len(content.Types)
			content.Types = append(content.Types, short)
		}
		p := pageResource{Name: item.URN.Name(), Type: kinds[short], Words: item.Words, Depth: item.Depth,
			Outcome: pageOutcome(item), Took: view.Seconds(item.Took), Heading: item.Component, Because: item.Because}
		for k, line := range item.Changes {
			if k == lines {
				p.Changes = append(p.Changes, "… and "+diag.Count(len(item.Changes)-k, "line")+" more")
				break
			}
			p.Changes = append(p.Changes, cut(line, pageLine))
		}
		if !item.Place.IsZero() {
			p.Place = item.Place.Source.Name() + ":" + view.Figure(item.Place.StartPosition().Line)
		}
		content.Resources[i] = p
	}
	text, err := json.Marshal(content)
	return string(text), err
}

// pageDrawing returns the drawing of the resources, as `graph --format svg` draws a program. Of many, it has those that
// change, with what they need.
func pageDrawing(r *Record) (string, error) {
	drawn, note := map[urn.URN]bool{}, ""
	for i := range r.Resources {
		if item := &r.Resources[i]; !item.IsStack() {
			drawn[item.URN] = true
		}
	}
	if all := len(drawn); all > pageBoxes {
		clear(drawn)
		take := func(u urn.URN) {
			if len(drawn) < pageBoxes {
				drawn[u] = true
			}
		}
		for item := range view.Changed(r.Resources) {
			take(item.URN)
		}
		for item := range view.Changed(r.Resources) {
			for _, need := range item.Needs {
				take(need)
			}
		}
		note = fmt.Sprintf("%s of %s: what changes, and what that needs", view.Figure(len(drawn)),
			diag.Count(all, "resource"))
	}
	picture := pagePicture(r, drawn)
	if len(picture.Nodes) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(`<section aria-label="Graph"><h2>Graph</h2>`)
	if note != "" {
		b.WriteString(`<p class="dim">` + html.EscapeString(note) + "</p>")
	}
	b.WriteString(`<div id="drawing" class="drawing" tabindex="0" role="group" aria-label="Drawing"></div>` +
		`<template id="drawn">`)
	if err := drawing.Write(&b, picture); err != nil {
		return "", err
	}
	b.WriteString("</template></section>\n")
	return b.String(), nil
}

// pagePicture returns the picture of some resources: components with something in them are frames.
func pagePicture(r *Record, drawn map[urn.URN]bool) *drawing.Picture {
	known, parents := map[urn.URN]bool{}, map[urn.URN]urn.URN{}
	for i := range r.Resources {
		if item := &r.Resources[i]; drawn[item.URN] {
			known[item.URN] = true
			if drawn[item.Parent] {
				parents[item.URN] = item.Parent
			}
		}
	}
	frames := map[urn.URN]bool{}
	for _, parent := range parents {
		frames[parent] = known[parent]
	}
	picture := &drawing.Picture{Title: r.name(), Subtitle: r.Headline()}
	done := map[urn.URN]bool{}
	for i := range r.Resources {
		item := &r.Resources[i]
		if !known[item.URN] || done[item.URN] {
			continue
		}
		done[item.URN] = true
		id, group := string(item.URN), ""
		if frames[parents[item.URN]] {
			group = string(parents[item.URN])
		}
		name, detail := item.URN.Name(), schema.CollapseToken(item.URN.Type())
		if sign := strings.TrimSpace(item.Sign); sign != "" {
			name = sign + " " + name
		}
		tip := item.URN.Name() + "\n" + detail + "\n" + item.Words
		if frames[item.URN] {
			picture.Groups = append(picture.Groups,
				drawing.Group{ID: id, Label: name + "  " + detail, Tip: tip, Parent: group})
			continue
		}
		kind := drawing.Resource
		if item.Component {
			kind = drawing.Component
		}
		picture.Nodes = append(picture.Nodes, drawing.Node{ID: id, Kind: kind, Name: name, Detail: detail, Tip: tip,
			Group: group})
	}
	for i := range r.Resources {
		item := &r.Resources[i]
		for _, need := range slices.Compact(slices.Sorted(slices.Values(item.Needs))) {
			if done[item.URN] && done[need] && need != item.URN && need != item.Parent {
				picture.Edges = append(picture.Edges, drawing.Edge{From: string(need), To: string(item.URN)})
			}
		}
	}
	return picture
}

// pageOutcome returns the filter of a resource.
func pageOutcome(item *view.Resource) string {
	switch item.Outcome {
	case view.Failed, view.Interrupted:
		return "failed"
	case view.Skipped, view.NotStarted:
		return "skipped"
	}
	switch op := string(item.Op); op {
	case "create", "update", "replace", "delete", "import", "read", "same":
		return op
	case "gone", "delete-replaced":
		return "delete"
	case "refresh":
		return "update"
	}
	return "other"
}
