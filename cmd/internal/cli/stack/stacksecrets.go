package stack

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newChangeSecretsProvider returns the command stack change-secrets-provider.
func newChangeSecretsProvider(a *console.Console, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "change-secrets-provider PROVIDER", Short: "Encrypt the stack's secrets with another key", Args: cobra.ExactArgs(1),
		Long: "change-secrets-provider decrypts all secrets of the stack's configuration and state, and encrypts " +
			"them with a new passphrase or with a key that a key service keeps. PROVIDER is passphrase, default, or " +
			"the URL of a key. A new passphrase is asked for on a terminal, and otherwise read from the first line " +
			"of standard input; the old one comes from PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE.",
		RunE: o.on(a, changeSecretsProvider),
	}
}

// changeSecretsProvider seals the secrets of state and settings with another manager. The settings stay locked from
// reading to saving, so that no other command seals a value with the old manager in between.
func changeSecretsProvider(ctx context.Context, a *console.Console, _ *stackOptions, s *console.Stack,
	args []string) error {
	// The lock of the settings comes first; Edit takes that of the state.
	release, err := a.Hold(a.Stacks().SettingsPath(s.Project, s.Ref.Stack, ""))
	if err != nil {
		return err
	}
	defer release()
	settings, err := a.Stacks().Settings(s)
	if err != nil {
		return err
	}
	keys := a.Secrets().Of(s.Backend, s.Ref)
	// That of the settings under the lock, which another command may have changed a moment ago.
	old, err := keys.HeldManager(settings, s.Ref.Stack)
	if err != nil {
		return err
	}
	// adopt is called only at the end. It writes the new provider into the settings in memory.
	next, adopt, err := keys.NewManager(args[0], s.Ref.Stack)
	if err != nil {
		return err
	}
	begin := backend.BeginOptions{Command: "stack change-secrets-provider", Secrets: next, Open: old.Opener}
	err = s.Backend.Edit(ctx, s.Ref, begin, func(base *state.Snapshot) (*state.Snapshot, error) {
		// The configuration is sealed first and written last, so that an error in between leaves the file unchanged.
		if err := reseal(settings, old, next); err != nil {
			return nil, console.ExplainSecret(err, s.Ref.Stack)
		}
		// A copy is another snapshot, which the backend writes and thereby seals anew, although nothing in it differs.
		changed := *base
		return &changed, nil
	})
	if err != nil {
		return console.ExplainSecret(err, s.Ref.Stack)
	}
	description := adopt(settings)
	if err := settings.Save(); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "The secrets of the stack are sealed with %s.\n", description)
	return nil
}

// reseal opens every secret of a settings file and seals it with another manager.
func reseal(settings *project.Settings, old, next secrets.Manager) error {
	if err := announce(settings, old, next); err != nil {
		return err
	}
	for _, e := range settings.Entries() {
		if !e.IsSecret() {
			continue
		}
		data, err := project.MapSecure(e.Data(), func(s project.Secure) (any, error) {
			plain, err := old.Decrypt(string(s))
			if err != nil {
				return nil, err
			}
			sealed, err := next.Encrypt(plain)
			return project.Secure(sealed), err
		})
		if err != nil {
			return fmt.Errorf("configuration %s: %w", e.Key, err)
		}
		settings.Set(e.Key, data)
	}
	return nil
}

// announce passes every secret of a settings file to managers that open or seal many at once. A service opens and seals
// many secrets in one request; a request for each would take long.
func announce(settings *project.Settings, old, next secrets.Manager) error {
	var sealed, plain []string
	note := func(s project.Secure) (any, error) {
		sealed = append(sealed, string(s))
		return s, nil
	}
	for _, e := range settings.Entries() {
		_, _ = project.MapSecure(e.Data(), note) // note never fails
	}
	if opener, ok := old.(secrets.Batch); ok {
		// It only notes them: the first Decrypt below sends one request for all.
		opener.Expect(sealed)
	}
	sealer, ok := next.(secrets.Batch)
	if !ok {
		return nil
	}
	for _, text := range sealed {
		// After Expect, a batch opens all of them with the first.
		opened, err := old.Decrypt(text)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		plain = append(plain, opened)
	}
	sealer.Prepare(plain)
	return nil
}
