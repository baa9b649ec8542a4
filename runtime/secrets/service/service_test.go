package service_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/secrets/service"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// keeper is a service with a stack.
type keeper struct {
	*host.Host
	url string
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	h, err := host.Open(t.TempDir())
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	q, err := http.NewRequest(http.MethodPost, s.URL+"/api/stacks/team/library", strings.NewReader(`{"stackName": "dev"}`))
	require.NoError(t, err)
	q.Header.Set("Authorization", "token "+h.Token())
	a, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.Equal(t, http.StatusOK, a.StatusCode)
	h.Set(host.Behaviour{})
	return &keeper{h, s.URL}
}

// manager returns a manager of the stack's secrets, for a token.
func (k *keeper) manager(t *testing.T, token string) *service.Manager {
	t.Helper()
	m, err := service.Open(json.RawMessage(fmt.Sprintf(
		`{"url": %q, "owner": "team", "project": "library", "stack": "dev"}`, k.url)), service.Options{
		Token: func(string) (string, error) { return token, nil }, Pause: time.Nanosecond, Agent: "test"})
	require.NoError(t, err)
	return m
}

// F4.12: expected ciphertexts are decrypted in one batch, or one by one if the service has no batches or one of them is
// not a ciphertext.
func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	for name, behaviour := range map[string]host.Behaviour{
		"in batches": {}, "one by one": {Forget: []string{"batch-decrypt"}},
		"lost and overloaded": {Faults: []host.Fault{{Call: "crypt", Times: 1, Kind: "lose-answer"},
			{Call: "decrypt", Times: 2, Status: http.StatusTooManyRequests}, {Call: "encrypt", Times: 3, Status: 503}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t)
			k.Set(behaviour)
			m := k.manager(t, k.Token())
			require.Equal(t, "service", m.Type())
			plains := []string{"hunter2", "", "\x00ünicode"}
			var sealed []string
			for _, plain := range plains {
				text, err := m.Encrypt(plain)
				require.NoError(t, err)
				sealed = append(sealed, text)
			}
			m = k.manager(t, k.Token())
			m.Expect(append([]string{}, sealed...))
			for i, text := range sealed {
				plain, err := m.Decrypt(text)
				require.NoError(t, err)
				require.Equal(t, plains[i], plain)
			}
			if name == "in batches" {
				require.Equal(t, map[string]int{"encrypt": 3, "batch-decrypt": 1}, k.Calls())
			}
			m = k.manager(t, k.Token())
			m.Expect([]string{sealed[0], base64.StdEncoding.EncodeToString([]byte("no secret")), sealed[2]})
			plain, err := m.Decrypt(sealed[2])
			require.NoError(t, err)
			require.Equal(t, plains[2], plain)
		})
	}
}

// An error names the problem and a remedy. It has neither the token nor the text.
func TestFaults(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	fails := func(m *service.Manager, want string) {
		t.Helper()
		_, err := m.Encrypt("hunter2")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), k.Token())
		require.NotContains(t, err.Error(), "hunter2")
	}
	fails(k.manager(t, ""), "there is no token for it: set PULUMI_ACCESS_TOKEN")
	fails(k.manager(t, "another"), "it refuses the token, which is unknown or has expired")
	_, err := k.manager(t, k.Token()).Decrypt("bm90aGluZw==")
	require.ErrorContains(t, err, "it answers with status 400: invalid ciphertext")
	k.Set(host.Behaviour{Faults: []host.Fault{{Status: 500}}})
	fails(k.manager(t, k.Token()), "it answers with status 500")
	require.Equal(t, 5, k.Calls()["encrypt"])
	k.Set(host.Behaviour{Faults: []host.Fault{{Status: 404}}})
	fails(k.manager(t, k.Token()), "it has no stack team/library/dev, or the token may not use it")
	k.Set(host.Behaviour{Faults: []host.Fault{{Status: 302}}})
	fails(k.manager(t, k.Token()), "it answers with status 302")
	k.Set(host.Behaviour{Faults: []host.Fault{{Kind: "lose"}}})
	fails(k.manager(t, k.Token()), "EOF")

	for _, state := range []string{`{}`, `[]`, `{"url": "https://x"}`} {
		_, err := service.Open(json.RawMessage(state), service.Options{})
		require.ErrorContains(t, err, "name no stack")
	}
	for url, want := range map[string]string{"http://example.com": "by https only", "ftp://localhost": "by https only",
		"": "no sound URL", "https://user@example.com": "no sound URL", "https://example.com?a": "no sound URL"} {
		_, err := service.Open(json.RawMessage(fmt.Sprintf(`{"url": %q, "owner": "o", "project": "p", "stack": "s"}`, url)),
			service.Options{})
		require.ErrorContains(t, err, want, url)
	}
}
