package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// suggested matches the command that the error of an unknown command names.
var suggested = regexp.MustCompile("(?:did you mean (.*)\\?|; `yamlhost (.*)` does that)")

// unknown returns the suggestion for a word that is no subcommand of cmd; empty without one.
func unknown(t require.TestingT, cmd *cobra.Command, word string) string {
	err := console.UnknownCommand(cmd, []string{word})
	require.Error(t, err, word)
	return suggestion(err.Error())
}

// suggestion returns the command that an error names; empty without one.
func suggestion(text string) string {
	found := suggested.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// A word that is no command is never answered with a command that deletes something, however it is misspelt; and a
// command of another tool is answered with one that is here.
func TestUnknownCommandsSuggestNothingDestructive(t *testing.T) {
	t.Parallel()
	root := newRoot(&console.Console{}, &profile{})
	var groups []*cobra.Command
	var collect func(cmd *cobra.Command)
	collect = func(cmd *cobra.Command) {
		if cmd.HasSubCommands() {
			groups = append(groups, cmd)
		}
		for _, c := range cmd.Commands() {
			collect(c)
		}
	}
	collect(root)
	require.Greater(t, len(groups), 5)
	rapid.Check(t, func(t *rapid.T) {
		cmd := rapid.SampledFrom(groups).Draw(t, "group")
		word := []rune(rapid.SampledFrom([]string{"destroy", "down", "cancel", "rm", "remove", "delete", "logout", "preview", "up",
			"list", "deploy", "apply"}).Draw(t, "word"))
		i := rapid.IntRange(0, len(word)-1).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "mistake") {
		case 0:
			word[i] = 'x'
		case 1:
			word = slices.Delete(word, i, i+1)
		case 2:
			word = slices.Insert(word, i, 'e')
		}
		if found, _, err := cmd.Find([]string{string(word)}); err == nil && found != cmd || len(word) == 0 {
			return
		}
		got := unknown(t, cmd, string(word))
		for _, name := range []string{"destroy", "down", "dn", "cancel", "rm", "remove", "delete", "logout"} {
			require.NotContains(t, strings.Fields(got), name, string(word))
		}
	})
	x := newTerminal(t, onePet)
	for word, want := range map[string]string{"apply": "up", "deploy": "up", "init": "new", "validate": "check",
		"lint": "check", "diff": "preview", "output": "stack output", "outputs": "stack output", "show": "stack",
		"list": "stack ls", "ls": "stack ls", "taint": "state taint", "untaint": "state untaint", "format": "fmt",
		"state show": "stack export", "state list": "stack", "state ls": "stack",
		"state pull": "stack export", "state push": "stack import", "prevew": "preview", "destory": ""} {
		for _, more := range []string{"", " --help", " -auto-approve"} {
			if more != "" && (want == "preview" && word != "diff" || want == "") {
				continue // a misspelt word is not known
			}
			require.Equal(t, console.CodeBadUsage, x.run(strings.Fields(word+more)...), word+more)
			require.Equal(t, want, suggestion(x.err.String()), word+more)
		}
		found, rest, err := root.Find(strings.Fields(want))
		require.NoError(t, err)
		require.Empty(t, rest, want)
		require.True(t, want == "" || found != root)
	}
}

// The name of a command elsewhere leads there, unless that destroys something.
func TestCommandsElsewhere(t *testing.T) {
	t.Parallel()
	root := newRoot(&console.Console{}, &profile{})
	state, _, err := root.Find([]string{"state"})
	require.NoError(t, err)
	for word, want := range map[string]string{"export": "stack export", "protect": "state protect", "rm": "", "remove": "",
		"rename": "stack rename or state rename", "set": "config set or stack tag set", "cancel": "", "logs": "login"} {
		if word != "cancel" { // it is a command here
			require.Equal(t, want, unknown(t, root, word), word)
		}
		require.NotContains(t, unknown(t, state, word), "cancel")
	}
	require.Equal(t, "stack history", unknown(t, state, "history"))
}

// Asking for the help of an unknown command is an error that names it, and prints no other command's help.
func TestHelpOfUnknownCommands(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`q[a-z]{3,8}`).Draw(t, "word")
		line := rapid.SampledFrom([][]string{{word, "--help"}, {word, "-h"}, {"help", word}, {"stack", word, "--help"},
			{"help", "stack", word}, {"--color", "never", word, "-h"}, {"config", "env", word, "--help"}}).Draw(t, "line")
		require.NotZero(t, x.run(line...))
		require.Contains(t, x.err.String(), `there is no command "`)
		require.Contains(t, x.err.String(), word)
		require.Empty(t, x.out.String())
	})
	for _, line := range [][]string{{"stack", "ls", "--help"}, {"help", "config", "env"}, {"plan", "some", "--help"}} {
		require.Zero(t, x.run(line...), x.err.String())
	}
}
