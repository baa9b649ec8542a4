package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/secrets/keyservice"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Vault is a stack's secrets manager: what its settings file says or, where that says nothing, what its state says. It
// asks for a passphrase only when something has to be sealed or opened (D3). It is safe for concurrent use.
type Vault struct {
	Options secrets.Options

	mu      sync.Mutex // guards what follows
	Current secrets.Manager
	adopts  bool // the settings say nothing: the state's manager may take over

	again func() (secrets.Manager, error) // the manager anew, once the settings say something else; nil if they cannot
}

var _ secrets.Manager = (*Vault)(nil)

// Manager makes the secrets manager of a stack. A salt that is made for a new passphrase is written to the settings
// file before anything is sealed with it (F4.14). The caller does not hold that file.
func (a *Console) Manager(settings *project.Settings, stack string) (*Vault, error) {
	return a.managerBy(settings, stack, func(apply func(*project.Settings)) error {
		return a.writeProvider(settings,
			apply)
	})
}

// HeldManager is manager for a caller that holds the settings file.
func (a *Console) HeldManager(settings *project.Settings, stack string) (*Vault, error) {
	return a.managerBy(settings, stack, func(apply func(*project.Settings)) error {
		apply(settings)
		return settings.Save()
	})
}

func (a *Console) managerBy(settings *project.Settings, stack string, write func(apply func(*project.Settings)) error) (
	*Vault, error) {
	options := secrets.Options{Keys: &a.keys, Passphrase: a.passphrases(stack), Created: func(salt string) error {
		return write(func(s *project.Settings) { s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = salt, "", "" })
	}}
	a.withKeys(&options)
	options.CreatedKey = func(url, encryptedKey string) error {
		return write(func(s *project.Settings) {
			s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = "", url,
				encryptedKey
		})
	}
	again := func() (secrets.Manager, error) {
		m, err := secrets.ForStack(settings.SecretsProvider, settings.EncryptionSalt, settings.EncryptedKey, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Short(settings.Path), err)
		}
		return m, nil
	}
	m, err := again()
	if err != nil {
		return nil, err
	}
	return &Vault{Options: options, Current: m, adopts: settings.EncryptionSalt == "" && settings.SecretsProvider == "",
		again: again}, nil
}

// withKeys adds the key services (F4.11).
func (a *Console) withKeys(o *secrets.Options) {
	o.OverrideURL = a.World.Getenv("PULUMI_CLOUD_SECRET_OVERRIDE")
	o.OpenKey = func(url string) (secrets.Key, error) {
		return keyservice.Open(url, keyservice.Options{Lookup: a.World.Lookup})
	}
}

// SecretsProviderHelp tells the providers of this build.
func SecretsProviderHelp() string {
	return "how secrets are kept: default, passphrase, or the URL of a key (" + strings.Join(keyservice.Known(), "://, ") +
		"://)"
}

func (v *Vault) Manager() secrets.Manager {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Current
}

// Type is the manager's.
func (v *Vault) Type() string { return v.Manager().Type() }

// State is the manager's.
func (v *Vault) State() json.RawMessage { return v.Manager().State() }

// Encrypt seals text. If another process has decided meanwhile how that is done for this stack, it is done so.
func (v *Vault) Encrypt(plaintext string) (string, error) {
	m := v.Manager()
	text, err := m.Encrypt(plaintext)
	if !errors.Is(err, errOvertaken) {
		return text, err
	}
	v.mu.Lock()
	if v.Current == m {
		next, err := v.again()
		if err != nil {
			v.mu.Unlock()
			return "", err
		}
		v.Current, v.adopts = next, false
	}
	m = v.Current
	v.mu.Unlock()
	return m.Encrypt(plaintext)
}

// Decrypt opens text.
func (v *Vault) Decrypt(ciphertext string) (string, error) { return v.Manager().Decrypt(ciphertext) }

// Opener gives the manager that a state names, which takes over where the settings file says nothing.
func (v *Vault) Opener(p state.SecretsProvider) (secrets.Manager, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.Type == v.Current.Type() && string(p.State) == string(v.Current.State()) {
		return v.Current, nil
	}
	m, err := secrets.Open(p.Type, p.State, v.Options)
	if err == nil && v.adopts && p.Type != "" {
		v.Current, v.adopts = m, false
	}
	return m, err
}

// ExplainSecret says what to do about a secret that could not be sealed or opened.
func ExplainSecret(err error, stack string) error {
	if errors.Is(err, secrets.ErrIncorrectPassphrase) {
		return fmt.Errorf("%w: it is not the one that the secrets of stack %s were sealed with", err, stack)
	}
	return err
}
