package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashFunctions are the functions of the package bash-completion that cobra's script calls, in a form of our own: with
// them the script needs no other one, and does the same where that package is.
//
//go:embed completion.bash
var bashFunctions string

// writeBashCompletion writes the completion script for bash.
func writeBashCompletion(root *cobra.Command, out io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	// cobra has no hook for these parts, so its text is edited: two stretches, each found by its first words and by
	// those that follow it.
	text, name := script.String(), root.Name()
	for _, part := range []struct{ from, to, with string }{
		{"# Macs have bash3", "# This function calls the", strings.ReplaceAll(bashFunctions, "NAME", name) + "\n"},
		{"    # Call _init_completion from", "    __" + name + "_debug\n", "    __" + name + "_init_completion\n\n"},
	} {
		// A new version of cobra may write another text. Then nobody gets a script that is half replaced.
		begin := strings.Index(text, part.from)
		end := strings.Index(text[max(0, begin):], part.to)
		if begin < 0 || end < 0 {
			return fmt.Errorf("the completion script has no part that begins with %q", part.from)
		}
		text = text[:begin] + part.with + text[begin+end:]
	}
	// Calls end in a blank or a line break, so that names which contain this one stay as they are.
	text = strings.NewReplacer("_filedir ", "__"+name+"_filedir ", "_filedir\n", "__"+name+"_filedir\n").Replace(text)
	_, err := io.WriteString(out, text)
	return err
}

// writeCompletion writes the completion script for a shell, for some with descriptions or without. None has the name of
// another shell, as the variable for the log of cobra's scripts has.
func writeCompletion(root *cobra.Command, shell string, descriptions bool, out io.Writer) error {
	var script bytes.Buffer
	var err error
	switch {
	case shell == "bash":
		return writeBashCompletion(root, out)
	case shell == "zsh" && descriptions:
		err = root.GenZshCompletion(&script)
	case shell == "zsh":
		err = root.GenZshCompletionNoDesc(&script)
	case shell == "fish":
		err = root.GenFishCompletion(&script, descriptions)
	case descriptions:
		err = root.GenPowerShellCompletionWithDesc(&script)
	default:
		err = root.GenPowerShellCompletion(&script)
	}
	if err != nil {
		return err
	}
	// The variable names a log of the user's choice. Under cobra's name it would belong to bash in the scripts of all
	// shells, and two programs would share one log.
	log := strings.ToUpper(strings.ReplaceAll(root.Name(), "-", "_")) + "_COMPLETION_LOG"
	_, err = io.WriteString(out, strings.ReplaceAll(script.String(), "BASH_COMP_DEBUG_FILE", log))
	return err
}

// arrangeCompletion makes the commands below `completion` write these scripts.
func arrangeCompletion(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		sub.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, _ := cmd.Flags().GetBool("no-descriptions") // bash has none
			return writeCompletion(cmd.Root(), sub.Name(), !plain, cmd.OutOrStdout())
		}
		if sub.Name() == "bash" {
			name := cmd.Root().Name()
			sub.Long = fmt.Sprintf("bash writes the completion script for bash. It needs no other package.\n\n"+
				"In this shell: source <(%[1]s completion bash)\n\n"+
				"In every new one: %[1]s completion bash > ~/.local/share/bash-completion/completions/%[1]s\n"+
				"with the package bash-completion, or the first line in ~/.bashrc without it.", name)
		}
	}
}
