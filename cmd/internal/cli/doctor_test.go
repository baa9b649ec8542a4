package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	x.world.Env = append(x.world.Env, "PATH="+t.TempDir())
	require.Equal(t, 0, x.run("doctor"), x.out.String()+x.err.String())
	require.Regexp(t, `ok +backend +file://.* can be read and written; it has 0 stacks`, x.out.String())
	require.Regexp(t, `ok +clock`, x.out.String())
	require.Regexp(t, `note +PATH +yamlhost is not on it`, x.out.String())
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(x.world.Dir), "state"))
	require.NoError(t, err)
	require.Empty(t, entries)

	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(x.world.Dir), "state")))
	require.Equal(t, 1, x.run("doctor"))
	require.Regexp(t, `wrong +backend +.*state`, x.out.String())
	require.Contains(t, x.out.String(), "PULUMI_BACKEND_URL")
	require.Contains(t, x.err.String(), "one thing is wrong with this machine")
}
