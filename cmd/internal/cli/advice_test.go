package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// advisedWorld returns a stack with a protected box and a lid that needs it, and what counts the objects that exist.
func advisedWorld(t *testing.T) (x *terminal, objects func() int) {
	t.Helper()
	x = newTerminal(t, `name: p
runtime: yaml
resources:
  box: {type: drawer:Item, properties: {title: one, kind: k}, options: {protect: true}}
  lid: {type: drawer:Item, properties: {title: "of ${box.tag}", kind: k}}
`)
	d := &drawer.Provider{Dir: t.TempDir()}
	x.world.Embedded = []console.EmbeddedProviders{drawers{d}}
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	return x, func() int {
		all, err := drawer.Objects(d.Dir)
		require.NoError(t, err)
		return len(all)
	}
}

// refused runs a command that must fail, and returns what the first group of a pattern matches in its error.
func refused(t *testing.T, x *terminal, pattern string, args ...string) string {
	t.Helper()
	require.NotEqual(t, 0, x.run(args...), x.out.String())
	said := strings.Join(strings.Fields(x.out.String()+x.err.String()), " ")
	found := regexp.MustCompile(pattern).FindStringSubmatch(said)
	require.NotNil(t, found, said)
	return found[len(found)-1]
}

func rewrite(t *testing.T, x *terminal, former, now string) {
	t.Helper()
	file := filepath.Join(x.world.Dir, "Pulumi.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), former)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), former, now, 1)), 0o644))
}

func does(t *testing.T, x *terminal, args ...string) {
	t.Helper()
	require.Equal(t, 0, x.run(args...), "%v\n%s%s", args, x.out.String(), x.err.String())
}

// The advice of an error, followed literally, leads to what the user wanted, and takes away nothing else.
func TestAdviceIsTried(t *testing.T) {
	t.Parallel()
	const boxURN = "urn:pulumi:dev::p::drawer:index:Item::box"
	for name, try := range map[string]func(*testing.T, *terminal, func() int){
		"destroy of what is protected: unprotect": func(t *testing.T, x *terminal, objects func() int) {
			u := refused(t, x, "use `state unprotect '([^']*)'`", "destroy", "--yes")
			require.Equal(t, boxURN, u)
			require.Equal(t, 2, objects())
			does(t, x, "state", "unprotect", u, "--yes")
			does(t, x, "destroy", "--yes")
			require.Zero(t, objects())
		},
		"destroy of what is protected: the option": func(t *testing.T, x *terminal, objects func() int) {
			refused(t, x, "set the option protect of the resource to false and run `up`", "destroy", "--yes")
			rewrite(t, x, "protect: true", "protect: false")
			does(t, x, "up", "--yes")
			does(t, x, "destroy", "--yes")
			require.Zero(t, objects())
		},
		"replacement of what is protected": func(t *testing.T, x *terminal, objects func() int) {
			rewrite(t, x, "title: one, kind: k", "title: one, kind: other")
			refused(t, x, "set the option protect of the resource to false and run again", "up", "--yes")
			rewrite(t, x, "protect: true", "protect: false")
			does(t, x, "up", "--yes")
			require.Equal(t, 2, objects())
		},
		"stack rm: destroy first": func(t *testing.T, x *terminal, objects func() int) {
			refused(t, x, "destroy them first, or remove the stack with --force and leave them behind", "stack", "rm", "dev", "--yes")
			does(t, x, "state", "unprotect", "--all", "--yes")
			does(t, x, "destroy", "--yes")
			does(t, x, "stack", "rm", "dev", "--yes")
			require.Zero(t, objects())
		},
		"stack rm: leave them behind": func(t *testing.T, x *terminal, objects func() int) {
			refused(t, x, "remove the stack with --force and leave them behind", "stack", "rm", "dev", "--yes")
			does(t, x, "stack", "rm", "dev", "--yes", "--force")
			require.Equal(t, 2, objects())
		},
		"state delete: dependants": func(t *testing.T, x *terminal, objects func() int) {
			does(t, x, "state", "unprotect", "--all", "--yes")
			refused(t, x, "Remove those first, or all at once with (--target-dependents)", "state", "delete", boxURN, "--yes")
			does(t, x, "state", "delete", boxURN, "--yes", "--target-dependents")
			does(t, x, "destroy", "--yes")
			require.Equal(t, 2, objects())
		},
		"import and other values: keep the object": func(t *testing.T, x *terminal, objects func() int) {
			imported(t, x, objects)
			refused(t, x, "or list the properties in (ignoreChanges)", "up", "--yes")
			require.Equal(t, 2, objects())
			rewrite(t, x, "import: ", "ignoreChanges: [kind], import: ")
			does(t, x, "up", "--yes")
			require.Contains(t, x.err.String(), "unchanged")
			does(t, x, "preview", "--expect-no-changes")
			require.Equal(t, 2, objects())
		},
		"import and other values: replace the object": func(t *testing.T, x *terminal, objects func() int) {
			id := imported(t, x, objects)
			refused(t, x, "To replace it, leave out the option `import`", "up", "--yes")
			rewrite(t, x, "import: "+id, "protect: false")
			does(t, x, "up", "--yes")
			require.Contains(t, x.err.String(), "1 replaced")
			require.Equal(t, 2, objects())
		},
		"one alias for two": func(t *testing.T, x *terminal, objects func() int) {
			rewrite(t, x, "  lid:", "  cover:\n    type: drawer:Item\n    properties: {title: c, kind: k}\n"+
				"    options: {aliases: [{name: lid}]}\n  hood:\n    type: drawer:Item\n    properties: {title: h, kind: k}\n"+
				"    options: {aliases: [{name: lid}]}\n  other:")
			refused(t, x, "remove the alias", "up", "--yes")
			require.Equal(t, 2, objects())
			rewrite(t, x, "    options: {aliases: [{name: lid}]}\n", "")
			does(t, x, "up", "--yes", "--skip-preview")
			require.Equal(t, 4, objects())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, objects := advisedWorld(t)
			try(t, x, objects)
		})
	}
}

// imported makes the lid an imported object, whose kind the program then changes, and returns its ID.
func imported(t *testing.T, x *terminal, objects func() int) string {
	t.Helper()
	require.Equal(t, 2, objects())
	does(t, x, "stack", "export")
	id := regexp.MustCompile(`"id": "(lid-[a-z0-9]+)"`).FindStringSubmatch(x.out.String())
	require.NotNil(t, id)
	does(t, x, "state", "delete", "urn:pulumi:dev::p::drawer:index:Item::lid", "--yes")
	rewrite(t, x, "\", kind: k}}", "\", kind: k}, options: {import: "+id[1]+"}}")
	does(t, x, "up", "--yes")
	rewrite(t, x, "\", kind: k}", "\", kind: other}")
	return id[1]
}

// Advice to set configuration names the stack and the file of the command that gives it, so that the command finds what
// was set: whichever command it is, and wherever the value is declared.
func TestAdviceNamesTheStackAndItsFile(t *testing.T) {
	t.Parallel()
	advised := regexp.MustCompile("yamlhost (config set .*)(VALUE|<value>)")
	for _, declared := range []string{"  region: {type: string}\n", "  region: {type: string, secret: true}\n"} {
		for _, command := range []string{"up --yes", "preview", "run", "preview --json", "refresh --yes --run-program",
			"destroy --yes --run-program", "drift", "check"} {
			for _, flags := range []string{" --stack prod", " --stack prod --config-file 'a file.yaml'"} {
				if command == "check" && strings.Contains(flags, "config-file") {
					continue
				}
				x := newTerminal(t, "name: p\nruntime: yaml\nconfig:\n"+declared+"outputs: {all: \"${region}\"}\n")
				x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
				does(t, x, "stack", "init", "prod")
				does(t, x, "stack", "init", "dev")
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "a file.yaml"), []byte("config: {}\n"),
					0o600))
				words, ok := wordsOf("yamlhost " + command + flags)
				require.True(t, ok)
				require.NotZero(t, x.run(words...), "%s%s%s", declared, command, flags)
				said := regexp.MustCompile(`\n +`).ReplaceAllString(x.out.String()+x.err.String(), " ")
				found := advised.FindStringSubmatch(said)
				require.NotNil(t, found, "%s%s: %s", command, flags, said)
				setting, ok := wordsOf("yamlhost " + strings.ReplaceAll(found[1], `\"`, `"`) + "eu")
				require.True(t, ok)
				does(t, x, setting...)
				does(t, x, words...)
			}
		}
	}
}

// A settings file that a flag names and that is missing is reported, and the advice writes it; under the name pulumi it
// is an empty one, as for the Pulumi CLI.
func TestAdviceAboutAMissingSettingsFile(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: p\nruntime: yaml\nconfig:\n  region: {type: string, default: us}\n"+
		"outputs: {all: \"${region}\"}\n")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	does(t, x, "stack", "init", "dev")
	for _, command := range []string{"preview", "up", "refresh", "destroy", "drift", "run"} {
		words := refused(t, x, "--config-file other.yaml: .* written by: yamlhost (.*) KEY VALUE", command,
			"--config-file", "other.yaml")
		require.Equal(t, "config set --config-file other.yaml", words)
	}
	x.world.AsPulumi = true
	does(t, x, "preview", "--config-file", "other.yaml")
	x.world.AsPulumi = false
	does(t, x, "preview", "--config-file", "third.yaml", "-c", "region=eu") // which writes it
	does(t, x, "config", "set", "--config-file", "other.yaml", "region", "eu")
	does(t, x, "up", "--yes", "--config-file", "other.yaml")
	does(t, x, "stack", "output", "all")
	require.Equal(t, "eu\n", x.out.String())
}

// A disk that is full from any write of an operation on: what the operation says last, followed literally, leads to what
// the user wanted, and every object exists once.
func TestAdviceAboutFullDisks(t *testing.T) {
	t.Parallel()
	restored := 0
	for left := range 40 {
		x, objects := advisedWorld(t)
		rewrite(t, x, "  lid:", "  a: {type: drawer:Item, properties: {title: a, kind: k}}\n"+
			"  b: {type: drawer:Item, properties: {title: \"of ${a.tag}\", kind: k}}\n  lid:")
		var writes atomic.Int64
		var full atomic.Bool
		full.Store(true)
		x.world.Disk = disktest.Faulty(disk.Real{}, func(do, path string, done bool) error {
			if !done && do == "write" && full.Load() && writes.Add(1) > int64(left) {
				return syscall.ENOSPC
			}
			return nil
		})
		code := x.run("up", "--yes", "--skip-preview")
		said := strings.Join(strings.Fields(x.out.String()+x.err.String()), " ")
		full.Store(false)
		if code == 0 {
			require.Greater(t, left, 5)
			require.Equal(t, 4, objects())
			break
		}
		require.Contains(t, said, "make room there", left)
		if _, file, found := strings.Cut(said, "before you run anything else: yamlhost stack import --file "); found {
			require.NotRegexp(t, "run [^.]*again", said, left)
			file, _, _ = strings.Cut(file, " ")
			does(t, x, "stack", "import", "--file", file)
			restored++
		}
		does(t, x, "up", "--yes", "--skip-preview")
		require.Equal(t, 4, objects(), left)
		does(t, x, "state", "unprotect", "--all", "--yes")
		does(t, x, "destroy", "--yes")
		require.Zero(t, objects(), left)
	}
	require.Positive(t, restored)
}
