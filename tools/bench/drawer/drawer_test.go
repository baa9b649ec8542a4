package drawer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two providers of a stack overlap if the first continues after the second has begun.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	const one, two = "urn:pulumi:dev::one::k:i:Item::a", "urn:pulumi:dev::two::k:i:Item::a"
	for name, c := range map[string]struct {
		log   string
		want  []string
		turns int
	}{
		"one behind the other": {"begin-create a 1 " + one + "\ncreate a 1 " + one + "\nbegin-create b 2 " + one + "\n", nil, 2},
		"side by side": {"begin-create a 1 " + one + "\nbegin-create b 2 " + one + "\ncreate a 1 " + one + "\n",
			[]string{"one/dev"}, 3},
		"two stacks": {"begin-create a 1 " + one + "\nbegin-create b 2 " + two + "\ncreate a 1 " + one + "\n", nil, 2},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "log"), []byte(c.log), 0o600))
		got, turns, err := Overlaps(dir)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.turns, turns, name)
	}
	_, _, err := Overlaps(t.TempDir())
	require.Error(t, err)
}
