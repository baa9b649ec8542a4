//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostileFiles are the files of a project that yamlhost opens, each with its content and with what the project file and the
// settings have to say so that it is opened.
var hostileFiles = map[string]struct{ text, project, settings string }{
	"Pulumi.yaml":                {text: "name: one\n"},
	"Pulumi.dev.yaml":            {text: "config: {one:a: b}\n"},
	"part.yaml":                  {text: "variables: {v: 1}\n", project: "include: [part.yaml]\n"},
	"prog/Main.yaml":             {text: "outputs: {a: 1}\n", project: "main: prog\n"},
	"data.txt":                   {text: "text", project: "outputs: {d: '${readFile(\"./data.txt\")}'}\n"},
	"asset/a.txt":                {text: "text", project: "variables: {d: {fn::fileAsset: ./asset/a.txt}}\noutputs: {d: '${d}'}\n"},
	"environments/z.yaml":        {text: "values: {pulumiConfig: {a: b}}\n", settings: "environment: [z]\n"},
	"environments/y.yaml":        {text: "imports: [z]\n", settings: "environment: [y]\n"},
	"pack/PulumiPolicy.yaml":     {text: "name: p\nversion: 1.0.0\nruntime: yaml\npolicies: {}\n", project: "policyPacks: [./pack]\n"},
	"jspack/PulumiPolicy.yaml":   {text: scriptedPack, project: "policyPacks: [./jspack]\n"},
	"jspack/index.js":            {text: "exports.x = 1\n", project: "policyPacks: [./jspack]\n"},
	"jspack/package.json":        {text: "{}", project: "policyPacks: [./jspack]\n"},
	"crds/x.yaml":                {text: "a: b\n", project: "crds: ['crds/*.yaml']\n"},
	"lib/PulumiPlugin.yaml":      {text: "name: lib\nruntime: yaml\ncomponents: {}\n", project: "packages: {lib: ./lib}\n"},
	"lib/more.yaml":              {text: "components: {}\n", project: "packages: {lib: ./lib}\n"},
	"sdks/p/p-1.0.0.yaml":        {text: "packageDeclarationVersion: 1\nname: p\nversion: 1.0.0\n"},
	"yamlhost.lock.json":         {text: "{}"},
	"one.test.yaml":              {text: "cases: {}\n"},
	"templates/t/template.yaml":  {text: "Resources: {}\n"},
	"templates/t.template":       {text: "Resources: {}\n"},
	"one.test.snapshot.json":     {text: "{}"},
	"templates/t/z/nested.json":  {text: "{}"},
	"packages/other/Pulumi.yaml": {text: "name: other\n"},
}

// scriptedPack is the file of a policy pack that is a program in JavaScript.
const scriptedPack = "name: p\nruntime: nodejs\n"

// packRunner puts a program for packs in JavaScript on the path of a terminal, which fails. started reports whether it
// was started for the pack in a folder.
func packRunner(t testing.TB, x *terminal) (started func(dir string) bool) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pulumi-analyzer-policy"),
		[]byte("#!/bin/sh\n: > \"$2/started\"\nexit 1\n"), 0o755))
	x.world.Env = append(x.world.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	return func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "started"))
		return err == nil
	}
}

// A policy pack that is a program is started by operations, but not for an untrusted project, nor by commands that
// start nothing.
func TestPacksInJavaScript(t *testing.T) {
	t.Parallel()
	for command, starts := range map[string]bool{"preview -s dev": true, "preview -s dev --restrict-paths": true,
		"preview -s dev --untrusted": false, "check": false, "check --untrusted": false, "check jspack": false, "fmt": false,
		"test": false, "lsp": false, "ui": false} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, onePet)
			started := packRunner(t, x)
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			lay(t, x, map[string]string{"Pulumi.yaml": onePet + "policyPacks: [./jspack]\n", "jspack/index.js": "throw 1\n",
				"jspack/PulumiPolicy.yaml": scriptedPack}, nil)
			switch command {
			case "lsp":
				editing(x, filepath.Join(x.world.Dir, "jspack", "PulumiPolicy.yaml"))
			case "ui":
				browsing(t, x)
			default:
				x.run(strings.Fields(command)...)
			}
			require.Equal(t, starts, started(filepath.Join(x.world.Dir, "jspack")), x.out.String()+x.err.String())
		})
	}
}

// hostileLinks make something else of a file of a project. outside is a folder beside the project.
var hostileLinks = map[string]func(path, outside string) error{
	"a relative link": func(path, outside string) error {
		target, err := filepath.Rel(filepath.Dir(path), filepath.Join(outside, "canary"))
		if err != nil {
			return err
		}
		return os.Symlink(target, path)
	},
	"an absolute link": func(path, outside string) error { return os.Symlink(filepath.Join(outside, "canary"), path) },
	"a chain of links": func(path, outside string) error {
		if err := os.Symlink(filepath.Join(outside, "canary"), path+".next"); err != nil {
			return err
		}
		return os.Symlink(filepath.Base(path)+".next", path)
	},
	"a linked folder": func(path, outside string) error {
		dir := filepath.Dir(path)
		if _, err := os.Lstat(filepath.Join(dir, "home")); err == nil || strings.HasSuffix(dir, "project") {
			return os.Symlink(outside, path)
		}
		copied := filepath.Join(outside, "canary-"+filepath.Base(path))
		if err := os.Mkdir(copied, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(copied, filepath.Base(path)), []byte(canaryText), 0o600); err != nil {
			return err
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
		return os.Symlink(copied, dir)
	},
	"a device":  func(path, _ string) error { return os.Symlink("/dev/zero", path) },
	"a process": func(path, _ string) error { return os.Symlink("/proc/self/environ", path) },
	"a pipe":    func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"itself":    func(path, _ string) error { return os.Symlink(filepath.Base(path), path) },
}

// canaryText is a file outside of a project, of which no line may be shown.
const canaryText = "canary-of-a-file: {canary: canary-in-a-map}\ncanary-of-a-line\n"

// hostileCommands are what is done with a hostile project, and whether it stays in the folder of the project at every
// level of trust.
var hostileCommands = map[string]struct {
	args    []string
	levels  bool // the command knows the levels
	strict  bool
	servers bool // "mcp", "ui", or a server for an editor
}{
	"check":   {args: []string{"check"}, levels: true},
	"preview": {args: []string{"preview", "-s", "dev"}, levels: true},
	"test":    {args: []string{"test"}},
	"convert": {args: []string{"convert", "--from", "cloudformation", "templates", "--out", "made"}, strict: true},
	"env":     {args: []string{"env", "get", "z"}},
	"lsp":     {args: []string{"lsp"}, servers: true},
	"mcp":     {args: []string{"mcp"}, servers: true, strict: true},
	"ui":      {args: []string{"ui"}, servers: true},
}

// TestHostileProjects makes projects whose files are something else: links to places outside, devices, pipes, and what
// tells about a process. At every level of trust each command ends, writes nothing outside of the project and shows
// nothing of the process; under --untrusted, and where a command stays in the folder in any case, nothing of files
// outside either.
func TestHostileProjects(t *testing.T) {
	t.Parallel()
	type trial struct{ file, link, command, level string }
	var trials []trial
	for file := range hostileFiles {
		for link := range hostileLinks {
			for command, c := range hostileCommands {
				for _, level := range []string{"", "--restrict-paths", "--untrusted"} {
					if level == "" || c.levels && !(command == "check" && level == "--restrict-paths") {
						trials = append(trials, trial{file, link, command, level})
					}
				}
			}
		}
	}
	if !*allWalls {
		seed := rand.Uint64()
		t.Logf("seed %d of %d projects", seed, len(trials))
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		trials = trials[:100]
	}
	for _, it := range trials {
		t.Run(strings.TrimSpace(fmt.Sprintf("%s/%s is %s %s", it.command, it.file, it.link, it.level)), func(t *testing.T) {
			t.Parallel()
			hostile, command := hostileFiles[it.file], hostileCommands[it.command]
			x := newTerminal(t, "name: one\noutputs: {a: 1}\n")
			started := packRunner(t, x)
			require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
			files := map[string]string{"../outside/canary": canaryText, "Pulumi.yaml": "name: one\n" + hostile.project,
				"environments/z.yaml": hostileFiles["environments/z.yaml"].text, "templates/t/template.yaml": "Resources: {}\n"}
			if strings.HasPrefix(it.file, "jspack/") {
				files["jspack/PulumiPolicy.yaml"] = scriptedPack
			}
			if hostile.settings != "" {
				files["Pulumi.dev.yaml"] = hostile.settings
			}
			files[it.file] = hostile.text
			if it.file == "one.test.snapshot.json" {
				files["one.test.yaml"] = "cases: {c: {expect: {outputs: {a: 1}}}}\n"
			}
			if dir := filepath.Dir(it.file); it.link == "a linked folder" && dir != "." {
				for name := range files { // the folder is replaced
					if strings.HasPrefix(name, dir+"/") && name != it.file {
						delete(files, name)
					}
				}
			}
			lay(t, x, files, nil)
			path := filepath.Join(x.world.Dir, filepath.FromSlash(it.file))
			outside := filepath.Join(x.world.Dir, "..", "outside")
			require.NoError(t, os.Remove(path))
			require.NoError(t, hostileLinks[it.link](path, outside))
			before := treeOf(t, filepath.Dir(x.world.Dir))

			args := command.args
			if it.level != "" {
				args = append(args[:len(args):len(args)], it.level)
			}
			said := make(chan string, 1)
			go func() {
				switch {
				case it.command == "mcp":
					var all strings.Builder
					for _, a := range conversation(t, x, nil, calling("check", "check", fmt.Sprintf(`{"file":%q}`, it.file)),
						calling("program", "check", `{}`), calling("graph", "graph", `{"file":"Pulumi.yaml"}`)) {
						all.WriteString(a.line)
					}
					said <- all.String()
				case it.command == "ui":
					said <- browsing(t, x)
				case command.servers:
					said <- editing(x, path)
				default:
					x.run(args...)
					said <- x.out.String() + x.err.String()
				}
			}()
			var shown string
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			select {
			case shown = <-said:
			case <-ctx.Done():
				t.Fatal("the command did not end")
			}
			require.NotContains(t, shown, "PATH=")
			if it.command != "preview" || it.level == "--untrusted" {
				require.False(t, started(filepath.Join(x.world.Dir, "jspack")), shown)
			}
			if it.level == "--untrusted" || command.strict {
				require.NotContains(t, shown, "canary-of-")
				require.NotContains(t, shown, "canary-in-")
			}
			for path, text := range treeOf(t, filepath.Dir(x.world.Dir)) {
				if was, known := before[path]; known {
					require.Equal(t, was, text, path)
					continue
				}
				require.True(t, strings.HasPrefix(path, x.world.Dir+string(filepath.Separator)), "%s was written", path)
				require.NotContains(t, text, "PATH=")
				if it.level == "--untrusted" || command.strict {
					require.NotContains(t, text, "canary-")
				}
			}
		})
	}
}

// editing lets the server for editors open the project and a file, and returns what it says.
func editing(x *terminal, path string) string {
	framed := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	uri := "file://" + filepath.ToSlash(path)
	var in strings.Builder
	for _, body := range []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"rootUri":%q}}`,
			"file://"+filepath.ToSlash(x.world.Dir)),
		`{"jsonrpc":"2.0","method":"initialized","params":{}}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"textDocument/documentSymbol","params":{"textDocument":{"uri":%q}}}`, uri),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"textDocument/documentSymbol","params":{"textDocument":{"uri":%q}}}`,
			"file://"+filepath.ToSlash(filepath.Join(x.world.Dir, "Pulumi.yaml"))),
		`{"jsonrpc":"2.0","id":4,"method":"textDocument/documentSymbol","params":{"textDocument":{"uri":"file:///dev/zero"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`,
	} {
		in.WriteString(framed(body))
	}
	x.streams.In, x.streams.InTerminal = strings.NewReader(in.String()), false
	x.run("lsp")
	return x.out.String() + x.err.String()
}

// browsing opens the console, asks for everything that its page shows of the project, and returns the answers.
func browsing(t testing.TB, x *terminal) string {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	ready := filepath.Join(t.TempDir(), "ready.json")
	x.out.Reset()
	x.err.Reset()
	go func() {
		defer close(ended)
		Run(ctx, []string{"ui", "--no-browser", "--ready-file", ready}, x.streams, x.world)
	}()
	defer func() { stop(); <-ended }()
	var link struct{ URL string }
	for link.URL == "" {
		select {
		case <-ended: // the command has failed
			return x.out.String() + x.err.String()
		case <-time.After(5 * time.Millisecond):
		}
		if text, err := os.ReadFile(ready); err == nil {
			_ = json.Unmarshal(text, &link)
		}
	}
	address, token, _ := strings.Cut(link.URL, "#token=")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var all strings.Builder
	const stack = "?stack=one/dev"
	for _, path := range []string{"overview", "search?q=a", "runs", "preview", "revision" + stack, "stack" + stack,
		"resource" + stack + "&urn=x", "history" + stack, "config" + stack, "config" + stack + "&version=1",
		"changes" + stack + "&version=1", "diff" + stack + "&from=1&to=1"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"api/"+path, nil)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		if err != nil {
			all.WriteString(err.Error())
			continue
		}
		_, _ = io.Copy(&all, answer.Body)
		_ = answer.Body.Close()
	}
	return all.String()
}
