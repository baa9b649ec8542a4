package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// package add and package remove change only the packages in the project file.
func TestPackageAddAndRemove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"none": {"# a project\nname: one # its name\nruntime: yaml\n\n# what there is\nresources:\n  pet: {type: random:RandomPet}\n",
			"# a project\nname: one # its name\nruntime: yaml\npackages:\n  random: random@VERSION\n\n# what there is\nresources:\n" +
				"  pet: {type: random:RandomPet}\n"},
		"another": {"name: one\nruntime: yaml\npackages:\n  # ours\n  zoo: ./zoo\nresources: {}\n",
			"name: one\nruntime: yaml\npackages:\n  # ours\n  zoo: ./zoo\n  random: random@VERSION\nresources: {}\n"},
		"an older one": {"name: one\nruntime: yaml\npackages: {random: random@1.0.0}\nresources: {}\n",
			"name: one\nruntime: yaml\npackages:\n  random: random@VERSION\nresources: {}\n"},
		"last, without a line break": {"name: one\nruntime: yaml", "name: one\nruntime: yaml\npackages:\n  random: random@VERSION\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, c.before)
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			require.Zero(t, x.run("package", "add", "random"), x.err.String())
			version := strings.TrimSpace(strings.TrimPrefix(x.err.String(), "Added package random "))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(c.after, "VERSION", version), string(text))
			declared, err := os.ReadFile(filepath.Join(x.world.Dir, "sdks", "random", "random-"+version+".yaml"))
			require.NoError(t, err)
			require.Contains(t, string(declared), "packageDeclarationVersion: 1\nname: random\nversion: '"+version+"'\n")

			require.Zero(t, x.run("package", "remove", "random"), x.err.String())
			text, err = os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(text), "random@")
			require.NoDirExists(t, filepath.Join(x.world.Dir, "sdks"))
			require.Equal(t, console.CodeError, x.run("package", "remove", "random"))
			require.Contains(t, x.err.String(), "the project has no package random")
		})
	}
}

// package add accepts a file with a schema. It refuses an unusable source with a hint and writes nothing.
func TestPackageSources(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\nruntime: yaml\n")
	write := func(name, text string) {
		path := filepath.Join(x.world.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("zoo.json", `{"name": "zoo", "version": "1.2.3", "resources": {"zoo:index:Ape": {}}}`)
	require.Zero(t, x.run("package", "add", "zoo.json"), x.err.String())
	require.FileExists(t, filepath.Join(x.world.Dir, "sdks", "zoo", "zoo-1.2.3.yaml"))
	require.Zero(t, x.run("package", "info", "zoo.json"), x.err.String())
	require.Contains(t, x.out.String(), "Version:     1.2.3\n")
	require.Zero(t, x.run("package", "get-schema", "zoo.json"), x.err.String())
	require.Contains(t, x.out.String(), "zoo:index:Ape")
	require.Zero(t, x.run("package", "info", "random", "--resource", "RandomPet"), x.err.String())
	require.Contains(t, x.out.String(), "separator")
	require.NotZero(t, x.run("package", "info", "random", "--resource", "Pet"))
	require.Contains(t, x.err.String(), "near are random:RandomPet\n")

	before, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(x.world.Dir, "empty"), 0o755))
	for source, want := range map[string]string{
		"./nothing": "./nothing does not exist", "./empty": "holds no plugin", "github.com/org": "write HOST/OWNER",
		"unheard": "package unheard was not found: it", "randm": "was not found; did you mean random?\n",
		"missing.json": "read the schema missing.json",
	} {
		require.NotZero(t, x.run("package", "add", source), source)
		require.Contains(t, x.err.String(), want)
	}
	after, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// install shows the source of each package, and reports missing ones.
func TestInstall(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Zero(t, x.run("install"), x.err.String())
	require.Equal(t, "random built in\n", x.out.String())
	x = newTerminal(t, "name: one\nresources:\n  ape: {type: zoo:Ape}\n")
	require.Equal(t, console.CodeProgram, x.run("install"))
	require.Contains(t, x.err.String(), "zoo")
}

// schema check reports each fault of a schema, with its place.
func TestSchemaCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, place, want string }{
		"cut off":  {`{"name": "zoo",`, "1:16", "the schema is not JSON"},
		"nameless": {`{"version": "1.0.0"}`, "1:1", "the schema has no name"},
		"version":  {"{\"name\": \"zoo\",\n \"version\": \"new\"}", "2:13", `"new" is not a version`},
		"token":    {`{"name": "zoo", "resources": {"Ape": {}}}`, "1:38", `"Ape" is not a token`},
		"package":  {`{"name": "zoo", "resources": {"cage:index:Ape": {}}}`, "1:49", "is of the package cage"},
		"type": {`{"name": "zoo", "resources": {"zoo:index:Ape": {"inputProperties": {"a": {"type": "text"}}}}}`, "1:83",
			`no type "text"`},
		"reference": {`{"name": "zoo", "resources": {"zoo:index:Ape": {"properties": {"a": {"$ref": "#/types/zoo:index:B"}}}}}`,
			"1:78", "#/types/zoo:index:B does not exist"},
		"required": {`{"name": "zoo", "resources": {"zoo:index:Ape": {"requiredInputs": ["a"]}}}`, "1:68",
			`"a" is required, and is not declared`},
		"items": {`{"name": "zoo", "config": {"variables": {"a": {"type": "array"}}}}`, "1:47",
			"does not say what its items are"},
		"enum": {`{"name": "zoo", "types": {"zoo:index:E": {"type": "string", "enum": []}}}`, "1:69", "has no values"},
		"taken": {`{"name": "zoo", "resources": {"zoo:index:Ape": {"properties": {"urn": {"type": "string"}}}}}`, "1:71",
			"name urn is taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, "name: one\n")
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "schema.json"), []byte(c.text), 0o644))
			require.Equal(t, console.CodeProgram, x.run("schema", "check", "schema.json"))
			require.Contains(t, x.err.String(), "schema.json:"+c.place+": error[")
			require.Contains(t, x.err.String(), c.want)
		})
	}
	x := newTerminal(t, "name: one\n")
	require.Zero(t, x.run("package", "get-schema", "random"), x.err.String())
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "random.json"), x.out.Bytes(), 0o644))
	require.Zero(t, x.run("schema", "check", "random.json"), x.err.String())
}

// config copy copies values with their secrets, which the other stack decrypts. config refresh restores the
// configuration of the last update.
func TestConfigCopyAndRefresh(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	for _, stack := range []string{"prod", "dev"} {
		require.Zero(t, x.run("stack", "init", stack), x.err.String())
	}
	require.Zero(t, x.run("config", "set", "region", "north"))
	require.Equal(t, 6, x.run("config", "copy", "--dest", "nowhere"))
	require.NoFileExists(t, filepath.Join(x.world.Dir, "Pulumi.nowhere.yaml"))
	require.Zero(t, x.run("config", "set", "--secret", "token", "hush"))
	require.Zero(t, x.run("config", "set", "--path", "servers[0].port", "8080"))
	require.Zero(t, x.run("config", "set", "region", "south", "--stack", "prod"))
	require.Zero(t, x.run("config", "copy", "--dest", "prod"), x.err.String())
	require.Contains(t, x.err.String(), "3 values copied from dev to prod")
	require.Zero(t, x.run("config", "get", "token", "--stack", "prod"), x.err.String())
	require.Equal(t, "hush\n", x.out.String())
	require.Zero(t, x.run("config", "get", "region", "--stack", "prod"))
	require.Equal(t, "north\n", x.out.String())
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.prod.yaml"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "hush")
	for _, bad := range [][]string{{"config", "copy"}, {"config", "copy", "--dest", "dev"}, {"config", "copy", "none", "--dest",
		"prod"}, {"config", "copy", "--dest", "nowhere"}} {
		require.NotZero(t, x.run(bad...), bad)
	}

	require.NotZero(t, x.run("config", "refresh"), "there is no history yet")
	require.Zero(t, x.run("config", "set", "--path", "servers[0].serial", "9007199254740993"), x.err.String())
	require.Zero(t, x.run("up", "--yes", "--stack", "dev"), x.err.String())
	require.Zero(t, x.run("stack", "history", "--json"), x.err.String())
	require.Contains(t, x.out.String(), `"serial": 9007199254740993`, "an integer that no float has")
	file := filepath.Join(x.world.Dir, "Pulumi.dev.yaml")
	require.NoError(t, os.Remove(file))
	require.Zero(t, x.run("config", "refresh"), x.err.String())
	require.Zero(t, x.run("config", "get", "token"), x.err.String())
	require.Equal(t, "hush\n", x.out.String())
	require.Zero(t, x.run("config", "get", "--path", "servers[0].port"), x.err.String())
	require.Zero(t, x.run("config", "set", "region", "west"))
	require.Zero(t, x.run("config", "refresh"), x.err.String())
	require.FileExists(t, file+".bak")
	require.Zero(t, x.run("config", "get", "region"))
	require.Equal(t, "north\n", x.out.String())
}

// plugin run passes arguments to a plugin of any kind and returns its exit code.
func TestPluginRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	x := newTerminal(t, onePet)
	dir := filepath.Join(x.world.Home, ".pulumi", "plugins", "converter-zoo-v1.0.0")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := "#!/bin/sh\necho got \"$@\"\nexit 3\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-converter-zoo"), []byte(script), 0o755))
	for _, plugin := range []string{"zoo", "zoo@1.0.0", filepath.Join(dir, "pulumi-converter-zoo")} {
		require.Equal(t, 3, x.run("plugin", "run", "--kind", "converter", plugin, "--", "a", "-b"), x.err.String())
		require.Equal(t, "got a -b\n", x.out.String())
	}
	require.Equal(t, console.CodeError, x.run("plugin", "run", "zoo"))
	require.Contains(t, x.err.String(), "no plugin zoo of the kind tool")
}
