//go:build unix

package cli

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hostileNames generates names that would lead to another folder, end a text of some language, or steer a terminal.
func hostileNames() *rapid.Generator[string] {
	parts := []string{"../", "..", "/", `..\`, `C:\`, "a", "b-1", ".", "\x1b[2J", "\x1b]0;owned\x07",
		"\x1b]8;;http://evil.test\x1b\\",
		"\u009b31m", "\u202e", "\u2066", "\r", "\n", "\t", "'", `"`, "`", "$(touch mark)", "${x}", "%s%n", "<script>",
		"]]>", "|", "#", "-",
		"--out", "~", "nul", "%2e%2e%2f", "\u0000"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 4).Draw(t, "parts"), "")
	})
}

// quoted returns a text as JSON, which is YAML too.
func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// namers are the texts that bring names into a project, and the commands that write or print them. Each command line is
// run with the name in the place of NAME.
var namers = map[string]struct {
	files    func(quoted string) map[string]string
	commands [][]string
}{
	"a program": {func(q string) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\ndescription: " + q + "\nresources:\n  " + q +
			": {type: random:RandomPet, " +
			"options: {protect: false}}\noutputs:\n  " + q + ": {" + q + ": " + q + "}\n"}
	}, [][]string{{"check"}, {"preview"}, {"up", "--yes", "--event-log", "events.log", "--out", "html=r.html", "--out",
		"junit=r.xml",
		"--out", "markdown=r.md", "--out", "sarif=r.sarif", "--out", "text=-"}, {"stack"}, {"stack", "output"},
		{"stack", "output", "NAME"}, {"stack", "export", "--file", "made.json"}, {"stack", "graph", "made.dot"},
		{"graph"}, {"stack", "history"},
		{"destroy", "--yes"}}},
	"a schema": {func(q string) map[string]string {
		return map[string]string{"s.json": `{"name": ` + q + `, "version": "1.0.0"}`}
	}, [][]string{{"package", "add", "s.json"}, {"check"}}},
	"a version": {func(q string) map[string]string {
		return map[string]string{"s.json": `{"name": "pk", "version": ` + q + `}`}
	}, [][]string{{"package", "add", "s.json"}, {"check"}}},
	"types of a schema": {func(q string) map[string]string {
		token := quoted("pk:index:" + strings.Trim(q, `"`))
		return map[string]string{"s.json": `{"name": "pk", "version": "1.0.0", "resources": {` + strings.ReplaceAll(token,
			`\\`, `\`) +
			`: {"inputProperties": {` + q + `: {"type": "string", "description": ` + q + `}}}}}`,
			"Pulumi.yaml": "name: one\nresources:\n  a: {type: 'pk:index:X', properties: {" + q + ": 1}}\n"}
	}, [][]string{{"package", "add", "s.json"}, {"package", "info", "pk"}, {"check"}, {"schema", "pk:index:X",
		"--schema", "s.json"}, {"schema", "pk", "--schema", "s.json"}}},
	"a project": {func(q string) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: " + q + "\noutputs: {a: 1}\n"}
	}, [][]string{{"check"}, {"preview"}, {"stack", "init", "s"}, {"up", "--yes"}, {"stack", "ls", "--all"}}},
	"a component": {func(q string) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\ncomponents:\n  " + q + ": {resources: {" + q +
			": {type: random:RandomPet}}}\n" +
			"packages: {" + q + ": " + q + "}\n"}
	}, [][]string{{"check"}, {"preview"}, {"install"}, {"package", "remove", "NAME"}}},
	"a plugin": {func(string) map[string]string { return nil }, [][]string{{"plugin", "install", "resource", "NAME",
		"1.0.0"},
		{"plugin", "install", "resource", "pk", "NAME"}, {"plugin", "rm", "resource", "NAME", "--yes"}, {"plugin", "ls"}}},
	"a plugin of a program": {func(q string) map[string]string {
		return map[string]string{"Pulumi.yaml": "name: one\nplugins: {providers: [{name: " + q + ", path: " + q +
			", version: " + q + "}]}\n" +
			"resources: {a: {type: 'pk:index:X', options: {version: " + q + ", pluginDownloadURL: " + q + "}}}\n"}
	}, [][]string{{"check"}, {"preview"}, {"install"}}},
	"a stack": {func(string) map[string]string { return nil }, [][]string{{"stack", "init", "NAME"}, {"stack",
		"select", "NAME"},
		{"stack", "rename", "NAME"}, {"config", "set", "NAME", "v"}, {"config", "set", "k", "NAME"}, {"config"}, {"stack",
			"tag", "set", "NAME", "v"}, {"stack", "tag", "ls"},
		{"stack", "ls"}, {"stack", "rm", "NAME", "--yes"}}},
	"an environment": {func(q string) map[string]string {
		return map[string]string{"Pulumi.dev.yaml": "environment: [" + q + "]\n", "environments/y.yaml": "imports: [" + q +
			"]\n",
			"environments/z.yaml": "values: {" + q + ": " + q + ", files: {" + q + ": x}, environmentVariables: {" + q +
				": " + q + "}}\n"}
	}, [][]string{{"env", "init", "NAME", "--file", "environments/z.yaml"}, {"env", "open", "NAME"}, {"env", "open",
		"y"}, {"env", "open", "z"}, {"env", "rm", "NAME", "--yes"},
		{"env", "ls"}, {"env", "run", "z", "--", "true"}, {"config", "env", "add", "NAME"}, {"check"}, {"preview"}}},
	"a template of CloudFormation": {func(q string) map[string]string {
		return map[string]string{"t.yaml": "Description: " + q + "\nParameters: {" + q +
			": {Type: String}}\nResources:\n  " + q +
			": {Type: 'AWS::S3::Bucket', Properties: {BucketName: " + q + "}}\nOutputs: {" + q + ": {Value: " + q + "}}\n"}
	}, [][]string{{"convert", "--from", "cloudformation", "t.yaml", "--out", "made"}, {"convert", "--from",
		"cloudformation", "t.yaml"},
		{"check", "made"}}},
	"a manifest": {func(q string) map[string]string {
		return map[string]string{"m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + q + ", namespace: " + q +
			"}\ndata: {" + q + ": " + q +
			"}\n"}
	}, [][]string{{"convert", "--from", "kubernetes", "m.yaml", "--out", "made"}, {"check", "made"}}},
	"PCL": {func(q string) map[string]string {
		return map[string]string{"m.pp": "config \"x\" \"string\" { default = " + q +
			" }\nresource r \"random:index/randomPet:RandomPet\" { prefix = " +
			q + " }\noutput o { value = " + q + " }\n"}
	}, [][]string{{"convert", "--from", "pcl", "m.pp", "--out", "made"}, {"check", "made"}}},
	"a template": {func(q string) map[string]string {
		return map[string]string{"t/Pulumi.yaml": "name: ${PROJECT}\ndescription: ${DESCRIPTION}\ntemplate:\n" +
			"  description: " + q + "\n  config:\n    " +
			q + ": {description: " + q + ", default: " + q + "}\noutputs: {a: 1}\n", "t/x.txt": "${PROJECT}"}
	}, [][]string{{"new", "./t", "--dir", "made", "--yes"}, {"new", "./t", "--dir", "made2", "--yes", "--name", "NAME"},
		{"new", "./t", "--dir", "made3", "--yes", "--description", "NAME"}, {"check", "made3"}}},
	"a pack": {func(q string) map[string]string {
		return map[string]string{"Pulumi.yaml": onePet + "policyPacks: [./pack]\n", "pack/PulumiPolicy.yaml": "name: " +
			q + "\nversion: " + q +
			"\nruntime: yaml\npolicies: {" + q + ": {description: " + q + ", enforcement: advisory, violation: " + q + "}}\n"}
	}, [][]string{{"preview"}, {"check", "pack"}}},
	"a test": {func(q string) map[string]string {
		return map[string]string{"one.test.yaml": "cases:\n  " + q + ": {expect: {outputs: {" + q + ": " + q + "}}}\n"}
	}, [][]string{{"test"}, {"test", "--update"}, {"test", "--out", "junit=made.xml"}}},
}

// TestHostileNames brings hostile names into a project in every way and runs the commands that write or print them.
// Nothing is written outside of the project and its state, no command of a name runs, and no character that steers a
// terminal is printed or written to a report as text.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for door, c := range namers {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			trials := 3
			if *allWalls {
				trials = 100
			}
			for range trials {
				name := hostileNames().Example(rand.Int())
				dir := t.TempDir()
				x := newTerminalIn(t, dir, "name: one\noutputs: {a: 1}\n")
				x.streams.OutTerminal = true
				x.world.Env = append(x.world.Env, "PATH="+os.Getenv("PATH"), "PULUMI_CONFIG_PASSPHRASE=word")
				require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
				lay(t, x, map[string]string{"../canary": "precious"}, nil)
				lay(t, x, c.files(quoted(name)), nil)
				outside := func() map[string]string {
					tree := treeOf(t, dir)
					for path := range tree {
						if strings.HasPrefix(path, x.world.Dir+string(filepath.Separator)) {
							delete(tree, path)
						}
					}
					return tree
				}
				before := outside()
				for _, command := range c.commands {
					args := make([]string, len(command))
					for i, word := range command {
						args[i] = strings.ReplaceAll(word, "NAME", name)
					}
					code := x.run(args...)
					said := x.out.String() + x.err.String()
					require.NotEqual(t, 255, code, "%q: %s", args, said)
					require.Equal(t, before, outside(), "%q", args)
					require.NoFileExists(t, filepath.Join(x.world.Dir, "mark"), "%q", args)
					for _, r := range said {
						steers := unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
						require.False(t, steers, "%q prints %q: %q", args, r, said)
					}
				}
			}
		})
	}
}
