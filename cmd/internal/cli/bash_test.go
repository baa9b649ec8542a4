package cli

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// bash runs a script in bash without its start files and without the package bash-completion, behind the completion
// script of the program.
func bash(t require.TestingT, path, script string) string {
	var completion, out, faults bytes.Buffer
	require.NoError(t, writeBashCompletion(newRoot(&console.Console{}, &profile{}), &completion))
	cmd := exec.Command(path, "--norc", "--noprofile", "-s")
	cmd.Stdin = strings.NewReader(completion.String() + script)
	cmd.Stdout, cmd.Stderr = &out, &faults
	require.NoError(t, cmd.Run(), faults.String())
	require.Empty(t, faults.String(), script)
	return out.String()
}

// bashPath returns the path of bash; without one the test is skipped.
func bashPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	return path
}

// splitWord matches the parts into which bash splits a word.
var splitWord = regexp.MustCompile(`[=:]+|[^=: ]+`)

// compLine returns assignments of the variables that bash sets for a completion at the end of a line, before which the
// cursor may stand: after is the rest of its line.
func compLine(line, after string) string {
	var words []string
	for _, word := range strings.Fields(line) {
		words = append(words, splitWord.FindAllString(word, -1)...)
	}
	if strings.HasSuffix(line, " ") {
		words = append(words, "''")
	}
	at := len(words) - 1
	if after != "" { // the rest belongs to the same word
		words[at] = strings.Trim(words[at], "'") + after
	}
	return fmt.Sprintf("COMP_LINE='%s' COMP_POINT=%d COMP_TYPE=9 COMP_CWORD=%d COMP_WORDS=(%s)\n", line+after, len(line), at,
		strings.Join(words, " "))
}

// The script gives the program the words up to the cursor as they are on the line: with = and : inside, which separate
// words for bash, and without what follows the cursor. It needs no other script.
func TestBashCompletesWords(t *testing.T) {
	t.Parallel()
	path := bashPath(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z/.-]{0,3}([=:]{0,2}[a-z0-9]{1,3}){0,3}[=:]?`)
		var line strings.Builder
		line.WriteString("yamlhost")
		want := []string{"__complete"}
		for _, w := range rapid.SliceOfN(word, 1, 5).Draw(t, "words") {
			if w == "" {
				continue
			}
			line.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t "}).Draw(t, "space") + w)
			want = append(want, w)
		}
		after := ""
		if rapid.Bool().Draw(t, "new") || len(want) == 1 {
			line.WriteString(" ")
			want = append(want, "")
		} else {
			after = rapid.StringMatching(`[a-z]{0,2}`).Draw(t, "after")
			if strings.ContainsAny(want[len(want)-1][len(want[len(want)-1])-1:], "=:") {
				after = "" // bash would begin another word
			}
		}
		got := bash(t, path, "yamlhost() { printf '<%s>' \"$@\" >&3; echo :0; }\n"+compLine(line.String(), after)+
			"__start_yamlhost 3>&1\n")
		require.Equal(t, "<"+strings.Join(want, "><")+">", got, line.String())
	})
}

// Types, URNs and assignments are completed behind the last = or :, since bash replaces only that part.
func TestBashReplacesTheLastPart(t *testing.T) {
	t.Parallel()
	path := bashPath(t)
	for _, c := range []struct{ line, offered, want string }{
		{"yamlhost schema random:RandomP", `random:RandomPet\nrandom:RandomPassword\n:0`, "RandomPet RandomPassword"},
		{"yamlhost schema random:", `random:RandomPet\n:0`, "RandomPet"},
		{"yamlhost convert --from=ku", `kubernetes\n:0`, "kubernetes"},
		{"yamlhost up --target urn:pulumi:dev::sh", `urn:pulumi:dev::shop::a:B::c\n:0`, "shop::a:B::c"},
		{"yamlhost st", `stack\tShow and manage stacks\n:0`, "stack"},
	} {
		got := bash(t, path, "yamlhost() { printf '"+c.offered+"\\n'; }\n"+compLine(c.line, "")+
			"__start_yamlhost; echo ${COMPREPLY[*]}\n")
		require.Equal(t, c.want, strings.TrimSpace(got), c.line)
	}
}

// The scripts for other shells read no variable of bash, and both commands write the same.
func TestCompletionOfOtherShells(t *testing.T) {
	t.Parallel()
	written := func(args ...string) string {
		var out bytes.Buffer
		root := newRoot(&console.Console{Streams: console.Streams{Out: &out}}, &profile{})
		root.SetArgs(args)
		root.SetOut(&out)
		require.NoError(t, root.Execute())
		return out.String()
	}
	for _, shell := range []string{"zsh", "fish", "powershell"} {
		text := written("completion", shell)
		require.Equal(t, text, written("gen-completion", shell))
		require.NotEqual(t, text, written("completion", shell, "--no-descriptions"))
		require.Contains(t, text, "YAMLHOST_COMPLETION_LOG")
		for line := range strings.Lines(text) {
			if code, _, _ := strings.Cut(line, "#"); shell == "powershell" {
				require.NotRegexp(t, "(?i)bash", code)
			}
		}
		require.NotContains(t, text, "BASH_COMP")
	}
}
