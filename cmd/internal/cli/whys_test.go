package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// whyProgram is a program with one resource for each kind of cause. Tests edit it by its words.
const whyProgram = `name: why
runtime: yaml
config:
  word: {type: string, default: fallback}
  token: {type: string, secret: true}
variables:
  told: {deep: ["${word} told"]}
transforms:
  - match: {name: changed}
    properties: {title: "set ${word}"}
resources:
  box: {type: drawer:Item, properties: {title: "${told.deep[0]}", kind: small}}
  lid: {type: drawer:Item, properties: {title: "of ${box.tag}", kind: k}}
  with: {type: drawer:Item, properties: {title: with, kind: k}, options: {replaceWith: ["${box}"]}}
  triggered: {type: drawer:Item, properties: {title: t, kind: k}, options: {replacementTrigger: "${word}"}}
  kept: {type: drawer:Item, properties: {title: kept one, kind: k}, options: {ignoreChanges: [title]}}
  changed: {type: drawer:Item, properties: {title: x, kind: k}}
  remedied: {type: drawer:Item, properties: {title: x, kind: k}}
  hidden: {type: drawer:Item, properties: {title: "${token}", kind: k}}
  many:
    type: drawer:Item
    forEach: {a: first, b: second}
    properties: {title: "${each.value}", kind: k}
  some:
    type: drawer:Item
    if: ${word != "none"}
    properties: {title: some, kind: k}
`

const whyPack = `name: pack
version: 1.0.0
runtime: yaml
policies:
  titles:
    description: titles are in order
    enforcement: remediate
    match: {name: remedied}
    remedy: {title: "in order"}
`

// whyWorld returns a stack that whyProgram has made.
func whyWorld(t *testing.T) (*terminal, *drawer.Provider) {
	t.Helper()
	x := newTerminal(t, whyProgram)
	pack := filepath.Join(x.world.Dir, "pack")
	require.NoError(t, os.Mkdir(pack, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(pack, "PulumiPolicy.yaml"), []byte(whyPack), 0o644))
	d := &drawer.Provider{Dir: t.TempDir()}
	x.world.Embedded = []console.EmbeddedProviders{drawers{d}}
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("config", "set", "--secret", "token", "hunter2-before"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	return x, d
}

// whys are edits of whyProgram, and the commands that ask for causes.
var whys = []struct {
	name  string
	edits []string // pairs of words
	set   []string // of config set
	args  []string
}{
	{name: "an output, a list in a variable, configuration", set: []string{"word", "other"}, args: []string{"--why", "lid"}},
	{name: "replaceWith", edits: []string{"small", "large"}, args: []string{"--why", "with"}},
	{name: "a trigger", set: []string{"word", "other"}, args: []string{"--why", "triggered"}},
	{name: "ignoreChanges", edits: []string{"kept one", "kept two"}, args: []string{"--why", "kept"}},
	{name: "a transform", set: []string{"word", "other"}, args: []string{"--why", "changed"}},
	{name: "a remedy", args: []string{"--why", "remedied", "--policy-pack", "pack"}},
	{name: "a secret", set: []string{"--secret", "token", "hunter2-hunter2"}, args: []string{"--why", "hidden"}},
	{name: "an item of forEach", edits: []string{"second", "other"}, args: []string{"--why", "many-b"}},
	{name: "a new item", edits: []string{"b: second", "c: second"}, args: []string{"--why", "many-c"}},
	{name: "an item that is gone", edits: []string{"b: second", "c: second"}, args: []string{"--why", "many-b"}},
	{name: "if", set: []string{"word", "none"}, args: []string{"--why", "some"}},
	{name: "a request", args: []string{"--why", "box", "--replace", "**box"}},
	{name: "unchanged", args: []string{"--why", "box"}},
	{name: "an unknown name", args: []string{"--why", "nothing"}},
	{name: "no target", edits: []string{"small", "large"}, args: []string{"--why", "box", "--target", "**lid"}},
	{name: "another name", edits: []string{"  lid", "  pot"}, args: []string{"--why", "lid"}},
	{name: "another reference", edits: []string{"of ${box.tag}", "of ${with.tag}"}, args: []string{"--why", "lid"}},
	{name: "drift", args: []string{"--why", "box", "--refresh"}},
	{name: "taint", args: []string{"--why", "lid"}},
	{name: "all chains", set: []string{"word", "other"}, args: []string{"--causes", "full"}},
	{name: "in few words", set: []string{"word", "other"}},
	{name: "not said", set: []string{"word", "other"}, args: []string{"--causes", "none"}},
}

// `--why` tells each kind of cause, from its root to the resource, and what keeps a resource as it is. Values of secrets
// are masked.
func TestWhy(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "whys.txtar")
	if os.Getenv("UPDATE_GOLDENS") != "" {
		var made txtar.Archive
		for _, c := range whys {
			made.Files = append(made.Files, txtar.File{Name: c.name, Data: []byte(whyOf(t, c.name, c.edits, c.set, c.args))})
		}
		require.NoError(t, os.WriteFile(path, txtar.Format(&made), 0o644))
	}
	golden, err := txtar.ParseFile(path)
	require.NoError(t, err)
	require.Len(t, golden.Files, len(whys))
	for i, c := range whys {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.name, golden.Files[i].Name)
			require.Equal(t, string(golden.Files[i].Data), whyOf(t, c.name, c.edits, c.set, c.args))
		})
	}
}

// whyOf returns what a preview says about changes and their causes after edits.
func whyOf(t *testing.T, name string, edits, set, args []string) string {
	t.Helper()
	x, d := whyWorld(t)
	program := filepath.Join(x.world.Dir, "Pulumi.yaml")
	require.NoError(t, os.WriteFile(program, []byte(strings.NewReplacer(edits...).Replace(whyProgram)), 0o644))
	if set != nil {
		require.Equal(t, 0, x.run(append([]string{"config", "set"}, set...)...), x.err.String())
	}
	switch name {
	case "drift":
		files, err := filepath.Glob(filepath.Join(d.Dir, "box-*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(files[0], []byte(strings.Replace(string(text), "fallback told", "moved", 1)), 0o600))
	case "taint":
		require.Equal(t, 0, x.run("state", "taint", "urn:pulumi:dev::why::drawer:index:Item::lid", "--yes"), x.err.String())
	}
	require.Equal(t, 0, x.run(append([]string{"preview"}, args...)...), x.err.String())
	require.NotContains(t, x.out.String()+x.err.String(), "hunter2")
	mark := "\nWhy "
	if !strings.Contains(x.out.String(), mark) {
		mark = "\nChanges:\n"
	}
	_, said, _ := strings.Cut(x.out.String(), mark)
	said, _, _ = strings.Cut(said, "\n\nOutputs:")
	said, _, _ = strings.Cut(said, "\n\nResources:")
	return said + "\n"
}

// An unknown word for --causes is an error, before anything else.
func TestCausesFlag(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, whyProgram)
	require.NotEqual(t, 0, x.run("preview", "--causes", "long"))
	require.Contains(t, x.err.String(), `--causes takes none, short or full, not "long"`)
}

// placesOf returns the places and the names of the lines of a chain: all that does not depend on whether values are
// known.
func placesOf(said string) (list []string) {
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "  ") || len(words) == 0 {
			continue
		}
		list = append(list, strings.Join(words[:min(4, len(words))], " "))
	}
	return list
}

// A saved plan keeps the causes that its preview printed, and the record of the operation in the history keeps them with
// the same places. Neither has the text of a secret.
func TestKeptCauses(t *testing.T) {
	t.Parallel()
	for _, c := range whys {
		if len(c.args) < 2 || c.args[0] != "--why" || c.name == "an unknown name" || c.name == "drift" ||
			c.name == "no target" { // it is in no plan
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, _ := whyWorld(t)
			program := filepath.Join(x.world.Dir, "Pulumi.yaml")
			require.NoError(t, os.WriteFile(program, []byte(strings.NewReplacer(c.edits...).Replace(whyProgram)), 0o644))
			if c.set != nil {
				require.Equal(t, 0, x.run(append([]string{"config", "set"}, c.set...)...), x.err.String())
			}
			if c.name == "taint" {
				require.Equal(t, 0, x.run("state", "taint", "urn:pulumi:dev::why::drawer:index:Item::lid", "--yes"), x.err.String())
			}
			require.Equal(t, 0, x.run(append([]string{"preview", "--save-plan", "plan.json"}, c.args...)...), x.err.String())
			_, said, found := strings.Cut(x.out.String(), "\nWhy ")
			require.True(t, found)
			said, _, _ = strings.Cut("Why "+said, "\n\nOutputs:")
			said, _, _ = strings.Cut(said, "\n\nResources:")
			require.Equal(t, 0, x.run("plan", "show", "plan.json", "--why", c.args[1]), x.err.String())
			if strings.Contains(said, ": unchanged") {
				require.Contains(t, x.out.String(), "the plan changes nothing of it")
				return
			}
			if strings.Contains(said, "  new in the program") {
				said = said[:strings.Index(said, "\n")] + "\n  new in the program"
			}
			require.Equal(t, strings.TrimSpace(said), strings.TrimSpace(x.out.String()))
			plan := x.out.String()

			up := append([]string{"up", "--yes", "--skip-preview"}, c.args...)
			require.Equal(t, 0, x.run(up...), x.err.String())
			require.Equal(t, 0, x.run("stack", "history", "--why", c.args[1], "--page-size", "1"), x.err.String())
			require.Equal(t, placesOf(plan), placesOf(x.out.String()), "%s\n%s", plan, x.out.String())
			require.Equal(t, 0, x.run("stack", "history", "--json"), x.err.String())
			require.Contains(t, x.out.String(), `"because"`)
			for name, text := range filesBelow(t, filepath.Dir(x.world.Dir)) {
				if strings.HasSuffix(name, ".history.json") || strings.HasSuffix(name, "plan.json") {
					require.NotContains(t, text, "hunter2-", name)
				}
			}
		})
	}
}

// In a checkout of git, `--why` says which commit has last changed the line at the root of each chain, also of a file
// with other edits. Without --why no git runs.
func TestWhyNamesCommits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this needs git")
	}
	x, _ := whyWorld(t)
	env := []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-02-03T04:05:06Z",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	run := func(args ...string) {
		_, err := git.Run(context.Background(), x.world.Dir, env, args...)
		require.NoError(t, err)
	}
	edit := func(former, now string) {
		file := filepath.Join(x.world.Dir, "Pulumi.yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), former, now, 1)), 0o644))
	}
	run("init", "--quiet")
	run("add", "--all")
	run("commit", "--quiet", "-m", "Begin")
	edit("kind: small", "kind: large")
	run("commit", "--quiet", "-am", "Larger boxes")
	edit("variables:", "# another line\nvariables:")

	x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"))
	require.Equal(t, 0, x.run("preview", "--why", "lid"), x.err.String())
	require.Regexp(t, `Pulumi.yaml:13  box ~ kind: "small" => "large" \(forces replacement\) \(commit [0-9a-f]{10} of `+
		`2026-02-03: Larger boxes\)\n`, x.out.String())
	require.Equal(t, 1, strings.Count(x.out.String(), "(commit "), x.out.String())
	edit("kind: large", "kind: huge")
	require.Equal(t, 0, x.run("preview", "--why", "box"), x.err.String())
	require.Contains(t, x.out.String(), `"huge" (forces replacement) (not committed)`)
	require.Equal(t, 0, x.run("preview", "--causes", "full"), x.err.String())
	require.NotContains(t, x.out.String(), "committed")
}
