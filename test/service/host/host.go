package host

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// User is the owner of the token. The organizations are the user's own one and Team.
const (
	User = "tester"
	Team = "team"
)

// Host is the server. It is safe for concurrent use.
type Host struct {
	Die func() // ends the process for the faults die and die-after; nil if it cannot
	// Now is the clock of leases and times; nil for the system's.
	Now func() time.Time

	dir    string
	token  string
	vault  *vault
	mux    *http.ServeMux
	faults faults

	mu     sync.Mutex // guards the fields below, and is held during each call
	stacks map[string]*stack
	opened map[string][]byte // environments, by organization and session
}

// Open returns a server over a folder, which may contain the stacks of an earlier one.
func Open(dir string) (*Host, error) {
	h := &Host{dir: dir, mux: http.NewServeMux(), stacks: map[string]*stack{}, opened: map[string][]byte{}}
	if err := os.MkdirAll(filepath.Join(dir, "stacks"), 0o700); err != nil {
		return nil, err
	}
	token, err := h.secret("token")
	if err != nil {
		return nil, err
	}
	h.token = "pul-" + hex.EncodeToString(token[:20])
	key, err := h.secret("key")
	if err != nil {
		return nil, err
	}
	if h.vault, err = newVault(key); err != nil {
		return nil, err
	}
	h.routes()
	return h, h.load()
}

// secret returns 32 random bytes that are kept in the folder under a name.
func (h *Host) secret(name string) ([]byte, error) {
	path := filepath.Join(h.dir, name)
	text, err := os.ReadFile(path)
	if err == nil {
		return hex.DecodeString(string(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return key, os.WriteFile(path, []byte(hex.EncodeToString(key)), 0o600)
}

// Token returns the token of User.
func (h *Host) Token() string { return h.token }

func (h *Host) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

// failure is an error response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// handle registers a call of a user. Its answer is JSON; nil is an empty object.
func (h *Host) handle(pattern string, f func(r *http.Request) (any, error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/capabilities") && r.Header.Get("Authorization") != "token "+h.token &&
			!strings.HasPrefix(r.Header.Get("Authorization"), "update-token ") {
			answer(w, nil, fail(http.StatusUnauthorized, "Unauthorized: No credentials provided or are invalid."))
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		value, err := f(r)
		answer(w, value, err)
	})
}

func answer(w http.ResponseWriter, value any, err error) {
	code := http.StatusOK
	faults, isFaults := errors.AsType[*documentFaults](err)
	if isFaults {
		code, value = faults.Code, faults
	} else if err != nil {
		f := &failure{Code: http.StatusInternalServerError, Message: err.Error()}
		errors.As(err, &f)
		code, value = f.Code, f
	} else if value == nil {
		value = struct{}{}
	}
	text, err := encode(value)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"code":500,"message":"the answer is no JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text) // the caller has gone
}

// encode writes JSON without escapes for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// read decodes the body of a call, whose numbers stay as they are written.
func read(r *http.Request, dst any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return nil
	}
	return decode(text, dst)
}

func decode(text []byte, dst any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(dst); err != nil {
		return fail(http.StatusBadRequest, "malformed JSON: %v", err)
	}
	return nil
}

// unpacked reads the body of a call, as sent and decompressed.
func unpacked(r *http.Request) (body, plain []byte, err error) {
	if body, err = io.ReadAll(r.Body); err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return body, body, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		plain, err = io.ReadAll(reader)
	}
	return body, plain, err
}

// ServeHTTP implements http.Handler.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, plain, err := unpacked(r)
	if err != nil {
		answer(w, nil, fail(http.StatusBadRequest, "the body is not packed as it says"))
		return
	}
	call := func(w http.ResponseWriter) {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(plain))
		h.mux.ServeHTTP(w, again)
	}
	h.behave(w, r, len(body), call)
}

func (h *Host) routes() {
	h.handle("GET /api/user", func(*http.Request) (any, error) {
		orgs := []map[string]string{{"githubLogin": User, "name": User}, {"githubLogin": Team, "name": Team}}
		return map[string]any{"id": User, "githubLogin": User, "name": User, "email": User + "@example.com",
			"organizations": orgs}, nil
	})
	h.handle("GET /api/user/organizations/default", func(*http.Request) (any, error) {
		return map[string]any{"GitHubLogin": User}, nil
	})
	h.handle("GET /api/capabilities", func(*http.Request) (any, error) { return h.capabilities() })
	h.handle("GET /api/cli/version", func(*http.Request) (any, error) { return nil, fail(404, "Not Found") })
	h.mux.HandleFunc("PUT /test/behaviour", func(w http.ResponseWriter, r *http.Request) {
		var b Behaviour
		err := read(r, &b)
		if err == nil {
			h.Set(b)
		}
		answer(w, nil, err)
	})
	h.mux.HandleFunc("GET /packs/{name}", h.servePack)
	h.environmentRoutes()
	h.stackRoutes()
	h.runRoutes()
}
