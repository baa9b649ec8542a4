package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/schema"
)

type functionsOptions struct {
	name string
	json bool
}

func newFunctions(_ *app, run func(context.Context, *functionsOptions) error) *cobra.Command {
	o := &functionsOptions{}
	cmd := &cobra.Command{
		Use:   "functions [NAME]",
		Short: "Show the functions that programs can call",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return functionNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// functionRecord is a function in JSON.
type functionRecord struct {
	Name       string            `json:"name"`
	Aliases    []string          `json:"aliases,omitempty"`
	Summary    string            `json:"summary"`
	Parameters []parameterRecord `json:"parameters"`
	Variadic   bool              `json:"variadic,omitempty"`
	Example    string            `json:"example,omitempty"`
	Portable   bool              `json:"portable"`
	Since      string            `json:"since,omitempty"`
	Rule       string            `json:"rule,omitempty"`
	Warning    string            `json:"warning,omitempty"`
}

type parameterRecord struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Doc      string `json:"doc,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Literal  bool   `json:"literal,omitempty"`
}

func recordOf(f *builtins.Func) functionRecord {
	r := functionRecord{Name: "fn::" + f.Name, Summary: f.Summary, Parameters: []parameterRecord{}, Variadic: f.Variadic,
		Example: f.Example, Portable: f.Portable, Since: f.Since, Rule: f.Rule, Warning: f.Warning}
	for _, alias := range f.Aliases {
		r.Aliases = append(r.Aliases, "fn::"+alias)
	}
	for _, p := range f.Params {
		r.Parameters = append(r.Parameters, parameterRecord{p.Name, schema.TypeName(p.Type), p.Doc, p.Optional, p.Literal})
	}
	return r
}

// functions shows one function, or lists all.
func (a *app) functions(_ context.Context, o *functionsOptions) error {
	if o.name == "" {
		if o.json {
			records := []functionRecord{}
			for _, f := range builtins.Table() {
				records = append(records, recordOf(f))
			}
			return a.writeJSON(records)
		}
		return listFunctions(a.streams.Out)
	}
	name := o.name
	if len(name) > 4 && strings.EqualFold(name[:4], "fn::") {
		name = name[4:]
	}
	f, found := builtins.Lookup(name)
	if !found {
		text := fmt.Sprintf("there is no function %q", o.name)
		if near := diag.Suggest(name, functionNames()); len(near) > 0 {
			text += fmt.Sprintf("; did you mean %s?", near[0])
		}
		return fmt.Errorf("%s", text)
	}
	if o.json {
		return a.writeJSON(recordOf(f))
	}
	return describeFunction(a.streams.Out, f)
}

func functionNames() []string {
	var names []string
	for _, f := range builtins.Table() {
		names = append(append(names, f.Name), f.Aliases...)
	}
	return names
}

func listFunctions(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range builtins.Table() {
		fmt.Fprintf(tw, "%s\t%s\n", f.Name, f.Summary)
	}
	return tw.Flush()
}

func describeFunction(w io.Writer, f *builtins.Func) error {
	var b strings.Builder
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = p.Name
		if p.Optional {
			params[i] += "?"
		}
		if f.Variadic && i == len(f.Params)-1 {
			params[i] += "..."
		}
	}
	fmt.Fprintf(&b, "%s(%s)\n\n%s\n", f.Name, strings.Join(params, ", "), f.Summary)
	if len(f.Params) > 0 {
		b.WriteString("\nParameters\n")
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, p := range f.Params {
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", p.Name, schema.TypeName(p.Type), p.Doc)
		}
		_ = tw.Flush() // a builder does not fail
	}
	if f.Example != "" {
		fmt.Fprintf(&b, "\nExample\n  %s\n", strings.ReplaceAll(strings.TrimRight(f.Example, "\n"), "\n", "\n  "))
	}
	if len(f.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called %s\n", strings.Join(f.Aliases, ", "))
	}
	if f.Warning != "" {
		fmt.Fprintf(&b, "\n%s\n", f.Warning)
	}
	if !f.Portable {
		b.WriteString("\nUnderstood by yamlhost only.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeJSON writes a result for programs.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(v)
}
