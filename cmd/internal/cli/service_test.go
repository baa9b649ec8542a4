package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// TestStackOfAService imports a stack that a service has exported, with encrypted secrets, and changes to a passphrase:
// the secrets of state and configuration can then be read without the service.
func TestStackOfAService(t *testing.T) {
	t.Parallel()
	h, err := host.Open(t.TempDir())
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	call := func(path string, request, answer any) {
		body, err := json.Marshal(request)
		require.NoError(t, err)
		q, err := http.NewRequest(http.MethodPost, server.URL+"/api/stacks/team/one"+path, bytes.NewReader(body))
		require.NoError(t, err)
		q.Header.Set("Authorization", "token "+h.Token())
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer a.Body.Close()
		require.Equal(t, http.StatusOK, a.StatusCode)
		require.NoError(t, json.NewDecoder(a.Body).Decode(answer))
	}
	call("", map[string]string{"stackName": "dev"}, &struct{}{})
	var sealed struct{ Ciphertexts []string }
	call("/dev/batch-encrypt", map[string][][]byte{"plaintexts": {[]byte(`"hunter2"`), []byte("swordfish")}}, &sealed)
	h.Set(host.Behaviour{})

	x := newTerminal(t, "name: one\nruntime: yaml\nconfig: {word: {type: string, secret: true}}\n"+
		"outputs: {secret: \"${word}\"}\n", "correct horse", "correct horse")
	x.world.HTTP = nil
	dir := x.world.Dir
	settings := filepath.Join(dir, "Pulumi.dev.yaml")
	require.NoError(t, os.WriteFile(settings, []byte("config:\n  one:word: {secure: "+sealed.Ciphertexts[1]+"}\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stack.json"), fmt.Appendf(nil, `{"version": 3, "deployment": {
		"manifest": {"time": "2026-08-01T00:00:00Z", "magic": "", "version": ""},
		"secrets_providers": {"type": "service", "state": {"url": %q, "owner": "team", "project": "one", "stack": "dev"}},
		"resources": [{"urn": "urn:pulumi:dev::one::pulumi:pulumi:Stack::one-dev", "custom": false, "type": "pulumi:pulumi:Stack",
			"outputs": {"secret": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": %q}}}]}}`,
		server.URL, sealed.Ciphertexts[0]), 0o644))
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())

	require.NotEqual(t, 0, x.run("stack", "import", "--file", "stack.json"))
	require.Contains(t, x.err.String(), "there is no token for it")
	x.world.Env = append(x.world.Env, "PULUMI_ACCESS_TOKEN="+h.Token())
	require.NotEqual(t, 0, x.run("stack", "import", "--file", "stack.json"), "the token of the environment is for another")
	require.Contains(t, x.err.String(), "there is no token for it")
	require.Empty(t, h.Calls())

	x.world.Env = append(x.world.Env, "PULUMI_API="+server.URL)
	require.Equal(t, 0, x.run("stack", "import", "--file", "stack.json"), x.err.String())
	require.Equal(t, 0, x.run("stack", "change-secrets-provider", "passphrase"), x.err.String())
	require.NotContains(t, x.err.String(), h.Token())
	text, err := os.ReadFile(settings)
	require.NoError(t, err)
	require.NotContains(t, string(text), sealed.Ciphertexts[1])
	require.Contains(t, string(text), "encryptionsalt")
	require.NoError(t, filepath.WalkDir(filepath.Dir(dir), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			text, err = os.ReadFile(path)
			require.NotContains(t, string(text), "swordfish", path)
			require.NotContains(t, string(text), "hunter2", path)
		}
		return err
	}))

	server.Close() // no longer needed
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	require.Equal(t, 0, x.run("config", "get", "word"), x.err.String())
	require.Equal(t, "swordfish\n", x.out.String())
	require.Equal(t, 0, x.run("stack", "output", "secret", "--show-secrets"), x.err.String())
	require.Equal(t, "hunter2\n", x.out.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	require.Equal(t, 0, x.run("stack", "output", "secret", "--show-secrets"), x.err.String())
	require.Equal(t, "swordfish\n", x.out.String())
}
