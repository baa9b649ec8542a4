//go:build !lean

package keyservice

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAWS tests the key and its library against a fake of the AWS service (F4.11).
func TestAWS(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE":           "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"} {
		t.Setenv(name, value)
	}
	denied := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			KeyId, EncryptionAlgorithm string
			Plaintext, CiphertextBlob  []byte
		}
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &q)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		switch target := r.Header.Get("X-Amz-Target"); {
		case denied:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"AccessDeniedException","message":"not for you"}`)
		case target == "TrentService.Encrypt" && q.KeyId == "alias/stack":
			_ = json.NewEncoder(w).Encode(map[string]any{"CiphertextBlob": append([]byte("wrapped"), q.Plaintext...),
				"KeyId": q.KeyId})
		case target == "TrentService.Decrypt":
			_ = json.NewEncoder(w).Encode(map[string]any{"Plaintext": q.CiphertextBlob[len("wrapped"):], "KeyId": "alias/stack"})
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer server.Close()
	url := "awskms:///alias/stack?region=eu-west-1&awssdk=v2&endpoint=" + server.URL
	roundTrip(t, url, Options{})
	denied = true
	key, err := Open(url, Options{})
	require.NoError(t, err)
	_, err = key.Encrypt([]byte("x"))
	require.ErrorContains(t, err, "not for you")
}
