package keyservice

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// transit starts a fake Vault with the key app/main in the engine "sealing", which wraps by reversing the bytes. asked
// counts the requests.
func transit(t *testing.T) (address string, asked *int) {
	t.Helper()
	asked = new(int)
	turned := func(b []byte) []byte {
		out := bytes.Clone(b)
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
		return out
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		var q map[string]string
		_ = json.NewDecoder(r.Body).Decode(&q)
		answer := map[string]any{}
		switch {
		case r.Header.Get("X-Vault-Token") != "token":
			w.WriteHeader(http.StatusForbidden)
			answer["errors"] = []string{"permission denied"}
		case r.URL.Path == "/v1/sealing/encrypt/app/main":
			plain, _ := base64.StdEncoding.DecodeString(q["plaintext"])
			answer["data"] = map[string]string{"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString(turned(plain))}
		case r.URL.Path == "/v1/sealing/decrypt/app/main" && strings.HasPrefix(q["ciphertext"], "vault:v1:"):
			wrapped, _ := base64.StdEncoding.DecodeString(q["ciphertext"][len("vault:v1:"):])
			answer["data"] = map[string]string{"plaintext": base64.StdEncoding.EncodeToString(turned(wrapped))}
		default:
			w.WriteHeader(http.StatusBadRequest)
			answer["errors"] = []string{"encryption key not found"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func environment(pairs ...string) Options {
	return Options{Lookup: func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}}
}

func TestVault(t *testing.T) { // F4.11
	t.Parallel()
	address, asked := transit(t)
	for _, env := range []Options{
		environment("VAULT_ADDR", address+"/", "VAULT_TOKEN", "token"),
		environment("VAULT_SERVER_URL", address, "VAULT_SERVER_TOKEN", "token", "VAULT_ADDR", "http://nowhere.invalid"),
	} {
		roundTrip(t, "hashivault://app/main?engine=sealing", env)
	}
	require.Equal(t, 4, *asked)

	_, err := Open("hashivault://app/main?engine=sealing", environment("VAULT_TOKEN", "token"))
	require.ErrorContains(t, err, "VAULT_ADDR")
	_, err = Open("hashivault://app/main?mount=sealing", environment("VAULT_ADDR", address))
	require.ErrorContains(t, err, `the parameter "mount"`)
	for url, want := range map[string]string{
		"hashivault://app/main?engine=sealing":  "permission denied",
		"hashivault://app/other?engine=sealing": "permission denied",
	} {
		key, err := Open(url, environment("VAULT_ADDR", address, "VAULT_TOKEN", "wrong"))
		require.NoError(t, err)
		_, err = key.Encrypt([]byte("x"))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "wrong", "tokens are nobody's business")
	}
	key, err := Open("hashivault://app/other?engine=sealing", environment("VAULT_ADDR", address, "VAULT_TOKEN", "token"))
	require.NoError(t, err)
	_, err = key.Decrypt([]byte("vault:v1:AAAA"))
	require.ErrorContains(t, err, "encryption key not found")
}

// kept is the secret of the stack in roundTrip.
const kept = "what the stack keeps to itself"

// roundTrip creates a data key, encrypts with it, and decrypts with a manager opened from its state.
func roundTrip(t *testing.T, url string, env Options) {
	t.Helper()
	var wrapped string
	o := secrets.Options{OpenKey: func(url string) (secrets.Key, error) { return Open(url, env) },
		CreatedKey: func(path, key string) error {
			require.Equal(t, url, path)
			wrapped = key
			return nil
		}}
	m, err := secrets.ForStack(url, "", "", o)
	require.NoError(t, err)
	require.Empty(t, m.Type(), "not decided before the first secret")
	sealed, err := m.Encrypt(kept)
	require.NoError(t, err)
	require.NotContains(t, sealed, kept)
	require.Equal(t, secrets.TypeCloud, m.Type())
	var state map[string]string
	require.NoError(t, json.Unmarshal(m.State(), &state))
	require.Equal(t, map[string]string{"url": url, "encryptedkey": wrapped}, state)
	again, err := secrets.Open(m.Type(), m.State(), o)
	require.NoError(t, err)
	for range 2 {
		plain, err := again.Decrypt(sealed)
		require.NoError(t, err)
		require.Equal(t, kept, plain)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	require.Contains(t, Known(), "hashivault")
	_, err := Open("base64key://abc", Options{})
	require.ErrorContains(t, err, "is not known: expected passphrase")
	for _, scheme := range []string{"awskms", "azurekeyvault", "gcpkms"} {
		known := false
		for _, k := range Known() {
			known = known || k == scheme
		}
		if _, err := Open(scheme+"://key", Options{}); !known {
			require.ErrorContains(t, err, "Install the default edition")
		}
	}
}
