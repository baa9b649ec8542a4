package plugin

import (
	"fmt"
	"path/filepath"
)

// FindKind returns the path of the executable of a plugin of any kind, such as tool or converter: on the path, or else
// in the plugin folder. An empty version stands for the newest one.
func (o *Options) FindKind(kind, name, version string) (string, error) {
	executable := "pulumi-" + kind + "-" + name
	if !o.IgnoreAmbient && version == "" {
		for _, dir := range o.Path {
			if path, found := executableIn(dir, executable); found && dir != "" {
				return path, nil
			}
		}
	}
	if o.Home != "" {
		if dir, found := o.installedKind(filepath.Join(o.Home, "plugins"), kind, name, version); found {
			path, executes := executableIn(dir, executable)
			if !executes {
				return "", fmt.Errorf("the plugin in %s has no executable %s", dir, executable)
			}
			return path, nil
		}
	}
	if version == "" {
		version = "VERSION"
	}
	return "", fmt.Errorf("no plugin %s of the kind %s is installed or on $PATH; install it with: yamlhost plugin install %s "+
		"%s %s", name, kind, kind, name, version)
}
