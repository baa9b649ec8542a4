package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// F4.12: texts that arrive while the service is busy are encrypted in one batch, together with prepared texts, or one
// by one if the service has no batches. Equal texts get different ciphertexts.
func TestSealTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behaviour host.Behaviour
		calls     map[string]int
	}{
		"at once":    {calls: map[string]int{"batch-encrypt": 1}},
		"one by one": {host.Behaviour{Forget: []string{"batch-encrypt"}}, map[string]int{"batch-encrypt": 1, "encrypt": 22}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := host.Open(t.TempDir())
			require.NoError(t, err)
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			q, err := http.NewRequest(http.MethodPost, server.URL+"/api/stacks/team/library",
				strings.NewReader(`{"stackName": "dev"}`))
			require.NoError(t, err)
			q.Header.Set("Authorization", "token "+h.Token())
			a, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			require.NoError(t, a.Body.Close())
			h.Set(c.behaviour)
			m, err := Open(json.RawMessage(fmt.Sprintf(
				`{"url": %q, "owner": "team", "project": "library", "stack": "dev"}`, server.URL)), Options{
				Token: func(string) (string, error) { return h.Token(), nil }, Pause: time.Nanosecond})
			require.NoError(t, err)

			texts := []string{"last", "prepared"}
			for i := range 20 {
				texts = append(texts, fmt.Sprint("text ", i/2))
			}
			sealed := make([]string, len(texts))
			encrypt := func(i int) {
				text, err := m.Encrypt(texts[i])
				require.NoError(t, err)
				sealed[i] = text
			}
			m.Prepare([]string{texts[0], texts[2], texts[1]})
			m.seals.calling.Lock() // as during a call of the service
			var all sync.WaitGroup
			for i := range texts[2:] {
				all.Go(func() { encrypt(i + 2) })
			}
			require.Eventually(t, func() bool {
				m.seals.mu.Lock()
				defer m.seals.mu.Unlock()
				return len(m.seals.wanted) == 20
			}, time.Minute, time.Millisecond)
			m.seals.calling.Unlock()
			all.Wait()
			encrypt(0)
			encrypt(1)
			require.Equal(t, c.calls, h.Calls())
			seen := map[string]bool{}
			for i, text := range sealed {
				require.False(t, seen[text])
				seen[text] = true
				plain, err := m.Decrypt(text)
				require.NoError(t, err)
				require.Equal(t, texts[i], plain)
			}
		})
	}
}
