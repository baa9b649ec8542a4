package graph

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/picture"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// graphOptions are the arguments and flags of graph. target is a folder with --projects.
type graphOptions struct {
	target  string
	format  string
	schemas operation.SchemaFlags

	projects bool
	several  fleet.Selection
}

// NewGraph returns the command graph.
func NewGraph(a *console.Console) *cobra.Command {
	o := &graphOptions{target: "."}
	cmd := &cobra.Command{
		Use:   "graph [DIR or FILE]",
		Short: "Show what depends on what in a program",
		Args:  cobra.MaximumNArgs(1),
		RunE:  console.RunWith(a, graph, o, &o.target),
	}
	cmd.Flags().StringVar(&o.format, "format", "dot",
		"dot, mermaid, json, or svg: a picture, with components as groups around what they are made of")
	o.schemas.Register(cmd)
	cmd.Flags().BoolVar(&o.projects, "projects", false,
		"show what depends on what among the projects below the directory, by the stacks that they read")
	cmd.Flags().StringVarP(&o.several.Stack, "stack", "s", "", "with --projects: the stack of each project")
	return cmd
}

// graph writes a program's dependency graph.
func graph(ctx context.Context, a *console.Console, o *graphOptions) error {
	if o.projects {
		return writeProjects(ctx, a, o)
	}
	// The format is looked up before anything is read, so that a wrong flag costs no time.
	write, known := map[string]func(io.Writer, *check.Program) error{
		"dot":     func(w io.Writer, p *check.Program) error { return writeDOT(w, vertices(graphOf(p))) },
		"mermaid": func(w io.Writer, p *check.Program) error { return writeMermaid(w, vertices(graphOf(p))) },
		"json":    func(w io.Writer, p *check.Program) error { return jsontext.Write(w, graphDocument{graphOf(p)}, "  ") },
		"svg":     picture.WriteSVG,
	}[o.format]
	if !known {
		return console.WithCode(console.CodeBadUsage, "--format takes dot, mermaid, json or svg, not %q", o.format)
	}
	// Trusting, unlike check: a graph shows components in other languages, which have to be compiled.
	ws, err := a.OpenTarget(o.target, a.Trusting(console.CompilerSays(a.Streams.Err)))
	if err != nil {
		return err
	}
	// Schemas matter for what a picture shows inside of a box; edges come from names.
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	providers.Given = given
	// Components of a package in another language are compiled, since their bodies are parts of the graph.
	uncompiled := ws.Compile(ctx, workspace.Run{})
	program, diags := operation.CheckWorkspace(ctx, ws, providers, nil)
	diags.Add(uncompiled...)
	diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Code == diag.PackageMissing })
	if err := a.Report(diags); err != nil { // what depends on what needs no schema
		return err
	}
	return write(a.Streams.Out, program)
}

// graphOf returns the graph of a program; for a package of components, which has no program of its own, those of its
// components, each name behind the component's.
func graphOf(p *check.Program) []check.Vertex {
	list := p.Graph()
	if len(list) > 0 {
		return list
	}
	for _, c := range p.Components {
		name := c.Decl.Name.Value
		for _, v := range c.Body.Graph() {
			v.Name, v.ID = name+"."+v.Name, name+"."+v.ID
			// Graph makes the slice for each call, so that it can be changed here.
			for i, id := range v.Needs {
				v.Needs[i] = name + "." + id
			}
			list = append(list, v)
		}
	}
	return list
}

// A vertex is a node of a graph to be written. Programs and projects both become vertices, so that each format is
// written once.
type vertex struct {
	id, kind string
	lines    []string // its label
	needs    []need
}

// A need is an edge to a dependency of a vertex.
type need struct{ id, tooltip string }

// vertices converts the nodes of a program's graph.
func vertices(list []check.Vertex) []vertex {
	var nodes []vertex
	for _, v := range list {
		n := vertex{id: v.ID, kind: v.Kind, lines: []string{v.Name}}
		if v.Type != "" {
			n.lines = append(n.lines, v.Type)
		}
		n.lines = append(n.lines, transformNotes(v)...)
		for _, id := range v.Needs {
			n.needs = append(n.needs, need{id: id})
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// writeDOT writes arrows from dependants to dependencies, as DOT.
func writeDOT(w io.Writer, nodes []vertex) error {
	// By the kinds of check.Vertex.
	shapes := map[string]string{"config": "note", "variable": "ellipse", "resource": "box", "output": "cds"}
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR\n")
	for _, n := range nodes {
		// %q writes the line breaks of a label as \n, which starts a new line in DOT, too.
		fmt.Fprintf(&b, "  %q [label=%q, shape=%s]\n", n.id, strings.Join(n.lines, "\n"), shapes[n.kind])
	}
	for _, n := range nodes {
		for _, e := range n.needs {
			fmt.Fprintf(&b, "  %q -> %q", n.id, e.id)
			// Only edges between projects have one.
			if e.tooltip != "" {
				fmt.Fprintf(&b, " [tooltip=%q]", e.tooltip)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// transformNotes describes the transforms that can change a resource, with the properties that they set.
func transformNotes(v check.Vertex) []string {
	var notes []string
	for _, t := range v.Transforms {
		note := fmt.Sprintf("transform %s:%d", t.File, t.Line)
		if len(t.Properties) > 0 {
			note += " sets " + strings.Join(t.Properties, ", ")
		}
		notes = append(notes, note)
	}
	return notes
}

// writeMermaid writes arrows from dependencies to dependants, in the order of creation.
func writeMermaid(w io.Writer, nodes []vertex) error {
	brackets := map[string][2]string{"config": {"[/", "/]"}, "variable": {"(", ")"}, "resource": {"[", "]"},
		"output": {"([", "])"}}
	number := make(map[string]int, len(nodes))
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	// A label is HTML between quotes. "\x00" separates its lines, since a line break in a name is a blank.
	text := strings.NewReplacer(`"`, "#quot;", "\n", " ", "\x00", "<br/>")
	for i, n := range nodes {
		number[n.id] = i
		// Nodes are numbered, as names of programs may be words of Mermaid.
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, brackets[n.kind][0], text.Replace(strings.Join(n.lines, "\x00")),
			brackets[n.kind][1])
	}
	for i, n := range nodes {
		for _, e := range n.needs {
			// A need may be outside of the list, such as a component's input.
			if j, found := number[e.id]; found {
				fmt.Fprintf(&b, "  n%d --> n%d\n", j, i)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// graphDocument is the JSON form of a program's graph.
type graphDocument struct {
	Nodes []check.Vertex `json:"nodes"`
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[graphDocument]("graph", "what a program is made of, and what needs what", "`graph --format json`"),
	contract.Of[projectsDocument]("projects", "projects, and what they read of each other",
		"`graph --projects --format json`"),
}

// writeProjects writes the graph of the projects below a folder. Pictures are of programs: their boxes are resources
// and components.
func writeProjects(ctx context.Context, a *console.Console, o *graphOptions) error {
	write, known := map[string]func(io.Writer, *projects.Graph) error{
		"dot":     func(w io.Writer, g *projects.Graph) error { return writeDOT(w, projectVertices(g)) },
		"mermaid": func(w io.Writer, g *projects.Graph) error { return writeMermaid(w, projectVertices(g)) },
		"json":    projectsJSON,
	}[o.format]
	if !known {
		return console.WithCode(console.CodeBadUsage, "--format takes dot, mermaid or json for projects, not %q", o.format)
	}
	// All projects below the folder, whatever a selection of `run` would leave out.
	o.several.All, o.several.Dirs = true, []string{o.target}
	g, err := o.several.Open(ctx, a, fleet.Opening{Careful: true, Shown: true})
	if err != nil {
		return err
	}
	return write(a.Streams.Out, g)
}

// reason returns why one project needs another: the position of the reference, and the package if there is one.
func reason(e projects.Edge) string {
	place := fmt.Sprintf("%s:%d", e.Place.Source.Name(), e.Place.StartPosition().Line)
	if e.Package != "" {
		return "package " + e.Package + " at " + place
	}
	return place
}

// projectVertices converts the projects of a workspace.
func projectVertices(g *projects.Graph) []vertex {
	nodes := make([]vertex, len(g.Members))
	for i, m := range g.Members {
		// The shape of resources is a box, which projects have, too.
		nodes[i] = vertex{id: m.Key(), kind: "resource", lines: []string{m.Key(), m.Path}}
	}
	for _, e := range g.Edges {
		nodes[e.From].needs = append(nodes[e.From].needs, need{g.Members[e.To].Key(), reason(e)})
	}
	return nodes
}

// projectJSON is a project in the JSON form of the graph, which lists dependencies before dependants.
type projectJSON struct {
	Project   string            `json:"project"`
	Stack     string            `json:"stack"`
	Path      string            `json:"path"`
	Tags      map[string]string `json:"tags,omitempty"`
	Providers []string          `json:"providers,omitempty"`
	Needs     []needJSON        `json:"needs,omitempty"`
}

// needJSON is a reference to a stack of another project, with its position.
type needJSON struct {
	Project string `json:"project"`
	Stack   string `json:"stack"`
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Package string `json:"package,omitempty"`
}

// projectsJSON writes the JSON form of the graph.
func projectsJSON(w io.Writer, g *projects.Graph) error {
	list := []projectJSON{}
	// The order is one in which the projects could be deployed.
	for _, i := range g.Order() {
		m := g.Members[i]
		p := projectJSON{Project: m.Project.Name.Text, Stack: m.Stack, Path: m.Path, Tags: m.Tags,
			Providers: m.Providers}
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

// projectsDocument is the JSON form of a graph of projects.
type projectsDocument struct {
	Projects []projectJSON `json:"projects"`
}
