package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
)

type graphOptions struct {
	target  string
	format  string
	schemas schemaFlags
}

func newGraph(_ *app, run func(context.Context, *graphOptions) error) *cobra.Command {
	o := &graphOptions{target: "."}
	cmd := &cobra.Command{
		Use:   "graph [DIR or FILE]",
		Short: "Show what depends on what in a program",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "dot", "dot, mermaid, json, or svg: a picture, with components as groups around what they are made of")
	o.schemas.register(cmd)
	return cmd
}

// graph writes a program's dependency graph.
func (a *app) graph(ctx context.Context, o *graphOptions) error {
	listed := func(write func(io.Writer, []vertex) error) func(io.Writer, *check.Program) error {
		return func(w io.Writer, p *check.Program) error { return write(w, vertices(p)) }
	}
	write, known := map[string]func(io.Writer, *check.Program) error{"dot": listed(writeDOT), "mermaid": listed(writeMermaid),
		"json": listed(writeGraphJSON), "svg": writeSVG}[o.format]
	if !known {
		return withCode(codeError, "--format takes dot, mermaid, json or svg, not %q", o.format)
	}
	ctx, done := a.signals.gentle(ctx)
	defer done()
	ws, err := a.openTarget(o.target)
	if err != nil {
		return err
	}
	given, err := a.givenSchemas(o.schemas)
	if err != nil {
		return err
	}
	providers := a.newProviders(ws, nil)
	defer providers.Close()
	providers.given = given
	program, diags := ws.compile(ctx, providers, nil)
	if err := a.report(diags); err != nil {
		return err
	}
	return write(a.streams.Out, program)
}

// vertex is one thing in the graph.
type vertex struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"` // config, variable, resource or output
	Type  string   `json:"type,omitempty"`
	File  string   `json:"file,omitempty"`
	Line  int      `json:"line,omitempty"`
	Needs []string `json:"needs"` // IDs
	ID    string   `json:"id"`    // kind and name
}

// vertices are a program's nodes and outputs in the order of evaluation.
func vertices(p *check.Program) []vertex {
	kinds := [...]string{check.ConfigNode: "config", check.VariableNode: "variable", check.ResourceNode: "resource"}
	id := func(n *check.Node) string { return kinds[n.Kind] + ":" + n.Name }
	needs := func(edges []check.Edge) []string {
		list, seen := []string{}, map[*check.Node]bool{}
		for _, e := range edges {
			if !seen[e.To] {
				seen[e.To] = true
				list = append(list, id(e.To))
			}
		}
		return list
	}
	at := func(r diag.Range) (string, int) {
		if r.IsZero() {
			return "", 0
		}
		return r.Source.Name(), r.StartPosition().Line
	}
	var list []vertex
	for _, n := range p.Nodes {
		v := vertex{Name: n.Name, Kind: kinds[n.Kind], ID: id(n), Needs: needs(n.Needs)}
		v.File, v.Line = at(n.Range)
		if n.Resource != nil {
			v.Type = n.Resource.Token
		}
		list = append(list, v)
	}
	for _, out := range p.Outputs {
		v := vertex{Name: out.Decl.Name.Value, Kind: "output", ID: "output:" + out.Decl.Name.Value, Needs: needs(out.Needs)}
		v.File, v.Line = at(out.Decl.Name.Range)
		list = append(list, v)
	}
	return list
}

func writeGraphJSON(w io.Writer, list []vertex) error {
	if list == nil {
		list = []vertex{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"nodes": list})
}

func writeDOT(w io.Writer, list []vertex) error {
	shapes := map[string]string{"config": "note", "variable": "ellipse", "resource": "box", "output": "cds"}
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR\n")
	for _, v := range list {
		label := v.Name
		if v.Type != "" {
			label += "\n" + v.Type
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

// writeMermaid writes arrows from what is needed to what needs it, as things come to be.
func writeMermaid(w io.Writer, list []vertex) error {
	brackets := map[string][2]string{"config": {"[/", "/]"}, "variable": {"(", ")"}, "resource": {"[", "]"}, "output": {"([", "])"}}
	number := make(map[string]int, len(list))
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, v := range list {
		number[v.ID] = i
		label := strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(v.Name)
		if v.Type != "" {
			label += "<br/>" + v.Type
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
