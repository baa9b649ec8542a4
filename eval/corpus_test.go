package eval_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestCorpus runs the programs of testdata/*.txtar. The comment of an archive describes it, and may have lines such as
// "preview" or "fail: a, b"; the file config holds lines key=value, or "secret key=value"; out/requests, out/outputs
// and out/diagnostics are the expected results.
func TestCorpus(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *update, runArchive, "testdata/*.txtar")
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func runArchive(t *testing.T, a *txtar.Archive) []txtar.File {
	t.Helper()
	z, o, config := setting(a)
	program, findings := load(t, section(a, "Main.yaml"), config)
	var got []txtar.File
	add := func(name, text string) {
		if text != "" {
			got = append(got, txtar.File{Name: "out/" + name, Data: []byte(text)})
		}
	}
	for _, d := range findings {
		if d.Severity == diag.Error {
			t.Fatalf("the program does not check:\n%s", describe(findings))
		}
	}
	result, findings := eval.Run(context.Background(), program, z.recorder, o)
	add("requests", z.recorder.String())
	add("outputs", outputsText(result.Outputs))
	add("diagnostics", describe(findings))
	if result.Failed+result.Skipped+result.NotStarted > 0 {
		text := fmt.Sprintf("%d failed, %d skipped", result.Failed, result.Skipped)
		if result.NotStarted > 0 {
			text += fmt.Sprintf(", %d not started", result.NotStarted)
		}
		add("counts", text+"\n")
	}
	require.True(t, value.Equal(result.Outputs, z.recorder.Outputs(result.Stack)),
		"the outputs are registered, also after failures")
	return got
}

// setting reads the options in the comment of an archive and its file config.
func setting(a *txtar.Archive) (*zoo, eval.Options, map[string]check.ConfigText) {
	z, o := newZoo(false), options()
	for _, line := range strings.Split(string(a.Comment), "\n") {
		label, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		names := strings.Split(rest, ", ")
		switch label {
		case "preview":
			z.recorder.Deployment.DryRun = true
		case "fail":
			z.fail = names
		case "refuse":
			z.refuse = names
		case "skip":
			z.skip = names
		case "stop":
			z.stop = rest
		case "engine":
			o.EngineVersion = rest
		}
	}
	config := make(map[string]check.ConfigText)
	for _, line := range strings.Split(strings.TrimSpace(section(a, "config")), "\n") {
		text, secret := strings.CutPrefix(line, "secret ")
		if key, v, ok := strings.Cut(text, "="); ok {
			key, structured := strings.CutPrefix(key, "structured ")
			config[key] = check.ConfigText{Text: v, Secret: secret, Structured: structured}
		}
	}
	return z, o, config
}

// outputsText returns outputs as text, with secrets in plain text and the dependencies of each output.
func outputsText(outputs value.Value) string {
	var b strings.Builder
	for i, key := range outputs.Keys() {
		v := outputs.At(i)
		text := v.Bare().String()
		if v.IsSecret() {
			text = "secret(" + text + ")"
		}
		fmt.Fprintf(&b, "%s: %s", key, text)
		for _, u := range v.AllDeps() {
			fmt.Fprintf(&b, " <- %s", u.Name())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
