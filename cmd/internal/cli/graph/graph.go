package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/picture"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/workspace"
)

type graphOptions struct {
	target  string
	format  string
	schemas operation.SchemaFlags

	projects bool
	several  fleet.Selection
}

// NewGraph makes the command graph.
func NewGraph(_ *console.Console, run func(context.Context, *graphOptions) error) *cobra.Command {
	o := &graphOptions{target: "."}
	cmd := &cobra.Command{
		Use:   "graph [DIR or FILE]",
		Short: "Show what depends on what in a program",
		Args:  cobra.MaximumNArgs(1),
		RunE:  console.RunWith(run, o, &o.target),
	}
	cmd.Flags().StringVar(&o.format, "format", "dot",
		"dot, mermaid, json, or svg: a picture, with components as groups around what they are made of")
	o.schemas.Register(cmd)
	cmd.Flags().BoolVar(&o.projects, "projects", false,
		"show what depends on what among the projects below the directory, by the stacks that they read")
	cmd.Flags().StringVarP(&o.several.Stack, "stack", "s", "", "with --projects: the stack of each project")
	return cmd
}

// pictureMemory is how much memory, in bytes, drawing may take before garbage is collected: a program that has been
// checked leaves more of it than the picture needs.
const pictureMemory = 264 << 20

// Graph writes a program's dependency graph.
func Graph(ctx context.Context, a *console.Console, o *graphOptions) error {
	if o.projects {
		return writeProjects(ctx, a, o)
	}
	listed := func(write func(io.Writer, []check.Vertex) error) func(io.Writer, *check.Program) error {
		return func(w io.Writer, p *check.Program) error { return write(w, p.Graph()) }
	}
	write, known := map[string]func(io.Writer, *check.Program) error{"dot": listed(writeDOT),
		"mermaid": listed(writeMermaid), "json": listed(writeGraphJSON), "svg": picture.WriteSVG}[o.format]
	if !known {
		return console.WithCode(console.CodeBadUsage, "--format takes dot, mermaid, json or svg, not %q", o.format)
	}
	if o.format == "svg" {
		memory.Within(pictureMemory)
	}
	ctx, done := a.Signals.Gentle(ctx)
	defer done()
	ws, err := a.OpenTarget(o.target, a.Trusting(console.CompilerSays(a.Streams.Err)))
	if err != nil {
		return err
	}
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	providers.Given = given
	uncompiled := ws.Compile(ctx, workspace.Run{})
	program, diags := operation.CheckWorkspace(ctx, ws, providers, nil)
	diags.Add(uncompiled...)
	if err := a.Report(diags); err != nil {
		return err
	}
	return write(a.Streams.Out, program)
}

func writeGraphJSON(w io.Writer, list []check.Vertex) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(graphDocument{list})
}

func writeDOT(w io.Writer, list []check.Vertex) error {
	shapes := map[string]string{"config": "note", "variable": "ellipse", "resource": "box", "output": "cds"}
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR\n")
	for _, v := range list {
		label := v.Name
		if v.Type != "" {
			label += "\n" + v.Type
		}
		for _, note := range transformNotes(v) {
			label += "\n" + note
		}
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s]\n", strconv.Quote(v.ID), strconv.Quote(label), shapes[v.Kind])
	}
	for _, v := range list {
		for _, need := range v.Needs {
			fmt.Fprintf(&b, "  %s -> %s\n", strconv.Quote(v.ID), strconv.Quote(need))
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// transformNotes names the transforms that can change a resource, with the properties that they set.
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
func writeMermaid(w io.Writer, list []check.Vertex) error {
	brackets := map[string][2]string{"config": {"[/", "/]"}, "variable": {"(", ")"}, "resource": {"[", "]"},
		"output": {"([", "])"}}
	number := make(map[string]int, len(list))
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, v := range list {
		number[v.ID] = i
		label := strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(v.Name)
		if v.Type != "" {
			label += "<br/>" + v.Type
		}
		for _, note := range transformNotes(v) {
			label += "<br/>" + strings.ReplaceAll(note, `"`, "#quot;")
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, brackets[v.Kind][0], label, brackets[v.Kind][1])
	}
	for i, v := range list {
		for _, need := range v.Needs {
			if j, found := number[need]; found {
				fmt.Fprintf(&b, "  n%d --> n%d\n", j, i)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// graphDocument is the graph of a program.
type graphDocument struct {
	Nodes []check.Vertex `json:"nodes"`
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[graphDocument]("graph", "what a program is made of, and what needs what", "`graph --format json`"),
	contract.Of[projectsDocument]("projects", "projects, and what they read of each other",
		"`graph --projects --format json`"),
}
