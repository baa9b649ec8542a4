package embedded

import (
	"context"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The environment variables that pass the output of the previous command to the next one.
const (
	previousStdout = "PULUMI_COMMAND_STDOUT"
	previousStderr = "PULUMI_COMMAND_STDERR"
)

// commandKinds returns the local part of the package command.
func commandKinds(o Options) kinds {
	const remote = "commands on other machines need the plugin of the package command; install it"
	c := commander{o}
	return kinds{
		resources: map[string]kind{
			"command:local:Command": {
				create: c.create, update: c.update, delete: c.delete, pending: pendingOfCommand,
				cannotAdopt: "the ID does not tell what was run", forgets: c.forgets,
			},
		},
		functions: map[string]function{"command:local:run": c.run},
		refused: map[string]string{
			"command:remote:Command":      remote,
			"command:remote:CopyFile":     remote,
			"command:remote:CopyToRemote": remote,
		},
	}
}

// commander runs commands.
type commander struct{ Options }

// pendingOfCommand returns the outputs that are known only after the command has run; nil for an update that runs
// nothing.
func pendingOfCommand(inputs, before value.Value) []string {
	if !before.IsNull() && !inputs.Has("create") && !inputs.Has("update") {
		return nil
	}
	names := []string{"stderr", "stdout"}
	if inputs.Has("assetPaths") {
		names = append(names, "assets")
	}
	if inputs.Has("archivePaths") {
		names = append(names, "archive")
	}
	return names
}

// create runs the create command. The ID is the resource's name and eight random hexadecimal digits.
func (c commander) create(ctx context.Context, s provider.Subject, inputs value.Value) (string, value.Value, error) {
	digits, err := generator(c).fill(4)
	if err != nil {
		return "", value.Null, err
	}
	id := s.Name + hex.EncodeToString(digits)
	if !inputs.Has("create") {
		return id, printed(processResult{}), nil
	}
	outputs, err := c.execute(ctx, job{subject: s, command: inputs.Get("create"), inputs: inputs})
	return id, outputs, err
}

// update runs the update command, or the create command if there is none. As in the public package, the old assets stay
// if the inputs have no new patterns.
func (c commander) update(ctx context.Context, s provider.Subject, inputs, before value.Value) (value.Value, error) {
	property := "update"
	if !inputs.Has(property) {
		property = "create"
	}
	if !inputs.Has(property) {
		return value.EmptyMap(), nil
	}
	return c.execute(ctx, job{subject: s, command: inputs.Get(property), inputs: inputs, before: before})
}

// forgets reports whether a command does not get the output of the previous one.
func (c commander) forgets(inputs value.Value) bool {
	add, ok := lookupBool(inputs, "addPreviousOutputInEnv")
	return ok && !add
}

func (c commander) delete(ctx context.Context, s provider.Subject, outputs value.Value) error {
	if v, ok := outputs.Lookup("delete"); !ok || v.IsNull() {
		return nil
	}
	_, err := c.execute(ctx, job{subject: s, command: outputs.Get("delete"), inputs: outputs, before: outputs,
		last: true})
	return err
}

// run implements the function command:local:run, which runs in previews too.
func (c commander) run(ctx context.Context, args value.Value) (value.Value, error) {
	outputs, err := c.execute(ctx, job{command: args.Get("command"), inputs: args})
	if err != nil {
		return value.Null, err
	}
	return overlay(args, outputs), nil
}

// job is one run of a command.
type job struct {
	subject provider.Subject // zero for a function call
	command value.Value
	inputs  value.Value // dir, environment, interpreter, …
	before  value.Value // outputs of the previous run; null if there was none
	last    bool        // delete: the outputs are not needed
}

// isSecret reports whether what the job runs is secret. The masker does not find the parts of a command that the
// command prints, so nothing of the output is shown.
func (j job) isSecret() bool {
	interpreter, _ := j.inputs.Lookup("interpreter")
	return j.command.IsSecret() || interpreter.ContainsSecret()
}

// text returns the command in plain text.
func (j job) text() string {
	text, _ := j.command.AsString()
	return text
}

// execute runs a job and returns its outputs, without marks: conceal and the engine mark those made of secrets.
func (c commander) execute(ctx context.Context, j job) (value.Value, error) {
	secrets := mask.New(j.inputs, j.before)
	p := process{
		supervisor: c.Supervisor,
		args:       append(c.interpreter(j.inputs), j.text()),
		dir:        c.dir(j.inputs),
		env:        c.environ(j),
		stdin:      lookupString(j.inputs, "stdin"),
		secrets:    secrets, log: c.logger(j, secrets), grace: c.Grace,
	}
	result, err := p.run(ctx)
	if err != nil {
		if c.suppresses(j) || j.isSecret() {
			result.both = "its output is not shown because some of its inputs are secret"
		}
		return value.Null, commandError(j, result, secrets, err)
	}
	outputs := printed(result)
	if !j.last {
		if outputs, err = c.collect(outputs, j.inputs); err != nil {
			return value.Null, &provider.Error{Outcome: provider.Unclear, Message: err.Error(), Cause: err}
		}
	}
	return outputs, nil
}

// printed returns the outputs of a command with all that it printed, without the last line break.
func printed(result processResult) value.Value {
	return value.MapOf(
		value.Entry{Key: "stdout", Value: value.String(strings.TrimSuffix(result.stdout, "\n"))},
		value.Entry{Key: "stderr", Value: value.String(strings.TrimSuffix(result.stderr, "\n"))},
	)
}

func (c commander) interpreter(inputs value.Value) []string {
	if v, _ := inputs.Lookup("interpreter"); v.Len() > 0 {
		return texts(v)
	}
	if c.Windows {
		return []string{"cmd", "/C"}
	}
	return []string{"/bin/sh", "-c"}
}

// dir returns the folder in which the command runs. A relative dir begins in the program's folder.
func (c commander) dir(inputs value.Value) string {
	dir := lookupString(inputs, "dir")
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Clean(filepath.Join(c.Dir, dir))
}

// environ returns the inherited variables, then the resource's, then those for the output of the previous run. The last
// of equal names wins.
func (c commander) environ(j job) []string {
	env := append([]string(nil), c.Environ...)
	given, _ := j.inputs.Lookup("environment")
	for _, name := range given.Keys() {
		env = append(env, name+"="+lookupString(given, name))
	}
	if c.forgets(j.inputs) {
		return env
	}
	if text := lookupString(j.before, "stdout"); text != "" {
		env = append(env, previousStdout+"="+text)
	}
	if text := lookupString(j.before, "stderr"); text != "" {
		env = append(env, previousStderr+"="+text)
	}
	return env
}

// logger returns the function that logs the command's lines, filtered by the input logging; nil to log none.
func (c commander) logger(j job, secrets *mask.Masker) func(line string, stderr bool) {
	if c.Log == nil || c.suppresses(j) {
		return nil
	}
	wanted, hidden := lookupString(j.inputs, "logging"), j.isSecret()
	secret := j.inputs.ContainsSecret() && !j.before.ContainsSecret()
	return func(line string, stderr bool) {
		if wanted == "none" || wanted == "stdout" && stderr || wanted == "stderr" && !stderr {
			return
		}
		text := value.SecretText
		if !hidden {
			// again: the stream masker does not find secrets that are masked only as a whole line
			text = secrets.Hide(line)
		}
		c.Log(LogLine{URN: j.subject.URN, Stderr: stderr, Secret: secret, Text: text})
	}
}

// suppresses reports whether the command's output must not be shown.
func (c commander) suppresses(j job) bool { return c.SuppressSecretOutput && j.inputs.ContainsSecret() }

// collect adds the files that match assetPaths, as a map of assets, and those that match archivePaths, as one archive.
func (c commander) collect(outputs, inputs value.Value) (value.Value, error) {
	for _, want := range [...]struct{ paths, output string }{{"assetPaths", "assets"}, {"archivePaths", "archive"}} {
		patterns, ok := inputs.Lookup(want.paths)
		if !ok || patterns.IsNull() {
			continue
		}
		names, err := matchFiles(c.dir(inputs), texts(patterns))
		if err != nil {
			return value.Null, err
		}
		files := make([]value.Entry, len(names))
		for i, name := range names {
			files[i] = value.Entry{Key: name, Value: value.NewAsset(&value.Asset{Path: c.assetPath(inputs, name)})}
		}
		found := value.MapOf(files...)
		if want.output == "archive" {
			found = value.NewArchive(&value.Archive{Assets: found})
		}
		outputs = outputs.With(want.output, found)
	}
	return value.WithDigests(outputs, value.DirOpener{Dir: c.Dir})
}

// assetPath returns the path of a file for the state: below the resource's dir as given, or below the program's folder.
func (c commander) assetPath(inputs value.Value, name string) string {
	if dir := lookupString(inputs, "dir"); dir != "" {
		return path.Join(filepath.ToSlash(dir), name)
	}
	return path.Join(filepath.ToSlash(c.Dir), name)
}

func texts(list value.Value) []string {
	items, _ := list.AsList()
	out := make([]string, len(items))
	for i, item := range items {
		out[i], _ = item.AsString()
	}
	return out
}
