package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

func newChangeSecretsProvider(a *app, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "change-secrets-provider PROVIDER", Short: "Seal the stack's secrets anew", Args: cobra.ExactArgs(1),
		Long: "change-secrets-provider opens all secrets of the stack's configuration and state and seals them anew, with a new\n" +
			"passphrase or with a key that a key service keeps: PROVIDER is passphrase, default, or the URL of a key. A new passphrase is\n" +
			"asked for on a terminal and else read from the first line of standard input; the old one comes from\n" +
			"PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeSecretsProvider(cmd.Context(), o, args[0])
		},
	}
}

func (a *app) changeSecretsProvider(ctx context.Context, o *stackOptions, provider string) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	release, err := a.hold(a.settingsPath(s.project, s.ref.Stack, ""))
	if err != nil {
		return err
	}
	defer release()
	settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
	if err != nil {
		return err
	}
	if err := a.report(diags); err != nil {
		return err
	}
	old, err := a.heldManager(settings, s.ref.Stack)
	if err != nil {
		return err
	}
	next, adopt, err := a.newManager(provider, s.ref.Stack)
	if err != nil {
		return err
	}
	begin := backend.BeginOptions{Command: "stack change-secrets-provider", Secrets: next, Open: old.opener}
	err = s.backend.Edit(ctx, s.ref, begin, func(base *state.Snapshot) (*state.Snapshot, error) {
		// The configuration is sealed first, and written last: a fault in between leaves it as it was.
		if err := reseal(settings, old, next); err != nil {
			return nil, a.explainSecret(err, s.ref.Stack)
		}
		changed := *base
		return &changed, nil
	})
	if err != nil {
		return a.explainSecret(err, s.ref.Stack)
	}
	with := adopt(settings)
	if err := settings.Save(); err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "The secrets of the stack are sealed with %s.\n", with)
	return nil
}

// newManager makes the manager that a stack is to change to. adopt puts it into the stack's settings, and says what it is.
func (a *app) newManager(provider, stack string) (next secrets.Manager, adopt func(*project.Settings) string, err error) {
	if !secrets.IsKeyURL(provider) {
		passphrase, err := a.newPassphrase(stack)
		if err != nil {
			return nil, nil, err
		}
		m, err := secrets.NewPassphrase(&a.keys, passphrase)
		return m, func(s *project.Settings) string {
			s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = m.Salt(), "", ""
			return "the new passphrase"
		}, err
	}
	var o secrets.Options
	a.withKeys(&o)
	m, err := secrets.NewCloud(provider, "", o)
	if err != nil {
		return nil, nil, err
	}
	if _, err := m.Encrypt("pulumi"); err != nil { // makes the data key, or proves that the service will not
		return nil, nil, err
	}
	return m, func(s *project.Settings) string {
		s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = "", m.URL(), m.EncryptedKey()
		return "the key " + m.URL()
	}, nil
}

// newPassphrase comes from a person or from the first line of standard input.
func (a *app) newPassphrase(stack string) (string, error) {
	if a.interactive() && a.streams.ReadPassword != nil {
		return a.askPassphrase(stack, secrets.Purpose{New: true})
	}
	line, err := readLine(a.streams.In)
	if line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return "", fmt.Errorf("read the new passphrase from standard input: %w", err)
	}
	return line, nil
}

// reseal opens every secret of a settings file and seals it with another manager.
func reseal(settings *project.Settings, old, next secrets.Manager) error {
	for _, e := range settings.Entries() {
		if !e.IsSecret() {
			continue
		}
		data, err := resealed(e.Data(), old, next)
		if err != nil {
			return fmt.Errorf("configuration %s: %w", e.Key, err)
		}
		settings.Set(e.Key, data)
	}
	return nil
}

func resealed(v any, old, next secrets.Manager) (any, error) {
	var err error
	switch v := v.(type) {
	case project.Secure:
		plain, err := old.Decrypt(string(v))
		if err != nil {
			return nil, err
		}
		sealed, err := next.Encrypt(plain)
		return project.Secure(sealed), err
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			if list[i], err = resealed(item, old, next); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			if m[key], err = resealed(item, old, next); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}
