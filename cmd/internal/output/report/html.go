package report

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

//go:embed page.html
var pageText string

// pageResource is a resource on the page. Resources are numbered in the order of the tree, so that edges of the graph
// and parents are short. Members have one letter because there may be thousands of resources.
type pageResource struct {
	Name  string `json:"n"`
	Type  int    `json:"t"` // index into Types
	Sign  string `json:"s,omitempty"`
	Words string `json:"w"`
	Depth int    `json:"d,omitempty"`
	// create, update, replace, delete, same, failed …, for the filters and the colour
	Outcome string   `json:"o,omitempty"`
	Changes []string `json:"c,omitempty"`
	Needs   []int    `json:"e,omitempty"`
	Took    string   `json:"k,omitempty"`
	Heading bool     `json:"h,omitempty"` // a component
	Place   string   `json:"p,omitempty"`
}

// Bounds of the page: a resource's changes in lines and characters.
const (
	pageLines = 60
	pageLine  = 240
)

// WriteHTML writes a self-contained page: a tree with filters, findings, outputs and a graph. It loads nothing from the
// network. The page is a text with placeholders: html/template would keep every method of every type in the program
// (docs/design/size.md).
func WriteHTML(w io.Writer, r *Record) error {
	resources, types, err := pageResources(r, pageLines)
	if err != nil {
		return err
	}
	if most := 1 << 20; len(resources) > most { // many resources: each gets its share
		if resources, types, err = pageResources(r, max(2, pageLines*most/len(resources)/4)); err != nil {
			return err
		}
	}
	badge, took := `<span class="badge">ok</span>`, ""
	if r.Exit.Code != 0 {
		badge = `<span class="badge failed">` + html.EscapeString(r.Exit.Name) + `</span>`
	}
	if text := view.Seconds(r.Took); text != "" {
		took = ` <span class="dim">in ` + html.EscapeString(text) + `</span>`
	}
	var remarks strings.Builder
	for _, text := range r.sentences() {
		remarks.WriteString("<p>" + html.EscapeString(text) + "</p>")
	}
	var origin [][]string
	for _, p := range r.Origin {
		origin = append(origin, p[:])
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString("yamlhost "+r.Command+" · "+r.name()), "{{command}}", html.EscapeString(r.Command),
		"{{name}}", html.EscapeString(r.name()), "{{badge}}", badge, "{{headline}}", html.EscapeString(r.Headline()),
		"{{took}}", took, "{{remarks}}", remarks.String(), "{{findings}}", pageFindings(r.Findings),
		"{{outputs}}", pageOutputs(r.Outputs), "{{origin}}", pageTable("Origin", "mono dim", origin),
		"{{resources}}", resources, "{{types}}", types,
	).WriteString(w, pageText)
	return err
}

func pageFindings(findings []view.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i == 0 {
			b.WriteString("<h2>Findings</h2>")
		}
		fmt.Fprintf(&b, `<pre class="%s">%s</pre>`, f.Severity, html.EscapeString(textOf(f.Diagnostic, 20)))
	}
	return b.String()
}

func pageOutputs(outputs []view.Output) string {
	rows := make([][]string, len(outputs))
	for i, o := range outputs {
		rows[i] = []string{o.Sign, o.Name, o.Text()}
	}
	return pageTable("Outputs", "mono", rows)
}

// pageTable returns a table of plain texts under a heading; empty if there are no rows.
func pageTable(heading, class string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<h2>" + heading + `</h2><table class="` + class + `">`)
	for _, row := range rows {
		b.WriteString("<tr>")
		for _, cell := range row {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>")
	}
	return b.String() + "</table>"
}

// pageResources returns the resources and their types as JSON, for a script of the page: encoding/json escapes
// everything that could end the script.
func pageResources(r *Record, lines int) (data, types string, err error) {
	index := make(map[urn.URN]int, len(r.Resources))
	for i := range r.Resources {
		index[r.Resources[i].URN] = i
	}
	kinds := map[string]int{}
	names := []string{}
	list := make([]pageResource, len(r.Resources))
	for i := range r.Resources {
		item := &r.Resources[i]
		short := view.ShortType(item.URN.Type())
		if _, known := kinds[short]; !known {
			kinds[short] = len(names)
			names = append(names, short)
		}
		p := pageResource{Name: item.URN.Name(), Type: kinds[short], Sign: strings.TrimSpace(item.Sign), Words: item.Words,
			Depth: item.Depth, Outcome: pageOutcome(item), Took: view.Seconds(item.Took), Heading: item.Component}
		for k, line := range item.Changes {
			if k == lines {
				p.Changes = append(p.Changes, "… and "+diag.Count(len(item.Changes)-k, "line")+" more")
				break
			}
			p.Changes = append(p.Changes, cut(line, pageLine))
		}
		for _, need := range item.Needs {
			if pos, known := index[need]; known {
				p.Needs = append(p.Needs, pos)
			}
		}
		if !item.Place.IsZero() {
			p.Place = item.Place.Source.Name() + ":" + view.Figure(item.Place.StartPosition().Line)
		}
		list[i] = p
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", "", err
	}
	kindText, err := json.Marshal(names)
	return string(text), string(kindText), err
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
