package operation

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// setFromFlags carries out --config, --config-from and --config-env of an operation, which are kept in the stack's file
// as Pulumi keeps -c. Values of keys that are declared secret, or are secret in the file already, are sealed; one from
// a file or the environment is sealed unless its key is declared as no secret. The caller holds the file.
func (p *Pipeline) setFromFlags() error {
	if !p.options.setsConfig() {
		return nil
	}
	declared := p.Workspace.DeclaredKeys()
	known := slices.Collect(maps.Keys(declared))
	for _, e := range p.settings.Entries() {
		known = append(known, e.Key)
	}
	settings, err := p.settingsFromFlags(known)
	if err != nil {
		return err
	}
	for _, set := range settings {
		path, err := console.ParseKey(p.options.ConfigPath && !set.outside, p.Workspace.Project.Name.Text, set.name)
		if err != nil {
			return err
		}
		entry := p.settings.Entry(path.Key)
		secret, isDeclared := declared[path.Key]
		var v any = set.text
		switch {
		case secret || entry != nil && entry.IsSecret() || set.outside && !isDeclared:
			if v, err = p.Console.SealedConfig(p.settings, p.Stack.Ref.Stack, path.Key, set.text); err != nil {
				return err
			}
		case len(path.Steps) > 0:
			v = project.Coerce(set.text)
		}
		if err := p.settings.SetPath(path, v); err != nil {
			return err
		}
	}
	return p.settings.Save()
}

// setsConfig reports whether a flag sets configuration.
func (o *Options) setsConfig() bool {
	return len(o.Config)+len(o.sources.from) > 0 || o.sources.env != ""
}
