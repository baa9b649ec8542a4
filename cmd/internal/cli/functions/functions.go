package functions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// functionsOptions are the arguments and flags of functions.
type functionsOptions struct {
	name string
	json bool
}

// NewFunctions returns the command functions.
func NewFunctions(a *console.Console) *cobra.Command {
	o := &functionsOptions{}
	cmd := &cobra.Command{
		Use:   "functions [NAME]",
		Short: "Show the functions that programs can call",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return builtins.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: console.RunWith(a, show, o, &o.name),
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// functionRecord is the JSON form of a function. It is a type of its own, and not builtins.Func, since its JSON form is
// a promise.
type functionRecord struct {
	Name       string            `json:"name"`
	Aliases    []string          `json:"aliases,omitempty"`
	Theme      string            `json:"theme"`
	Signature  string            `json:"signature"`
	Summary    string            `json:"summary"`
	Parameters []parameterRecord `json:"parameters"`
	Variadic   bool              `json:"variadic,omitempty"` // the last parameter takes any number of arguments
	Result     string            `json:"result"`
	Example    string            `json:"example"`
	Call       string            `json:"call,omitempty"` // the example as an expression, without ${ and }
	Gives      string            `json:"gives"`
	Portable   bool              `json:"portable"`
	Since      string            `json:"since,omitempty"`
	Rule       string            `json:"rule,omitempty"`
	Warning    string            `json:"warning,omitempty"`
}

// parameterRecord is a parameter in the JSON form of a function.
type parameterRecord struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Doc      string `json:"doc,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Literal  bool   `json:"literal,omitempty"`
}

// recordOf converts a function to its JSON form.
func recordOf(theme string, f *builtins.Func) functionRecord {
	r := functionRecord{Name: "fn::" + f.Name, Theme: theme, Signature: f.Signature(), Summary: f.Summary,
		// A list, and not null, also for a function without parameters.
		Parameters: []parameterRecord{}, Variadic: f.Variadic, Result: schema.TypeName(f.ResultType()),
		Example: f.Example, Call: f.Call, Gives: f.Gives, Portable: f.Portable, Since: f.Since, Rule: f.Rule,
		Warning: f.Warning}
	for _, alias := range f.Aliases {
		r.Aliases = append(r.Aliases, "fn::"+alias)
	}
	for _, p := range f.Params {
		r.Parameters = append(r.Parameters, parameterRecord{p.Name, schema.TypeName(p.Type), p.Doc, p.Optional,
			p.Literal})
	}
	return r
}

// show shows one function, or lists all.
func show(_ context.Context, a *console.Console, o *functionsOptions) error {
	if o.name == "" {
		records := []functionRecord{}
		for _, theme := range builtins.Themes() {
			for _, f := range theme.Funcs {
				records = append(records, recordOf(theme.Title, f))
			}
		}
		return a.Show(o.json, records, list)
	}
	name := o.name
	// Programs write the prefix, and the letters of it in any case.
	if len(name) > 4 && strings.EqualFold(name[:4], "fn::") {
		// Lookup takes the name alone, in any case.
		name = name[4:]
	}
	f, found := builtins.Lookup(name)
	if !found {
		return fmt.Errorf("there is no function %q%s", o.name, diag.DidYouMean(name, builtins.Names()))
	}
	if o.json {
		return a.WriteJSON(recordOf(themeOf(f), f))
	}
	return describeFunction(a.Streams.Out, f)
}

// themeOf returns the title of the theme that a function belongs to.
func themeOf(f *builtins.Func) string {
	for _, theme := range builtins.Themes() {
		if slices.Contains(theme.Funcs, f) {
			return theme.Title
		}
	}
	return ""
}

// list writes a table of all functions by theme. A star marks those that Pulumi YAML has as well.
func list(table io.Writer) {
	for i, theme := range builtins.Themes() {
		if i > 0 {
			fmt.Fprintln(table)
		}
		fmt.Fprintf(table, "%s\n", theme.Title)
		for _, f := range theme.Funcs {
			star := ""
			if f.Portable {
				star = "*"
			}
			fmt.Fprintf(table, "  %s%s\t%s\n", f.Name, star, f.Summary)
		}
	}
	fmt.Fprintf(table, "\n* understood by Pulumi YAML too, as fn::NAME. Show one with: yamlhost functions NAME\n")
}

// describeFunction writes the description of a function. If its arguments are named fields, its name stands in place of
// the signature.
func describeFunction(w io.Writer, f *builtins.Func) error {
	var b strings.Builder
	// Its arguments are keys of a map, of which a signature would show the order only.
	if f.Shape == builtins.Fields {
		fmt.Fprintf(&b, "fn::%s\n\n%s\n", f.Name, f.Summary)
	} else {
		fmt.Fprintf(&b, "%s\n\n%s\n", f.Signature(), f.Summary)
	}
	b.WriteString("\nParameters\n")
	// The columns are those of this table alone.
	_ = console.Table(&b, func(table io.Writer) { // writing to a strings.Builder cannot fail
		for i, p := range f.Params {
			fmt.Fprintf(table, "  %s\t%s\n", f.ParamName(i), p.Doc)
		}
	})
	fmt.Fprintf(&b, "\nExample\n  %s\n", strings.ReplaceAll(strings.TrimRight(f.Example, "\n"), "\n", "\n  "))
	if f.Call != "" {
		fmt.Fprintf(&b, "  ${%s}\n", f.Call)
	}
	fmt.Fprintf(&b, "gives\n  %s\n", f.Gives)
	if len(f.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called %s.\n", strings.Join(f.Aliases, ", "))
	}
	if f.Warning != "" {
		fmt.Fprintf(&b, "\n%s.\n", f.Warning)
	}
	if !f.Portable {
		b.WriteString("\nUnderstood by yamlhost only.\n")
	} else if f.Call != "" {
		b.WriteString("\nPulumi YAML understands the form in YAML, not the one inside ${…}.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[functionRecord]("function", "a function of the language", "`functions NAME --json`"),
	contract.Of[[]functionRecord]("functions", "all functions", "`functions --json`"),
}
