//go:build linux

package backend

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAlive(t *testing.T) { // D9: only the lock of a dead process is taken over
	t.Parallel()
	self := ThisProcess()
	require.NotEmpty(t, self.Started)
	require.True(t, alive(os.Getpid(), self.Started))
	require.True(t, alive(os.Getpid(), ""), "nobody knows better")
	require.False(t, alive(os.Getpid(), self.Started+"0"), "the number was used again")

	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return !alive(cmd.Process.Pid, "") }, time.Minute, time.Millisecond,
		"dead, and not waited for")
	require.NoError(t, cmd.Wait())
	require.False(t, alive(cmd.Process.Pid, ""))
}
