package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// F6.14: a stack that exists is not overwritten, and one that does not cannot be renamed.
func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	b, err := Open("file://"+t.TempDir(), Options{})
	require.NoError(t, err)
	one, two := Ref{"p", "one"}, Ref{"p", "two"}
	require.NoError(t, b.Create(t.Context(), one, nil))
	require.NoError(t, b.Create(t.Context(), two, nil))
	var exists *ExistsError
	require.ErrorAs(t, b.Rename(t.Context(), one, two), &exists)
	var missing *NotFoundError
	require.ErrorAs(t, b.Rename(t.Context(), Ref{"p", "none"}, Ref{"p", "three"}), &missing)
	require.NoError(t, b.SetTags(one, map[string]string{"a": "b"}))
	require.NoError(t, b.Rename(t.Context(), one, Ref{"p", "three"}))
	tags, err := b.Tags(Ref{"p", "three"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "b"}, tags)
	stacks, err := b.Stacks(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, []Ref{{"p", "three"}, {"p", "two"}}, stacks)
	locks, err := b.Locks(one)
	require.NoError(t, err)
	require.Empty(t, locks)
}
