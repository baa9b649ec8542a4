package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// F6.14: Rename does not overwrite an existing stack, and fails for a missing one.
func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	b, err := Open("file://"+t.TempDir(), Options{})
	require.NoError(t, err)
	one, two := Ref{Project: "p", Stack: "one"}, Ref{Project: "p", Stack: "two"}
	require.NoError(t, b.Create(t.Context(), one, nil))
	require.NoError(t, b.Create(t.Context(), two, nil))
	var exists *ExistsError
	require.ErrorAs(t, b.Rename(t.Context(), one, two), &exists)
	var missing *NotFoundError
	none, three := Ref{Project: "p", Stack: "none"}, Ref{Project: "p", Stack: "three"}
	require.ErrorAs(t, b.Rename(t.Context(), none, three), &missing)
	require.NoError(t, b.files.historyOf(one).setTags(map[string]string{"a": "b"}))
	require.NoError(t, b.Rename(t.Context(), one, three))
	tags, err := b.Tags(three)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "b"}, tags)
	stacks, err := b.Stacks(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, []Ref{three, {Project: "p", Stack: "two"}}, stacks)
	locks, err := b.Locks(one)
	require.NoError(t, err)
	require.Empty(t, locks)
}
