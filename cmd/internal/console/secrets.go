package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/secrets/keyservice"
	"github.com/yamlhost/yamlhost/runtime/secrets/service"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Secrets makes the secrets managers of stacks.
type Secrets struct {
	*Console
	hosted json.RawMessage // state of the service's manager for the stack; nil in other backends
	inUse  string          // the URL of that service
}

// Of returns the secrets of a stack: a service keeps those of its own stacks unless their settings choose another
// manager.
func (s Secrets) Of(b *backend.Backend, r backend.Ref) Secrets {
	if b.Service() != nil && r.Owner != "" {
		s.inUse = strings.TrimRight(b.URL(), "/")
		s.hosted = service.StateOf(s.inUse, r.Owner, r.Project, r.Stack)
	}
	return s
}

// isHosted reports whether a service keeps the secrets of a stack that has these settings.
func (s Secrets) isHosted(settings *project.Settings) bool {
	return s.hosted != nil && settings.EncryptionSalt == "" && !secrets.IsKeyURL(settings.SecretsProvider) &&
		settings.SecretsProvider != secrets.TypePassphrase
}

// Secrets returns a maker of secrets managers for this console.
func (a *Console) Secrets() Secrets { return Secrets{Console: a} }

// errOvertaken is returned if another process has changed the secrets provider of a stack since this process read it.
var errOvertaken = errors.New(
	"another process has changed the stack's secrets provider meanwhile; run the command again")

// Manager makes the secrets manager of a stack. A salt made for a new passphrase is written to the settings file before
// anything is sealed with it (F4.14). The caller must not hold that file.
func (s Secrets) Manager(settings *project.Settings, stack string) (*StackSecrets, error) {
	return s.managerBy(settings, stack, func(apply func(*project.Settings)) error {
		return s.writeProvider(settings, apply)
	})
}

// HeldManager is like Manager for a caller that holds the settings file.
func (s Secrets) HeldManager(settings *project.Settings, stack string) (*StackSecrets, error) {
	return s.managerBy(settings, stack, func(apply func(*project.Settings)) error {
		apply(settings)
		return settings.Save()
	})
}

func (s Secrets) managerBy(settings *project.Settings, stack string, write func(apply func(*project.Settings)) error) (
	*StackSecrets, error) {
	options := s.options()
	options.Passphrase = s.passphrases(stack, settings.Project())
	options.Created = func(salt string) error {
		return write(func(dst *project.Settings) { dst.EncryptionSalt, dst.SecretsProvider, dst.EncryptedKey = salt, "", "" })
	}
	options.CreatedKey = func(url, key string) error {
		return write(func(dst *project.Settings) { dst.EncryptionSalt, dst.SecretsProvider, dst.EncryptedKey = "", url, key })
	}
	again := func() (secrets.Manager, error) {
		if s.isHosted(settings) {
			return options.OpenService(s.hosted)
		}
		m, err := secrets.ForStack(settings.SecretsProvider, settings.EncryptionSalt, settings.EncryptedKey, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Short(settings.Path), err)
		}
		return m, nil
	}
	m, err := again()
	if err != nil {
		return nil, err
	}
	undecided := settings.EncryptionSalt == "" && settings.SecretsProvider == "" && !s.isHosted(settings)
	return &StackSecrets{Options: options, Current: m, adopts: undecided, again: again, passphrases: s.passphrases}, nil
}

// elsewhere makes the secrets manager of a stack whose settings are in the folder of another project.
func (s Secrets) elsewhere(r backend.Ref) (*StackSecrets, error) {
	options := s.options()
	options.Passphrase = s.passphrases(r.Stack, r.Project)
	options.Created = func(string) error {
		return fmt.Errorf("the stack %s/%s has no secrets yet, and its settings are in its own project: run "+
			"`yamlhost stack change-secrets-provider passphrase` there first", r.Project, r.Stack)
	}
	if s.hosted != nil {
		m, err := options.OpenService(s.hosted)
		return &StackSecrets{Options: options, Current: m, adopts: true, passphrases: s.passphrases}, err
	}
	m, err := secrets.ForStack("", "", "", options)
	return &StackSecrets{Options: options, Current: m, adopts: true, passphrases: s.passphrases}, err
}

// options returns the options of all managers: access to the key services (F4.11) and to the services that keep secrets
// themselves (F4.12).
func (s Secrets) options() secrets.Options {
	return secrets.Options{Keys: cmp.Or(s.World.Keys, &shared(s.Console).keys),
		OverrideURL: s.World.Getenv("PULUMI_CLOUD_SECRET_OVERRIDE"),
		OpenKey: func(url string) (secrets.Key, error) {
			return keyservice.Open(url, keyservice.Options{Lookup: s.World.Lookup})
		},
		OpenService: func(state json.RawMessage) (secrets.Manager, error) {
			return service.Open(state, service.Options{Token: s.serviceToken, HTTP: s.World.HTTP,
				Agent: "yamlhost/" + s.Version()})
		}}
}

// Given makes the manager that a state names, using a passphrase that a person has just given. The derived key is not
// cached.
func (s Secrets) Given(p state.SecretsProvider, passphrase string) (secrets.Manager, error) {
	o := s.options()
	o.Keys = nil
	o.Passphrase = func(secrets.Purpose) (string, error) { return passphrase, nil }
	return secrets.Open(p.Type, p.State, o)
}

// serviceToken returns the token for a service. The URL comes from a state that anyone may have written. Therefore the
// token in the environment is used only for the service that the environment selects; any other service needs a login.
func (s Secrets) serviceToken(url string) (string, error) {
	meant := cmp.Or(strings.TrimRight(s.World.Getenv("PULUMI_API"), "/"), "https://api.pulumi.com")
	if token := s.World.Getenv(AccessToken); token != "" && (url == meant || url == s.inUse) {
		return token, nil
	}
	return backend.Token(s.World.CredentialsHome(), url)
}

// passphrases returns the source of a stack's passphrase (F4.5): the environment, a file, or a person, in this order. A
// person is asked once for each stack.
func (s Secrets) passphrases(stack, project string) secrets.PassphraseSource {
	var prompt func(secrets.Purpose) (string, error)
	if s.Prompt().canHide() {
		name := stack
		if project != "" {
			name += " of project " + project
		}
		prompt = func(p secrets.Purpose) (string, error) {
			return shared(s.Console).asked.once(name, p, func() (string, error) {
				return s.Prompt().passphrase(name, p)
			})
		}
	}
	readFile := func(path string) ([]byte, error) { return os.ReadFile(s.World.path(path)) }
	return secrets.PassphraseFrom(s.World.Lookup, readFile, prompt)
}

// AsksForPassphrases reports whether a person would be asked if a passphrase were needed.
func (s Secrets) AsksForPassphrases() bool {
	return s.Prompt().canHide() && !s.passphraseIsSet()
}

// passphraseIsSet reports whether the environment has a passphrase.
func (s Secrets) passphraseIsSet() bool {
	_, given := s.World.Lookup("PULUMI_CONFIG_PASSPHRASE")
	return given || s.World.Getenv("PULUMI_CONFIG_PASSPHRASE_FILE") != ""
}

// NewManager makes the manager that a stack is to change to. adopt stores it in the stack's settings and returns a
// description of it.
func (s Secrets) NewManager(provider, stack string) (next secrets.Manager, adopt func(*project.Settings) string,
	err error) {
	if s.hosted != nil && (provider == "default" || provider == secrets.TypeService) {
		m, err := s.options().OpenService(s.hosted)
		return m, func(dst *project.Settings) string {
			dst.EncryptionSalt, dst.SecretsProvider, dst.EncryptedKey = "", "", ""
			return "a key that " + s.inUse + " keeps"
		}, err
	}
	if !secrets.IsKeyURL(provider) {
		passphrase, err := s.Prompt().newPassphrase(stack)
		if err != nil {
			return nil, nil, err
		}
		m, err := secrets.NewPassphrase(s.options().Keys, passphrase)
		return m, func(dst *project.Settings) string {
			dst.EncryptionSalt, dst.SecretsProvider, dst.EncryptedKey = m.Salt(), "", ""
			return "the new passphrase"
		}, err
	}
	m, err := secrets.NewCloud(provider, "", s.options())
	if err != nil {
		return nil, nil, err
	}
	if _, err := m.Encrypt("pulumi"); err != nil { // makes the data key, or proves that the service will not
		return nil, nil, err
	}
	return m, func(dst *project.Settings) string {
		dst.EncryptionSalt, dst.SecretsProvider, dst.EncryptedKey = "", m.URL(), m.EncryptedKey()
		return "the key " + m.URL()
	}, nil
}

// writeProvider applies a change of the secrets provider to the settings file and keeps everything that others have
// written to it since it was read. If another process has changed the provider meanwhile, settings gets that provider
// and the error is errOvertaken.
func (s Secrets) writeProvider(settings *project.Settings, apply func(*project.Settings)) error {
	release, err := s.Hold(settings.Path)
	if err != nil {
		return err
	}
	defer release()
	now, diags, err := settings.Reload()
	if err != nil {
		return err
	}
	if diags.HasErrors() {
		return s.Report(diags)
	}
	if now.EncryptionSalt != settings.EncryptionSalt || now.SecretsProvider != settings.SecretsProvider ||
		now.EncryptedKey != settings.EncryptedKey {
		settings.EncryptionSalt, settings.SecretsProvider, settings.EncryptedKey = now.EncryptionSalt,
			now.SecretsProvider,
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

// SealedConfig seals a configuration value. The caller must hold the settings file.
func (s Secrets) SealedConfig(settings *project.Settings, stack string, key project.Key, text string) (any, error) {
	manager, err := s.HeldManager(settings, stack)
	if err != nil {
		return nil, err
	}
	return manager.SealedConfig(stack, key, text)
}

// StackSecrets is the secrets manager of a stack: the one in its settings file or, if that has none, the one in its
// state. It asks for a passphrase only when a value has to be sealed or opened (D3). It is safe for concurrent use.
type StackSecrets struct {
	Options secrets.Options

	mu      sync.Mutex // guards the fields below
	Current secrets.Manager
	adopts  bool // the settings name no manager, so the state's may take over

	again func() (secrets.Manager, error) // makes the manager again after the settings changed; may be nil
	// passphrases returns the source of another stack's passphrase; nil means this stack's source
	passphrases func(stack, project string) secrets.PassphraseSource
}

// Of returns a manager for another stack. It opens whatever this manager can open, and asks for a passphrase under the
// other stack's name.
func (v *StackSecrets) Of(stack, project string) *StackSecrets {
	options := v.Options
	if v.passphrases != nil {
		options.Passphrase = v.passphrases(stack, project)
	}
	return &StackSecrets{Options: options, Current: v.Manager(), passphrases: v.passphrases}
}

var _ secrets.Batch = (*StackSecrets)(nil)

// SecretsProviderHelp returns a description, for help texts, of the secrets providers of this build.
func SecretsProviderHelp() string {
	return "how secrets are kept: default, passphrase, or the URL of a key (" + strings.Join(keyservice.Known(), "://, ") +
		"://)"
}

// Manager returns the manager that is in use at the moment.
func (v *StackSecrets) Manager() secrets.Manager {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Current
}

// Type returns the type of the current manager.
func (v *StackSecrets) Type() string { return v.Manager().Type() }

// State returns the state of the current manager.
func (v *StackSecrets) State() json.RawMessage { return v.Manager().State() }

// Encrypt seals a text. If another process has changed the stack's secrets provider meanwhile, it uses the new one.
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

// Decrypt opens a sealed text.
func (v *StackSecrets) Decrypt(ciphertext string) (string, error) {
	return v.Manager().Decrypt(ciphertext)
}

// Prepare tells the manager which texts are about to be sealed, so that it can handle them in one batch.
func (v *StackSecrets) Prepare(plaintexts []string) {
	if batch, ok := v.Manager().(secrets.Batch); ok {
		batch.Prepare(plaintexts)
	}
}

// Expect tells the manager which texts are about to be opened, so that it can handle them in one batch.
func (v *StackSecrets) Expect(ciphertexts []string) {
	if batch, ok := v.Manager().(secrets.Batch); ok {
		batch.Expect(ciphertexts)
	}
}

// SealedConfig seals a configuration value of a stack.
func (v *StackSecrets) SealedConfig(stack string, key project.Key, text string) (any, error) {
	sealed, err := v.Encrypt(text)
	if err != nil {
		return nil, ExplainSecret(fmt.Errorf("encrypt config %s: %w", key, err), stack)
	}
	return project.Secure(sealed), nil
}

// Opener returns the manager that a state names. That manager becomes the current one if the settings file names none.
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

// ExplainSecret adds the likely cause to an error about a secret that could not be sealed or opened.
func ExplainSecret(err error, stack string) error {
	if errors.Is(err, secrets.ErrIncorrectPassphrase) {
		return fmt.Errorf("%w: the secrets of stack %s were sealed with another one", err, stack)
	}
	return err
}
