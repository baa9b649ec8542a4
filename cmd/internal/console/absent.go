package console

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// absentText lists the commands and flags of the Pulumi CLI that are not here, a line each, with the reason or what to
// use instead behind a colon.
//
//go:embed nothere.txt
var absentText string

// absent returns the notes about the commands and flags that are not here, by the path of the command or by the flag
// with its dashes.
func absent() map[string]string {
	notes := map[string]string{}
	for line := range strings.Lines(absentText) {
		if name, note, _ := strings.Cut(strings.TrimSpace(line), ": "); name != "" && name[0] != '#' {
			notes[name] = note
		}
	}
	return notes
}

// AbsentCommands returns the paths of the commands of the Pulumi CLI that are not here.
func AbsentCommands() []string {
	paths := slices.Sorted(maps.Keys(absent()))
	return slices.DeleteFunc(paths, func(path string) bool { return path[0] == '-' })
}

// absentFlag returns the message about a flag of the Pulumi CLI that cmd does not have; false for another flag, and for
// one that other commands here have if there is nothing to say about it.
func absentFlag(cmd *cobra.Command, name string) (string, bool) {
	notes := absent()
	note, found := notes["--"+name]
	if !found && strings.HasPrefix(name, "remote-") {
		note, found = notes["--remote"]
	}
	if name == "output" && cmd.Flags().Lookup("json") == nil { // what --json does there may have another name
		if note = ""; cmd.Flags().Lookup("format") != nil {
			note = "use --format"
		}
	}
	if !found || !anyHas(cmd.Root(), name) {
		return absentMessage("--"+name, "flag", note), found
	}
	return fmt.Sprintf("%s has no flag --%s: %s", cmd.CommandPath(), name, note), note != ""
}

// anyHas reports whether cmd or a command below it has a flag.
func anyHas(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil ||
		slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return anyHas(c, name) })
}

// absentMessage returns the message for a command or a flag of the Pulumi CLI that yamlhost lacks.
func absentMessage(name, what, note string) string {
	text := fmt.Sprintf("%s is a %s of the Pulumi CLI that yamlhost does not have", name, what)
	if note != "" {
		text += ": " + note
	}
	return text
}

// neighbourCommands lists commands of Terraform, OpenTofu and other tools, each with the command that does the same
// here.
var neighbourCommands = map[string]string{
	"apply": "up", "deploy": "up", "init": "new", "validate": "check", "lint": "check", "diff": "preview",
	"output": "stack output", "outputs": "stack output", "show": "stack", "list": "stack ls", "ls": "stack ls",
	"taint": "state taint", "untaint": "state untaint", "format": "fmt", "state show": "stack export",
	"state list": "stack", "state ls": "stack", "state pull": "stack export",
	"state push": "stack import",
}

// AddAbsentCommands adds hidden commands below root for the commands of the Pulumi CLI that are not here and for those
// of other tools. Whatever follows such a command, --help too, it ends with a message that names the command to use.
func AddAbsentCommands(root *cobra.Command) {
	notes := absent()
	for _, path := range AbsentCommands() {
		addAbsent(root, path, absentMessage(path, "command", notes[path]))
	}
	for path, same := range neighbourCommands {
		addAbsent(root, path, fmt.Sprintf("there is no command %q; `%s %s` does that\nSee %[2]s %[3]s --help.", path,
			root.Name(), same))
	}
}

// addAbsent adds a hidden command that fails with a message, unless there is a command of that name.
func addAbsent(root *cobra.Command, path, message string) {
	words := strings.Fields(path)
	last := len(words) - 1
	parent, rest, err := root.Find(words[:last])
	if last == 0 {
		parent, rest, err = root, nil, nil
	}
	if err != nil || len(rest) > 0 {
		return
	}
	for _, c := range parent.Commands() {
		if c.Name() == words[last] || c.HasAlias(words[last]) {
			return
		}
	}
	parent.AddCommand(&cobra.Command{
		Use: words[last], Hidden: true, DisableFlagParsing: true, Short: message,
		Args: func(*cobra.Command, []string) error { return WithCode(CodeBadUsage, "%s", message) },
		Run:  func(*cobra.Command, []string) {},
	})
}
