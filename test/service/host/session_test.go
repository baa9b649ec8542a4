package host_test

import (
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/test/service/host"
	"github.com/yamlhost/yamlhost/test/service/host/hosttest"
)

// session is a recorded session with the present values of its identifiers.
type session struct {
	t    *testing.T
	line int
	now  map[string]string
}

// TestSessions repeats the calls of the Pulumi CLI in whole lives of stacks. Each response must equal the recorded one
// except for times, identifiers and ciphertexts. `go run ./test/service --record FILE` records a session; most events
// and repeated requests for capabilities were removed from these.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, behaviour := range map[string]host.Behaviour{"journal": {}, "deltas": {Forget: []string{"journal"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, digit := range map[string]string{"token": "1", "key": "2"} {
				secret := strings.Repeat("0", 63) + digit
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(secret), 0o600))
			}
			h, err := host.Open(dir)
			require.NoError(t, err)
			h.Set(behaviour)
			s := &session{t: t, now: map[string]string{}}
			exchanges, err := hosttest.Exchanges("testdata/" + name + ".jsonl.gz")
			require.NoError(t, err)
			for _, e := range exchanges {
				s.repeat(h, e)
			}
			require.Greater(t, s.line, 100)
			require.Contains(t, h.Calls(), map[string]string{"journal": "journalentries", "deltas": "checkpointdelta"}[name])
		})
	}
}

// repeat sends a recorded call and compares the responses.
func (s *session) repeat(h *host.Host, e host.Exchange) {
	s.t.Helper()
	s.line++
	var pairs []string
	for then, now := range s.now {
		pairs = append(pairs, then, now)
	}
	renamed := strings.NewReplacer(pairs...)
	r := httptest.NewRequest(e.Method, "http://127.0.0.1:8080"+renamed.Replace(e.Path),
		strings.NewReader(renamed.Replace(string(e.Body))))
	r.Header.Set("Authorization", "token "+h.Token())
	if e.Lease != "" {
		r.Header.Set("Authorization", "update-token "+renamed.Replace(e.Lease))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(s.t, e.Status, w.Code, "call %d: %s %s: %s", s.line, e.Method, e.Path, w.Body)
	if len(e.Answer) == 0 {
		require.Empty(s.t, w.Body.Bytes())
		return
	}
	var then, now any
	require.NoError(s.t, json.Unmarshal([]byte(renamed.Replace(string(e.Answer))), &then))
	require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &now))
	s.same("", then, now, e)
}

// same compares a recorded response with a present one, and learns the identifiers.
func (s *session) same(key string, then, now any, e host.Exchange) {
	s.t.Helper()
	require.Equal(s.t, reflect.TypeOf(then), reflect.TypeOf(now), "call %d: %s %s: %s", s.line, e.Method, e.Path, key)
	switch x := then.(type) {
	case map[string]any:
		y := now.(map[string]any)
		for name := range x {
			require.Contains(s.t, y, name, "call %d: %s %s", s.line, e.Method, e.Path)
			s.same(name, x[name], y[name], e)
		}
		require.Len(s.t, y, len(x), "call %d: %s %s: %v", s.line, e.Method, e.Path, y)
		return
	case []any:
		y := now.([]any)
		require.Len(s.t, y, len(x), "call %d: %s %s: %s", s.line, e.Method, e.Path, key)
		for i := range x {
			s.same(key, x[i], y[i], e)
		}
		return
	case string:
		if raw, err := hex.DecodeString(x); err == nil && len(raw) == 16 && len(x) == len(now.(string)) {
			s.now[x] = now.(string)
			return
		}
	}
	if slices.Contains([]string{"ciphertext", "ciphertexts", "tokenExpiration", "startTime", "endTime", "lastUpdate",
		"started"}, key) {
		return
	}
	require.Equal(s.t, then, now, "call %d: %s %s: %s", s.line, e.Method, e.Path, key)
}
