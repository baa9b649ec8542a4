package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// pageWidth is how many columns flags take.
const pageWidth = 110

// writePage writes docs/commands.md: the commands by group, each with its flags and examples. Errors of w are the
// caller's to see: it is a buffer.
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

// anchor is the link to a command's heading.
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
	if flags := trimmed(cmd.NonInheritedFlags().FlagUsagesWrapped(pageWidth)); strings.Count(flags, "\n") > 1 {
		fmt.Fprintf(w, "\n```text\n%s```\n", flags)
	}
	for _, sub := range cmd.Commands() {
		writeCommand(w, sub)
	}
}

// trimmed is a text without spaces at the ends of its lines.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// wrapped breaks lines that are too long at spaces.
func wrapped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		column := 0
		for i, word := range strings.Split(strings.TrimSuffix(line, "\n"), " ") {
			switch {
			case i > 0 && column+1+len(word) > pageWidth:
				b.WriteByte('\n')
				column = 0
			case i > 0:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
