package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// writeProjects writes the graph of the projects below a folder.
func writeProjects(ctx context.Context, a *console.Console, o *graphOptions) error {
	write, known := map[string]func(io.Writer, *projects.Graph) error{"dot": projectsDOT, "mermaid": projectsMermaid,
		"json": projectsJSON}[o.format]
	if !known {
		return console.WithCode(console.CodeBadUsage, "--format takes dot, mermaid or json for projects, not %q", o.format)
	}
	o.several.All, o.several.Dirs = true, []string{o.target}
	g, err := o.several.Open(ctx, a, fleet.Opening{Careful: true, Shown: true})
	if err != nil {
		return err
	}
	return write(a.Streams.Out, g)
}

// reason is why one project needs another.
func reason(e projects.Edge) string {
	at := fmt.Sprintf("%s:%d", e.Place.Source.Name(), e.Place.StartPosition().Line)
	if e.Package != "" {
		return "package " + e.Package + " at " + at
	}
	return at
}

func projectsDOT(w io.Writer, g *projects.Graph) error {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR\n")
	for _, m := range g.Members {
		fmt.Fprintf(&b, "  %s [label=%s, shape=box]\n", strconv.Quote(m.Key()), strconv.Quote(m.Key()+"\n"+m.Path))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s [tooltip=%s]\n", strconv.Quote(g.Members[e.From].Key()),
			strconv.Quote(g.Members[e.To].Key()), strconv.Quote(reason(e)))
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// projectsMermaid writes arrows from dependencies to dependants, in the order in which stacks are updated.
func projectsMermaid(w io.Writer, g *projects.Graph) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, m := range g.Members {
		fmt.Fprintf(&b, "  n%d[\"%s<br/>%s\"]\n", i, m.Key(), strings.ReplaceAll(m.Path, `"`, "#quot;"))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d --> n%d\n", e.To, e.From)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// projectJSON is a project in the graph's document, which has them in an order in which they can be run.
type projectJSON struct {
	Project   string            `json:"project"`
	Stack     string            `json:"stack"`
	Path      string            `json:"path"`
	Tags      map[string]string `json:"tags,omitempty"`
	Providers []string          `json:"providers,omitempty"`
	Needs     []needJSON        `json:"needs,omitempty"`
}

type needJSON struct {
	Project string `json:"project"`
	Stack   string `json:"stack"`
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Package string `json:"package,omitempty"`
}

func projectsJSON(w io.Writer, g *projects.Graph) error {
	list := []projectJSON{}
	for _, i := range g.Order() {
		m := g.Members[i]
		p := projectJSON{Project: m.Project.Name.Text, Stack: m.Stack, Path: m.Path, Tags: m.Tags, Providers: m.Providers}
		for _, e := range g.Edges {
			if e.From == i {
				to := g.Members[e.To]
				p.Needs = append(p.Needs, needJSON{Project: to.Project.Name.Text, Stack: to.Stack,
					File: e.Place.Source.Name(), Line: e.Place.StartPosition().Line, Package: e.Package})
			}
		}
		list = append(list, p)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(projectsDocument{list})
}

// projectsDocument is the graph of projects.
type projectsDocument struct {
	Projects []projectJSON `json:"projects"`
}
