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
	text, name := script.String(), root.Name()
	for _, part := range []struct{ from, to, with string }{
		{"# Macs have bash3", "# This function calls the", strings.ReplaceAll(bashFunctions, "NAME", name) + "\n"},
		{"    # Call _init_completion from", "    __" + name + "_debug\n", "    __" + name + "_init_completion\n\n"},
	} {
		begin := strings.Index(text, part.from)
		end := strings.Index(text[max(0, begin):], part.to)
		if begin < 0 || end < 0 {
			return fmt.Errorf("the completion script has no part that begins with %q", part.from)
		}
		text = text[:begin] + part.with + text[begin+end:]
	}
	text = strings.NewReplacer("_filedir ", "__"+name+"_filedir ", "_filedir\n", "__"+name+"_filedir\n").Replace(text)
	_, err := io.WriteString(out, text)
	return err
}

// arrangeBashCompletion makes the command `completion bash` below cmd write that script.
func arrangeBashCompletion(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Name() == "bash" {
			name := cmd.Root().Name()
			sub.Long = fmt.Sprintf("bash writes the completion script for bash. It needs no other package.\n\n"+
				"In this shell: source <(%[1]s completion bash)\n\n"+
				"In every new one: %[1]s completion bash > ~/.local/share/bash-completion/completions/%[1]s\n"+
				"with the package bash-completion, or the first line in ~/.bashrc without it.", name)
			sub.RunE = func(cmd *cobra.Command, _ []string) error {
				return writeBashCompletion(cmd.Root(), cmd.OutOrStdout())
			}
		}
	}
}
