package cli

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waited is a standard error that calls its function say when a command reports that it is waiting.
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

// silent is a network that never answers. It records why requests ended.
type silent struct {
	mu    sync.Mutex
	ended []error // guarded by mu
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, r.Context().Err())
	return nil, r.Context().Err()
}

// TestSilentService runs commands with a service that never answers. Each command reports once that it is waiting, and
// an interrupt ends its requests before they time out.
func TestSilentService(t *testing.T) {
	t.Parallel()
	const place = "http://127.0.0.1:1"
	for _, args := range [][]string{{"stack", "ls"}, {"stack", "init", "new"}, {"up", "--yes", "--stack", "dev"},
		{"config", "--stack", "dev"}, {"env", "open", "base"}, {"cancel", "dev", "--yes"}, {"login", place}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			x, network := newTerminal(t, onePet), &silent{}
			x.world.HTTP, x.world.Patience = &http.Client{Transport: network}, 50*time.Millisecond
			x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL="+place, "PULUMI_ACCESS_TOKEN=t", "PULUMI_CONFIG_PASSPHRASE=p")
			signals := make(chan os.Signal, 9)
			x.world.Signals = signals
			x.streams.Err = waited{x, func() { signals <- os.Interrupt }}
			require.Equal(t, 18, x.run(args...), x.err.String())
			require.Equal(t, 1, strings.Count(x.err.String(), "waiting for "+place+"\n"), x.err.String())
			require.NotEmpty(t, network.ended)
			for _, err := range network.ended {
				require.ErrorIs(t, err, context.Canceled)
			}
		})
	}
}
