package pcl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/parser"
)

// Each value of a program in PCL is in the program in YAML, and each comment, wherever it stands.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var comments, leaves []string
		count := 0
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		fresh := func(of *[]string, text string) string {
			count++
			*of = append(*of, fmt.Sprintf("q%dz", count))
			return strings.ReplaceAll(text, "%", (*of)[len(*of)-1])
		}
		above := func(margin string) string {
			return one("above", "", "", "", "\n") + fresh(&comments, one("comment", margin+"# %\n", margin+"// %\n",
				margin+"/* %\n"+margin+" * ${more}\n"+margin+" */\n", "\n"+margin+"# % of $${x}\n\n"))
		}
		behind := func() string {
			if rapid.IntRange(0, 3).Draw(t, "behind") > 0 {
				return "\n"
			}
			return fresh(&comments, one("behind", " # %\n", " // %\n", " /* % */\n"))
		}
		maybe := func(margin string) string {
			if rapid.IntRange(0, 3).Draw(t, "maybe") > 0 {
				return ""
			}
			return above(margin)
		}
		var value func(depth int, margin string) string
		value = func(depth int, margin string) string {
			kind := rapid.IntRange(0, 4).Draw(t, "value")
			switch {
			case kind == 0 && depth > 0:
				return "[" + behind() + maybe(margin) + margin + value(depth-1, margin+"  ") + "," + behind() + maybe(margin) + "]"
			case kind == 1 && depth > 0:
				return "{" + behind() + maybe(margin) + margin + "key = " + value(depth-1, margin+"  ") + behind() + maybe(margin) + "}"
			case kind == 2:
				return fresh(&leaves, `"% # no $${comment}"`)
			case kind == 3:
				return fresh(&leaves, "<<EOT\n% # no\n// comment\nEOT\n")
			}
			return fresh(&leaves, `"%"`)
		}
		field := func(name, value string) string {
			head := maybe("  ")
			if !strings.HasSuffix(value, "EOT\n") {
				value += behind()
			}
			return head + "  " + name + " = " + value
		}
		var b strings.Builder
		if rapid.Bool().Draw(t, "header") {
			b.WriteString(fresh(&comments, "# %\n\n"))
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "blocks") {
			b.WriteString(maybe(""))
			head := func() string { return "{" + behind() }
			switch name := fmt.Sprintf("n%d", i); one("block", "resource", "config", "output", "variable", "package") {
			case "resource":
				b.WriteString("resource " + name + ` "a:index:B" ` + head() + field("one", value(2, "    ")) + maybe("  ") +
					"  options " + "{" + behind() + field("version", value(0, "")) + maybe("    ") + "  }" + behind() +
					field("two", value(2, "    ")) + maybe("  "))
			case "config":
				b.WriteString("config " + name + ` "string" ` + head() + field("default", value(0, "")) + field("description", value(0, "")))
			case "output":
				b.WriteString("output " + name + " " + head() + field("value", value(2, "    ")) + maybe("  "))
			case "variable":
				b.WriteString(strings.TrimLeft(field(name, value(2, "    ")), " "))
				continue
			case "package":
				b.WriteString("package " + name + " " + head() + field("baseProviderName", `"a"`) + maybe("  "))
			}
			b.WriteString("}" + behind())
		}
		b.WriteString(`output "last" {` + "\n" + `  value = "x"` + "\n}\n" + maybe(""))
		program, diags := pcl.Generate(t.Context(), pcl.Sources{"main.pp": []byte(b.String())}, pcl.Options{})
		require.False(t, diags.HasErrors(), "%v\n%s", diags, b.String())
		_, found := parser.Parse(diag.NewSource("Main.yaml", []byte(program.Text)), parser.Options{})
		require.False(t, found.HasErrors(), "%v\n%s", found, program.Text)
		root, err := yamlnode.Parse([]byte(program.Text))
		require.NoError(t, err)
		var scalars func(n *yamlnode.Node) string
		scalars = func(n *yamlnode.Node) string {
			all := n.Value + "\n"
			for _, child := range n.Content {
				all += scalars(child)
			}
			return all
		}
		data := scalars(root)
		for _, leaf := range leaves {
			require.Contains(t, data, leaf, "%s\n---\n%s", b.String(), program.Text)
		}
		for _, comment := range comments {
			require.Regexp(t, "(?m)^ *# "+comment+"( of |$)", program.Text, "%s", b.String())
		}
	})
}
