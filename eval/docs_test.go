package eval_test

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
)

const languagePage = "../docs/language.md"

// block is a fenced block of a page.
type block struct {
	label string // the text behind the fence
	text  string
	line  int // of the fence, counted from 1
	start int // line index of the first line of text
	end   int // line index of the closing fence
}

func blocksOf(lines []string) []block {
	var found []block
	for i := 0; i < len(lines); i++ {
		label, isFence := strings.CutPrefix(lines[i], "```")
		if !isFence {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		found = append(found, block{label: label, text: strings.Join(lines[i+1:end], "\n") + "\n", line: i + 1, start: i + 1,
			end: end})
		i = end
	}
	return found
}

// TestLanguagePage runs every example of docs/language.md. A block "yaml run" is a program that runs without errors,
// "yaml check" one that has errors and does not run, "yaml file NAME" a text that the next one includes. A program is
// followed by the blocks "config" with the stack's settings, "outputs" and "findings" with its results; -update
// rewrites the last two.
func TestLanguagePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(languagePage)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	found := blocksOf(lines)
	files := make(map[string]string)
	programs := 0
	for i := len(found) - 1; i >= 0; i-- { // from the end, so that line numbers stay valid
		b := found[i]
		if !strings.HasPrefix(b.label, "yaml") {
			require.Contains(t, []string{"config", "outputs", "findings"}, b.label, "line %d", b.line)
			continue
		}
		require.Regexp(t, `^yaml (run|check|file .+)$`, b.label, "line %d: an example is run, checked, or a file of one",
			b.line)
		if strings.HasPrefix(b.label, "yaml file ") {
			continue
		}
		programs++
		clear(files)
		for j := i - 1; j >= 0 && strings.HasPrefix(found[j].label, "yaml file "); j-- {
			files[strings.TrimPrefix(found[j].label, "yaml file ")] = found[j].text
		}
		config := ""
		var outputs, findings *block
		for j := i + 1; j < len(found) && !strings.HasPrefix(found[j].label, "yaml"); j++ {
			switch found[j].label {
			case "config":
				config = found[j].text
			case "outputs":
				outputs = &found[j]
			case "findings":
				findings = &found[j]
			}
		}
		gotOutputs, gotFindings := runExample(t, b, config, files)
		if *update {
			for _, part := range []struct {
				at  *block
				got string
			}{{findings, gotFindings}, {outputs, gotOutputs}} {
				if part.at != nil {
					lines = slices.Replace(lines, part.at.start, part.at.end, strings.Split(strings.TrimSuffix(part.got, "\n"),
						"\n")...)
				}
			}
			continue
		}
		compare := func(what string, want *block, got string) {
			if want == nil {
				require.Empty(t, got, "line %d: a block %s is missing", b.line, what)
				return
			}
			require.Equal(t, want.text, got, "line %d: the block %s (run with -update to accept)", want.line, what)
		}
		compare("outputs", outputs, gotOutputs)
		compare("findings", findings, gotFindings)
	}
	require.Greater(t, programs, 20)
	if *update {
		require.NoError(t, os.WriteFile(languagePage, []byte(strings.Join(lines, "\n")), 0o644))
	}
}

func runExample(t *testing.T, b block, config string, files map[string]string) (outputs, findings string) {
	t.Helper()
	settings := make(map[string]check.ConfigText)
	for _, line := range strings.Split(strings.TrimSpace(config), "\n") {
		if key, v, ok := strings.Cut(line, "="); ok {
			settings[key] = check.ConfigText{Text: v}
		}
	}
	result, all := runDocsWith(t, b.text, settings, func(pattern string) ([]*diag.Source, error) {
		var sources []*diag.Source
		for name, text := range files {
			if ok, err := path.Match(pattern, name); err != nil {
				return nil, err
			} else if ok {
				sources = append(sources, diag.NewSource(name, []byte(text)))
			}
		}
		return sources, nil
	})
	var said strings.Builder
	for _, d := range all.Sorted() {
		if d.Severity <= diag.Info {
			pos := d.Subject.StartPosition()
			fmt.Fprintf(&said, "%d:%d %s: %s\n", pos.Line, pos.Column, d.Severity, d.Summary)
		}
	}
	require.Equal(t, b.label == "yaml check", all.HasErrors(), "line %d: %s", b.line, said.String())
	var out strings.Builder
	for i, key := range result.Outputs.Keys() {
		fmt.Fprintf(&out, "%s: %s\n", key, promised(result.Outputs.At(i)))
	}
	return out.String(), said.String()
}
