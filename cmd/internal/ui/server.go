package ui

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/page"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Options are the settings of a server.
type Options struct {
	Backend *backend.Backend
	Version string
	// Project is the project whose program the page may show and preview; empty for none. Dir is its folder.
	Project, Dir string
	Runs         string // the folder of records, see runlog
	Process      backend.Process
	// Manager returns the manager of a state's secrets for a given passphrase.
	Manager func(p state.SecretsProvider, passphrase string) (secrets.Manager, error)
	// Preview previews a stack of the project and returns its output; nil if there is no project. It is called in a
	// goroutine of its own, one call at a time; Serve waits for its end.
	Preview func(stack string) (string, error)
}

// Server answers the page. It is safe for concurrent use.
type Server struct {
	o       Options
	host    string // of all requests, with the port
	token   string
	handler http.Handler
	stacks  *stacks
	earlier earlier
	preview preview

	mu     sync.Mutex
	once   string    // opens the page once instead of the token; guarded by mu
	polled time.Time // time of the last request of the page; guarded by mu
}

// New returns the server for a host on the loopback, with its port.
func New(o Options, host string) *Server {
	s := &Server{o: o, host: host, token: secret(), once: secret(),
		stacks: &stacks{backend: o.Backend, kept: map[backend.Ref]*kept{}}}
	s.handler = s.routes()
	return s
}

func secret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Listen opens a port on an address of the loopback; port 0 means a free one.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address such as 127.0.0.1:8080", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s can be reached from other machines; the console is for this one: listen on 127.0.0.1, "+
			"::1 or localhost", address)
	}
	return net.Listen("tcp", address)
}

// URL returns the link to the page. Anyone who has it can read everything that the page shows.
func (s *Server) URL() string { return "http://" + s.host + "/#token=" + s.token }

// OnceURL returns a link that opens the page once, for command lines, which other users of the machine may see.
func (s *Server) OnceURL() string { return "http://" + s.host + "/#once=" + s.once }

// Idle returns the time since the last request of the page.
func (s *Server) Idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.polled)
}

// Serve answers requests until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		_ = server.Close() // pending answers are no longer needed
	}()
	err := server.Serve(l)
	if ctx.Err() != nil {
		<-ended
		s.preview.under.Wait()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// policy allows the page only its own files: no inline code, frames, forms or eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP refuses requests that do not come from the page, and answers all others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=()"} {
		h.Set(name, value)
	}
	if err := s.guard(r); err != nil {
		reply(w, nil, err)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// guard returns why a request is refused; nil if it is not.
func (s *Server) guard(r *http.Request) error {
	origin := r.Header.Get("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Host != s.host: // another name that resolves to this host
		return &httpError{http.StatusMisdirectedRequest, "this is not the address of the console"}
	case origin != "" && origin != "http://"+s.host:
		return &httpError{http.StatusForbidden, "another origin asks"}
	case site != "" && site != "same-origin" && (site != "none" || strings.HasPrefix(r.URL.Path, "/api/")):
		return &httpError{http.StatusForbidden, "another site asks"}
	case !strings.HasPrefix(r.URL.Path, "/api/"):
		return nil
	case r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json":
		return &httpError{http.StatusUnsupportedMediaType, "the request is no JSON"}
	case r.URL.Path == "/api/enter":
		return nil
	}
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		return &httpError{http.StatusUnauthorized, "the token is missing or wrong: open the link that yamlhost ui has printed"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polled = time.Now()
	return nil
}

// enter returns the token for the code of OnceURL.
func (s *Server) enter(_ context.Context, req struct{ Once string }) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once == "" || subtle.ConstantTimeCompare([]byte(req.Once), []byte(s.once)) != 1 {
		return nil, &httpError{http.StatusUnauthorized, "this link has been used: open the one that yamlhost ui has printed"}
	}
	s.once = ""
	return map[string]string{"token": s.token}, nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	assets(mux)
	get := func(path string, answer func(context.Context, query) (any, error)) {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) {
			out, err := answer(r.Context(), query{r.URL.Query()})
			reply(w, out, err)
		})
	}
	state := func(path string, answer func(context.Context, *kept, query) (any, error)) {
		get(path, func(ctx context.Context, q query) (any, error) {
			k, err := s.kept(ctx, q.Get("stack"))
			if err != nil {
				return nil, err
			}
			return answer(ctx, k, q)
		})
	}
	past := func(path string, answer func(context.Context, backend.Past, query) (any, error)) {
		get(path, func(ctx context.Context, q query) (any, error) {
			ref, err := refOf(q.Get("stack"))
			if err != nil {
				return nil, err
			}
			past, err := backend.PastOf(s.o.Backend, ref)
			if err != nil {
				return nil, err
			}
			return answer(ctx, past, q)
		})
	}
	get("overview", s.overview)
	get("search", s.search)
	get("runs", s.runs)
	get("run", s.run)
	get("preview", s.previewed)
	state("revision", s.revision)
	state("stack", s.stack)
	state("resource", s.resource)
	state("critical", s.critical)
	past("changes", s.changes)
	past("history", s.history)
	past("config", s.config)
	past("diff", s.diff)
	post(mux, "enter", s.enter)
	post(mux, "graph", s.graph)
	post(mux, "reveal", s.reveal)
	post(mux, "preview", s.startPreview)
	return mux
}

// post answers requests with a JSON body.
func post[In any](mux *http.ServeMux, path string, answer func(context.Context, In) (any, error)) {
	mux.HandleFunc("POST /api/"+path, func(w http.ResponseWriter, r *http.Request) {
		var req In
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		if err := decoder.Decode(&req); err != nil {
			reply(w, nil, &httpError{http.StatusBadRequest, "the request cannot be read"})
			return
		}
		out, err := answer(r.Context(), req)
		reply(w, out, err)
	})
}

// httpError is an error with a status.
type httpError struct {
	code int
	text string
}

func (e *httpError) Error() string { return e.text }

// reply writes out as JSON, or an error and its status.
func reply(w http.ResponseWriter, out any, err error) {
	var text []byte
	if err == nil {
		text, err = json.Marshal(out)
	}
	code := http.StatusOK
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()}) // a string encodes
		var known *httpError
		switch {
		case errors.As(err, &known):
			code = known.code
		case errors.As(err, new(*backend.NotFoundError)), errors.Is(err, fs.ErrNotExist):
			code = http.StatusNotFound
		default:
			code = http.StatusInternalServerError
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text) // the page has gone
}

// assets serves the files of the page. They contain no data of any stack.
func assets(mux *http.ServeMux) {
	for path, file := range map[string][2]string{
		"/{$}": {"index.html", "text/html; charset=utf-8"}, "/app.js": {"app.js", "text/javascript; charset=utf-8"},
		"/app.css": {"app.css", "text/css; charset=utf-8"}, "/icon.svg": {"icon.svg", "image/svg+xml"},
		"/favicon.ico": {"icon.svg", "image/svg+xml"},
	} {
		packed := page.Packed(file[0])
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", file[1])
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(packed) // the page has gone
				return
			}
			_, _ = w.Write(page.File(file[0])) // the page has gone
		})
	}
}
