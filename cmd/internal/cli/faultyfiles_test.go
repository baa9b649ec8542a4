package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// fileFlags are the flags that name a file or folder, with their values; PATH is its path.
var fileFlags = map[string]string{
	"cwd": "PATH", "profile": "PATH", "event-log": "PATH", "out": "PATH", "schema": "PATH", "schema-dir": "PATH",
	"config-file": "PATH", "config-from": "k=PATH", "policy-pack": "PATH", "policy-pack-config": "PATH", "file": "PATH",
	"import-file": "PATH", "query": "PATH", "dir": "PATH", "save-plan": "PATH", "key": "PATH", "plan": "PATH",
	"from": "PATH",
}

// otherFlags have such words in their descriptions, and name no file, or their commands go on.
var otherFlags = map[string]bool{"filter": true, "type": true, "name": true, "source": true, "checksum": true,
	"server": true, "ready-file": true, "path": true, "allow": true}

// givenArguments are what commands need besides.
var givenArguments = map[string][]string{
	"up": {"--yes", "--skip-preview"}, "run": {"--yes"}, "destroy": {"--yes", "--skip-preview"},
	"refresh": {"--yes", "--skip-preview"}, "import": {"--yes", "--skip-preview"}, "migrate": {"--check"},
	"plugin install": {"resource", "random", "4.16.0"}, "env edit": {"base"}, "env init": {"other"},
	"config set": {"k", "v"}, "schema": {"random"}, "package get-mapping": {"terraform", "random"}, "new": {"hello"},
	"plugin bundle": {"--platform", "linux-amd64"},
}

// fileArguments are the commands that take files or folders as arguments.
var fileArguments = []string{"check", "fmt", "graph", "test", "convert --from kubernetes", "convert --from pcl",
	"convert --from terraform", "migrate --check", "plan show", "preview", "run", "drift", "destroy --yes", "refresh --yes",
	"schema check", "schema --json-schema", "shim", "stack graph", "plugin run", "new", "package add", "package get-schema",
	"import --from terraform --yes", "mcp", "up --yes"}

// systemsWords are what systems say about files, with the calls of programs that they name.
var systemsWords = regexp.MustCompile(`no such file or|is a directory|not a directory|permission denied|` +
	`\b(open|stat|lstat|mkdir|fork/exec|createtemp|rename) ["/]|cannot find the (file|path)`)

// Whatever is wrong with a file that a flag or an argument names, the message about it has our words, and no name of a
// call.
func TestFaultyFilesAreReportedInOurWords(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"Pulumi.yaml": "name: p\nruntime: yaml\nconfig: {k: {default: v}}\n",
		"file": "text", "folder/file": "", "environments/base.yaml": "values: {}\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	yamlhost := func(args ...string) string {
		var said bytes.Buffer
		streams, world := System("0.1.0-test")
		streams.In, streams.Out, streams.Err = strings.NewReader(""), &said, &said
		world.Dir, world.Home = dir, home
		world.Env = []string{"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(home), "HOME=" + home,
			"PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "PULUMI_CONFIG_PASSPHRASE=phrase"}
		Run(context.Background(), append(args, "--offline"), streams, world)
		return said.String()
	}
	require.Contains(t, yamlhost("stack", "init", "dev"), "Created")
	tried := 0
	try := func(path string, args ...string) {
		tried++ // commands make files, so that each gets names of its own
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "PATH", strings.ReplaceAll(path, "missing", "missing"+strconv.Itoa(tried)))
		}
		if said := yamlhost(args...); systemsWords.MatchString(said) {
			t.Errorf("yamlhost %s says %q", strings.Join(args, " "), said)
		}
	}
	paths := []string{"missing", "folder", "file", "file/below", "missing/at/all"}
	asksForFile := regexp.MustCompile(`\b(file|folder|directory|archive|executable|path)\b`)
	flags := 0
	visit(newRoot(&console.Console{}, &profile{}), "", func(cmd *cobra.Command, path string) {
		switch cmd.Name() {
		case "ui", "watch", "worker", "mcp", "lsp":
			return
		}
		begin := strings.Fields(path)
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			value, known := fileFlags[f.Name]
			if f.Value.Type() == "bool" || otherFlags[f.Name] || !known && !asksForFile.MatchString(f.Usage) {
				return
			}
			if !known {
				t.Errorf("%s --%s may name a file: list it", path, f.Name)
			}
			if f.Name == "out" && strings.Contains(f.Usage, "KIND=FILE") {
				value = "markdown=PATH"
			}
			flags++
			for _, p := range paths {
				args := append(append([]string(nil), begin...), givenArguments[path]...)
				try(p, append(args, "--"+f.Name, value)...)
			}
		})
	})
	for _, line := range fileArguments {
		for _, p := range paths {
			try(p, append(strings.Fields(line), "PATH")...)
		}
	}
	for _, p := range paths {
		try(p, "-C", "PATH", "preview")
		try(p, "preview", "--profile", "PATH")
		try(p, "login", "file://./PATH")
	}
	require.Greater(t, flags, 50, "flags that name files")
}
