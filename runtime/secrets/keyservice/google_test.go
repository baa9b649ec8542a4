//go:build !lean

package keyservice

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoogle tests the key and its library against fakes of the Google authority and key service (F4.11). The fake key
// service has only as much of gRPC as the two calls need.
func TestGoogle(t *testing.T) {
	t.Parallel()
	if isChild(t) {
		return
	}
	const login, service, password = "oauth2.googleapis.com", "cloudkms.googleapis.com", "refresh-token-of-the-user"
	const ring = "projects/p/locations/global/keyRings/r/cryptoKeys/"
	const call = "/google.cloud.kms.v1.KeyManagementService/"
	var mu sync.Mutex
	var dataKey []byte // as received by the service
	n := newInternet(t, func(w http.ResponseWriter, r *http.Request, body []byte) (sealed bool) {
		if r.Host == login {
			form, _ := url.ParseQuery(string(body))
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path != "/token" || form.Get("refresh_token") != password {
				w.WriteHeader(http.StatusUnauthorized)
				return false
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"token_type": "Bearer", "expires_in": 3600, "access_token": "token"})
			return false
		}
		end := func(status, message string) {
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
			w.Header().Set(http.TrailerPrefix+"Grpc-Message", message)
		}
		w.Header().Set("Content-Type", "application/grpc")
		w.WriteHeader(http.StatusOK)
		name, data, ok := question(body)
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			end("16", "who are you?")
			return false
		case !ok || r.URL.Path != call+"Encrypt" && r.URL.Path != call+"Decrypt":
			end("12", "no such call")
			return false
		case name != ring+"stack":
			end("7", "Permission to use "+name+" denied (or it may not exist).")
			return true
		}
		field := byte(1) // the plain text, of a DecryptResponse
		if r.URL.Path == call+"Encrypt" {
			mu.Lock()
			dataKey = data
			mu.Unlock()
			field = 2 // the ciphertext, of an EncryptResponse
		}
		_, _ = w.Write(framed(field, inverted(data)))
		end("0", "")
		return true
	}, login, service)

	credentials := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(credentials,
		[]byte(`{"type":"authorized_user","client_id":"app","client_secret":"-","refresh_token":"`+password+`"}`), 0o600))
	said := n.visit(t, "gcpkms://"+ring+"stack", "gcpkms://"+ring+"other", "GOOGLE_APPLICATION_CREDENTIALS="+credentials)
	want := "gcpkms://" + ring + "other: PermissionDenied: Permission to use " + ring +
		"other denied (or it may not exist)."
	require.Equal(t, refusals{Encrypt: want, Decrypt: want}, said)
	mu.Lock()
	defer mu.Unlock()
	n.requireKept(t, dataKey, password, login+"/token")
}

// question decodes the only message of a call. Its first two fields are the name of a key and the data to wrap or
// unwrap.
func question(body []byte) (name string, data []byte, ok bool) {
	if len(body) < 5 || body[0] != 0 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 {
		return "", nil, false
	}
	var fields [2][]byte
	rest := body[5:]
	for i := range fields {
		if len(rest) < 2 || rest[0] != byte(i+1)<<3|2 { // a length-delimited field
			return "", nil, false
		}
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return "", nil, false
		}
		rest = rest[1+n:]
		fields[i], rest = rest[:size], rest[size:]
	}
	return string(fields[0]), fields[1], true
}

// framed encodes a message with one field, in a gRPC frame.
func framed(field byte, data []byte) []byte {
	message := append(binary.AppendUvarint([]byte{field<<3 | 2}, uint64(len(data))), data...)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}
