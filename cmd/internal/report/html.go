package report

import (
	_ "embed" // the page
	"encoding/json"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/view"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/value/urn"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// The data of the page. Resources are numbered in the order of the tree, so that edges of the graph and parents are
// short.
type (
	pageData struct {
		Title, Command, Name, Headline, Exit, Took string
		Failed                                     bool
		Remarks                                    []string
		Findings                                   []pageFinding
		Outputs                                    []view.Output
		Origin                                     [][2]string
		Data                                       template.JS // pageResource as JSON
		Types                                      template.JS // of resources
	}
	pageFinding struct {
		Severity, Code, Text string
		Resource             string
	}
	// pageResource has one-letter members because there may be thousands.
	pageResource struct {
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
)

// Bounds of the page: a resource's changes in lines and characters.
const (
	pageLines = 60
	pageLine  = 240
)

// WriteHTML writes one page that needs nothing else: a tree with filters, findings, outputs and a graph. It loads
// nothing from the network, and works from a file.
func WriteHTML(w io.Writer, r *Record) error {
	d := pageData{
		Title: "yamlhost " + r.Command + " · " + r.name(), Command: r.Command, Name: r.name(), Headline: r.headline(),
		Failed: r.Exit.Code != 0,
		Took:   view.Seconds(r.Took), Remarks: r.Remarks, Outputs: r.Outputs, Origin: r.Origin.Properties(),
	}
	if r.Exit.Code != 0 {
		d.Exit = r.Exit.Name
	}
	for _, f := range r.Findings {
		var b strings.Builder
		_ = diag.WriteText(&b, diag.Diagnostics{f.Diagnostic}, diag.TextOptions{Hints: 20})
		d.Findings = append(d.Findings, pageFinding{Severity: f.Severity.String(), Code: string(f.Code), Text: b.String(),
			Resource: f.URN.Name()})
	}
	var err error
	if d.Data, d.Types, err = pageResources(r, pageLines); err != nil {
		return err
	}
	if most := 1 << 20; len(d.Data) > most { // many resources: each gets its share
		if d.Data, d.Types, err = pageResources(r, max(2, pageLines*most/len(d.Data)/4)); err != nil {
			return err
		}
	}
	return page().Execute(w, d)
}

// pageResources are the resources and their types as JSON, which template puts into a script as it is: encoding/json
// escapes what could end one.
func pageResources(r *Record, lines int) (data, types template.JS, err error) {
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
			if at, known := index[need]; known {
				p.Needs = append(p.Needs, at)
			}
		}
		if !item.Place.IsZero() {
			p.Place = placeText(item.Place)
		}
		list[i] = p
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", "", err
	}
	kindText, err := json.Marshal(names)
	return template.JS(text), template.JS(kindText), err
}

func placeText(at diag.Range) string {
	start := at.StartPosition()
	return at.Source.Name() + ":" + view.Figure(start.Line)
}

// pageOutcome is the filter that a resource belongs to.
func pageOutcome(item *view.Resource) string {
	switch item.Outcome {
	case view.Failed, view.Interrupted:
		return "failed"
	case view.Skipped:
		return "skipped"
	}
	switch op := string(item.Op); op {
	case "create", "update", "replace", "delete", "import", "read", "same":
		return op
	case "gone":
		return "delete"
	case "refresh":
		return "update"
	}
	return "other"
}
