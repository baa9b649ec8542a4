package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// A plan recognizes renamed and moved resources. With --write-aliases, up writes their aliases and neither replaces nor
// deletes a resource.
func TestRefactorings(t *testing.T) {
	t.Parallel()
	const (
		pet    = "  pet:\n    type: random:RandomPet\n    properties:\n      length: 3\n"
		key    = "  key:\n    type: random:RandomPassword\n    properties: {length: 12}\n"
		app    = "components:\n  App:\n    inputs:\n      size: {type: integer, default: 2}\n    resources:\n      inner: {type: random:RandomPet, properties: {length: \"${size}\"}}\n    outputs: {id: \"${inner.id}\"}\n"
		noName = "  app:\n    type: components:App\n"
	)
	one := func(resources string) string { return "name: one\nruntime: yaml\nresources:\n" + resources }
	for i, c := range []struct {
		name, before, after string
		aliases             int // number of aliases written
	}{
		{"a name", one(pet), one(strings.Replace(pet, "pet:", "animal:", 1)), 1},
		{"a name in braces", one("  pet: {type: random:RandomPet, properties: {length: 3}}\n"),
			one("  animal: {type: random:RandomPet, properties: {length: 3}}\n"), 1},
		{"a name in capitals", one(pet), one(strings.Replace(pet, "pet:", "Pet:", 1)), 1},
		{"a logical name", one(pet), one(strings.Replace(pet, "    type", "    name: animal\n    type", 1)), 1},
		{"two names", one(pet + key), one(strings.Replace(pet, "pet:", "animal:", 1) + strings.Replace(key, "key:", "secret:",
			1)), 2},
		{"two of a type", one(pet + "  other: {type: random:RandomPet, properties: {length: 3}}\n"),
			one(strings.Replace(pet, "pet:", "pet2:", 1) + "  other2: {type: random:RandomPet, properties: {length: 3}}\n"), 2},
		{"swapped by inputs", one(pet + "  other: {type: random:RandomPet, properties: {length: 4}}\n"),
			one("  x: {type: random:RandomPet, properties: {length: 4}}\n  y: {type: random:RandomPet, properties: {length: 3}}\n"),
			2},
		{"with options", one(pet + "    options:\n      protect: false\n"),
			one(strings.Replace(pet, "pet:", "animal:", 1) + "    options:\n      protect: false\n"), 1},
		{"with options in braces", one(pet + "    options: {protect: false}\n"),
			one(strings.Replace(pet, "pet:", "animal:", 1) + "    options: {protect: false}\n"), 1},
		{"with a user", one(pet + "  id: {type: random:RandomUuid, properties: {keepers: {pet: \"${pet.id}\"}}}\n"),
			one(strings.Replace(pet, "pet:", "animal:", 1) +
				"  id: {type: random:RandomUuid, properties: {keepers: {pet: \"${animal.id}\"}}}\n"), 1},
		{"a user too", one(pet + "  id: {type: random:RandomUuid, properties: {keepers: {pet: \"${pet.id}\"}}}\n"),
			one(strings.Replace(pet, "pet:", "animal:", 1) +
				"  uuid: {type: random:RandomUuid, properties: {keepers: {pet: \"${animal.id}\"}}}\n"), 2},
		{"a name with a dash", one(pet), one(strings.Replace(pet, "pet:", "my-pet:", 1)), 1},
		{"a name that needs quotes", one(strings.Replace(pet, "    type", "    name: \"a: b\"\n    type", 1)), one(pet), 1},
		{"below a parent", one(pet + key), one(pet + strings.TrimSuffix(key, "\n") + "\n    options: {parent: \"${pet}\"}\n"), 1},
		{"from below a parent", one(pet + key + "    options: {parent: \"${pet}\"}\n"), one(pet + key), 1},
		{"a component", one(noName) + app, one(strings.Replace(noName, "app:", "shop:", 1)) + app, 1},
		{"two components", one(noName+"  web: {type: components:App, properties: {size: 5}}\n") + app,
			one("  net: {type: components:App, properties: {size: 5}}\n"+strings.Replace(noName, "app:", "shop:", 1)) + app, 2},
		{"the order too", one(pet + key), one(key + strings.Replace(pet, "pet:", "animal:", 1)), 1},
		{"a name, and a new one beside it", one(pet), one(strings.Replace(pet, "pet:", "animal:", 1) + key), 1},
		{"a name among comments", one("  # the pet\n" + pet + "  # the end\n"),
			one("  # the animal\n" + strings.Replace(pet, "pet:", "animal: # renamed", 1) + "  # the end\n"), 1},
		{"into a component", one(pet + key), one("  app: {type: components:Box}\n") + "components:\n  Box:\n    resources:\n" +
			indentBy(pet+key, "    "), 2},
		{"out of a component", one("  app: {type: components:Box}\n") + "components:\n  Box:\n    resources:\n" +
			indentBy(pet+key, "    "), one(pet + key), 2},
		{"into one with forEach", one("  a: {type: random:RandomPet, properties: {length: 3}}\n  b: {type: random:RandomPet, properties: {length: 4}}\n"),
			one("  pets:\n    forEach: {a: 3, b: 4}\n    type: random:RandomPet\n    properties: {length: \"${each.value}\"}\n"), 1},
		{"into one with forEach, by a part of the name", one("  pet-a-1: {type: random:RandomPet, properties: {length: 3}}\n  pet-b-1: {type: random:RandomPet, properties: {length: 4}}\n"),
			one("  pets:\n    forEach: {a: 3, b: 4, c: 5}\n    type: random:RandomPet\n    properties: {length: \"${each.value}\"}\n"), 1},
		{"out of forEach", one("  pets:\n    forEach: {a: 3, b: 4}\n    type: random:RandomPet\n    properties: {length: \"${each.value}\"}\n"),
			one("  a: {type: random:RandomPet, properties: {length: 3}}\n  b: {type: random:RandomPet, properties: {length: 4}}\n"), 2},
	} {
		t.Run(fmt.Sprintf("%d %s", i, c.name), func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, c.before)
			x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
			require.Zero(t, x.run("run", "--stack", "dev"), x.err.String())
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.after), 0o644))
			require.Zero(t, x.run("preview", "--stack", "dev"), x.err.String())
			require.Contains(t, x.err.String(), "looks like a rename of")
			require.Equal(t, c.aliases, strings.Count(x.err.String(), "looks like a rename of"), x.err.String())
			unchanged, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.after, string(unchanged))

			require.Zero(t, x.run("up", "--yes", "--stack", "dev", "--write-aliases"), x.out.String()+x.err.String())
			written, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.aliases, strings.Count(string(written), "aliases:"), string(written))
			last := x.err.String()[strings.Index(x.err.String(), "written"):]
			require.NotRegexp(t, `random:.* (deleted|replaced)|looks like`, last, string(written))
			require.Zero(t, x.run("preview", "--stack", "dev", "--expect-no-changes"), x.err.String())
		})
	}
}

// indentBy puts prefix before each line.
func indentBy(lines, prefix string) string {
	return prefix + strings.TrimSuffix(strings.ReplaceAll(lines, "\n", "\n"+prefix), prefix)
}

// A resource with other inputs or another type is not reported as a rename, nor is one added beside the old one.
func TestNotRenamed(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]string{
		"other inputs": "name: one\nresources:\n  animal: {type: random:RandomPet, properties: {length: 7}}\n",
		"another type": "name: one\nresources:\n  pet2: {type: random:RandomUuid}\n",
		"nothing gone": "name: one\nresources:\n  pet: {type: random:RandomPet}\n  more: {type: random:RandomPet}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, onePet)
			require.Zero(t, x.run("run", "--stack", "dev"), x.err.String())
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(after), 0o644))
			require.Equal(t, console.CodeOK, x.run("preview", "--stack", "dev", "--write-aliases"), x.err.String())
			require.NotContains(t, x.err.String(), "looks like")
		})
	}
}

// check --aliases reports an alias that every stack has applied, and --fix removes it without a change to any stack.
func TestAliasesThatNoStackNeeds(t *testing.T) {
	t.Parallel()
	const head, tail = "name: one\nruntime: yaml\nresources:\n", "outputs:\n  id: ${pet.id}\n"
	for name, c := range map[string]struct{ before, after, bare string }{
		"block": {"  old: {type: random:RandomPet}\n", "  pet:\n    type: random:RandomPet\n    options:\n      aliases: [old]\n",
			"  pet:\n    type: random:RandomPet\n"},
		"lines": {"  old: {type: random:RandomPet}\n", "  pet:\n    type: random:RandomPet\n    options:\n      aliases:\n" +
			"        - name: old\n      protect: false\n",
			"  pet:\n    type: random:RandomPet\n    options:\n      protect: false\n"},
		"braces": {"  old: {type: random:RandomPet}\n", "  pet: {type: random:RandomPet, options: {aliases: [old], protect: false}}\n",
			"  pet: {type: random:RandomPet, options: {protect: false}}\n"},
		"parent": {"  top: {type: random:RandomUuid}\n  pet: {type: random:RandomPet}\n", "  top: {type: random:RandomUuid}\n  pet:\n" +
			"    type: random:RandomPet\n    options:\n      parent: ${top}\n      aliases: [{noParent: true}]\n",
			"  top: {type: random:RandomUuid}\n  pet:\n    type: random:RandomPet\n    options:\n      parent: ${top}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, head+c.before)
			x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
			for _, stack := range []string{"dev", "prod"} {
				require.Zero(t, x.run("run", "--stack", stack), x.err.String())
			}
			require.Zero(t, x.run("stack", "init", "empty"), x.err.String())
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			require.NoError(t, os.WriteFile(path, []byte(head+c.after+tail), 0o644))
			require.Zero(t, x.run("run", "--stack", "dev"), x.err.String())
			require.Zero(t, x.run("check", "--aliases", "--fix"), x.err.String())
			require.NotContains(t, x.out.String(), "aliases", "prod needs them")
			require.Zero(t, x.run("run", "--stack", "prod"), x.err.String())
			require.Zero(t, x.run("check"), x.err.String())
			require.NotContains(t, x.out.String(), "aliases")
			require.Zero(t, x.run("check", "--aliases"), x.err.String())
			require.Contains(t, x.out.String(), "`pet` no longer needs its aliases")
			require.Contains(t, x.out.String(), "each of the 2 stacks of the project here has it under its present name")
			require.Zero(t, x.run("check", "--aliases", "--fix"), x.err.String())
			fixed, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, head+c.bare+tail, string(fixed))
			for _, stack := range []string{"dev", "prod"} {
				require.Zero(t, x.run("preview", "--stack", stack, "--expect-no-changes"), x.err.String())
			}
		})
	}
}
