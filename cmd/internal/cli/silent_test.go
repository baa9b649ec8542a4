package cli

import (
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waited is a standard error that tells of the message that a command waits.
type waited struct {
	x   *terminal
	say func()
}

func (w waited) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "waiting for ") {
		w.say()
	}
	return w.x.err.Write(p)
}

// TestSilentService: a service takes calls and never answers. A command says what it waits for, once, and an interrupt
// ends it.
func TestSilentService(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var held []net.Conn
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	})
	t.Cleanup(func() {
		silent.Close()
		accepting.Wait()
		for _, c := range held {
			c.Close()
		}
	})
	place := "http://" + silent.Addr().String()
	for _, args := range [][]string{{"stack", "ls"}, {"stack", "init", "new"}, {"up", "--yes", "--stack", "dev"},
		{"config", "--stack", "dev"}, {"env", "open", "base"}, {"cancel", "dev", "--yes"}, {"login", place}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, onePet)
			x.world.HTTP, x.world.Patience = nil, 50*time.Millisecond
			x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL="+place, "PULUMI_ACCESS_TOKEN=t", "PULUMI_CONFIG_PASSPHRASE=p")
			signals := make(chan os.Signal, 9)
			x.world.Signals = signals
			x.streams.Err = waited{x, func() { signals <- os.Interrupt }}
			begun := time.Now()
			require.Equal(t, 18, x.run(args...), x.err.String())
			require.Less(t, time.Since(begun), 20*time.Second)
			require.Equal(t, 1, strings.Count(x.err.String(), "waiting for "+place+"\n"), x.err.String())
		})
	}
}
