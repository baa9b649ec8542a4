//go:build !lean

package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pulumi/esc"
	"github.com/pulumi/esc/schema"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// opener is a provider: it answers calls of fn::open::NAME.
type opener struct {
	inputs, outputs *schema.Schema
	open            func(ctx context.Context, o *Options, inputs map[string]esc.Value) (esc.Value, error)
}

// openers returns the providers by name. What they return is secret, but for outputs of stacks that are not.
func openers() map[string]opener {
	text := schema.String().Schema()
	return map[string]opener{
		"env": {record([]string{"name"}, schema.BuilderMap{"name": schema.String(), "default": schema.String()}), text,
			openVariable},
		"file": {record([]string{"path"}, schema.BuilderMap{"path": schema.String()}), text, openFile},
		"command": {record([]string{"command"}, schema.BuilderMap{"command": schema.Array().Items(schema.String())}), text,
			openCommand},
		"pulumi-stacks": {record([]string{"stacks"}, schema.BuilderMap{"stacks": schema.Object().AdditionalProperties(
			record([]string{"stack"}, schema.BuilderMap{"stack": schema.String()}))}), schema.Always().Schema(), openStacks},
	}
}

func record(required []string, properties schema.MapBuilder) *schema.Schema {
	return schema.Object().Properties(properties).Required(required...).Schema()
}

// LoadProvider returns the provider of a name.
func (e *evaluator) LoadProvider(_ context.Context, name string) (esc.Provider, error) {
	known := openers()
	p, found := known[name]
	if !found {
		names := slices.Sorted(maps.Keys(known))
		return nil, fmt.Errorf("there is no provider fn::open::%s here%s\n"+
			"The providers are %s; reach clouds and vaults with their programs by fn::open::command.",
			name, diag.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return &provider{opener: p, options: &e.Options, meter: &e.meter, name: name}, nil
}

// LoadRotator returns an error: nothing here keeps what a rotation makes.
func (*evaluator) LoadRotator(_ context.Context, name string) (esc.Rotator, error) {
	return nil, fmt.Errorf("fn::rotate::%s needs a service that keeps rotated secrets\nPut the secret in the document, or read "+
		"it with fn::open.", name)
}

// provider is an opener with its surroundings.
type provider struct {
	opener
	options *Options
	meter   *meter
	name    string
}

// Schema returns the types of the inputs and of the result.
func (p *provider) Schema() (inputs, outputs *schema.Schema) { return p.inputs, p.outputs }

// Open answers a call.
func (p *provider) Open(ctx context.Context, inputs map[string]esc.Value, _ esc.EnvExecContext) (esc.Value, error) {
	if p.options.Denied != "" {
		return esc.Value{}, fmt.Errorf("fn::open::%s is refused: %s", p.name, p.options.Denied)
	}
	out, err := p.open(ctx, p.options, inputs)
	if err == nil {
		err = p.meter.opened(out)
	}
	if err != nil {
		return esc.Value{}, fmt.Errorf("fn::open::%s: %w", p.name, err)
	}
	return out, nil
}

func textOf(inputs map[string]esc.Value, name string) (string, bool) {
	text, ok := inputs[name].Value.(string)
	return text, ok
}

func openVariable(_ context.Context, o *Options, inputs map[string]esc.Value) (esc.Value, error) {
	name, _ := textOf(inputs, "name")
	text, set := o.Lookup(name)
	if !set {
		if text, set = textOf(inputs, "default"); !set {
			return esc.Value{}, fmt.Errorf("the environment variable %s is not set, and there is no default", name)
		}
	}
	return esc.NewSecret(text), nil
}

func openFile(ctx context.Context, o *Options, inputs map[string]esc.Value) (esc.Value, error) {
	path, _ := textOf(inputs, "path")
	path = strings.ReplaceAll(path, `\`, "/") // as in the paths of programs
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, filepath.FromSlash(path))
	}
	text, err := o.Door.ReadFile(ctx, path)
	if errors.As(err, new(*fs.PathError)) {
		return esc.Value{}, fmt.Errorf("%s: %w", o.Shown(path), osfile.PlainError(err))
	}
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s is no text in UTF-8", o.Shown(path))
	}
	return esc.NewSecret(string(text)), err
}

func openCommand(ctx context.Context, o *Options, inputs map[string]esc.Value) (esc.Value, error) {
	list, _ := inputs["command"].Value.([]esc.Value)
	if len(list) == 0 {
		return esc.Value{}, errors.New("the command has no words")
	}
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = word.ToString(false)
	}
	text, err := o.Command(ctx, o.Dir, words)
	return esc.NewSecret(text), err
}

func openStacks(ctx context.Context, o *Options, inputs map[string]esc.Value) (esc.Value, error) {
	wanted, _ := inputs["stacks"].Value.(map[string]esc.Value)
	out := make(map[string]esc.Value, len(wanted))
	for key, spec := range wanted {
		fields, _ := spec.Value.(map[string]esc.Value)
		name, _ := textOf(fields, "stack")
		full := name
		if strings.Count(name, "/") == 1 { // the project and the stack, as Pulumi ESC has it
			full = "organization/" + name
		}
		outputs, err := o.Outputs(ctx, full)
		if err != nil {
			return esc.Value{}, fmt.Errorf("stack %s: %w", name, err)
		}
		out[key] = toESC(outputs)
	}
	return esc.NewValue(out), nil
}

// sealed refuses ciphertexts: files have none, since only a service makes them.
type sealed struct{}

// Decrypt returns an error.
func (sealed) Decrypt(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("the secret is sealed by a service, which alone can open it\nRead it with fn::open instead.")
}
