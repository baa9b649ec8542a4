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

// StackSecrets is a stack's secrets manager: what its settings file says or, where that says nothing, what its state
// says. It asks for a passphrase only when something has to be sealed or opened (D3). It is safe for concurrent use.
type StackSecrets struct {
	Options secrets.Options

	mu      sync.Mutex // guards what follows
	Current secrets.Manager
	adopts  bool // the settings say nothing: the state's manager may take over

	again func() (secrets.Manager, error) // the manager anew, once the settings say something else; nil if they cannot
	// passphrases gives the source of other stacks' passphrases; nil means this stack's source
	passphrases func(stack, project string) secrets.PassphraseSource
}

// Of is a manager for another stack: what this one can open it opens alike, and a passphrase is asked for by its name.
func (v *StackSecrets) Of(stack, project string) *StackSecrets {
	options := v.Options
	if v.passphrases != nil {
		options.Passphrase = v.passphrases(stack, project)
	}
	return &StackSecrets{Options: options, Current: v.Manager(), passphrases: v.passphrases}
}

var _ secrets.Batch = (*StackSecrets)(nil)

// SecretsProviderHelp lists the secrets providers of this build.
func SecretsProviderHelp() string {
	return "how secrets are kept: default, passphrase, or the URL of a key (" + strings.Join(keyservice.Known(), "://, ") +
		"://)"
}

// Manager is the manager that is in use at the moment.
func (v *StackSecrets) Manager() secrets.Manager {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Current
}

// Type is the manager's.
func (v *StackSecrets) Type() string { return v.Manager().Type() }

// State is the manager's.
func (v *StackSecrets) State() json.RawMessage { return v.Manager().State() }

// Encrypt seals text. If another process has decided meanwhile how that is done for this stack, it is done so.
func (v *StackSecrets) Encrypt(plaintext string) (string, error) {
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
func (v *StackSecrets) Decrypt(ciphertext string) (string, error) {
	return v.Manager().Decrypt(ciphertext)
}

// Prepare hands the manager what is to be sealed.
func (v *StackSecrets) Prepare(plaintexts []string) {
	if batch, ok := v.Manager().(secrets.Batch); ok {
		batch.Prepare(plaintexts)
	}
}

// Expect hands the manager what is to be opened.
func (v *StackSecrets) Expect(ciphertexts []string) {
	if batch, ok := v.Manager().(secrets.Batch); ok {
		batch.Expect(ciphertexts)
	}
}

// SealedConfig seals a value of the configuration of a stack.
func (v *StackSecrets) SealedConfig(stack string, key project.Key, text string) (any, error) {
	sealed, err := v.Encrypt(text)
	if err != nil {
		return nil, ExplainSecret(fmt.Errorf("encrypt config %s: %w", key, err), stack)
	}
	return project.Secure(sealed), nil
}

// Opener gives the manager that a state names, which takes over where the settings file says nothing.
func (v *StackSecrets) Opener(p state.SecretsProvider) (secrets.Manager, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.Type == v.Current.Type() && secrets.SameState(p.State, v.Current.State()) {
		return v.Current, nil
	}
	m, err := secrets.Open(p.Type, p.State, v.Options)
	if err == nil && v.adopts && p.Type != "" {
		v.Current, v.adopts = m, false
	}
	return m, err
}

// ExplainSecret adds the way out to an error about a secret that could not be sealed or opened.
func ExplainSecret(err error, stack string) error {
	if errors.Is(err, secrets.ErrIncorrectPassphrase) {
		return fmt.Errorf("%w: the secrets of stack %s were sealed with another one", err, stack)
	}
	return err
}
