package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// TestPoliciesPage runs the files of docs/policies.md.
func TestPoliciesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/policies.md")
	require.NoError(t, err)
	blocks := everyBlock(string(page))
	require.Len(t, blocks, 3)
	x := newTerminal(t, blocks[2].text)
	pack := filepath.Join(x.world.Dir, "pack")
	require.NoError(t, os.Mkdir(pack, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(pack, "PulumiPolicy.yaml"), []byte(blocks[0].text), 0o644))
	require.Zero(t, x.run("check", "pack"), x.out.String()+x.err.String())
	require.Contains(t, x.out.String(), "0 errors, 0 warnings")
	config := filepath.Join(x.world.Dir, "config.json")
	for text, want := range map[string]string{
		`{"words": {"least": 0}}`:           "config.json:1:21: error: policy pack pets: validating policy config: words: least must be at least 1",
		`{"words": {"most": 9}}`:            "config.json:1:20: error: policy pack pets: validating policy config: words: most is no configuration value",
		`{"words": {"least": "3"}}`:         "config.json:1:21: error: policy pack pets: validating policy config: words: least must be of type integer",
		`{"prefix": "loud"}`:                "config.json:1:12: error: policy pack pets: validating policy config: prefix: the enforcement level must be",
		`{"prefix": "advisory", "wor": {}}`: "config.json:1:31: error: policy pack pets: validating policy config: wor: the pack has no such policy",
		`{"prefix": "advisory",`:            "config.json:1:1: error[Y101]",
		`["prefix"]`:                        "config.json:1:1: error[Y107]: the configuration of a policy pack is an object",
	} {
		require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
		require.Equal(t, console.CodeProgram, x.run("run", "--policy-pack", "pack", "--policy-pack-config", config))
		require.Contains(t, x.err.String(), want)
		require.Contains(t, x.err.String(), "\nnothing was done")
	}
	require.NotZero(t, x.run("run", "--policy-pack", "pack"))
	require.Contains(t, x.err.String(), "rex is a , not one of cat, dog")
	require.Contains(t, x.err.String(), "policy words of pack pets (remediate)")
	require.Zero(t, x.run("run"), x.out.String()+x.err.String())
	require.Zero(t, x.run("config", "set", "words", "1", "--stack", "dev"), x.err.String())
	require.NotZero(t, x.run("run"))
	require.Contains(t, x.err.String(), "rex violates policy long-enough: 1 words are not enough")
}

// TestStarterPacks checks the packs of the examples with the schemas beside them, and with the complete schemas if this
// machine has them.
func TestStarterPacks(t *testing.T) {
	t.Parallel()
	x := inExamples(t)
	for name, variable := range map[string]string{"aws-native": "YAMLHOST_SCHEMAS_TODAY", "azure-native": "YAMLHOST_SCHEMAS",
		"kubernetes": "YAMLHOST_SCHEMAS_TODAY"} {
		pack := "examples/policies/" + name + "/PulumiPolicy.yaml"
		dirs := []string{"examples/policies/schemas"}
		if whole := os.Getenv(variable); whole != "" {
			dirs = append(dirs, whole)
		} else {
			t.Log("SKIPPED: the whole schema of " + name + "; " + variable + " is not set")
		}
		for _, dir := range dirs {
			require.Zero(t, x.run("check", pack, "--schema-dir", dir), x.out.String()+x.err.String())
			require.Contains(t, x.out.String(), "0 errors, 0 warnings")
		}
	}
}

// TestSnapshots writes and compares snapshots.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\nconfig: {words: {type: integer, default: 2}}\n"+
		"resources:\n  pet: {type: random:RandomPet, properties: {length: \"${words}\"}}\n"+
		"  key: {type: random:RandomPassword, properties: {length: 9}}\noutputs: {pet: \"${pet.id}\", key: \"${key.result}\"}\n")
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "one.test.yaml"), []byte(text), 0o644))
	}
	write("cases: {a: {expect: {snapshot: true}}}")
	require.Equal(t, console.CodeFailed, x.run("test"))
	require.Contains(t, x.out.String(), "there is no snapshot of this case")
	require.Zero(t, x.run("test", "--update"), x.out.String())
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "one.test.snapshot.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"key": "[secret]"`)
	require.Zero(t, x.run("test"), x.out.String())
	write("cases: {a: {config: {words: 3}, expect: {snapshot: true}}}")
	require.Equal(t, console.CodeFailed, x.run("test"))
	require.Contains(t, x.out.String(), "- \"length\": 2")
	require.Contains(t, x.out.String(), "+ \"length\": 3")
	write("cases: {b: {expect: {count: 2}}}")
	require.Equal(t, console.CodeFailed, x.run("test"))
	require.Contains(t, x.out.String(), "the snapshot of the case `a` belongs to no case")
}
