package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// groups lists the headings of the help, each with its commands. They are a table here, and not a field of each
// command, so that the order of the help can be read in one place. A test fails for a command that is missing here.
var groups = []struct {
	id, title string
	commands  []string
}{
	{"program", "Write a program:", []string{"new", "convert", "migrate", "check", "fmt", "test", "explain",
		"functions", "schema", "graph"}},
	{"deploy", "Deploy it:", []string{"run", "preview", "plan", "up", "refresh", "drift", "destroy", "import",
		"watch", "worker", "queue"}},
	{"stack", "Stacks, configuration and state:", []string{"stack", "config", "env", "state", "cancel", "login", "logout",
		"org", "whoami", "ui"}},
	{"tools", "Plugins and other tools:", []string{"install", "package", "plugin", "lsp", "mcp", "shim"}},
	{"about", "About this program:", []string{"doctor", "about", "version", "completion", "gen-completion", "help"}},
}

// arrangeHelp assigns groups and examples to the commands of root. columns returns the width to print help in.
func arrangeHelp(root *cobra.Command, columns func() int) {
	// cobra adds these two when it executes, which would be too late to put them into groups.
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.commands {
			// Find returns the root itself for a name that it does not know.
			cmd, _, err := root.Find([]string{name})
			if err != nil || cmd == root {
				continue
			}
			cmd.GroupID = g.id
			// cobra makes this command. Its help and its scripts become ours here.
			if name == "completion" {
				cmd.Short, cmd.Args = "Write a script with which a shell completes commands", console.UnknownCommand
				cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
				arrangeCompletion(cmd)
			}
		}
	}
	byPath := examples()
	visit(root, "", func(cmd *cobra.Command, path string) {
		if list := byPath[path]; len(list) > 0 {
			cmd.Example = exampleText(list)
		}
	})
	// Usage follows an error, help is asked for: the first goes to standard error, and the second to standard output,
	// where it can be piped.
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), usage(cmd, columns()))
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		text, width := cmp.Or(cmd.Long, cmd.Short), columns()
		// The short help, -h, has the first paragraph only, so that a screen holds it. cobra treats both flags as one,
		// and passes what was typed.
		if slices.Contains(args, "-h") && !slices.Contains(args, "--help") {
			text, _, _ = strings.Cut(text, "\n\n")
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", reflowed(text, width), shortUsage(cmd, width))
			return
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", reflowed(strings.TrimSpace(text), width), usage(cmd, width))
	})
}

// helpForUnknown returns the error of an unknown command if the command line asks for its help, which would be that of
// the command above it.
func helpForUnknown(root *cobra.Command, args []string) error {
	// `help NAME` is the other spelling of `NAME --help`, and fails in the same way.
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	// Find stops at the first word that names no command. Such a word is an argument if the command takes some, and a
	// mistake if it has commands below it.
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() || !slices.Contains(rest, "--help") && !slices.Contains(rest, "-h") {
		return nil
	}
	// Flags are parsed first, since the value of a flag is no argument. ErrHelp is the result for a line that asks for
	// help.
	asked := cmd.ParseFlags(rest)
	if named := cmd.Flags().Args(); errors.Is(asked, pflag.ErrHelp) && len(named) > 0 {
		return cmd.ValidateArgs(named)
	}
	return nil
}

// visit calls do for cmd and all commands below it. path is the names that lead from the root to cmd; it is empty for
// the root.
func visit(cmd *cobra.Command, path string, do func(cmd *cobra.Command, path string)) {
	do(cmd, path)
	for _, sub := range cmd.Commands() {
		visit(sub, strings.TrimPrefix(path+" "+sub.Name(), " "), do)
	}
}

// newGenCompletion returns the command that writes completion scripts, under the name that the Pulumi CLI uses. The
// name stays because scripts that install the Pulumi CLI call it.
func newGenCompletion(*console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "gen-completion SHELL", Short: "Write a completion script, as completion does", ValidArgs: []string{"bash",
			"zsh", "fish", "powershell"}, Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0], true, cmd.OutOrStdout())
		},
	}
}

// Help is as wide as the terminal, between these widths; without a terminal it has the least.
const (
	helpWidth = 80
	mostHelp  = 120
)

// helpColumns returns the width of help texts for a terminal of so many columns; 0 without one.
func helpColumns(terminal int) int {
	if terminal == 0 {
		return helpWidth
	}
	return max(40, min(terminal, mostHelp))
}

// reflowed rewraps text to width. Indented and empty lines stay as they are. Texts of commands contain examples, which
// begin with blanks and must keep their lines.
func reflowed(text string, width int) string {
	var lines []string
	open := false // words may be appended to the last line
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") {
			lines, open = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if last := len(lines) - 1; open &&
				utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width {
				lines[last] += " " + word
				continue
			}
			lines, open = append(lines, word), true
		}
	}
	return strings.Join(lines, "\n")
}

// exampleText formats examples for the help: the purpose of each, and the line to type below it.
func exampleText(list []example) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("  # " + e.does + "\n  " + commandLine(e.line))
	}
	return b.String()
}

// commandLine returns the line to type for an example. The program's name is added in front, unless the line begins
// with "$ ", which is then removed. Examples with "$ " are those whose line begins with another program or a variable.
func commandLine(line string) string {
	if whole, found := strings.CutPrefix(line, "$ "); found {
		return whole
	}
	return strings.TrimRight("yamlhost "+line, " ")
}

// Commands returns the tree of all commands, for generating documentation. Its console has no world, so no command of
// the tree may be executed.
func Commands() *cobra.Command { return newRoot(&console.Console{}, &profile{}) }

// usage returns the part of a command's help that follows its description: usage, aliases, examples, commands and
// flags. It does not use cobra's templates because text/template looks up methods by name. That would force the linker
// to keep all methods of all types, about a tenth of the program's size.
func usage(cmd *cobra.Command, width int) string {
	var b strings.Builder
	writeLines(&b, cmd)
	if len(cmd.Aliases) > 0 {
		b.WriteString("\n\nAliases:\n  " + cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd)
	}
	if text := FlagUsages(cmd.LocalFlags(), width); text != "" {
		b.WriteString("\n\n" + text)
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + trimmed(cmd.InheritedFlags(), width))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nUse \"" + cmd.CommandPath() + " [command] --help\" for more information about a command.")
	}
	b.WriteString("\n")
	return b.String()
}

// shortUsage returns the usage for -h: commands, and the flags that are most used.
func shortUsage(cmd *cobra.Command, width int) string {
	var b strings.Builder
	writeLines(&b, cmd)
	if cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd)
	}
	groups := grouped(cmd.LocalFlags())
	more := 0
	// The first group has the flags of every day; the rest is only counted.
	for i, g := range groups {
		if i == 0 {
			b.WriteString("\n\n" + g.title + ":\n" + trimmed(g.flags, width))
			continue
		}
		g.flags.VisitAll(func(*pflag.Flag) { more++ })
	}
	// Global flags are counted as well, since the long help lists them.
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			more++
		}
	})
	var has []string
	if cmd.HasExample() {
		has = append(has, "examples")
	}
	if more > 0 {
		has = append(has, diag.Count(more, "more flag"))
	}
	if len(has) > 0 {
		b.WriteString("\n\n" + reflowed(cmd.CommandPath()+" --help has "+strings.Join(has, " and ")+".", width))
	}
	b.WriteString("\n")
	return b.String()
}

// writeLines writes the lines that show how a command is called.
func writeLines(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
}

// writeCommands lists the subcommands of cmd under the headings of their groups, if they have any.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	list := func(title, group string) {
		b.WriteString("\n\n" + title)
		for _, sub := range cmd.Commands() {
			// cobra counts its own command help as unavailable, although it can be called.
			if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	switch {
	case len(cmd.Groups()) == 0:
		list("Available Commands:", "")
	case !cmd.AllChildCommandsHaveGroup():
		list("Additional Commands:", "")
	}
}

//go:embed examples.txt
var exampleFile string

// An example is a command line, without the program's name, and a description of what it does.
type example struct{ line, does string }

// examples returns the examples of each command, at least two, by the command's path without the program's name. A test
// checks every line against the commands and flags.
func examples() map[string][]example {
	byPath := map[string][]example{}
	path, typed := "", ""
	for line := range strings.Lines(exampleFile) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			path = strings.Trim(line, "[]")
		case line[0] == ' ':
			byPath[path] = append(byPath[path], example{typed, strings.TrimSpace(line)})
		default:
			typed = line
		}
	}
	return byPath
}
