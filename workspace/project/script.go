package project

import (
	"context"
	"fmt"
	"os"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// PluginProgram describes the program of a PulumiPlugin.yaml (F3.17).
type PluginProgram struct {
	Language string         // of the program; empty if not specified
	Options  map[string]any // for the host of the language, as JSON values
	Requires string         // the versions of Pulumi that it runs under, as a range; empty for all
}

// ReadPluginProgram reads a PulumiPlugin.yaml, or the file of a policy pack, through a door.
func ReadPluginProgram(door confine.Door, path string) (PluginProgram, error) {
	_, root, err := pluginFile(door, path)
	if err != nil {
		return PluginProgram{}, err
	}
	p := PluginProgram{Requires: yamlnode.TextAt(root, "requiredPulumiVersion")}
	runtime := valueOf(root, "runtime")
	switch {
	case runtime == nil:
		return p, nil
	case runtime.Kind == yamlnode.Scalar:
		p.Language = runtime.Value
		return p, nil
	}
	options := valueOf(runtime, "options")
	if runtime.Kind != yamlnode.Map || !isNull(options) && options.Kind != yamlnode.Map {
		return PluginProgram{}, fmt.Errorf("%s: runtime is a name, or has `name` and `options`", path)
	}
	p.Language = yamlnode.TextAt(runtime, "name")
	if !isNull(options) {
		data, err := (&decoder{}).decode(options, 0)
		if err != nil {
			return PluginProgram{}, fmt.Errorf("%s: the options of the runtime cannot be read: %w", path, err)
		}
		p.Options, _ = data.(map[string]any)
	}
	return p, nil
}

// pluginFile reads a file of a plugin or a policy pack in source form; the root is nil for an empty one.
func pluginFile(door confine.Door, path string) (*yamlnode.Document, *yamlnode.Node, error) {
	text, err := door.ReadFile(context.Background(), path)
	if err != nil {
		return nil, nil, fmt.Errorf("read plugin: %w", err)
	}
	d := &document{src: diag.NewSource(path, StripBOM(text))}
	file, root := d.parseCommented()
	if len(d.diags) > 0 {
		found := d.diags[0]
		return nil, nil, fmt.Errorf("%s cannot be read: line %d: %s", path, found.Subject.StartPosition().Line, found.Summary)
	}
	return file, root, nil
}

// SetRuntimeOption gives a plugin or a policy pack in source form an option of its runtime, in the file at a path.
func SetRuntimeOption(path, name, text string) error {
	p, err := ReadPluginProgram(confine.Door{}, path)
	if err != nil {
		return err
	}
	file, root, err := pluginFile(confine.Door{}, path)
	if err != nil {
		return err
	}
	if root == nil {
		root = &yamlnode.Node{Kind: yamlnode.Map}
		file = &yamlnode.Document{Root: root}
	}
	options := valueOf(valueOf(root, "runtime"), "options")
	if isNull(options) {
		options = &yamlnode.Node{Kind: yamlnode.Map}
		set(root, "runtime", &yamlnode.Node{Kind: yamlnode.Map, Content: []*yamlnode.Node{yamlnode.Of("name"),
			yamlnode.Of(p.Language), yamlnode.Of("options"), options}})
	}
	set(options, name, yamlnode.Of(text))
	out, err := file.Encode()
	if err != nil {
		return err
	}
	before, err := confine.Anywhere().ReadFile(context.Background(), path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, diag.KeepBreaks(before, out), 0o600)
}

// set sets a key of a map.
func set(n *yamlnode.Node, key string, value *yamlnode.Node) {
	if i := n.Index(key); i >= 0 {
		n.Content[i+1] = value
		return
	}
	n.Content = append(n.Content, yamlnode.Of(key), value)
}
