package project

import (
	"context"
	"fmt"
	"maps"
	"os"

	"github.com/yamlhost/yamlhost/internal/confine"
	"gopkg.in/yaml.v3"
)

// PluginProgram describes the program of a PulumiPlugin.yaml (F3.17).
type PluginProgram struct {
	Language string         // of the program; empty if not specified
	Options  map[string]any // for the host of the language, as JSON values
	Requires string         // the versions of Pulumi that it runs under, as a range; empty for all
}

// ReadPluginProgram reads a PulumiPlugin.yaml, or the file of a policy pack, through a door.
func ReadPluginProgram(door confine.Door, path string) (PluginProgram, error) {
	text, err := door.ReadFile(context.Background(), path)
	if err != nil {
		return PluginProgram{}, fmt.Errorf("read plugin: %w", err)
	}
	var file struct {
		Runtime               yaml.Node `yaml:"runtime"`
		RequiredPulumiVersion string    `yaml:"requiredPulumiVersion"`
	}
	if err := yaml.Unmarshal(StripBOM(text), &file); err != nil {
		return PluginProgram{}, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	p := PluginProgram{Requires: file.RequiredPulumiVersion}
	if file.Runtime.Kind == yaml.ScalarNode {
		p.Language = file.Runtime.Value
		return p, nil
	}
	var runtime struct {
		Name    string         `yaml:"name"`
		Options map[string]any `yaml:"options"`
	}
	if err := file.Runtime.Decode(&runtime); err != nil {
		return PluginProgram{}, fmt.Errorf("%s: runtime is a name, or has `name` and `options`: %w", path, err)
	}
	p.Language, p.Options = runtime.Name, runtime.Options
	return p, nil
}

// SetRuntimeOption gives a plugin or a policy pack in source form an option of its runtime, in the file at a path.
func SetRuntimeOption(path, name, text string) error {
	p, err := ReadPluginProgram(confine.Door{}, path)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file map[string]any
	if err := yaml.Unmarshal(StripBOM(old), &file); err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	options := map[string]any{}
	maps.Copy(options, p.Options)
	options[name] = text
	file["runtime"] = map[string]any{"name": p.Language, "options": options}
	out, err := yaml.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, out, 0o600)
}
