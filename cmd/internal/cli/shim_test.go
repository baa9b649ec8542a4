package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// As pulumi, the program prints the version of the Pulumi CLI that it stands in for, and has no exit codes of its own.
func TestAsPulumi(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "name: one\noutputs: {x: '${nothing}'}\n")
	x.world.AsPulumi = true
	require.Equal(t, 0, x.run("version"))
	require.Regexp(t, `^v3\.\d+\.\d+\n$`, x.out.String())
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 1, x.run("preview"), x.err.String())
	require.Equal(t, 1, x.run("stack", "lst"))
	require.Contains(t, x.err.String(), `there is no command "stack lst"`)
}
