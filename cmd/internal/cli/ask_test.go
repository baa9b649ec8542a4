package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// An interrupt at the prompt for a passphrase ends the command and restores the terminal.
func TestPassphraseInterrupted(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	signals, asked := make(chan os.Signal, 1), make(chan struct{})
	restored := false
	x.world.Signals = signals
	x.streams.ReadPassword = func() (string, error) {
		close(asked)
		select {}
	}
	x.streams.Restore = func() { restored = true }
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	go func() {
		<-asked
		signals <- os.Interrupt
	}()
	require.NotEqual(t, 0, x.run("config", "set", "--secret", "word", "w"), x.err.String())
	require.True(t, restored)
}
