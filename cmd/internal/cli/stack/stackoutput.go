package stack

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
)

// newStackOutput returns the command stack output.
func newStackOutput(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output [NAME]", Short: "Show the stack's outputs", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.json && o.shell {
				return console.WithCode(console.CodeBadUsage, "--json and --shell cannot be used together")
			}
			return o.on(a, stackOutput)(cmd, args)
		},
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&o.shell, "shell", false, "write lines that a shell can evaluate")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show secrets in plain text")
	return cmd
}

// outputText returns an output as text: strings unquoted, everything else as JSON (F7.12).
func outputText(v value.Value, showSecrets bool) (string, error) {
	// Without showSecrets it has a placeholder for each secret.
	plain := console.Plain(v, showSecrets)
	// Text without quotes can be used by a shell as it is.
	if text, ok := plain.(string); ok {
		return text, nil
	}
	return jsontext.Compact(plain)
}

// writeOutputs writes a table of outputs, which `stack` shows as well.
func writeOutputs(w io.Writer, outputs value.Value, indent string, showSecrets bool) error {
	if outputs.Len() == 0 {
		_, err := fmt.Fprintln(w, indent+"No output values currently in this stack")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%sOUTPUT\tVALUE\n", indent)
	for i, name := range outputs.Keys() {
		text, err := outputText(outputs.At(i), showSecrets)
		if err != nil {
			return err
		}
		if strings.ContainsAny(text, "\n\t") {
			text = strconv.Quote(text) // each output takes one line
		}
		fmt.Fprintf(tw, "%s%s\t%s\n", indent, name, text)
	}
	return tw.Flush()
}

// stackOutput shows all outputs of the chosen stack or, with an argument, one.
func stackOutput(ctx context.Context, a *console.Console, o *stackOptions, s *console.Stack, args []string) error {
	loaded, err := a.Stacks().Load(ctx, s, o.showSecrets)
	if err != nil {
		return err
	}
	outputs := operation.StackOutputs(loaded.Snapshot)
	// An empty argument, as from an unset variable of a script, means all outputs.
	if len(args) > 0 && args[0] != "" {
		return oneOutput(a, s, outputs, args[0], o)
	}
	switch {
	case o.json:
		// The map as a whole may be secret, which says nothing about each output.
		return a.WriteJSON(console.Plain(outputs.Public(), o.showSecrets))
	case o.shell:
		for i, name := range outputs.Keys() {
			text, err := outputText(outputs.At(i), o.showSecrets)
			if err != nil {
				return err
			}
			if line, ok := console.ShellAssignment(name, text); ok {
				fmt.Fprintln(a.Data(), line)
			} else {
				fmt.Fprintf(a.Streams.Err, "warning: the output %q is left out: no variable of a shell can have its name; "+
					"read it with: yamlhost stack output %s\n", name, console.ShellWord(name))
			}
		}
		return nil
	}
	fmt.Fprintf(a.Streams.Out, "Current stack outputs (%d):\n", outputs.Len())
	return writeOutputs(a.Streams.Out, outputs, "    ", o.showSecrets)
}

// oneOutput prints one output, without quotes if it is a string.
func oneOutput(a *console.Console, s *console.Stack, outputs value.Value, name string, o *stackOptions) error {
	// A single output is for scripts, so that a missing one is an error and not an empty line.
	v, found := outputs.Lookup(name)
	if !found {
		return fmt.Errorf("stack %s has no output %q%s", s.Ref.Stack, name,
			diag.DidYouMean(name, outputs.Keys()))
	}
	if o.json {
		return a.WriteJSON(console.Plain(v, o.showSecrets))
	}
	text, err := outputText(v, o.showSecrets)
	if err != nil {
		return err
	}
	if o.shell {
		line, ok := console.ShellAssignment(name, text)
		if !ok {
			return fmt.Errorf("no variable of a shell can have the name of the output %q: leave --shell out", name)
		}
		text = line
	}
	_, err = fmt.Fprintln(a.Data(), text)
	return err
}
