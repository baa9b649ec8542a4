package yamlnode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The directive of version 1.2 is read as that of 1.1, which leaves all places as they are; one of any other version is
// an error.
func TestVersionDirective(t *testing.T) {
	t.Parallel()
	const rest = "\n---\na: b\n"
	plain, err := Parse([]byte("%YAML 1.1" + rest))
	require.NoError(t, err)
	newer, err := Parse([]byte("%YAML 1.2" + rest))
	require.NoError(t, err)
	require.Equal(t, plain, newer)
	for _, other := range []string{"%YAML 1.3", "%YAML 1.20", "%YAML 2.2"} {
		_, err = Parse([]byte(other + rest))
		require.Error(t, err, other)
	}
}
