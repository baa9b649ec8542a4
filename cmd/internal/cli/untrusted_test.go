package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// markedDrawer installs the drawer as a plugin in dir. starts returns how often it has been started.
func markedDrawer(t *testing.T, dir string) (starts func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script for a shell")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	link, mark := filepath.Join(t.TempDir(), "pulumi-resource-drawer"), filepath.Join(t.TempDir(), "mark")
	require.NoError(t, os.Symlink(self, link))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := fmt.Sprintf("#!/bin/sh\necho started >> %q\nexec %q \"$@\"\n", mark, link)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-resource-drawer"), []byte(script), 0o755))
	return func() int {
		text, err := os.ReadFile(mark)
		if os.IsNotExist(err) {
			return 0
		}
		require.NoError(t, err)
		return strings.Count(string(text), "\n")
	}
}

// With --untrusted, a command that runs a program starts nothing that the project brings, reads no file outside it and
// connects to no other service; each refusal gives the reason (D13).
func TestUntrusted(t *testing.T) {
	t.Parallel()
	const drawer = "name: one\nresources:\n  a: {type: drawer:Item, properties: {title: t, kind: k}, options: {version: " +
		"1.0.0}}\n"
	lock := `{"version": 1, "plugins": [{"name": "drawer", "version": "1.0.0", "checksums": {"` + install.Platform() +
		`": "` + strings.Repeat("0", 64) + `"}}]}`
	for name, c := range map[string]struct {
		program string
		files   map[string]string // further files of the project
		links   map[string]string
		plugin  string // where the drawer is: "home", "path" or a folder in the project
		env     []string
		flags   []string
		want    string // part of the output; empty if the run succeeds
		stack   string // another stack of the project
		trusted bool   // a trusted run succeeds
		starts  bool   // the plugin is started
	}{
		"a sound program": {program: "name: one\nresources:\n  pet: {type: random:RandomPet}\nvariables: {t: " +
			"{fn::readFile: own}}\noutputs: {t: '${t}'}\n",
			files: map[string]string{"own": "text"}},
		"a command": {program: "name: one\nresources:\n  c: {type: command:local:Command, properties: {create: touch mark}}\n", want: "the package command runs commands", trusted: true},
		"a called command": {program: "name: one\nvariables:\n  c:\n    fn::invoke: {function: 'command:local:run', " +
			"arguments: {command: touch mark}, return: stdout}\noutputs: {c: '${c}'}\n",
			want: "the package command runs commands", trusted: true},
		"a hook": {program: "name: one\nhooks: {h: {command: [touch, mark]}}\nresources:\n  pet: {type: random:RandomPet, " +
			"options: {hooks: {beforeCreate: [h]}}}\n",
			want: "starts no command", trusted: true},
		"a compiler": {program: "name: one\nruntime: {name: yaml, options: {compiler: touch mark}}\n",
			want: "is not started here"},
		"a dynamic type": {program: "name: one\ndynamic:\n  types: {'own:Thing': {source: ./thing.js}}\nresources:\n  a: " +
			"{type: 'own:Thing'}\n",
			files: map[string]string{"thing.js": "require('fs').writeFileSync('mark', '')\nexports.create = () => ({id: '1', " +
				"outputs: {}})\n"}, want: "untrusted"},
		"a plugin of the project": {program: drawer + "plugins: {providers: [{name: drawer, path: ./bin}]}\n", plugin: "bin",
			want: "is not started here"},
		"a plugin of a package": {program: strings.ReplaceAll(drawer, ", options: {version: 1.0.0}", "") +
			"packages: {drawer: ./bin}\n", plugin: "bin", want: "is not started here"},
		"a plugin from PATH":  {program: drawer, plugin: "path", want: "no provider for package drawer"},
		"an installed plugin": {program: drawer, plugin: "home", want: "is not in yamlhost.lock.json"},
		"a locked one": {program: drawer, plugin: "home", files: map[string]string{install.LockName: lock},
			starts: true},
		"a download": {program: drawer, want: "because --untrusted forbids that"},
		"a file elsewhere": {program: "name: one\noutputs: {t: {fn::readFile: /etc/hostname}}\n",
			want: "outside of the project", trusted: true},
		"a link to elsewhere": {program: "name: one\noutputs: {t: {fn::readFile: link}}\n",
			links: map[string]string{"link": "/etc/hostname"}, want: "outside of the project", trusted: true},
		"by a function of std": {program: "name: one\nvariables: {t: {fn::invoke: {function: 'std:file', arguments: " +
			"{input: /etc/hostname}, return: result}}}\noutputs: {t: '${t}'}\n",
			want: "outside of the project", trusted: true},
		"whether a file is there": {program: "name: one\nvariables: {t: {fn::invoke: {function: 'std:fileexists', " +
			"arguments: {input: /etc/hostname}, return: result}}}\noutputs: {t: '${t}'}\n",
			want: "outside of the project", trusted: true},
		"a certificate of this machine": {program: "name: one\nvariables: {t: {fn::invoke: {function: " +
			"'tls:getCertificate', arguments: {url: 'https://127.0.0.1:1'}}}}\noutputs: {t: '${t.id}'}\n",
			want: "is not a public address"},
		"the home folder": {program: "name: one\nvariables: {t: {fn::invoke: {function: 'std:pathexpand', arguments: " +
			"{input: '~/x'}, return: result}}}\noutputs: {t: '${t}'}\n", want: "not known where the home folder is"},
		"an included file": {program: "name: one\ninclude: [part.yaml]\n",
			links: map[string]string{"part.yaml": "/etc/hostname"}, want: "part.yaml may not be read"},
		"a program elsewhere": {program: "name: one\nmain: /etc\n", want: "may not be read"},
		"a package elsewhere": {program: "name: one\npackages: {p: ../..}\noutputs: {a: 1}\n",
			want: "outside of the project"},
		"settings elsewhere": {program: "name: one\noutputs: {a: 1}\n",
			links: map[string]string{"Pulumi.dev.yaml": "/etc/hostname"}, want: "Pulumi.dev.yaml may not be read"},
		"the environment": {program: "name: one\npulumi: {publicEnv: [SECRET]}\noutputs: {t: {fn::env: SECRET}}\n",
			env: []string{"SECRET=canary"}, want: "may read no environment variable", trusted: true},
		"steps": {program: "name: one\noutputs: {t: '${[for i in range(1000000) : i + 1]}'}\n",
			want: "takes more than 2000000 steps", trusted: true},
		"a backend": {program: "name: one\nbackend: {url: 'file://.'}\noutputs: {a: 1}\n",
			want: "set PULUMI_BACKEND_URL"},
		"another stack": {program: "name: one\nresources:\n  r: {type: pulumi:pulumi:StackReference, properties: {name: prod}}\n" +
			"outputs: {a: '${r.outputs}'}\n", want: "may not read the outputs of the stack organization/one/prod", stack: "prod"},
		"another stack by its name": {program: "name: one\nresources:\n  organization/one/prod: {type: " +
			"pulumi:pulumi:StackReference}\n", want: "may not read the outputs of the stack organization/one/prod",
			stack: "prod"},
		"another stack by its ID": {program: "name: one\nresources:\n  r: {type: pulumi:pulumi:StackReference, get: {id: " +
			"prod}}\n", want: "may not read the outputs of the stack organization/one/prod", stack: "prod"},
		"another stack by a file": {program: "name: one\nresources:\n  r: {type: pulumi:pulumi:StackReference, properties: " +
			"{name: {fn::readFile: own}}}\n", files: map[string]string{"own": "prod"}, stack: "prod",
			want: "may not read the outputs of the stack organization/one/prod"},
		"another stack by a function": {program: "name: one\noutputs: {a: {fn::stackReference: [organization/one/prod, " +
			"b]}}\n", want: "may not read the outputs of the stack organization/one/prod", stack: "prod"},
		"another stack that is allowed": {program: "name: one\nresources:\n  r: {type: pulumi:pulumi:StackReference, " +
			"properties: {name: prod}}\noutputs: {a: '${r.outputs.b}'}\n", stack: "prod",
			flags: []string{"--allow-stack", "organization/one/prod"}},
		"two flags that differ": {program: "name: one\noutputs: {a: 1}\n", flags: []string{"--allow-env"},
			want: "cannot be used together"},
	} {
		for _, command := range [][]string{{"run"}, {"preview", "-s", "dev"}, {"up", "--yes", "-s", "dev"}} {
			t.Run(name+"/"+command[0], func(t *testing.T) {
				t.Parallel()
				x := newTerminal(t, c.program)
				for path, text := range c.files {
					require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, path), []byte(text), 0o600))
				}
				if command[0] != "run" {
					require.Equal(t, 0, x.run("stack", "init", "dev", "--no-select"), x.err.String())
				}
				if c.stack != "" {
					makeStack(t, x, c.stack)
				}
				for path, target := range c.links {
					require.NoError(t, os.Symlink(target, filepath.Join(x.world.Dir, path)))
				}
				x.world.Env = append(x.world.Env, "DRAWER="+t.TempDir(), "HOME="+x.world.Home)
				x.world.Env = append(x.world.Env, c.env...)
				starts := func() int { return 0 }
				switch c.plugin {
				case "":
				case "home":
					starts = markedDrawer(t, filepath.Join(x.world.Home, ".pulumi", "plugins", "resource-drawer-v1.0.0"))
				case "path":
					dir := t.TempDir()
					starts = markedDrawer(t, dir)
					x.world.Env = append(x.world.Env, "PATH="+dir)
				default:
					starts = markedDrawer(t, filepath.Join(x.world.Dir, c.plugin))
				}
				if name == "a backend" {
					x.world.Env = x.world.Env[1:]
				}
				code := x.run(append(append(command, "--untrusted"), c.flags...)...)
				said := x.err.String() + x.out.String()
				require.NoFileExists(t, filepath.Join(x.world.Dir, "mark"), said)
				require.NotContains(t, said, "canary")
				require.Equal(t, c.starts, starts() > 0, said)
				if c.want == "" {
					require.Equal(t, 0, code, said)
					return
				}
				require.NotEqual(t, 0, code, said)
				require.Contains(t, said, c.want)
			})
		}
		if c.trusted && runtime.GOOS != "windows" {
			t.Run(name+"/trusted", func(t *testing.T) {
				t.Parallel()
				if _, err := os.Stat("/etc/hostname"); err != nil {
					t.Skip("there is no /etc/hostname")
				}
				x := newTerminal(t, c.program)
				for path, target := range c.links {
					require.NoError(t, os.Symlink(target, filepath.Join(x.world.Dir, path)))
				}
				x.world.Env = append(x.world.Env, append(c.env, "PATH="+os.Getenv("PATH"))...)
				require.Equal(t, 0, x.run("run"), x.err.String())
			})
		}
	}
}

// makeStack makes a stack of the project with an output that holds a canary.
func makeStack(t *testing.T, x *terminal, name string) {
	t.Helper()
	path := filepath.Join(x.world.Dir, "Pulumi.yaml")
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("name: one\noutputs: {a: canary, b: sound}\n"), 0o600))
	require.Equal(t, 0, x.run("stack", "init", name, "--no-select"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "-s", name), x.err.String())
	require.NoError(t, os.WriteFile(path, program, 0o600))
}

// check --untrusted reports each stack that a run may not read, at the position of its name, if the program spells out
// the name.
func TestUntrustedStacksAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ program, place string }{
		"a reference": {"name: one\nresources:\n  r:\n    type: pulumi:pulumi:StackReference\n    properties: {name: prod}\n",
			"Pulumi.yaml:5:24:"},
		"by a variable": {"name: one\nvariables: {v: prod}\nresources:\n  r:\n    type: pulumi:pulumi:StackReference\n" +
			"    properties: {name: '${v}'}\n", "Pulumi.yaml:6:"},
		"by its name": {"name: one\nresources:\n  prod: {type: pulumi:pulumi:StackReference}\n", "Pulumi.yaml:3:3:"},
		"by its ID": {"name: one\nresources:\n  r: {type: pulumi:pulumi:StackReference, get: {id: prod}}\n",
			"Pulumi.yaml:3:53:"},
		"by a function": {"name: one\noutputs:\n  a:\n    fn::stackReference: [organization/one/prod, a]\n",
			"Pulumi.yaml:4:26:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, c.program)
			require.Equal(t, 0, x.run("check"), x.out.String())
			require.Equal(t, 12, x.run("check", "--untrusted"), x.out.String())
			require.Contains(t, x.out.String(), c.place)
			require.Contains(t, x.out.String(), "may not read the outputs of the stack organization/one/prod")
			require.Contains(t, x.out.String(), "--allow-stack organization/one/prod")
			require.Contains(t, x.out.String(), "1 error,")
			require.Equal(t, 0, x.run("check", "--untrusted", "--allow-stack", "prod"), x.out.String())
			require.Equal(t, 0, x.run("check", "--untrusted", "-s", "prod"), x.out.String(), "its own")
		})
	}
}

// With --untrusted, commands do not contact a key service that settings in the project choose, and check contacts none
// at all (D13): a request uses the credentials of the user. Settings from elsewhere belong to the user.
func TestUntrustedKeyService(t *testing.T) {
	t.Parallel()
	const program = "name: one\nconfig:\n  word: {type: string}\noutputs: {w: '${word}'}\n"
	const settings = "secretsprovider: hashivault://key\nencryptedkey: YWJj\nconfig:\n  one:word: {secure: 'v1:AAAA:AAAA'}\n"
	setUp := func(t *testing.T) (x *terminal, asked *atomic.Int32) {
		t.Helper()
		asked = &atomic.Int32{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusTeapot)
		}))
		t.Cleanup(server.Close)
		x = newTerminal(t, program)
		require.Equal(t, 0, x.run("stack", "init", "dev", "--no-select"), x.err.String())
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"), []byte(settings), 0o600))
		x.world.Env = append(x.world.Env, "VAULT_ADDR="+server.URL, "VAULT_TOKEN=canary")
		return x, asked
	}
	for _, command := range [][]string{{"run", "-s", "dev"}, {"preview", "-s", "dev"}, {"up", "--yes", "-s", "dev"},
		{"refresh", "--yes", "-s", "dev"}, {"destroy", "--yes", "-s", "dev"},
		{"preview", "-s", "dev", "--config-file", "Pulumi.dev.yaml"},
		{"preview", "-s", "dev", "-c", "other=1"}} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			t.Parallel()
			x, asked := setUp(t)
			require.NotEqual(t, 0, x.run(append(command, "--untrusted")...))
			require.Contains(t, x.err.String(), "Pulumi.dev.yaml:1:18:")
			require.Contains(t, x.err.String(), "an untrusted project may not choose the key service:")
			require.Equal(t, 1, strings.Count(x.err.String(), "error"), x.err.String())
			require.Zero(t, asked.Load())
			require.NotEqual(t, 0, x.run(command...), "the server has no key")
			require.NotZero(t, asked.Load(), "a trusted run asks")
		})
	}
	t.Run("settings from elsewhere", func(t *testing.T) {
		t.Parallel()
		x, asked := setUp(t)
		elsewhere := filepath.Join(t.TempDir(), "settings.yaml")
		require.NoError(t, os.WriteFile(elsewhere, []byte(settings), 0o600))
		require.NotEqual(t, 0, x.run("preview", "-s", "dev", "--untrusted", "--config-file", elsewhere))
		require.NotZero(t, asked.Load(), x.err.String())
	})
	t.Run("check", func(t *testing.T) {
		t.Parallel()
		x, asked := setUp(t)
		for _, flags := range [][]string{{"check", "-s", "dev"}, {"check", "-s", "dev", "--untrusted"}} {
			require.Equal(t, 0, x.run(flags...), x.out.String()+x.err.String())
		}
		require.Zero(t, asked.Load())
	})
}

// Commands that only inspect a program start no plugin in the project, even if PATH leads there. They start a plugin of
// the user once, for its schema.
func TestCarefulPlugins(t *testing.T) {
	t.Parallel()
	const program = "name: one\nresources:\n  a: {type: drawer:Item, properties: {title: t, kind: k}}\n"
	for name, c := range map[string]struct {
		path   func(project, elsewhere string) string
		starts int
	}{
		"the user's":           {func(_, elsewhere string) string { return elsewhere }, 1},
		"in the project":       {func(project, _ string) string { return filepath.Join(project, "bin") }, 0},
		"by a relative folder": {func(string, string) string { return "bin" }, 0},
		"the working folder":   {func(string, string) string { return "." }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, program)
			elsewhere := t.TempDir()
			dir := c.path(x.world.Dir, elsewhere)
			path := dir
			if !filepath.IsAbs(path) {
				path = filepath.Join(x.world.Dir, dir)
			}
			starts := markedDrawer(t, path)
			x.world.Env = append(x.world.Env, "PATH="+dir+":/bin:/usr/bin", "DRAWER="+t.TempDir(), "HOME="+x.world.Home)
			for range 3 {
				code := x.run("check")
				require.Equal(t, c.starts == 0, code != 0, x.out.String()+x.err.String())
				if c.starts == 0 {
					require.Contains(t, x.out.String(), "install it with: yamlhost plugin install resource drawer")
				}
			}
			require.Equal(t, 0, x.run("fmt", "--check"), x.err.String())
			require.Equal(t, c.starts, starts())
			if c.starts > 0 { // a changed plugin is started again
				markedAgain := markedDrawer(t, path)
				require.Equal(t, 0, x.run("check"), x.out.String())
				require.Equal(t, 1, markedAgain())
			}
		})
	}
}
