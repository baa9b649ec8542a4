package stack

import (
	"context"
	"errors"
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

func newStackOutput(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output [NAME]", Short: "Show the stack's outputs", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.property = args[0]
			}
			return stackOutput(cmd.Context(), a, o)
		},
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&o.shell, "shell", false, "write lines that a shell can evaluate")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show secrets in plain text")
	return cmd
}

// plainOf returns a value as plain data for JSON; it hides secrets unless showSecrets is set.
func plainOf(v value.Value, showSecrets bool) any {
	if v.IsSecret() && !showSecrets {
		return console.HiddenSecret
	}
	if !v.IsKnown() {
		return nil
	}
	if items, ok := v.AsList(); ok {
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = plainOf(item, showSecrets)
		}
		return list
	}
	if v.Kind() == value.KindMap {
		m := map[string]any{}
		for i, k := range v.Keys() {
			m[k] = plainOf(v.At(i), showSecrets)
		}
		return m
	}
	if b, ok := v.AsBool(); ok {
		return b
	}
	if n, ok := v.AsNumber(); ok {
		return n
	}
	if s, ok := v.AsString(); ok {
		return s
	}
	if r, ok := v.AsResource(); ok {
		return plainReference(r)
	}
	if asset, ok := v.AsAsset(); ok {
		return map[string]any{"asset": asset.Text + asset.Path + asset.URI, "hash": asset.Hash}
	}
	if archive, ok := v.AsArchive(); ok {
		return map[string]any{"archive": archive.Path + archive.URI, "hash": archive.Hash}
	}
	return nil
}

// plainReference returns the URN and the ID of a resource that an output refers to (F1.7): a component has no ID, and
// one that is not known yet is empty. Unlike the Pulumi CLI's, it lacks the key that marks references in states.
func plainReference(r *value.ResourceRef) map[string]any {
	m := map[string]any{"urn": string(r.URN)}
	if r.PackageVersion != "" {
		m["packageVersion"] = r.PackageVersion
	}
	if !r.ID.IsNull() {
		id, _ := r.ID.AsString()
		m["id"] = id
	}
	return m
}

// outputText is an output as people see it: text raw, everything else as JSON (F7.12).
func outputText(v value.Value, showSecrets bool) (string, error) {
	plain := plainOf(v, showSecrets)
	if text, ok := plain.(string); ok {
		return text, nil
	}
	return jsontext.Compact(plain)
}

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
			text = strconv.Quote(text) // one line each
		}
		fmt.Fprintf(tw, "%s%s\t%s\n", indent, name, text)
	}
	return tw.Flush()
}

func stackOutput(ctx context.Context, a *console.Console, o *stackOptions) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	if o.json && o.shell {
		return errors.New("--json and --shell cannot be used together")
	}
	loaded, err := a.Stacks().Load(ctx, s, o.showSecrets)
	if err != nil {
		return err
	}
	outputs := operation.StackOutputs(loaded.Snapshot)
	if o.property != "" {
		return oneOutput(a, s, outputs, o)
	}
	switch {
	case o.json:
		return a.WriteJSON(plainOf(outputs.Public(), o.showSecrets))
	case o.shell:
		for i, name := range outputs.Keys() {
			text, err := outputText(outputs.At(i), o.showSecrets)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Data(), "%s='%s'\n", name, strings.ReplaceAll(text, "'", `'\''`))
		}
		return nil
	}
	fmt.Fprintf(a.Streams.Out, "Current stack outputs (%d):\n", outputs.Len())
	return writeOutputs(a.Streams.Out, outputs, "    ", o.showSecrets)
}

func oneOutput(a *console.Console, s *console.Stack, outputs value.Value, o *stackOptions) error {
	v, found := outputs.Lookup(o.property)
	if !found {
		return fmt.Errorf("stack %s has no output %q%s", s.Ref.Stack, o.property,
			diag.DidYouMean(o.property, outputs.Keys()))
	}
	if o.json {
		return a.WriteJSON(plainOf(v, o.showSecrets))
	}
	text, err := outputText(v, o.showSecrets)
	if err != nil {
		return err
	}
	if o.shell {
		text = fmt.Sprintf("%s='%s'", o.property, strings.ReplaceAll(text, "'", `'\''`))
	}
	_, err = fmt.Fprintln(a.Data(), text)
	return err
}
