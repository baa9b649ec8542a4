//go:build unix

package cli

import (
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempt is a use of something that a text of a project may or may not reach.
type attempt struct {
	column string // of the tables of docs/security.md
	thing  string
	// The expressions with which a program and an environment try it; empty if the language has none. OUTSIDE is a folder
	// beside the project, SERVER a server of this machine and PORT its port.
	program, environment string
}

// attempts are tried by each author at each level.
var attempts = []attempt{
	{"Reads", "its folder", "{fn::readFile: ./own}", ""},
	{"Reads", "a named file", "{fn::readFile: OUTSIDE/canary}", "{fn::open::file: {path: OUTSIDE/canary}}"},
	{"Reads", "a relative path", "{fn::readFile: ../outside/canary}", "{fn::open::file: {path: ../outside/canary}}"},
	{"Reads", "a link", "{fn::readFile: ./link}", "{fn::open::file: {path: link}}"},
	{"Reads", "a computed path", "{fn::readFile: {fn::join: ['', [OUTSIDE, /canary]]}}", ""},
	{"Reads", "the process", "{fn::readFile: /proc/self/environ}", "{fn::open::file: {path: /proc/self/environ}}"},
	{"Reads", "a listed variable", "{fn::env: CANARY}", "{fn::open::env: {name: CANARY}}"},
	{"Reads", "another variable", "{fn::env: OTHER_CANARY}", "{fn::open::env: {name: OTHER_CANARY}}"},
	{"Reads", "another stack", "{fn::stackReference: [organization/one/prod, a]}",
		"{fn::open::pulumi-stacks: {stacks: {k: {stack: one/prod}}}}"},
	{"Writes", "a file elsewhere", commandExpression("echo > OUTSIDE/mark"),
		"{fn::open::command: {command: [sh, -c, 'echo > OUTSIDE/mark']}}"},
	{"Runs", "a command", commandExpression("touch OUTSIDE/mark"),
		"{fn::open::command: {command: [touch, OUTSIDE/mark]}}"},
	{"Connects to", "this machine",
		"{fn::invoke: {function: 'tls:getCertificate', arguments: {url: 'SERVER'}, return: id}}",
		"{fn::open::command: {command: [bash, -c, 'exec 3<>/dev/tcp/127.0.0.1/PORT']}}"},
}

func commandExpression(command string) string {
	return "{fn::invoke: {function: 'command:local:run', arguments: {command: '" + command + "'}, return: stdout}}"
}

// grants are the words of the columns of the tables of docs/security.md, with what each lets through.
var grants = map[string]map[string][]string{
	"Reads": {"any file": {"its folder", "a named file", "a relative path", "a link", "a computed path"},
		"its folder": {"its folder"}, "named files": {"a named file"}, "listed variables": {"a listed variable"},
		"any variable": {"a listed variable", "another variable"}, "other stacks": {"another stack"}, "nothing": {}},
	"Writes": {"any file by commands": {"a file elsewhere"}, "nothing": {}},
	"Runs":   {"commands": {"a command"}, "nothing": {}},
	"Connects to": {"any address": {"this machine"}, "any address by commands": {"this machine"}, "public addresses": {},
		"nothing": {}},
}

// authors are the rows of the tables of docs/security.md: texts of a project. Each writes an expression into a project,
// in which the output t shows its value.
var authors = map[string]func(a attempt) map[string]string{
	"A program": func(a attempt) map[string]string {
		return map[string]string{"Pulumi.yaml": attemptProject + "outputs:\n  t: " + a.program + "\n"}
	},
	"A file that it includes": func(a attempt) map[string]string {
		return map[string]string{"Pulumi.yaml": attemptProject + "include: [part.yaml]\noutputs: {t: '${t}'}\n",
			"part.yaml": "variables:\n  t: " + a.program + "\n"}
	},
	"A package of components by path": func(a attempt) map[string]string {
		return map[string]string{
			"Pulumi.yaml": attemptProject + "packages: {lib: ./lib}\nresources:\n  c: {type: lib:C}\n" +
				"outputs: {t: '${c.t}'}\n",
			"lib/PulumiPlugin.yaml": "name: lib\nruntime: yaml\ncomponents:\n  C:\n    outputs:\n      t: " + a.program + "\n"}
	},
	"A policy pack in YAML": func(a attempt) map[string]string {
		return map[string]string{"Pulumi.yaml": onePet + "policyPacks: [./pack]\n", "pack/own": attemptCanary,
			"pack/PulumiPolicy.yaml": "name: p\nversion: 1.0.0\nruntime: yaml\npulumi: {allowEnv: [CANARY]}\nvariables:\n" +
				"  t: " + a.program + "\npolicies:\n  x: {description: d, enforcement: advisory, violation: '${t}'}\n"}
	},
	"An environment": func(a attempt) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nconfig: {c: {default: none}}\noutputs: {t: '${c}'}\n",
			"Pulumi.dev.yaml":     "environment: [z]\n",
			"environments/z.yaml": "values:\n  pulumiConfig:\n    c: {fn::toJSON: " + a.environment + "}\n"}
	},
}

const (
	attemptProject = "name: one\npulumi: {allowEnv: [CANARY]}\n"
	attemptCanary  = "the-canary-sings"
)

// trial is an author, and a command with the author's project.
type trial struct {
	author string
	args   []string
}

// headings are those of the tables of docs/security.md, each with its rows and their trials.
func headings() map[string]map[string][]trial {
	all := map[string]map[string][]trial{"Commands that run nothing": {}}
	for heading, flags := range map[string][]string{"Trusted": nil, "With `--restrict-paths`": {"--restrict-paths"},
		"With `--untrusted`": {"--untrusted"}} {
		all[heading] = map[string][]trial{}
		for author := range authors {
			all[heading][author] = []trial{{author, append([]string{"up", "--yes", "--skip-preview", "-s", "dev"}, flags...)}}
		}
	}
	for _, args := range [][]string{{"check"}, {"fmt"}, {"schema", "--json-schema"}, {"env", "get"}, {"lsp"}, {"mcp"},
		{"test"}} {
		var trials []trial
		for author := range authors {
			trials = append(trials, trial{author, args})
		}
		all["Commands that run nothing"]["`"+strings.Join(args, " ")+"`"] = trials
	}
	return all
}

// TestLevels compares the tables of docs/security.md, of who may read, write, run and connect at each level of trust,
// with what happens: each author tries each thing, and succeeds exactly if a cell of the page grants it.
func TestLevels(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "security.md"))
	require.NoError(t, err)
	for heading, rows := range headings() {
		_, section, found := strings.Cut(string(page), "\n### "+heading+"\n")
		require.True(t, found, heading)
		section, _, _ = strings.Cut(section, "\n#")
		var header []string
		for line := range strings.Lines(section) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			switch {
			case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--"):
				continue
			case header == nil:
				header = cells
				require.ElementsMatch(t, slices.Collect(maps.Keys(grants)), header[1:])
				continue
			}
			trials := rows[cells[0]]
			require.NotEmpty(t, trials, "the row %s of %s, or its second one", cells[0], heading)
			delete(rows, cells[0])
			for i, cell := range cells[1:] {
				column := header[i+1]
				var allowed []string
				for word := range strings.SplitSeq(cell, ", ") {
					things, known := grants[column][word]
					require.True(t, known, word)
					allowed = append(allowed, things...)
				}
				for _, trial := range trials {
					tryAll(t, trial, column, cell, allowed)
				}
			}
		}
		require.Empty(t, rows, "rows that are missing in %s", heading)
	}
}

// tryAll lets an author make the attempts of a column, and expects that those that are allowed succeed.
func tryAll(t *testing.T, trial trial, column, cell string, allowed []string) {
	t.Helper()
	for i, a := range attempts {
		others := slices.Index(slices.Sorted(maps.Keys(authors)), trial.author) != (i+len(trial.args[0]))%len(authors)
		if trial.args[0] != "up" && trial.args[0] != "test" && others && !*allWalls {
			continue // commands that run nothing have one author for each attempt
		}
		if a.column != column || trial.author == "An environment" && a.environment == "" {
			continue
		}
		want := slices.Contains(allowed, a.thing)
		if trial.args[0] == "test" && (trial.author == "An environment" || trial.author == "A policy pack in YAML") {
			want = false // a test uses neither
		}
		t.Run(strings.Join(trial.args, " ")+"/"+trial.author+"/"+a.column+" "+a.thing, func(t *testing.T) {
			t.Parallel()
			reached, said := try(t, a, authors[trial.author], trial.args)
			require.Equal(t, want, reached, said)
			if trial.args[0] == "up" {
				require.Equal(t, cell == "public addresses", strings.Contains(said, "is not a public address"), said)
			}
		})
	}
}

// try runs a project in which an author attempts something, and reports whether it was reached.
func try(t *testing.T, a attempt, write func(attempt) map[string]string, args []string) (reached bool, said string) {
	t.Helper()
	x := newTerminal(t, "name: one\noutputs: {a: 1}\n")
	x.world.Env = append(x.world.Env, "CANARY="+attemptCanary, "OTHER_CANARY="+attemptCanary, "PATH="+os.Getenv("PATH"),
		"PULUMI_CONFIG_PASSPHRASE=word")
	require.Equal(t, 0, x.run("stack", "init", "dev", "--no-select"), x.err.String())
	if a.thing == "another stack" {
		lay(t, x, map[string]string{"Pulumi.yaml": "name: one\noutputs: {a: " + attemptCanary + "}\n"}, nil)
		require.Equal(t, 0, x.run("stack", "init", "prod", "--no-select"), x.err.String())
		require.Equal(t, 0, x.run("up", "--yes", "--skip-preview", "-s", "prod"), x.err.String())
	}
	var calls atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			calls.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	outside := filepath.Join(filepath.Dir(x.world.Dir), "outside")
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	fill := strings.NewReplacer("OUTSIDE", outside, "SERVER", server.URL, "PORT", port)
	a.program, a.environment = fill.Replace(a.program), fill.Replace(a.environment)
	lay(t, x, map[string]string{"../outside/canary": attemptCanary, "own": attemptCanary},
		map[string]string{"link": "../outside/canary", "pack/link": "../../outside/canary"})
	lay(t, x, map[string]string{"one.test.yaml": "cases: {c: {expect: {outputs: {t: x}}}}\n"}, nil)
	lay(t, x, write(a), nil)
	switch args[0] {
	case "lsp":
		said = editing(x, filepath.Join(x.world.Dir, "Pulumi.yaml"))
	case "mcp":
		for _, answer := range conversation(t, x, nil, calling("check", "check", `{}`),
			calling("graph", "graph", `{"file":"Pulumi.yaml"}`)) {
			said += answer.line
		}
	case "env":
		args = append(args[:len(args):len(args)], "z")
		fallthrough
	default:
		x.run(args...)
		said = x.out.String() + x.err.String()
	}
	require.NotContains(t, said, "internal error")
	require.Equal(t, 0, x.run("stack", "output", "--show-secrets", "-s", "dev"), x.err.String())
	_, err = os.Stat(filepath.Join(outside, "mark"))
	return strings.Contains(said+x.out.String(), attemptCanary) || err == nil || calls.Load() > 0, said
}
