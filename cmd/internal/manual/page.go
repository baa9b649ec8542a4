package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/cli"
	"github.com/yamlhost/yamlhost/cmd/internal/cli/schema"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	packages "github.com/yamlhost/yamlhost/schema"
)

// pageWidth is the width, in columns, that text is wrapped to.
const pageWidth = 110

// writePage writes docs/commands.md: the commands by group, each with its flags and examples. Write errors are ignored,
// because w is a buffer.
func writePage(w io.Writer, root *cobra.Command) {
	fmt.Fprint(w, "# Commands\n\n<!-- Written by `go run ./cmd/internal/manual -page docs/commands.md`; a test holds it "+
		"against the commands. -->\n\nThe text of each command's `--help` and of the man pages, in one place. The exit "+
		"codes\nare in [operations](operations.md), reports and CI in [ci](ci.md).\n\n")
	for _, g := range root.Groups() {
		links := []string{"**" + g.Title + "**"}
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID && cmd.IsAvailableCommand() || g.ID == cmd.GroupID && cmd.Name() == "help" {
				links = append(links, fmt.Sprintf("[%s](#%s)", cmd.Name(), anchor(cmd)))
			}
		}
		fmt.Fprintf(w, "%s\n\n", wrapped(strings.Join(links, " ")))
	}
	fmt.Fprintf(w, "## Flags of every command\n\n```text\n%s```\n", trimmed(root.PersistentFlags().FlagUsagesWrapped(pageWidth)))
	for _, g := range root.Groups() {
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID {
				writeCommand(w, cmd)
			}
		}
	}
}

// anchor returns the anchor of a command's heading, for links.
func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func writeCommand(w io.Writer, cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n%s.\n\n", cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."))
	if cmd.Long != "" && cmd.Name() != "help" && !strings.HasPrefix(cmd.CommandPath(), "yamlhost completion ") {
		fmt.Fprintf(w, "%s\n\n", wrapped(strings.TrimSpace(cmd.Long)))
	}
	fmt.Fprintf(w, "```text\nUsage: %s\n```\n\n", cmd.UseLine())
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(w, "Also called `%s`.\n\n", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	if flags := trimmed(cli.FlagUsages(cmd.NonInheritedFlags(), pageWidth)); strings.Count(flags, "\n") > 2 {
		flags = strings.TrimPrefix(flags, "Flags:\n")
		fmt.Fprintf(w, "\n```text\n%s```\n", flags)
	}
	for _, sub := range cmd.Commands() {
		writeCommand(w, sub)
	}
}

// trimmed returns text without spaces at the ends of its lines.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// wrapped breaks lines longer than pageWidth at spaces.
func wrapped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = diag.Fold(line, pageWidth, 0, 0, nil)
	}
	return strings.Join(lines, "\n")
}

// writeProviders writes docs/providers.md: the inputs and outputs of the built-in providers, according to their
// schemas. Write errors are ignored, because w is a buffer.
func writeProviders(w io.Writer) error {
	fmt.Fprint(w, "# Inputs and outputs of the built-in providers\n\n<!-- Written by `go run ./cmd/internal/manual -providers "+
		"docs/providers.md`; a test holds it against the schemas. -->\n\nThe schemas of the providers that are "+
		"[built in](embedded.md), which also says how they work.\n`yamlhost schema TYPE` shows the same, for plugins too.\n")
	for _, name := range embedded.Names() {
		text, _ := embedded.Schema(name)
		version, _ := embedded.Version(name)
		pkg, err := packages.Parse(text)
		if err != nil {
			return fmt.Errorf("schema of %s: %w", name, err)
		}
		fmt.Fprintf(w, "\n## %s %s\n", name, version)
		tokens := slices.Concat(slices.Sorted(slices.Values(pkg.ResourceTokens())),
			slices.Sorted(slices.Values(pkg.FunctionTokens())))
		for _, token := range tokens {
			if strings.HasPrefix(token, "command:remote:") {
				continue // requires the plugin, see docs/embedded.md
			}
			m, err := schema.Describe(pkg, token)
			if err != nil {
				return fmt.Errorf("%s: %w", token, err)
			}
			writeMember(w, m)
		}
	}
	return nil
}

func writeMember(w io.Writer, m *schema.MemberRecord) {
	name := packages.CollapseToken(m.Token)
	if m.Kind == "function" {
		name += "()"
	}
	fmt.Fprintf(w, "\n### %s\n", name)
	if text := firstSentence(m.Description); text != "" {
		fmt.Fprintf(w, "\n%s\n", wrapped(text))
	}
	type row struct{ name, kind, text, takes, gives string }
	var rows []row
	for _, p := range m.Inputs {
		r := row{p.Name, p.Type, p.Description, "yes", ""}
		if p.Required {
			r.takes = "required"
		}
		rows = append(rows, r)
	}
	for _, p := range m.Outputs {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == p.Name })
		if i < 0 {
			i, rows = len(rows), append(rows, row{p.Name, p.Type, p.Description, "", ""})
		}
		if rows[i].gives = "yes"; p.Secret {
			rows[i].gives = "secret"
		}
	}
	if len(rows) > 0 {
		fmt.Fprint(w, "\n| Property | Type | Takes | Gives | |\n|---|---|---|---|---|\n")
	}
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s` | `%s` | %s | %s | %s |\n", r.name, strings.ReplaceAll(r.kind, "|", `\|`), r.takes, r.gives,
			strings.ReplaceAll(firstSentence(r.text), "|", `\|`))
	}
	if m.Result != "" {
		fmt.Fprintf(w, "\nGives `%s`.\n", m.Result)
	}
}

// firstSentence returns the first sentence of a description on one line. A period within the first 20 bytes does not
// end it.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	for i := 0; i < len(text); {
		pos := strings.Index(text[i:], ". ")
		if pos < 0 {
			break
		}
		if i += pos; i > 20 {
			return text[:i+1]
		}
		i += 2
	}
	return text
}
