package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pulumi/esc"
	"github.com/pulumi/esc/eval"
	"github.com/pulumi/esc/schema"
	"github.com/pulumi/esc/syntax"
)

// environmentRoutes registers the calls about environments. Each version of an environment is a file below its
// organization and project, with its secrets sealed and its version number in the name.
func (h *Host) environmentRoutes() {
	const one = "/api/esc/environments/{org}/{project}/{name}"
	h.handle("GET /api/esc/environments/{org}", h.listEnvironments)
	h.handle("POST /api/esc/environments/{org}", func(r *http.Request) (any, error) {
		var q struct{ Project, Name string }
		if err := read(r, &q); err != nil {
			return nil, err
		}
		path, err := h.environmentFile(r.PathValue("org"), q.Project+"/"+q.Name)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err == nil {
			return nil, fail(http.StatusConflict, "Conflict: environment already exists")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		return nil, put(path, nil)
	})
	h.mux.HandleFunc("GET "+one, func(w http.ResponseWriter, r *http.Request) { h.sendEnvironment(w, r, false) })
	h.mux.HandleFunc("GET "+one+"/{part}", func(w http.ResponseWriter, r *http.Request) {
		text := h.session(r)
		switch {
		case r.PathValue("part") == "decrypt":
			h.sendEnvironment(w, r, true)
		case text == nil:
			answer(w, nil, fail(http.StatusNotFound, "Not Found"))
		case h.authorized(w, r):
			answer(w, json.RawMessage(text), nil)
		}
	})
	h.handle("POST "+one+"/open", func(r *http.Request) (any, error) {
		org := r.PathValue("org")
		text, _, err := h.environment(org, r.PathValue("project")+"/"+r.PathValue("name"))
		if err != nil {
			return nil, err
		}
		return h.open(r.Context(), org, text)
	})
	h.handle("GET "+one+"/open/{id}", func(r *http.Request) (any, error) {
		text, found := h.opened[r.PathValue("org")+"/"+r.PathValue("id")]
		if !found {
			return nil, fail(http.StatusNotFound, "Not Found")
		}
		return json.RawMessage(text), nil
	})
	h.mux.HandleFunc("PATCH "+one, h.changeEnvironment)
	h.handle("DELETE "+one, func(r *http.Request) (any, error) {
		path, err := h.environmentFile(r.PathValue("org"), r.PathValue("project")+"/"+r.PathValue("name"))
		if err == nil {
			err = os.Remove(path)
		}
		return nil, missing(err)
	})
	h.handle("POST /api/esc/environments/{org}/yaml/check", func(r *http.Request) (any, error) {
		if _, err := h.environmentFile(r.PathValue("org"), "a/b"); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return h.evaluated(r.Context(), r.PathValue("org"), text, true)
	})
	h.handle("POST /api/esc/environments/{org}/yaml/open", func(r *http.Request) (any, error) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return h.open(r.Context(), r.PathValue("org"), text)
	})
}

// open opens a document and returns the ID of its session. The caller holds h.mu.
func (h *Host) open(ctx context.Context, org string, document []byte) (any, error) {
	if _, err := h.environmentFile(org, "a/b"); err != nil {
		return nil, err
	}
	env, err := h.evaluated(ctx, org, document, false)
	if err != nil {
		return nil, err
	}
	text, err := encode(env)
	id := newID()
	h.opened[org+"/"+id] = text
	return map[string]string{"id": id}, err
}

// session returns the opened values of a request for yaml/open/ID, which has the form of an environment's name.
func (h *Host) session(r *http.Request) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.PathValue("project") != "yaml" || r.PathValue("name") != "open" {
		return nil
	}
	return h.opened[r.PathValue("org")+"/"+r.PathValue("part")]
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fail(http.StatusNotFound, "Not Found: Environment not found")
	}
	return err
}

var environmentName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

func (h *Host) environmentFile(org, name string) (string, error) {
	if org != User && org != Team || !environmentName.MatchString(name) || h.forgets("environments") {
		return "", fail(http.StatusNotFound, "Not Found")
	}
	return filepath.Join(h.dir, "environments", org, filepath.FromSlash(name)+".yaml"), nil
}

func (h *Host) listEnvironments(r *http.Request) (any, error) {
	org := r.PathValue("org")
	if _, err := h.environmentFile(org, "a/b"); err != nil {
		return nil, err
	}
	root := filepath.Join(h.dir, "environments", org)
	found, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	list := []map[string]string{}
	for _, path := range found {
		project := filepath.Base(filepath.Dir(path))
		list = append(list, map[string]string{"organization": org, "project": project,
			"name": strings.TrimSuffix(filepath.Base(path), ".yaml")})
	}
	out := map[string]any{"environments": list}
	if len(list) > 1 { // in pages of one
		if r.URL.Query().Get("continuationToken") == "" {
			out["environments"], out["nextToken"] = list[:1], "1"
		} else {
			out["environments"] = list[1:]
		}
	}
	return out, err
}

// tag names a version of a text.
func tag(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (h *Host) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Authorization") == "token "+h.token {
		return true
	}
	answer(w, nil, fail(http.StatusUnauthorized, "Unauthorized: No credentials provided or are invalid."))
	return false
}

func (h *Host) sendEnvironment(w http.ResponseWriter, r *http.Request, decrypt bool) {
	if !h.authorized(w, r) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	text, _, err := h.environment(r.PathValue("org"), r.PathValue("project")+"/"+r.PathValue("name"))
	w.Header().Set("ETag", tag(text))
	if err == nil && decrypt {
		text, err = eval.DecryptSecrets(r.Context(), "", text, sealer{h.vault, r.PathValue("org")})
	}
	if err != nil {
		answer(w, nil, err)
		return
	}
	w.Header().Set("Pulumi-ESC-Revision", "1")
	w.Header().Set("Content-Type", "application/x-yaml")
	_, _ = w.Write(text) // the caller has gone
}

func (h *Host) environment(org, name string) (text []byte, path string, err error) {
	if path, err = h.environmentFile(org, name); err == nil {
		text, err = os.ReadFile(path)
	}
	return text, path, missing(err)
}

func (h *Host) changeEnvironment(w http.ResponseWriter, r *http.Request) {
	if !h.authorized(w, r) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	org := r.PathValue("org")
	old, path, err := h.environment(org, r.PathValue("project")+"/"+r.PathValue("name"))
	if err == nil && r.Header.Get("ETag") != "" && r.Header.Get("ETag") != tag(old) {
		err = fail(http.StatusConflict, "Conflict: environment was modified")
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(r.Body)
	}
	if err == nil {
		_, err = h.evaluated(r.Context(), org, text, true)
	}
	if err == nil {
		text, err = eval.EncryptSecrets(r.Context(), "", text, sealer{h.vault, org})
	}
	if err == nil {
		err = put(path, text)
	}
	w.Header().Set("Pulumi-ESC-Revision", "2")
	answer(w, nil, err)
}

// documentFaults holds the faults of a document in the form of the service.
type documentFaults struct {
	failure
	Diagnostics []documentFault `json:"diagnostics"`
}

type documentFault struct {
	Range   *esc.Range `json:"range,omitempty"`
	Summary string     `json:"summary"`
	Detail  string     `json:"detail,omitempty"`
}

func (h *Host) evaluated(ctx context.Context, org string, text []byte, check bool) (*esc.Environment, error) {
	document, found, err := eval.LoadYAMLBytes(esc.AnonymousEnvironmentName, text)
	if err != nil {
		return nil, err
	}
	var env *esc.Environment
	if !found.HasErrors() {
		execution, err := esc.NewExecContext(map[string]esc.Value{})
		if err != nil {
			return nil, err
		}
		here, name := imports{h, org}, esc.AnonymousEnvironmentName
		var more syntax.Diagnostics
		if check {
			env, more = eval.CheckEnvironment(ctx, name, document, sealer{h.vault, org}, here, here, execution, false)
		} else {
			env, more = eval.EvalEnvironment(ctx, name, document, sealer{h.vault, org}, here, here, execution)
		}
		found.Extend(more...)
	}
	if !found.HasErrors() {
		if env == nil {
			env = &esc.Environment{}
		}
		return env, nil
	}
	faults := &documentFaults{failure: failure{Code: http.StatusBadRequest, Message: "Bad Request: invalid environment"}}
	for _, d := range found {
		f := documentFault{Summary: d.Summary, Detail: d.Detail}
		if at := d.Subject; at != nil {
			f.Range = &esc.Range{Environment: at.Filename, Begin: esc.Pos{Line: at.Start.Line, Column: at.Start.Column,
				Byte: at.Start.Byte}, End: esc.Pos{Line: at.End.Line, Column: at.End.Column, Byte: at.End.Byte}}
		}
		faults.Diagnostics = append(faults.Diagnostics, f)
	}
	return nil, faults
}

// sealer seals the secrets of an organization's environments.
type sealer struct {
	vault *vault
	org   string
}

// Encrypt implements eval.Encrypter.
func (s sealer) Encrypt(_ context.Context, plain []byte) ([]byte, error) {
	return s.vault.seal("esc "+s.org, plain)
}

// Decrypt implements eval.Decrypter.
func (s sealer) Decrypt(_ context.Context, sealed []byte) ([]byte, error) {
	return s.vault.open("esc "+s.org, sealed)
}

// imports loads the environments of an organization, and the only provider.
type imports struct {
	host *Host
	org  string
}

// LoadEnvironment implements eval.EnvironmentLoader.
func (i imports) LoadEnvironment(_ context.Context, name string) ([]byte, eval.Decrypter, error) {
	plain, _, _ := strings.Cut(name, "@")
	if !strings.Contains(plain, "/") {
		plain = "default/" + plain
	}
	text, _, err := i.host.environment(i.org, plain)
	return text, sealer{i.host.vault, i.org}, err
}

// LoadProvider implements eval.ProviderLoader.
func (imports) LoadProvider(_ context.Context, name string) (esc.Provider, error) {
	if name != "test" {
		return nil, fmt.Errorf("unknown provider %q", name)
	}
	return echo{}, nil
}

// LoadRotator implements eval.ProviderLoader.
func (imports) LoadRotator(_ context.Context, name string) (esc.Rotator, error) {
	return nil, fmt.Errorf("unknown rotator %q", name)
}

// echo is the provider fn::open::test, which returns its input as a secret.
type echo struct{}

// Schema implements esc.Provider.
func (echo) Schema() (inputs, outputs *schema.Schema) { return schema.Always(), schema.Always() }

// Open implements esc.Provider.
func (echo) Open(_ context.Context, inputs map[string]esc.Value, _ esc.EnvExecContext) (esc.Value, error) {
	return esc.NewSecret(inputs), nil
}
