//go:build !lean

package keyservice

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAzure tests the key and its library against fakes of the Azure authority and vault (F4.11).
func TestAzure(t *testing.T) {
	t.Parallel()
	if isChild(t) {
		return
	}
	const login, vault = "login.microsoftonline.com", "stacks.vault.azure.net"
	const tenant, password = "11111111-2222-3333-4444-555555555555", "password-of-the-app"
	const mayUse, mayNot = "/keys/stack/v1/", "/keys/other/v1/"
	var mu sync.Mutex
	var dataKey []byte // as received by the vault
	say := func(w http.ResponseWriter, status int, answer any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}
	authority := func(w http.ResponseWriter, r *http.Request, body []byte) {
		form, _ := url.ParseQuery(string(body))
		switch path := "https://" + login + "/" + tenant; r.URL.Path {
		case "/common/discovery/instance":
			say(w, http.StatusOK, map[string]any{"tenant_discovery_endpoint": path + "/v2.0/.well-known/openid-configuration",
				"metadata": []any{
					map[string]any{"preferred_network": login, "preferred_cache": login, "aliases": []string{login}}}})
		case "/" + tenant + "/v2.0/.well-known/openid-configuration":
			say(w, http.StatusOK, map[string]string{"issuer": path + "/v2.0",
				"authorization_endpoint": path + "/oauth2/v2.0/authorize", "token_endpoint": path + "/oauth2/v2.0/token"})
		case "/" + tenant + "/oauth2/v2.0/token":
			if form.Get("client_secret") != password || !strings.HasPrefix(form.Get("scope"),
				"https://vault.azure.net/.default") {
				say(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
				return
			}
			say(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": 3600, "access_token": "token"})
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
	n := newInternet(t, func(w http.ResponseWriter, r *http.Request, body []byte) (sealed bool) {
		if r.Host == login {
			authority(w, r, body)
			return false
		}
		if r.Header.Get("Authorization") != "Bearer token" {
			w.Header().Set("WWW-Authenticate", `Bearer authorization="https://`+login+"/"+tenant+
				`", resource="https://vault.azure.net"`)
			w.WriteHeader(http.StatusUnauthorized)
			return false
		}
		var q struct{ Alg, Value string }
		_ = json.Unmarshal(body, &q)
		value, err := base64.RawURLEncoding.DecodeString(q.Value)
		if r.Method != http.MethodPost || q.Alg != "RSA-OAEP-256" || err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		switch r.URL.Path {
		case mayUse + "encrypt":
			mu.Lock()
			dataKey = value
			mu.Unlock()
		case mayUse + "decrypt":
		case mayNot + "encrypt", mayNot + "decrypt":
			say(w, http.StatusForbidden, map[string]any{"error": map[string]any{"code": "Forbidden",
				"message":    "The user has no permission for keys/other.",
				"innererror": map[string]string{"code": "ForbiddenByRbac"}}})
			return true
		default:
			w.WriteHeader(http.StatusNotFound)
			return false
		}
		say(w, http.StatusOK, map[string]string{"kid": "https://" + vault + "/keys/stack/v1",
			"value": base64.RawURLEncoding.EncodeToString(inverted(value))})
		return true
	}, login, vault)

	path := "azurekeyvault://" + vault
	said := n.visit(t, path+strings.TrimSuffix(mayUse, "/"),
		path+strings.TrimSuffix(mayNot, "/")+"?algorithm=RSA-OAEP-256",
		"AZURE_TENANT_ID="+tenant, "AZURE_CLIENT_ID=app", "AZURE_CLIENT_SECRET="+password)
	want := path + "/keys/other/v1: the service answered 403 Forbidden: The user has no permission for keys/other."
	require.Equal(t, refusals{Encrypt: want, Decrypt: want}, said)
	mu.Lock()
	defer mu.Unlock()
	n.requireKept(t, dataKey, password, login+"/"+tenant+"/oauth2/v2.0/token")

	_, err := Open(path+"/keys/stack?size=1", Options{})
	require.EqualError(t, err, "open the key "+path+`/keys/stack: invalid query parameter "size"`)
}
