package console

import (
	"context"
	"errors"
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
func (a *Console) SettingsPath(p *project.Project, stack, file string) string {
	if file != "" {
		return a.Path(file)
	}
	return p.StackFile(stack)
}

// errOvertaken says that another process has decided how a stack's secrets are sealed, after this one had looked.
var errOvertaken = errors.New(
	"another process has decided meanwhile how the secrets of the stack are sealed; run the command again")

// writeProvider puts how secrets are sealed into a settings file, and leaves everything in it that others have written
// since it was read. If they have decided on that themselves, settings gets what they have decided, and the error is
// errOvertaken.
func (a *Console) writeProvider(settings *project.Settings, apply func(*project.Settings)) error {
	release, err := a.Hold(settings.Path)
	if err != nil {
		return err
	}
	defer release()
	now, diags, err := settings.Reload()
	if err != nil {
		return err
	}
	if diags.HasErrors() {
		return a.Report(diags)
	}
	if now.EncryptionSalt != settings.EncryptionSalt || now.SecretsProvider != settings.SecretsProvider ||
		now.EncryptedKey != settings.EncryptedKey {
		settings.EncryptionSalt, settings.SecretsProvider, settings.EncryptedKey = now.EncryptionSalt, now.SecretsProvider,
			now.EncryptedKey
		return errOvertaken
	}
	apply(now)
	if err := now.Save(); err != nil {
		return err
	}
	apply(settings)
	settings.Exists = true
	return nil
}
