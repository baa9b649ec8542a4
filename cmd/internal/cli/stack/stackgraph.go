package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// stackGraphOptions are the flags of `stack graph`.
type stackGraphOptions struct {
	ignoreParents, ignoreDependencies, shortNames bool
	dependencyColor, parentColor, fragment        string
}

// newStackGraph returns the command stack graph.
func newStackGraph(a *console.Console, o *stackOptions) *cobra.Command {
	g := &stackGraphOptions{}
	cmd := &cobra.Command{
		Use: "graph [FILE]", Short: "Write the graph of the resources in the state, in DOT", Args: cobra.MaximumNArgs(1),
	}
	cmd.RunE = o.on(a, func(ctx context.Context, a *console.Console, _ *stackOptions, s *console.Stack,
		args []string) error {
		return stackGraph(ctx, a, s, g, args)
	})
	f := cmd.Flags()
	f.BoolVar(&g.ignoreParents, "ignore-parent-edges", false, "leave out parents")
	f.BoolVar(&g.ignoreDependencies, "ignore-dependency-edges", false, "leave out dependencies")
	f.BoolVar(&g.shortNames, "short-node-name", false, "show names instead of URNs")
	f.StringVar(&g.dependencyColor, "dependency-edge-color", "#246C60", "the colour of dependencies")
	f.StringVar(&g.parentColor, "parent-edge-color", "#AA6639", "the colour of parents")
	f.StringVar(&g.fragment, "dot-fragment", "", "text to put in front of all nodes")
	return cmd
}

// stackGraph writes the graph of the state to a file, or to standard output. The state is read first, so that an error
// leaves the file unchanged.
func stackGraph(ctx context.Context, a *console.Console, s *console.Stack, g *stackGraphOptions, args []string) (
	err error) {
	loaded, err := a.Stacks().Load(ctx, s, false)
	if err != nil {
		return err
	}
	out := a.Streams.Out
	if len(args) > 0 {
		// The user named the file, and the Pulumi CLI replaces it, too.
		f, err := os.Create(a.Path(args[0]))
		if err != nil {
			return fmt.Errorf("write the graph: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	return writeStateDOT(out, loaded.Snapshot, g)
}

// writeStateDOT writes the resources of a state as a DOT graph. Edges go from dependencies to dependants.
func writeStateDOT(w io.Writer, s *state.Snapshot, g *stackGraphOptions) error {
	var b strings.Builder
	b.WriteString("strict digraph {\n")
	if g.fragment != "" {
		b.WriteString("    " + g.fragment + "\n")
	}
	// Nodes are numbered, since not every URN is an identifier of DOT. Resources that are pending delete share the URN
	// of their replacement, and are left out.
	number := map[string]int{}
	for i, r := range s.Resources {
		if r.Delete {
			continue
		}
		number[string(r.URN)] = i
		label := string(r.URN)
		if g.shortNames {
			label = r.URN.Name()
		}
		fmt.Fprintf(&b, "    Resource%d [label=%q];\n", i, label)
	}
	for i, r := range s.Resources {
		if r.Delete {
			continue
		}
		// An edge to a resource that is not in the list, such as one that is pending delete, is left out.
		if pos, found := number[string(r.Parent)]; found && !g.ignoreParents {
			fmt.Fprintf(&b, "    Resource%d -> Resource%d [color = %q];\n", pos, i, g.parentColor)
		}
		for _, u := range r.Dependencies {
			if pos, found := number[string(u)]; found && !g.ignoreDependencies {
				fmt.Fprintf(&b, "    Resource%d -> Resource%d [color = %q, label = %q];\n", pos, i, g.dependencyColor,
					strings.Join(r.PropertiesFrom(u), ", "))
			}
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
