package backend

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// TestSecretsThatCannotBeSealed checks that without a passphrase the result of a provider call is kept without its
// secrets, and that a step that cannot be recorded does not begin (D3, D9).
func TestSecretsThatCannotBeSealed(t *testing.T) {
	t.Parallel()
	b, _ := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	none := secrets.NewLazy("", secrets.Options{Passphrase: func(secrets.Purpose) (string, error) {
		return "",
			secrets.ErrNoPassphrase
	}})
	s, err := b.Begin(t.Context(), testRef, BeginOptions{Secrets: none})
	require.NoError(t, err)

	secret := resource(1)
	require.True(t, secret.Inputs.ContainsSecret() || secret.Outputs.ContainsSecret(), "the test needs a secret")
	begun := journal.Entry{Step: 1, Begin: &state.Operation{Resource: secret, Kind: state.Creating}}
	require.ErrorIs(t, s.Append(t.Context(), begun), secrets.ErrNoPassphrase)
	require.ErrorIs(t, s.Append(t.Context(), begun), errNotBegun)

	public := secret.WithoutSecrets()
	public.InitErrors = nil
	require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: public,
		Kind: state.Creating}}))
	require.ErrorIs(t, s.Append(t.Context(), journal.Entry{Step: 1, Add: []journal.Amended{{ID: 1, Resource: secret}}}),
		secrets.ErrNoPassphrase)
	require.NoError(t, s.Close())

	loaded, err := b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, 1)
	kept := loaded.Snapshot.Resources[0]
	require.Equal(t, secret.ID, kept.ID)
	require.False(t, kept.Inputs.ContainsSecret() || kept.Outputs.ContainsSecret())
	require.Equal(t, []string{state.Withheld}, kept.InitErrors)
	require.Empty(t, loaded.Snapshot.Pending)
}
