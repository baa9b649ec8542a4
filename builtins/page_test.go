package builtins_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

var update = flag.Bool("update", false, "rewrite docs/functions.md")

const pagePath = "../docs/functions.md"

// TestPage fails if docs/functions.md does not match the table; `go generate ./builtins` rewrites it.
func TestPage(t *testing.T) {
	t.Parallel()
	want := page()
	if *update {
		require.NoError(t, os.WriteFile(pagePath, []byte(want), 0o644))
		return
	}
	got := testfile.Text(t, pagePath)
	wanted := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("docs/functions.md:%d is not what the table says: run go generate ./builtins", i+1)
		}
	}
	require.Len(t, got, len(want), "docs/functions.md lacks its end: run go generate ./builtins")
}

func page() string {
	var b strings.Builder
	b.WriteString(`<!-- Written by go generate ./builtins from the table of functions. Do not edit. -->

# Functions

A function is called in YAML, as a map with one key, or inside ` + "`${…}`" + ` like in other languages:

` + "```yaml" + `
variables:
  a:
    fn::join: ["-", [eu, west, 1]]
  b: ${join("-", ["eu", "west", 1])}
` + "```" + `

The YAML form takes a list where a function has several parameters; one that has a single parameter takes it as it is. Names may be
written in any capitalisation; other than the one shown here gives a warning. An unknown argument makes the result unknown, a secret
one makes it secret, and the result depends on whatever the arguments depend on; functions of lists and maps keep unknown items where
they are. *Portable* functions are those that Pulumi YAML has too, and only in the YAML form; everything else is understood by
yamlhost only, which ` + "`yamlhost check --portable`" + ` reports.

Every example is carried out by the tests of yamlhost. They belong to a stack ` + "`dev`" + ` with a resource ` + "`server`" + ` of type
` + "`docs:index:Server`" + ` whose name is ` + "`web`" + ` and whose address is ` + "`10.0.0.7`" + `, and a file ` + "`motd.txt`" + ` with the line ` + "`hello`" + `.
` + "`yamlhost functions NAME`" + ` shows the same on the command line.

`)
	for _, theme := range builtins.Themes() {
		fmt.Fprintf(&b, "**%s:** ", theme.Title)
		for i, f := range theme.Funcs {
			if i > 0 {
				b.WriteString(" · ")
			}
			fmt.Fprintf(&b, "[%s](#%s)", f.Name, strings.ToLower(f.Name))
		}
		b.WriteString("\n\n")
	}
	for _, theme := range builtins.Themes() {
		fmt.Fprintf(&b, "## %s\n\n", theme.Title)
		for _, f := range theme.Funcs {
			entry(&b, f)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func entry(b *strings.Builder, f *builtins.Func) {
	fmt.Fprintf(b, "### %s\n\n", f.Name)
	if f.Shape == builtins.Fields {
		b.WriteString(f.Summary)
	} else {
		fmt.Fprintf(b, "`%s`\n\n%s", f.Signature(), f.Summary)
	}
	if f.Portable {
		b.WriteString(" *Portable.*")
	}
	if len(f.Aliases) > 0 {
		fmt.Fprintf(b, " Also called `%s`.", strings.Join(f.Aliases, "`, `"))
	}
	b.WriteString("\n\n")
	if f.Warning != "" {
		fmt.Fprintf(b, "Deprecated: %s.\n\n", f.Warning)
	}
	for i, p := range f.Params {
		fmt.Fprintf(b, "- `%s`", f.ParamName(i))
		if f.Shape == builtins.Fields {
			fmt.Fprintf(b, " (%s)", schema.TypeName(p.Type))
		}
		fmt.Fprintf(b, ": %s", p.Doc)
		if p.Literal {
			b.WriteString("; written as it is, without interpolation")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n```yaml\n%s\n", f.Example)
	if f.Call != "" {
		fmt.Fprintf(b, "${%s}\n", f.Call)
	}
	fmt.Fprintf(b, "```\n\ngives `%s`\n\n", f.Gives)
}
