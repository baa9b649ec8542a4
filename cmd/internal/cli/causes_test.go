package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// madeProgram is a generated program. Each literal is a token of its own, such as lit7, and no line has those of two
// declarations, so that an edit is a line.
type madeProgram struct {
	lines    []string
	literals int
	names    []string // what a later expression may refer to
	config   []string // the keys
	set      map[string]string
}

func (p *madeProgram) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *madeProgram) literal() string {
	p.literals++
	return fmt.Sprintf("lit%dx", p.literals)
}

// expr returns an expression for one line of YAML, in quotes.
func (p *madeProgram) expr(t *rapid.T) string {
	kinds := 6
	if len(p.names) == 0 {
		kinds = 0
	}
	ref := func() string { return rapid.SampledFrom(p.names).Draw(t, "name") }
	switch rapid.IntRange(0, kinds).Draw(t, "expression") {
	case 1:
		return fmt.Sprintf(`"${%s}"`, ref())
	case 2:
		return fmt.Sprintf(`"%s-${%s}"`, p.literal(), ref())
	case 3:
		return fmt.Sprintf(`"${%s}.${%s}"`, ref(), ref())
	case 4:
		return fmt.Sprintf(`{"fn::join": ["-", ["${%s}", %s]]}`, ref(), p.literal())
	case 5:
		return fmt.Sprintf(`"${%s == \"lit1x\" ? \"%s\" : %s}"`, ref(), p.literal(), ref())
	case 6:
		return fmt.Sprintf(`"${%s}-%s-${%s}-%s"`, ref(), p.literal(), ref(), p.literal())
	}
	return `"` + p.literal() + `"`
}

// drawMade returns a program of configuration, variables, a component and chains of resources.
func drawMade(t *rapid.T) *madeProgram {
	p := &madeProgram{set: map[string]string{}}
	p.line("name: made")
	p.line("runtime: yaml")
	p.line("config:")
	for i := range rapid.IntRange(1, 3).Draw(t, "configuration") {
		name := fmt.Sprintf("c%d", i)
		p.config = append(p.config, name)
		p.line("  %s:", name)
		p.line("    type: string")
		p.line("    default: %s", p.literal())
		if rapid.Bool().Draw(t, "set") {
			p.set[name] = "set" + name
		}
	}
	p.names = append(p.names, p.config...)
	p.line("variables:")
	p.line("  fixed: %s", p.literal())
	for i := range rapid.IntRange(0, 3).Draw(t, "variables") {
		name := fmt.Sprintf("v%d", i)
		if rapid.IntRange(0, 3).Draw(t, "map") == 0 {
			p.line("  %s:", name)
			p.line("    a: %s", p.expr(t))
			p.line("    b: %s", p.expr(t))
			p.names = append(p.names, name+".a", name+".b")
			continue
		}
		p.line("  %s: %s", name, p.expr(t))
		p.names = append(p.names, name)
	}
	p.line("components:")
	p.line("  Pair:")
	p.line("    inputs:")
	p.line("      word:")
	p.line("        type: string")
	p.line("    resources:")
	p.line("      one:")
	p.line("        type: drawer:index:Item")
	p.line("        properties:")
	p.line("          title: ${word}-%s", p.literal())
	p.line("    outputs:")
	p.line("      said: ${one.tag}-%s", p.literal())
	p.line("resources:")
	for i := range rapid.IntRange(1, 4).Draw(t, "resources") {
		name := fmt.Sprintf("r%d", i)
		p.line("  %s:", name)
		if rapid.IntRange(0, 3).Draw(t, "component") == 0 {
			p.line("    type: components:Pair")
			p.line("    properties:")
			p.line("      word: %s", p.expr(t))
			p.names = append(p.names, name+".said")
			continue
		}
		p.line("    type: drawer:index:Item")
		if rapid.IntRange(0, 3).Draw(t, "forEach") == 0 {
			p.line("    forEach:")
			p.line("      a: %s", p.expr(t))
			p.line("      b: %s", p.expr(t))
			p.line("    properties:")
			p.line("      kind: k")
			own := ""
			if rapid.Bool().Draw(t, "more") {
				own = "-" + p.literal()
			}
			p.line("      title: %s", rapid.SampledFrom([]string{"${each.value}", "${each.key}-${each.value}"}).Draw(t, "each")+own)
			continue
		}
		conditional := len(p.names) > 0 && rapid.IntRange(0, 4).Draw(t, "if") == 0
		if conditional {
			p.line(`    if: ${%s != "edited"}`, rapid.SampledFrom(p.config).Draw(t, "condition"))
		}
		p.line("    properties:")
		p.line("      title: %s", p.expr(t))
		if rapid.Bool().Draw(t, "kind") {
			p.line("      kind: %s", p.expr(t))
		}
		if rapid.IntRange(0, 3).Draw(t, "trigger") == 0 {
			p.line("    options:")
			p.line("      replacementTrigger: %s", p.expr(t))
		}
		if !conditional {
			p.names = append(p.names, name+".tag", name+".title", name+".id")
		}
	}
	return p
}

// shownRoot is a root of a step in a document of a preview.
type shownRoot struct {
	Kind, Name string
	Possible   bool
	Place      struct {
		File string
		Line int
	}
}

// The roots of every planned change name the edit that was made: alone, if the former values of all else are known.
// Without the edit nothing would change.
func TestCausesNameTheEdit(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	changed, sure := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		require.NoError(r, err)
		defer os.RemoveAll(dir)
		p := drawMade(r)
		text := strings.Join(p.lines, "\n") + "\n"
		x := newTerminalIn(t, dir, text)
		x.world.Embedded = []console.EmbeddedProviders{drawers{&drawer.Provider{Dir: dir + "/state"}}}
		x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
		require.Equal(r, 0, x.run("stack", "init", "dev"), x.err.String())
		for key, v := range p.set {
			require.Equal(r, 0, x.run("config", "set", key, v), x.err.String())
		}
		require.Equal(r, 0, x.run("up", "--yes", "--skip-preview"), "%s\n%s", text, x.err.String())

		settings := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
		program := filepath.Join(x.world.Dir, "Pulumi.yaml")
		before, _ := os.ReadFile(settings)
		var named func(shownRoot) bool
		edit := ""
		if rapid.IntRange(0, 2).Draw(r, "edit") == 0 {
			key := rapid.SampledFrom(p.config).Draw(r, "key")
			edit = "config " + key
			require.Equal(r, 0, x.run("config", "set", key, "edited"), x.err.String())
			named = func(c shownRoot) bool { return c.Kind == "config" && c.Name == key }
		} else {
			token := fmt.Sprintf("lit%dx", rapid.IntRange(1, p.literals).Draw(r, "literal"))
			line := strings.Count(text[:strings.Index(text, token)], "\n") + 1
			edit = fmt.Sprintf("%s in line %d", token, line)
			require.NoError(r, os.WriteFile(program, []byte(strings.Replace(text, token, "edited", 1)), 0o644))
			named = func(c shownRoot) bool { return c.Place.File == "Pulumi.yaml" && c.Place.Line == line }
		}
		require.Equal(r, 0, x.run("preview", "--json"), "%s\n%s", text, x.err.String())
		var shown struct {
			Steps []struct {
				Op, URN string
				Roots   []shownRoot
			}
		}
		require.NoError(r, json.Unmarshal(x.out.Bytes(), &shown))
		for _, s := range shown.Steps {
			if s.Op == "same" {
				continue
			}
			changed++
			found, certain := false, true
			for _, root := range s.Roots {
				found = found || named(root)
				certain = certain && !root.Possible
			}
			require.True(r, found, "%s: %s: %+v\n%s\n%s", edit, s.URN, s.Roots, text, x.out.String())
			if certain {
				sure++
				for _, root := range s.Roots {
					require.True(r, named(root), "%s: %s: %+v\n%s", edit, s.URN, s.Roots, text)
				}
			}
		}
		require.NoError(r, os.WriteFile(program, []byte(text), 0o644))
		require.NoError(r, os.WriteFile(settings, before, 0o644))
		require.Equal(r, 0, x.run("preview", "--expect-no-changes"), x.out.String())
	})
	t.Logf("%d changes, %d with certain causes", changed, sure)
}

// The causes of what a refresh finds are drift, with exactly the properties that somebody has changed; those of the
// deletions of a destroy are the destroy. The history keeps both.
func TestCausesOfRefreshAndDestroy(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		require.NoError(r, err)
		defer os.RemoveAll(dir)
		text := "name: p\nruntime: yaml\nresources:\n"
		count := rapid.IntRange(1, 5).Draw(r, "resources")
		for i := range count {
			text += fmt.Sprintf("  r%d: {type: drawer:Item, properties: {title: t%d, kind: k%d}}\n", i, i, i)
		}
		x := newTerminalIn(t, dir, text)
		x.world.Embedded = []console.EmbeddedProviders{drawers{&drawer.Provider{Dir: dir + "/state"}}}
		x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
		require.Equal(r, 0, x.run("stack", "init", "dev"), x.err.String())
		require.Equal(r, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())

		want := map[string][]string{}
		for i := range count {
			name := fmt.Sprintf("r%d", i)
			files, err := filepath.Glob(filepath.Join(dir, "state", name+"-*.json"))
			require.NoError(r, err)
			require.Len(r, files, 1)
			object, err := os.ReadFile(files[0])
			require.NoError(r, err)
			now := string(object)
			switch rapid.IntRange(0, 4).Draw(r, "outside") {
			case 0:
				require.NoError(r, os.Remove(files[0]))
				want[name] = []string{"its object was gone", name + ": is gone"}
				continue
			case 1:
				now = strings.Replace(now, fmt.Sprintf(`"t%d"`, i), `"other"`, 1)
				want[name] = []string{"changed outside of the program", "only computed",
					fmt.Sprintf(`%s ~ tag: "tag-t%d" => "tag-other"`, name, i), fmt.Sprintf(`%s ~ title: "t%d" => "other"`, name, i)}
			case 2:
				now = strings.Replace(now, fmt.Sprintf(`"k%d"`, i), `"other"`, 1)
				want[name] = []string{"changed outside of the program", fmt.Sprintf(`%s ~ kind: "k%d" => "other"`, name, i)}
			}
			require.NoError(r, os.WriteFile(files[0], []byte(now), 0o600))
		}
		require.Equal(r, want, because(r, x, "refresh"))
		want = map[string][]string{"p-dev": {"destroy deletes all that is in its scope", "p-dev: delete"}}
		require.Equal(r, 0, x.run("stack"))
		for i := range count {
			if name := fmt.Sprintf("r%d", i); strings.Contains(x.out.String(), name) {
				want[name] = []string{"destroy deletes all that is in its scope", name + ": delete"}
			}
		}
		require.Equal(r, want, because(r, x, "destroy"))
	})
}

// because runs an operation, and returns the texts of the causes of each changed resource that the history has kept of
// it, in ascending order.
func because(t require.TestingT, x *terminal, operation string) map[string][]string {
	require.Equal(t, 0, x.run(operation, "--yes", "--skip-preview"), x.err.String())
	require.Equal(t, 0, x.run("stack", "history", "--json", "--page-size", "1"), x.err.String())
	var history []struct {
		Kind    string
		Because []struct {
			URN     urn.URN
			Because [][]struct{ Text string }
		}
	}
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &history))
	require.Equal(t, operation, history[0].Kind)
	told := map[string][]string{}
	for _, resource := range history[0].Because {
		texts := map[string]bool{}
		for _, chain := range resource.Because {
			for _, link := range chain {
				texts[link.Text] = true
			}
		}
		told[resource.URN.Name()] = slices.Sorted(maps.Keys(texts))
	}
	return told
}
