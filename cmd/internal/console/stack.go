package console

import (
	"context"
	"errors"

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

// CurrentStack opens the project of the working directory and its chosen stack.
func (a *Console) CurrentStack(ctx context.Context, flag string) (*Stack, error) {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return nil, err
	}
	return a.Stacks().Open(ctx, p, flag)
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
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err != nil {
		return nil, err
	}
	if err := a.Report(diags); err != nil {
		return nil, err
	}
	keyed := secrets.IsKeyURL(*provider)
	if !keyed && *provider != secrets.TypePassphrase {
		return nil, nil
	}
	if exists, err := s.Backend.Exists(s.Ref); err != nil || exists { // before its settings are touched
		return nil, errors.Join(err, existsError(exists, s.Ref))
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

func existsError(exists bool, ref backend.Ref) error {
	if exists {
		return &backend.ExistsError{Ref: ref}
	}
	return nil
}

// Load reads a stack's state. Secrets stay sealed unless open is set (F4.16).
func (a Stacks) Load(ctx context.Context, s *Stack, open bool) (*backend.Loaded, error) {
	var opener state.Opener
	if open {
		var err error
		if opener, err = a.Opener(s); err != nil {
			return nil, err
		}
	}
	loaded, err := s.Backend.Load(ctx, s.Ref, opener)
	if err != nil {
		return nil, ExplainSecret(err, s.Ref.Stack)
	}
	return loaded, nil
}

// Opener returns the secrets manager of a stack for reading its state.
func (a Stacks) Opener(s *Stack) (state.Opener, error) {
	settings, diags, err := a.LoadSettings(s.Project, s.Ref.Stack, "")
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, a.Report(diags)
	}
	manager, err := a.Secrets().Of(s.Backend, s.Ref).Manager(settings, s.Ref.Stack)
	if err != nil {
		return nil, err
	}
	return manager.Opener, nil
}
