//go:build !lean

package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A project without faults, whose stack has settings and an environment.
var settingsProject = map[string]string{
	"Pulumi.yaml": "name: shop\nruntime: yaml\nconfig:\n  size: {type: integer}\n  label: {type: string, default: x}\n" +
		"  zones: {type: array, items: {type: string}, default: [a]}\n",
	"Main.yaml":       "config:\n  region: {type: string}\noutputs:\n  all: [\"${size}\", \"${label}\", \"${zones}\", \"${region}\"]\n",
	"Pulumi.dev.yaml": "environment:\n  - base\nconfig:\n  shop:size: 3\n  shop:label: small\n",
	"environments/base.yaml": "values:\n  pulumiConfig:\n    region: north\n    zones: [b, c]\n  environmentVariables:\n    LEVEL: high\n" +
		"  files:\n    CERT: text\n",
}

// mistake is a change of one file that makes it faulty.
type mistake struct{ name, file, text string }

// misspellings are the names at distance one of a name.
func misspelling(t *rapid.T, name string) string {
	i := rapid.IntRange(0, len(name)-1).Draw(t, "letter")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		return name[:i] + name[i:i+1] + name[i:] // doubled
	case 1:
		return name[:i] + name[i+1:] // lost
	}
	return name[:i] + "q" + name[i+1:]
}

func drawMistake(t *rapid.T) mistake {
	const stack, env = "Pulumi.dev.yaml", "environments/base.yaml"
	declared := []string{"size", "label", "zones", "region"}
	key := rapid.SampledFrom(declared).Draw(t, "key")
	wrong := func() string { return misspelling(t, key) }
	fresh := rapid.StringMatching(`w[a-z]{5,8}x`).Draw(t, "fresh")
	top := func(line string) mistake {
		text := settingsProject[stack]
		if rapid.Bool().Draw(t, "first") {
			return mistake{"top", stack, line + "\n" + text}
		}
		return mistake{"top", stack, text + line + "\n"}
	}
	setting := func(name, line string) mistake {
		return mistake{name, stack, settingsProject[stack] + "  " + line + "\n"}
	}
	instead := func(name, file, old, new string) mistake {
		return mistake{name, file, strings.Replace(settingsProject[file], old, new, 1)}
	}
	inherited := func(name, line string) mistake {
		return instead(name, env, "pulumiConfig:\n", "pulumiConfig:\n    "+line+"\n")
	}
	makers := []func() mistake{
		func() mistake { return top(fresh + ": 3") },
		func() mistake { return top("shop:" + key + ": 3") },
		func() mistake {
			return top(rapid.SampledFrom([]string{"variables", "imports", "resources", "outputs", "values"}).Draw(t, "section") + ": {}")
		},
		func() mistake { return top(misspelling(t, "secretsprovider") + ": default") },
		func() mistake { return setting("bare", fresh+": 1") },
		func() mistake { return setting("undeclared", "shop:"+fresh+": 1") },
		func() mistake { return setting("point", "shop."+fresh+": 1") },
		func() mistake { return setting("slash", "shop/"+fresh+": 1") },
		func() mistake { return setting("host", "pulumi:tag: {a: b}") },
		func() mistake { return setting("twice", "size: 4") },
		func() mistake { return setting("three", "shop:a:b: 4") },
		func() mistake { return setting("sealed", "shop:zones: {secure: v1:AAAA:BBBB}") },
		func() mistake {
			sealed := rapid.SliceOfN(rapid.Byte(), 30, 60).Draw(t, "sealed")
			return setting("service", "shop:zones: {secure: "+base64.StdEncoding.EncodeToString(sealed)+"}")
		},
		func() mistake { return instead("literal", stack, "small", "${"+key+"}-x") },
		func() mistake { return instead("type", stack, "size: 3", "size: "+fresh) },
		func() mistake { return instead("kind", stack, "label: small", "zones: "+fresh) },
		func() mistake { return instead("namespace", stack, "shop:label", misspelling(t, "shop")+":label") },
		func() mistake { return instead("misspelt", stack, "shop:label", "shop:"+misspelling(t, "label")) },
		func() mistake { return instead("required", stack, "shop:size", "shop:"+misspelling(t, "size")) },
		func() mistake { return instead("import", stack, "- base", "- "+misspelling(t, "base")) },
		func() mistake { return inherited("undeclared", fresh+": 1") },
		func() mistake { return inherited("misspelt", "shop:"+fresh+": 1") },
		func() mistake { return inherited("three", "a:b:c: 1") },
		func() mistake { return inherited("twice", "shop:region: south") },
		func() mistake { return inherited("unknown", "other: ${"+fresh+"}") },
		func() mistake { return instead("required", env, "region:", misspelling(t, "region")+":") },
		func() mistake { return instead("misspelt", env, "zones:", misspelling(t, "zones")+":") },
		func() mistake { return instead("kind", env, "[b, c]", fresh) },
		func() mistake { return instead("item", env, "high", "[high]") },
		func() mistake { return instead("item", env, ": text", ": {a: text}") },
		func() mistake { return instead("variables", env, "    LEVEL: high", "    - LEVEL") },
		func() mistake { return instead("files", env, "    CERT: text", "    [CERT]") },
		func() mistake {
			part := rapid.SampledFrom([]string{"environmentVariables", "files"}).Draw(t, "part")
			return instead("part", env, part, misspelling(t, part))
		},
		func() mistake { return instead("config", env, "values:\n", "values:\n  config: {a: 1}\n") },
		func() mistake { return instead("top", env, "values:", fresh+": {}\nvalues:") },
		func() mistake { return mistake{"outside", env, strings.ReplaceAll(settingsProject[env], "\n  ", "\n")} },
		func() mistake {
			text := strings.ReplaceAll(settingsProject[env], "\n  ", "\n")
			return mistake{"bare", env, strings.TrimPrefix(text, "values:\n")}
		},
		func() mistake {
			part, rest, _ := strings.Cut(settingsProject[env], "  environmentVariables:\n")
			return mistake{"beside", env, part + "environmentVariables:\n" +
				strings.ReplaceAll("\n"+rest, "\n  ", "\n")[1:]}
		},
		func() mistake { return instead("context", env, "high", "${context.pulumi.user.login}") },
	}
	_ = wrong
	return makers[rapid.IntRange(0, len(makers)-1).Draw(t, "mistake")]()
}

// TestSettingsAreChecked: a mistake in a file of a stack, its settings or an environment, is one finding with a place in
// that file.
func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, settingsProject["Pulumi.yaml"])
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=phrase")
	write := func(name, text string) {
		path := filepath.Join(x.world.Dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	findings := func(t require.TestingT) (found []struct {
		Summary string
		Place   struct{ File string }
	}) {
		x.out.Reset()
		x.err.Reset()
		code := Run(context.Background(), []string{"check", "--stack", "dev", "--format", "json"}, x.streams, x.world)
		require.Contains(t, []int{0, 12, 13}, code, x.err.String())
		var report struct {
			Diagnostics []struct {
				Summary string
				Place   struct{ File string }
			}
		}
		require.NoError(t, json.Unmarshal(x.out.Bytes(), &report))
		return report.Diagnostics
	}
	for name, text := range settingsProject {
		write(name, text)
	}
	require.Empty(t, findings(t))
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMistake(rt)
		write(m.file, m.text)
		defer write(m.file, settingsProject[m.file])
		found := findings(rt)
		require.Len(rt, found, 1, "%s\n%s\n%s", m.name, m.text, x.out.String())
		require.Equal(rt, m.file, found[0].Place.File, "%s\n%s", m.name, m.text)
	})
}

// TestRequiredValuesBesideValues: only what stands beside the values of an environment follows from that, and not other
// values that are missing, whose names are in the text by chance.
func TestRequiredValuesBesideValues(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: shop\nruntime: yaml\nconfig:\n  gion: {type: string}\n")
	for name, text := range map[string]string{
		"Main.yaml":              "config:\n  size: {type: string}\n  region: {type: string}\noutputs: {a: \"${size} ${gion} ${region}\"}\n",
		"Pulumi.dev.yaml":        "environment: [base]\n",
		"environments/base.yaml": "pulumiConfig: {shop:region: north, note: \"size: 3\"}\n",
	} {
		path := filepath.Join(x.world.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.Equal(t, 12, x.run("check", "--stack", "dev"), x.err.String())
	said := x.out.String() + x.err.String()
	for _, missing := range []string{"config shop:size is required", "config shop:gion is required"} {
		require.Contains(t, said, missing)
	}
	require.NotContains(t, said, "shop:region is required")
	require.Contains(t, said, "environments/base.yaml:1:1: error[Y227]: unknown key pulumiConfig in an environment")
}

// TestSettingsOfOtherRuntimes: of a project whose program cannot be read nobody knows which keys it reads, and so the
// runtime is the only finding.
func TestSettingsOfOtherRuntimes(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=phrase")
	rapid.Check(t, func(rt *rapid.T) {
		runtime := rapid.SampledFrom([]string{"nodejs", "python", "go", "dotnet", "java", "bun",
			"{name: python}"}).Draw(rt, "runtime")
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`(shop|aws|q[a-z]{3}):[a-z]{3,8}`), 1, 5,
			rapid.ID).Draw(rt, "keys")
		write := func(name, text string) {
			require.NoError(rt, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o600))
		}
		write("Pulumi.yaml", "name: shop\nruntime: "+runtime+"\n")
		write("Pulumi.dev.yaml", "config:\n  "+strings.Join(keys, ": a\n  ")+": a\n")
		x.out.Reset()
		x.err.Reset()
		code := Run(context.Background(), []string{"check", "--stack", "dev", "--format", "json"}, x.streams, x.world)
		require.Equal(rt, 12, code, x.err.String())
		var report struct{ Diagnostics []struct{ Summary string } }
		require.NoError(rt, json.Unmarshal(x.out.Bytes(), &report))
		require.Len(rt, report.Diagnostics, 1, x.out.String())
		require.Contains(rt, report.Diagnostics[0].Summary, "cannot be run here")
	})
}
