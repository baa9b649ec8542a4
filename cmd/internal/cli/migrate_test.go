package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// migrate --check reports a project that runs here as ready, with all its stacks or a selected one, and writes nothing.
func TestMigrateReady(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("migrate", "--check"), x.err.String())
	require.Contains(t, x.out.String(), "has 0 stacks of this project")
	for _, stack := range []string{"dev", "prod"} {
		require.Equal(t, 0, x.run("stack", "init", stack), x.err.String())
	}
	require.Equal(t, 0, x.run("run", "--stack", "dev"), x.err.String())
	root := filepath.Dir(x.world.Dir)
	before := filesBelow(t, root)
	require.Equal(t, 0, x.run("migrate", "--check", "--format", "json"), x.err.String())
	var found struct {
		Project string
		Ready   bool
		Stacks  []struct {
			Name      string
			Resources int
			Ready     bool
		}
		Findings []struct{ Part, Grade, Text, Way string }
	}
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &found))
	require.Equal(t, "one", found.Project)
	require.True(t, found.Ready)
	require.Len(t, found.Stacks, 2)
	require.Equal(t, "dev", found.Stacks[0].Name)
	require.Equal(t, 3, found.Stacks[0].Resources, "the stack, the provider and the pet")
	require.Equal(t, 0, x.run("migrate", "--check", "--stack", "dev"), x.err.String())
	require.Regexp(t, `differs +stack dev +built-in providers are used instead of plugins: random`, x.out.String())
	require.NotContains(t, x.out.String(), "prod")
	require.Contains(t, x.out.String(), "Ready.")
	require.Equal(t, before, filesBelow(t, root))
	require.Equal(t, 0, x.run("preview", "--stack", "dev", "--expect-no-changes"), x.err.String())
}

// Each obstacle is reported with a remedy.
func TestMigrateNotReady(t *testing.T) {
	t.Parallel()
	withState := func(t *testing.T, resources string) *terminal {
		x := newTerminal(t, onePet)
		x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
		require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
		file := filepath.Join(x.world.Dir, "state.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"version":3,"deployment":{"manifest":{"time":"2024-01-01T00:00:00Z",`+
			`"magic":"","version":""},"resources":[`+resources+`]}}`), 0o644))
		require.Equal(t, 0, x.run("stack", "import", "--file", file), x.err.String())
		return x
	}
	const provider = `{"urn":"urn:pulumi:dev::one::pulumi:providers:zoo::default_1_2_3","custom":true,"id":"p",` +
		`"type":"pulumi:providers:zoo","inputs":{"version":"1.2.3"},"outputs":{"version":"1.2.3"}}`
	const ape = `{"urn":"urn:pulumi:dev::one::zoo:index:Ape::a","custom":true,"id":"1","type":"zoo:index:Ape",` +
		`"provider":"urn:pulumi:dev::one::pulumi:providers:zoo::default_1_2_3::p"}`
	for name, c := range map[string]struct {
		make func(*testing.T) *terminal
		want []string
		code int
	}{
		"another runtime": {func(t *testing.T) *terminal { return newTerminal(t, "name: one\nruntime: nodejs\n") },
			[]string{`refused +project +its program is written for the runtime nodejs`, "pulumi convert"}, 1},
		"a faulty program": {func(t *testing.T) *terminal {
			return newTerminal(t, strings.Replace(onePet, "RandomPet", "RandomPat", 1))
		}, []string{`refused +program +Pulumi.yaml:3:15: `, "did|RandomPat", "yamlhost explain Y"}, 1},
		"a plugin that is not here": {func(t *testing.T) *terminal { return withState(t, provider+","+ape) },
			[]string{`missing +stack dev +the plugin zoo 1.2.3 is not installed`, "yamlhost plugin install resource zoo 1.2.3"},
			1},
		"a plugin's version for that of a package (E3.21)": {func(t *testing.T) *terminal {
			return withState(t, `{"urn":"urn:pulumi:dev::one::pulumi:providers:zoo::mine","custom":true,"id":"p",`+
				`"type":"pulumi:providers:zoo","inputs":{"version":"1.2.3","__internal":{"name":"builder","version":"1.2.3",`+
				`"parameterization":"e30="}},"outputs":{"version":"1.2.3"}},`+
				strings.Replace(ape, "default_1_2_3", "mine", 1))
		}, []string{`changes +stack dev +.*the plugin's version .* at the provider mine`}, 1},
		"secrets without a passphrase": {func(t *testing.T) *terminal {
			x := withState(t, "")
			require.Equal(t, 0, x.run("config", "set", "--secret", "k", "hush"), x.err.String())
			x.world.Env = x.world.Env[:len(x.world.Env)-1]
			x.streams.InTerminal, x.streams.ReadPassword = false, nil
			return x
		}, []string{`missing +stack dev .*PULUMI_CONFIG_PASSPHRASE`}, 1},
		"a state in Pulumi Cloud": {func(t *testing.T) *terminal {
			x := newTerminal(t, onePet)
			x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL=https://api.pulumi.com")
			return x
		}, []string{`refused +backend `, "pulumi stack export"}, 1},
		"an unfinished operation, which a run settles": {func(t *testing.T) *terminal {
			x := withState(t, "")
			path := filepath.Join(filepath.Dir(x.world.Dir), "state", ".pulumi", "stacks", "one", "dev.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"version":3,"checkpoint":{"stack":"organization/one/dev",`+
				`"latest":{"manifest":{"time":"2024-01-01T00:00:00Z","magic":"","version":""},"resources":[],`+
				`"pending_operations":[{"type":"creating","resource":{`+
				`"urn":"urn:pulumi:dev::one::random:index/randomPet:RandomPet::a",`+
				`"custom":true,"type":"random:index/randomPet:RandomPet"}}]}}}`), 0o644))
			return x
		}, []string{`differs +stack dev .*the outcome of 1 operation is not known`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.make(t)
			before := filesBelow(t, filepath.Dir(x.world.Dir))
			require.Equal(t, c.code, x.run("migrate", "--check"), x.err.String()+x.out.String())
			for _, want := range c.want {
				require.Regexp(t, want, x.out.String())
			}
			if c.code != 0 {
				require.Contains(t, x.err.String(), "nothing was changed")
			}
			require.Equal(t, before, filesBelow(t, filepath.Dir(x.world.Dir)))
		})
	}
	x := newTerminal(t, onePet)
	require.Equal(t, 2, x.run("migrate"))
	require.Contains(t, x.err.String(), "no conversion is needed")
}
