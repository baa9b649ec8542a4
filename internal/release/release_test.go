package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1.2.3", Version("1.2.3"), "as linked")
	require.Equal(t, "1.2.3", Version("v1.2.3"), "as linked, with a v")
	require.Equal(t, "1.2.3", ofModule("v1.2.3"), "as installed by version")
	require.Equal(t, development, ofModule("(devel)"), "of a checkout")
	require.Equal(t, development, ofModule(""))
}
