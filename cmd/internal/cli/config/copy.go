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
// copied, none is. Both stacks are opened before the destination's file is locked.
func copyValues(ctx context.Context, a *console.Console, o *options, key string) error {
	if o.dest == "" {
		return console.WithCode(console.CodeBadUsage, "--dest is missing: the stack to copy to")
	}
	src, err := open(ctx, a, o)
	if err != nil {
		return err
	}
	if _, err := a.Stacks().Open(ctx, src.project, o.dest); err != nil {
		return err
	}
	var entries []*project.Entry
	var path project.KeyPath
	if key == "" {
		entries = src.settings.Entries()
	} else {
		if path, err = console.ParseKey(o.path, src.project.Name.Text, key); err != nil {
			return err
		}
		entry := src.settings.Entry(path.Key)
		if entry == nil {
			return src.noSuchKey(key, path.Key)
		}
		entries = []*project.Entry{entry}
	}
	copied := 0
	err = edit(ctx, a, &options{stack: o.dest, file: o.file}, func(dst *configured) error {
		// With --config-file, both stacks would have the same file.
		if dst.stack == src.stack || o.file != "" {
			return console.WithCode(console.CodeBadUsage, "the stack %s cannot be copied to itself", src.stack)
		}
		seal := func(sealed project.Secure) (any, error) { return dst.reseal(src, sealed) }
		for _, e := range entries {
			v := e.Data()
			if len(path.Steps) > 0 {
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
	records, err := s.Backend.History(ctx, s.Ref, 1)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("stack %s has no history, so there is no configuration to restore", s.Ref.Stack)
	}
	var kept string
	err = edit(ctx, a, o, func(c *configured) error {
		if c.settings.Exists && !o.force {
			if kept, err = spare(c.settings.Path); err != nil {
				return err
			}
		}
		if err := restoreSecrets(ctx, a, s, c.settings); err != nil {
			return err
		}
		for _, e := range slices.Clone(c.settings.Entries()) {
			c.settings.Remove(e.Key)
		}
		for _, name := range slices.Sorted(maps.Keys(records[0].Config)) {
			key, err := project.ParseKey(name, c.project.Name.Text)
			if err != nil {
				return fmt.Errorf("the history of stack %s: %w", s.Ref.Stack, err)
			}
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
	loaded, err := a.Stacks().Load(ctx, s, false)
	if err != nil || loaded.Snapshot.SecretsProvider == nil {
		return err
	}
	var kept struct{ Salt, URL, EncryptedKey string }
	if err := json.Unmarshal(loaded.Snapshot.SecretsProvider.State, &kept); err != nil {
		return fmt.Errorf("the secrets provider of the state: %w", err)
	}
	switch loaded.Snapshot.SecretsProvider.Type {
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
