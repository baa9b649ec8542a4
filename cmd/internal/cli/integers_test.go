package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// integerDoor is a way on which an integer, #, reaches the output `out` of a program.
type integerDoor struct {
	name    string
	files   map[string]string // in place of those of integerFiles
	command []string          // run before the program, if there is one
	kept    bool              // the door is for texts, and keeps all digits
	late    bool              // only a run can see the integer
}

var integerFiles = map[string]string{
	"Pulumi.yaml":     "name: demo\nruntime: yaml\n",
	"Main.yaml":       "outputs: {out: '${x}'}\n",
	"Main.json":       "",
	"Pulumi.dev.yaml": "",
	"Pulumi.env.yaml": "",
}

// configuredBy returns files of a project whose program has a body and a configuration value x of a type, and whose stack
// has settings.
func configuredBy(typ, settings string) map[string]string {
	return map[string]string{"Main.yaml": "config: {x: {type: " + typ + "}}\noutputs: {out: '${x}'}\n",
		"Pulumi.dev.yaml": settings}
}

// programOf returns the files of a project whose program has a variable x.
func programOf(x string) map[string]string {
	return map[string]string{"Main.yaml": "variables:\n  x: " + x + "\noutputs: {out: '${x}'}\n"}
}

var integerDoors = []integerDoor{
	{name: "literal", files: programOf("#")},
	{name: "text of a literal", files: programOf(`"#"`), kept: true},
	{name: "expression", files: programOf("${#}")},
	{name: "JSON program", files: map[string]string{"Main.yaml": "", "Main.json": `{"variables": {"x": #}, "outputs": {"out": "${x}"}}`}},
	{name: "fn::fromJSON", files: programOf(`{fn::select: [0, {fn::fromJSON: "[#]"}]}`)},
	{name: "fromJSON of what is not constant", late: true,
		files: programOf(`${fromJSON(join("", ["[#", "]"]))[0]}`)},
	{name: "fn::fromYAML", files: programOf(`{fn::select: [0, {fn::fromYAML: "[#]"}]}`)},
	{name: "toNumber", files: programOf(`${toNumber("#")}`)},
	{name: "default in the program", files: map[string]string{
		"Main.yaml": "config: {x: {type: integer, default: #}}\noutputs: {out: '${x}'}\n"}},
	{name: "default in the project", files: map[string]string{
		"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {x: {type: integer, default: #}}\n"}},
	{name: "text in the project", kept: true, files: map[string]string{
		"Pulumi.yaml": "name: demo\nruntime: yaml\nconfig: {x: {type: string, default: '#'}}\n"}},
	{name: "stack file", files: configuredBy("integer", "config: {demo:x: #}\n")},
	{name: "quoted in a stack file", files: configuredBy("number", "config: {demo:x: '#'}\n")},
	{name: "text in a stack file", files: configuredBy("string", "config: {demo:x: #}\n")},
	{name: "list in a stack file", files: map[string]string{"Pulumi.dev.yaml": "config: {demo:x: [#]}\n",
		"Main.yaml": "config: {x: {type: List<integer>}}\noutputs: {out: '${x[0]}'}\n"}},
	{name: "JSON in a stack file", files: map[string]string{"Pulumi.dev.yaml": "config: {demo:x: '[#]'}\n",
		"Main.yaml": "config: {x: {type: List<integer>}}\noutputs: {out: '${x[0]}'}\n"}},
	{name: "undeclared", files: map[string]string{"Pulumi.dev.yaml": "config: {demo:x: #}\n"}},
	{name: "config set", files: configuredBy("integer", ""), command: []string{"config", "set", "x", "--", "#"}},
	{name: "config set of a text", files: configuredBy("string", ""), command: []string{"config", "set", "x", "--", "#"}, kept: true},
	{name: "config set --type float", files: configuredBy("number", ""),
		command: []string{"config", "set", "--type", "float", "x", "--", "#"}},
	{name: "config set --path", files: map[string]string{"Main.yaml": "config: {x: {type: object}}\noutputs: {out: '${x.a}'}\n"},
		command: []string{"config", "set", "--path", "x.a", "--", "#"}},
	{name: "config set-all", files: map[string]string{"Main.yaml": "config: {x: {type: object}}\noutputs: {out: '${x.a}'}\n"},
		command: []string{"config", "set-all", "--json", `{"demo:x": {"value": "{}", "objectValue": {"a": #}}}`}},
	{name: "environment", files: configuredBy("integer", "environment: {values: {pulumiConfig: {x: #}}}\n")},
	{name: "list in an environment", files: map[string]string{
		"Main.yaml":       "config: {x: {type: List<integer>}}\noutputs: {out: '${x[0]}'}\n",
		"Pulumi.dev.yaml": "environment: {values: {pulumiConfig: {x: [#]}}}\n"}},
	{name: "text in an environment", files: configuredBy("string", "environment: {values: {pulumiConfig: {x: '#'}}}\n"), kept: true},
	{name: "std:jsondecode", late: true, files: programOf(
		`{fn::select: [0, {fn::invoke: {function: "std:jsondecode", arguments: {input: "[#]"}, return: result}}]}`)},
}

// TestIntegersKeepTheirDigits holds that an integer has the same digits in an output of a program as where it was
// written, or that one warning says that it loses some, whatever way it has taken.
func TestIntegersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, integerFiles["Pulumi.yaml"])
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=phrase")
	run := func(t require.TestingT, args ...string) string {
		x.out.Reset()
		x.err.Reset()
		code := Run(context.Background(), args, x.streams, x.world)
		require.Zero(t, code, "%q\n%s\n%s", args, x.out.String(), x.err.String())
		return x.err.String()
	}
	run(t, "stack", "init", "dev")
	rapid.Check(t, func(rt *rapid.T) {
		door := rapid.SampledFrom(integerDoors).Draw(rt, "door")
		digits := rapid.SampledFrom([]string{"9007199254740993", "12345678901234567890", "123456789012345678901"}).Draw(rt, "known")
		if rapid.Bool().Draw(rt, "random") {
			digits = rapid.StringMatching(`-?[1-9][0-9]{0,24}`).Draw(rt, "digits")
		}
		for name, text := range integerFiles {
			if own, has := door.files[name]; has {
				text = own
			}
			path := filepath.Join(x.world.Dir, name)
			_ = os.Remove(path)
			if text != "" {
				require.NoError(rt, os.WriteFile(path, []byte(strings.ReplaceAll(text, "#", digits)), 0o600))
			}
		}
		if len(door.command) > 0 {
			args := make([]string, len(door.command))
			for i, arg := range door.command {
				args[i] = strings.ReplaceAll(arg, "#", digits)
			}
			run(rt, args...)
		}
		checked := run(rt, "check", "--stack", "dev") + x.out.String()
		told := run(rt, "run", "--stack", "dev")
		run(rt, "stack", "output", "out", "--stack", "dev", "--json")
		got := strings.TrimSpace(x.out.String())
		if strings.HasPrefix(got, `"`) {
			require.NoError(rt, json.Unmarshal([]byte(got), &got))
		}
		number, err := strconv.ParseFloat(digits, 64)
		require.NoError(rt, err)
		value, err := strconv.ParseFloat(got, 64)
		require.NoError(rt, err, got)
		require.InDelta(rt, number, value, 0, door.name)
		printed := got // exponents are not digits
		if !door.kept && got != digits {
			printed = strconv.FormatFloat(value, 'f', -1, 64)
		}
		warnings := strings.Count(told, "loses digits")
		if !door.late {
			require.Equal(rt, warnings, strings.Count(checked, "loses digits"), "check of %s\n%s\n%s", door.name, digits, checked)
		}
		if printed == digits {
			require.Zero(rt, warnings, "%s\n%s", door.name, told)
		} else {
			require.Equal(rt, 1, warnings, "%s\n%s\n%s", door.name, digits, told)
		}
		if door.kept {
			require.Equal(rt, digits, got, door.name)
		}
	})
}
