package life

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServicePacks: the Pulumi CLI and yamlhost fetch a policy pack that the service requires, and report the same
// violations with the service's configuration of the pack and of its environment.
func TestServicePacks(t *testing.T) {
	t.Parallel()
	plugins, err := examplePlugins()
	require.NoError(t, err)
	pack := t.TempDir()
	for file, text := range packs["yaml"] {
		require.NoError(t, os.WriteFile(filepath.Join(pack, file), []byte(text), 0o644))
	}
	for program, refused := range map[string]int{"pulumi": 1, "yamlhost": 14} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.serve(`{}`)
			s.env = append(s.env, "PULUMI_DEBUG_COMMANDS=true", "PATH="+plugins+":"+s.bin+":/usr/bin:/bin")
			s.write("Pulumi.yaml", `name: pets
runtime: yaml
resources:
  rex: {type: random:RandomPet, properties: {length: 1, prefix: cow, separator: _}}
  kitty: {type: random:RandomPet, properties: {length: 4, prefix: cat}}
`)
			s.write("base.yaml", "values: {policyConfig: {few: {place: everywhere}}}\n")
			s.program(0, program, "env", "init", "base", "--file", "base.yaml")
			s.program(0, program, "stack", "init", "dev", "--non-interactive")
			up := func(code, least int) []string {
				s.behave(fmt.Sprintf(`{"policies": [{"name": "rules", "version": "1.0.0", "dir": %q, "environments": ["base"],
					"config": {"words": {"enforcementLevel": "mandatory", "least": %d}, "never": {"enforcementLevel": "disabled"}}}]}`,
					pack, least))
				s.program(code, program, "up", "--yes", "--skip-preview", "--non-interactive", "--event-log", "events.log")
				violations, remedied := policyEvents(t, filepath.Join(s.dir, "events.log"))
				require.Equal(t, []string{"separator rex"}, remedied)
				return violations
			}
			require.Contains(t, up(refused, 2), "words rex has 1 words, not 2")
			require.NotContains(t, s.resources(), "rex")
			require.Equal(t, []string{"few 2 pets in everywhere", "prefix kitty is no dog", "prefix rex is no cat",
				"prefix rex is no dog"}, up(0, 1))
			require.Contains(t, s.resources(), "rex")
			found, err := filepath.Glob(filepath.Join(filepath.Dir(s.dir), "home/.pulumi/policies/tester/*rules-v1.0.0"))
			require.NoError(t, err)
			require.Len(t, found, 1)
		})
	}
}

// TestServiceEnvironments creates, changes and removes an environment of the service with the Pulumi CLI or yamlhost.
// Both open the same values.
func TestServiceEnvironments(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"pulumi", "yamlhost"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.serve(`{}`)
			s.write("Pulumi.yaml", "name: one\nruntime: yaml\n")
			opened := func(name string) map[string]any {
				var values [2]map[string]any
				for i, out := range []string{s.pulumi("env", "open", name), first(s.run(0, "env", "open", name, "--show-secrets"))} {
					require.NoError(t, json.Unmarshal([]byte(out), &values[i]), out)
				}
				require.Equal(t, values[0], values[1])
				return values[1]
			}
			does := func(args ...string) { s.program(0, program, append(args, "--non-interactive")...) }
			s.write("base.yaml", "values:\n  pulumiConfig: {size: 2}\n  word: {fn::secret: canary}\n")
			does("env", "init", "tester/default/base", "--file", "base.yaml")
			does("env", "init", "tester/team/dev")
			s.write("dev.yaml", "imports: [base]\nvalues:\n  pulumiConfig: {word: \"${word}\"}\n")
			does("env", "edit", "tester/team/dev", "--file", "dev.yaml")
			require.Equal(t, map[string]any{"size": 2.0, "word": "canary"}, opened("tester/team/dev")["pulumiConfig"])
			for _, get := range []string{s.pulumi("env", "get", "tester/default/base"),
				first(s.run(0, "env", "get", "tester/default/base"))} {
				require.NotContains(t, get, "canary")
			}
			require.Equal(t, "default/base\nteam/dev\n", first(s.run(0, "env", "ls")))
			does("env", "rm", "tester/team/dev", "--yes")
			require.Equal(t, "default/base\n", first(s.run(0, "env", "ls")))
		})
	}
}
