package console

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Stacks opens, makes and chooses the stacks of projects.
type Stacks struct{ *Console }

// Stacks are those that this command can open.
func (a *Console) Stacks() Stacks { return Stacks{a} }

// ProjectAndBackend opens the project of the working directory and its backend.
func (a Stacks) ProjectAndBackend() (*project.Project, *backend.Backend, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := a.Backends().Open(p)
	return p, b, err
}

// Current opens the project of the working directory and its chosen stack.
func (a Stacks) Current(ctx context.Context, flag string) (*Stack, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	return a.Open(ctx, p, flag)
}

// Create makes a stack in its backend. When provider asks for a passphrase or for a key, that is asked for now,
// and what comes of it goes into the stack's file and state; otherwise that waits for the first secret (D3, F4.15).
func (a Stacks) Create(ctx context.Context, s *Stack, provider *string, selected bool) error {
	kept, err := a.providerToCreate(s, provider)
	if err != nil {
		return err
	}
	if err := s.Backend.Create(ctx, s.Ref, kept); err != nil {
		return err
	}
	if !selected {
		return nil
	}
	return a.Select(s)
}

// providerToCreate decides how the secrets of a new stack are sealed, and puts that into its settings file. nil leaves
// it open.
func (a Stacks) providerToCreate(s *Stack, provider *string) (*state.SecretsProvider, error) {
	if provider == nil {
		return nil, nil
	}
	release, err := a.Hold(a.SettingsPath(s.Project, s.Ref.Stack, ""))
	if err != nil {
		return nil, err
	}
	defer release()
	settings, err := a.Settings(s)
	if err != nil {
		return nil, err
	}
	keyed := secrets.IsKeyURL(*provider)
	if !keyed && *provider != secrets.TypePassphrase {
		return nil, nil
	}
	exists, err := s.Backend.Exists(s.Ref) // before its settings are touched
	if err == nil && exists {
		err = &backend.ExistsError{Ref: s.Ref}
	}
	if err != nil {
		return nil, err
	}
	if keyed && settings.SecretsProvider != *provider {
		settings.SecretsProvider, settings.EncryptedKey, settings.EncryptionSalt = *provider, "", ""
	}
	manager, err := a.Secrets().Of(s.Backend, s.Ref).HeldManager(settings, s.Ref.Stack)
	if err != nil {
		return nil, err
	}
	if _, err := manager.Encrypt("pulumi"); err != nil { // makes the salt, or proves the passphrase
		return nil, ExplainSecret(err, s.Ref.Stack)
	}
	return &state.SecretsProvider{Type: manager.Type(), State: manager.State()}, nil
}

// Load reads a stack's state. Secrets stay sealed unless open is set (F4.16).
func (a Stacks) Load(ctx context.Context, s *Stack, open bool) (*backend.Loaded, error) {
	var opener state.Opener
	if open {
		manager, err := a.Manager(s)
		if err != nil {
			return nil, err
		}
		opener = manager.Opener
	}
	loaded, err := s.Backend.Load(ctx, s.Ref, opener)
	if err != nil {
		return nil, ExplainSecret(err, s.Ref.Stack)
	}
	return loaded, nil
}

// Settings reads a stack's settings file and reports what is wrong with it.
func (a Stacks) Settings(s *Stack) (*project.Settings, error) {
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err != nil {
		return nil, err
	}
	return settings, a.Report(diags)
}

// Manager makes the secrets manager of a stack for a command that has nothing else to do with its settings: it reports
// only their errors.
func (a Stacks) Manager(s *Stack) (*StackSecrets, error) {
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err == nil && diags.HasErrors() {
		err = a.Report(diags)
	}
	if err != nil {
		return nil, err
	}
	return a.Secrets().Of(s.Backend, s.Ref).Manager(settings, s.Ref.Stack)
}
