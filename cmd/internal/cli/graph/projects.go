package graph

import (
	"context"
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// writeProjects writes the graph of the projects below a folder.
func writeProjects(ctx context.Context, a *console.Console, o *graphOptions) error {
	write, known := map[string]func(io.Writer, *projects.Graph) error{
		"dot":     func(w io.Writer, g *projects.Graph) error { return writeDOT(w, projectVertices(g)) },
		"mermaid": func(w io.Writer, g *projects.Graph) error { return writeMermaid(w, projectVertices(g)) },
		"json":    projectsJSON,
	}[o.format]
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
	place := fmt.Sprintf("%s:%d", e.Place.Source.Name(), e.Place.StartPosition().Line)
	if e.Package != "" {
		return "package " + e.Package + " at " + place
	}
	return place
}

// projectVertices are the nodes of a workspace.
func projectVertices(g *projects.Graph) []vertex {
	nodes := make([]vertex, len(g.Members))
	for i, m := range g.Members {
		nodes[i] = vertex{id: m.Key(), kind: "resource", lines: []string{m.Key(), m.Path}}
	}
	for _, e := range g.Edges {
		nodes[e.From].needs = append(nodes[e.From].needs, need{g.Members[e.To].Key(), reason(e)})
	}
	return nodes
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
				dst := g.Members[e.To]
				p.Needs = append(p.Needs, needJSON{Project: dst.Project.Name.Text, Stack: dst.Stack,
					File: e.Place.Source.Name(), Line: e.Place.StartPosition().Line, Package: e.Package})
			}
		}
		list = append(list, p)
	}
	return jsontext.Write(w, projectsDocument{list}, "  ")
}

// projectsDocument is the graph of projects.
type projectsDocument struct {
	Projects []projectJSON `json:"projects"`
}
