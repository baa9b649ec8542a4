package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newCopy returns the command config copy.
func newCopy(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "copy [KEY]", Aliases: []string{"cp"}, Short: "Copy values to another stack",
		Args: cobra.MaximumNArgs(1),
		Long: "copy copies one value, or all values, of a stack to the stack of --dest. Values of the same keys there are " +
			"replaced, others stay. Secrets are decrypted and encrypted anew for the other stack.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return copyValues(cmd.Context(), a, o, strings.Join(args, ""))
		},
	}
	cmd.Flags().StringVarP(&o.dest, "dest", "d", "", "the stack to copy to")
	cmd.Flags().BoolVar(&o.path, "path", false, "the key is a path into a value, as in servers[0].port")
	return cmd
}

// copyValues copies the value of key from one stack to another, or all values if key is empty. If one value cannot be
// copied, none is. Both stacks are opened before the destination's file is locked, since that may ask. The source is
// read again under the lock, which covers the files of all stacks.
func copyValues(ctx context.Context, a *console.Console, o *options, key string) error {
	if o.dest == "" {
		return console.WithCode(console.CodeBadUsage, "--dest is missing: the stack to copy to")
	}
	if o.file != "" {
		return console.WithCode(console.CodeBadUsage, "with --config-file both stacks have the file %s: there is nothing to "+
			"copy", o.file)
	}
	src, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	// A destination that does not exist is an error here, unlike in `config set`: its name is typed rarely, and a
	// misspelt one would make a new file.
	dest, err := a.Stacks().Open(ctx, src.project, o.dest)
	if err != nil {
		return err
	}
	if dest.Ref.Stack == src.stack {
		return console.WithCode(console.CodeBadUsage, "the stack %s cannot be copied to itself", src.stack)
	}
	copied := 0
	err = edit(ctx, a, &options{stack: o.dest}, func(dst *configured) error {
		settings, diags, err := a.LoadSettings(src.project, src.stack, "")
		if err == nil && diags.HasErrors() { // it was changed meanwhile
			err = a.Report(diags)
		}
		if err != nil {
			return err
		}
		src.settings = settings
		entries, path, err := src.entries(o, key)
		if err != nil {
			return err
		}
		seal := func(sealed project.Secure) (any, error) { return dst.reseal(src, sealed) }
		for _, e := range entries {
			// Data is still sealed; only reseal sees plain text.
			v := e.Data()
			if len(path.Steps) > 0 {
				// With --path only the part is copied, to the same path, and its siblings there stay.
				part, found := project.PartOf(v, path.Steps)
				if !found {
					return fmt.Errorf("config %s has no value at %s in stack %s", path.Key, key, src.stack)
				}
				v = part
			}
			moved, err := project.MapSecure(v, seal)
			if err != nil {
				return fmt.Errorf("copy %s: %w", e.Key, err)
			}
			if err := dst.settings.SetPath(project.KeyPath{Key: e.Key, Steps: path.Steps}, moved); err != nil {
				return err
			}
			copied++
		}
		return nil
	})
	if err == nil {
		fmt.Fprintf(a.Streams.Err, "%s copied from %s to %s\n", diag.Count(copied, "value"), src.stack, o.dest)
	}
	return err
}

// entries returns the value of a key, which may be a path into it, or all values if key is empty.
func (c *configured) entries(o *options, key string) ([]*project.Entry, project.KeyPath, error) {
	if key == "" {
		return c.settings.Entries(), project.KeyPath{}, nil
	}
	path, err := console.ParseKey(o.path, c.project.Name.Text, key)
	if err != nil {
		return nil, path, err
	}
	entry := c.settings.Entry(path.Key)
	if entry == nil {
		return nil, path, c.noSuchKey(key, path.Key)
	}
	return []*project.Entry{entry}, path, nil
}

// reseal opens a secret of src and seals it for c, whose settings the caller must hold. The lock of c covers src, too,
// since the settings of all stacks are in one folder.
func (c *configured) reseal(src *configured, sealed project.Secure) (any, error) {
	opener, err := src.sealer()
	if err != nil {
		return nil, err
	}
	next, err := c.sealer()
	if err != nil {
		return nil, err
	}
	plain, err := opener.Decrypt(string(sealed))
	if err != nil {
		return nil, console.ExplainSecret(err, src.stack)
	}
	resealed, err := next.Encrypt(plain)
	if err != nil {
		return nil, console.ExplainSecret(err, c.stack)
	}
	return project.Secure(resealed), nil
}

// newRefresh returns the command config refresh.
func newRefresh(a *console.Console, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "refresh", Short: "Restore the configuration of the last operation", Args: console.NoArguments,
		Long: "refresh writes the stack's configuration as the last operation on the stack had it. The present file is kept " +
			"beside it, as Pulumi.<stack>.yaml.bak, unless --force is given.",
		RunE: func(cmd *cobra.Command, _ []string) error { return refresh(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "keep no copy of the present file")
	return cmd
}

// refresh restores the settings of a stack from its last history record. The values there are sealed by the stack's own
// provider, so settings that name none get it from the state first.
func refresh(ctx context.Context, a *console.Console, o *options) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	// One record is enough: each has the whole configuration and not a difference.
	records, err := s.Backend.History(ctx, s.Ref, 1)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("stack %s has no history, so there is no configuration to restore", s.Ref.Stack)
	}
	var kept string
	err = edit(ctx, a, o, func(c *configured) error {
		// The copy is made under the lock, so that it is the text that is replaced.
		if c.settings.Exists && !o.force {
			if kept, err = spare(c.settings.Path); err != nil {
				return err
			}
		}
		if err := restoreSecrets(ctx, a, s, c.settings); err != nil {
			return err
		}
		// Keys that the operation did not have go as well. Remove shortens the list, hence the clone.
		for _, e := range slices.Clone(c.settings.Entries()) {
			c.settings.Remove(e.Key)
		}
		// Sorted, since a map has no order and the file should not differ between two calls.
		for _, name := range slices.Sorted(maps.Keys(records[0].Config)) {
			key, err := project.ParseKey(name, c.project.Name.Text)
			if err != nil {
				return fmt.Errorf("the history of stack %s: %w", s.Ref.Stack, err)
			}
			// Secrets stay sealed in the history, and are copied as they are.
			v, err := project.FromJSON(records[0].Config[name])
			if err != nil {
				return fmt.Errorf("the history of stack %s: %s: %w", s.Ref.Stack, name, err)
			}
			c.settings.Set(key, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if kept != "" {
		fmt.Fprintf(a.Streams.Err, "The file as it was is %s.\n", a.Short(kept))
	}
	fmt.Fprintf(a.Streams.Err, "refreshed configuration for stack '%s'\n", s.Ref.Stack)
	return nil
}

// restoreSecrets copies the secrets provider of the state to settings that name none.
func restoreSecrets(ctx context.Context, a *console.Console, s *console.Stack, settings *project.Settings) error {
	if settings.EncryptionSalt != "" || settings.SecretsProvider != "" || settings.EncryptedKey != "" {
		return nil
	}
	// The state always names the provider that sealed it.
	loaded, err := a.Stacks().Load(ctx, s, false)
	if err != nil || loaded.Snapshot.SecretsProvider == nil {
		return err
	}
	var kept struct{ Salt, URL, EncryptedKey string }
	if err := json.Unmarshal(loaded.Snapshot.SecretsProvider.State, &kept); err != nil {
		return fmt.Errorf("the secrets provider of the state: %w", err)
	}
	switch loaded.Snapshot.SecretsProvider.Type {
	// Other providers, such as that of a service, need nothing in the settings.
	case secrets.TypePassphrase:
		settings.EncryptionSalt = kept.Salt
	case secrets.TypeCloud:
		settings.SecretsProvider, settings.EncryptedKey = kept.URL, kept.EncryptedKey
	}
	return nil
}

// spare copies a file to an unused name beside it, and returns that name.
func spare(path string) (string, error) {
	text, err := confine.Anywhere().ReadFile(context.Background(), path)
	if err != nil {
		return "", fmt.Errorf("keep the present file: %w", console.PlainError(err))
	}
	for name := path + ".bak"; ; name += ".bak" {
		// O_EXCL makes the system decide whether the name is unused, so an earlier copy is never overwritten.
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("keep the present file: %w", console.PlainError(err))
		}
		_, err = f.Write(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("keep the present file: %w", console.PlainError(err))
		}
		return name, nil
	}
}
