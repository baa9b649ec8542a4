package operation

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// setFromFlags carries out -c key=value of an operation, which is kept in the stack's file as Pulumi keeps it. Values of keys
// that are declared secret, or are secret in the file already, are sealed. The caller holds the file.
func (p *Pipeline) setFromFlags() error {
	pairs, projectName := p.options.Config, p.Workspace.Project.Name.Text
	if len(pairs) == 0 {
		return nil
	}
	secret := p.Workspace.SecretKeys()
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("--config takes key=value, not %q", pair)
		}
		path, err := console.ParseKey(p.options.ConfigPath, projectName, name)
		if err != nil {
			return err
		}
		entry := p.settings.Entry(path.Key)
		var v any = text
		switch {
		case secret[path.Key] || entry != nil && entry.IsSecret():
			if v, err = p.Console.SealedConfig(p.settings, p.Stack.Ref.Stack, path.Key, text); err != nil {
				return err
			}
		case len(path.Steps) > 0:
			v = project.Coerce(text)
		}
		if err := p.settings.SetPath(path, v); err != nil {
			return err
		}
	}
	return p.settings.Save()
}
