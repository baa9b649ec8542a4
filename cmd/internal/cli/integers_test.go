package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/workspace/environments"
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
	{name: "fn::fromJSON in an environment",
		files: configuredBy("integer", "environment: {values: {pulumiConfig: {x: {fn::fromJSON: '#'}}}}\n")},
	{name: "reference in an environment", files: configuredBy("integer",
		"environment: {values: {a: {fn::fromJSON: '[#]'}, pulumiConfig: {x: '${a[0]}'}}}\n")},
	{name: "text of fn::fromJSON in an environment", kept: true, files: configuredBy("string",
		"environment: {values: {a: {fn::fromJSON: '[#]'}, pulumiConfig: {x: {fn::toString: '${a[0]}'}}}}\n")},
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

// integerSpellings are expressions of environments for an integer, #, which may be in the values of the key spelled.
var integerSpellings = []string{"#", "{fn::fromJSON: '#'}", "{fn::fromJSON: {fn::toJSON: #}}", "'${spelled.literal}'",
	"'${spelled.parsed[0].n}'", "{fn::fromJSON: '${spelled.literal} '}", "{fn::fromJSON: {fn::toJSON: '${spelled.parsed[0].n}'}}",
	"{fn::fromJSON: {fn::fromBase64: {fn::toBase64: '#'}}}", "{fn::fromJSON: {fn::join: ['', ['#', '']]}}",
	"{fn::fromJSON: {fn::secret: '#'}}", "{fn::fromJSON: {fn::open::env: {name: NUMBER}}}",
	"{fn::fromJSON: {fn::open::file: {path: number.json}}}"}

// TestIntegersOfEnvironments holds that `env open` writes an integer with the digits that it has in the document or in
// what the document opens, or that a warning names the place of it, and that the text of a variable or of a file has the
// same digits. Where an integer becomes a number of programs and loses digits there, a warning names that place.
func TestIntegersOfEnvironments(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: demo\nruntime: yaml\n")
	env := slices.Clone(x.world.Env)
	require.NoError(t, os.Mkdir(filepath.Join(x.world.Dir, "environments"), 0o755))
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Uint64().Draw(rt, "number")
		if rapid.Bool().Draw(rt, "around 2^53") {
			number = 1<<53 - 8 + rapid.Uint64Range(0, 16).Draw(rt, "from 2^53")
		}
		digits := rapid.SampledFrom([]string{"", "-"}).Draw(rt, "sign") + strconv.FormatUint(number, 10) +
			rapid.SampledFrom([]string{"", "", "0", "7"}).Draw(rt, "more")
		if number == 0 {
			digits = "0"
		}
		spelling := rapid.SampledFrom(integerSpellings).Draw(rt, "spelling")
		part := rapid.SampledFrom([]string{"values", environments.Config, environments.Variables, environments.Files,
			environments.PolicyConfig}).Draw(rt, "part")
		around := rapid.SampledFrom([]string{"#", "[#]", "{k: #}", "[{k: [#]}]"}).Draw(rt, "around")
		if part == environments.Variables || part == environments.Files {
			around = "#"
		}
		text := "values:\n  spelled: {literal: #, parsed: {fn::fromJSON: '[{\"n\": #}]'}}\n  " + part + ":\n    X: " +
			strings.Replace(around, "#", spelling, 1) + "\n"
		text = strings.ReplaceAll(text, "#", digits)
		path := part + ".X" + map[string]string{"#": "", "[#]": "[0]", "{k: #}": ".k", "[{k: [#]}]": "[0].k[0]"}[around]
		x.world.Env = append(env, "NUMBER="+digits, "PATH="+os.Getenv("PATH"))
		for name, text := range map[string]string{"number.json": digits + "\n", "environments/e.yaml": text} {
			require.NoError(rt, os.WriteFile(filepath.Join(x.world.Dir, name), []byte(text), 0o600))
		}
		run := func(args ...string) (out, told string) {
			x.out.Reset()
			x.err.Reset()
			require.Zero(rt, Run(t.Context(), args, x.streams, x.world), "%s\n%s\n%s", text, x.out.String(), x.err.String())
			return x.out.String(), x.err.String()
		}
		warnedAt := func(told string, line int) bool {
			return strings.Contains(told, fmt.Sprintf("environments/e.yaml:%d:", line)) && strings.Contains(told, "loses digits")
		}

		out, told := run("env", "open", "e", path, "--show-secrets")
		got, line := strings.TrimSpace(out), 4
		if strings.Contains(spelling, "spelled.literal") {
			line = 2
		}
		literal := line == 2 || spelling == "#" || strings.Contains(spelling, "fn::toJSON: #")
		require.True(rt, got == digits || literal && warnedAt(told, line), "%s\n%s\n%s", text, got, told)
		if part == environments.Config || part == environments.PolicyConfig {
			// What Pulumi ESC has made of a literal that 64 bits do not hold loses nothing more.
			loses := value.LosesDigits(got) || line == 4 && got != digits
			require.Equal(rt, loses, warnedAt(told, 4), "%s\n%s\n%s", text, got, told)
		}
		whole, _ := run("env", "open", "e", "--show-secrets")
		require.Contains(rt, whole, got)
		if !value.LosesDigits(digits) {
			require.NotContains(rt, told, "loses digits", text)
			require.Equal(rt, digits, got, text)
		}

		printed := map[string]string{environments.Variables: "echo $X", environments.Files: "cat $X"}[part]
		if printed == "" || runtime.GOOS == "windows" {
			return
		}
		shown, _ := run("env", "run", "e", "--", "sh", "-c", printed)
		if strings.Contains(spelling, "secret") || strings.Contains(spelling, "open") {
			if len(digits) >= mask.LeastText {
				require.NotContains(rt, shown, digits, "%s\n%s", text, shown)
			}
			shown, _ = run("env", "run", "e", "--", "sh", "-c", printed+" | tr 0-9 a-j")
			shown = strings.Map(func(r rune) rune {
				if 'a' <= r && r <= 'j' {
					return r - 'a' + '0'
				}
				return r
			}, shown)
		}
		if shown = strings.TrimSpace(shown); got == digits {
			require.Equal(rt, digits, shown, text)
			return
		}
		opened, err := strconv.ParseFloat(got, 64)
		require.NoError(rt, err)
		passed, err := strconv.ParseFloat(shown, 64) // with an exponent
		require.NoError(rt, err, shown)
		require.InDelta(rt, opened, passed, 0, text)
	})
}
