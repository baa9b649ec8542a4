package console

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/yamlhost/yamlhost/internal/filelock"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Hold keeps other processes from editing a project, stack or lock file, until release: such a file is read, changed
// and written whole. An interrupt ends the waiting. Anyone who holds a file must not ask for another one in the same
// folder.
func (a *Console) Hold(path string) (release func(), err error) {
	ctx, done := a.Signals.Gentle(context.Background())
	defer done()
	release, err = filelock.Folder(ctx, filepath.Dir(path), func() {
		fmt.Fprintf(a.Streams.Err, "waiting for another yamlhost that edits files in %s\n", a.Short(filepath.Dir(path)))
	})
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", a.Short(path), err)
	}
	return release, nil
}

// SettingsPath is a stack's settings file, or the one that --config-file names.
func (a Stacks) SettingsPath(p *project.Project, stack, file string) string {
	if file != "" {
		return a.Path(file)
	}
	return p.StackFile(stack)
}
