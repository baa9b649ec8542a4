package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stack holds the data of a stack apart from its states.
type stack struct {
	ID      string            `json:"id"`
	Org     string            `json:"orgName"`
	Project string            `json:"projectName"`
	Name    string            `json:"stackName"`
	Tags    map[string]string `json:"tags"`
	Config  json.RawMessage   `json:"config,omitempty"`
	Version int               `json:"version"`
	Runs    []*run            `json:"runs"` // oldest first; those that are over and took no version are dropped

	dir string
}

func (s *stack) name() string { return s.Org + "/" + s.Project + "/" + s.Name }

// file returns the path of a file of the stack.
func (s *stack) file(name string) string { return filepath.Join(s.dir, name) }

// put replaces a file atomically.
func put(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (s *stack) save() error {
	text, err := encode(s)
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		err = put(s.file("stack.json"), text)
	}
	return err
}

// load reads every stack.
func (h *Host) load() error {
	found, err := filepath.Glob(filepath.Join(h.dir, "stacks", "*", "stack.json"))
	if err != nil {
		return err
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := &stack{dir: filepath.Dir(path)}
		if err := json.Unmarshal(text, s); err != nil {
			return err
		}
		h.stacks[s.name()] = s
	}
	return nil
}

// emptyState is the state of a stack before its first update.
const emptyState = `{"version":3,"deployment":{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""}}}`

// state returns the state after an update, as it was sent.
func (s *stack) state(version int) ([]byte, error) {
	text, err := os.ReadFile(s.file("state-" + strconv.Itoa(version) + ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		if version == 0 {
			return []byte(emptyState), nil
		}
		return nil, fail(http.StatusNotFound, "Not Found: no version %d", version)
	}
	return text, err
}

func (s *stack) keep(version int, text []byte) error {
	return put(s.file("state-"+strconv.Itoa(version)+".json"), text)
}

// find returns the stack of a call. It ends a run whose lease has expired.
func (h *Host) find(r *http.Request) (*stack, error) {
	org, project, name := r.PathValue("org"), r.PathValue("project"), r.PathValue("stack")
	if org != User && org != Team {
		return nil, fail(http.StatusNotFound, "Not Found: Organization '%s' not found", org)
	}
	s := h.stacks[org+"/"+project+"/"+name]
	if s == nil {
		return nil, fail(http.StatusNotFound, "Not Found: Stack '%s/%s/%s' not found", org, project, name)
	}
	return s, s.expire(h.now())
}

// onStack registers a call about a stack.
func (h *Host) onStack(method, rest string, f func(r *http.Request, s *stack) (any, error)) {
	h.handle(method+" /api/stacks/{org}/{project}/{stack}"+rest, func(r *http.Request) (any, error) {
		s, err := h.find(r)
		if err != nil {
			return nil, err
		}
		return f(r, s)
	})
}

func (h *Host) stackRoutes() {
	h.handle("GET /api/user/stacks", h.list)
	h.handle("HEAD /api/stacks/{org}/{project}", func(r *http.Request) (any, error) {
		for _, s := range h.stacks {
			if s.Org == r.PathValue("org") && s.Project == r.PathValue("project") {
				return nil, nil
			}
		}
		return nil, fail(http.StatusNotFound, "Not Found")
	})
	h.handle("POST /api/stacks/{org}/{project}", h.create)
	h.onStack("GET", "", func(_ *http.Request, s *stack) (any, error) { return s.describe(), nil })
	h.onStack("DELETE", "", h.remove)
	h.onStack("POST", "/rename", h.rename)
	h.onStack("PATCH", "/tags", func(r *http.Request, s *stack) (any, error) {
		tags := map[string]string{}
		if err := read(r, &tags); err != nil {
			return nil, err
		}
		s.Tags = tags
		return nil, s.save()
	})
	h.onStack("PUT", "/config", func(r *http.Request, s *stack) (any, error) {
		if err := read(r, &s.Config); err != nil {
			return nil, err
		}
		return s.Config, s.save()
	})
	h.onStack("GET", "/export", func(_ *http.Request, s *stack) (any, error) { return raw(s.current()) })
	h.onStack("GET", "/export/{version}", func(r *http.Request, s *stack) (any, error) {
		version, err := strconv.Atoi(r.PathValue("version"))
		if err != nil {
			return nil, fail(http.StatusBadRequest, "Bad Request: not a version")
		}
		return raw(s.state(version))
	})
	h.vaultRoutes()
}

func raw(text []byte, err error) (any, error) { return json.RawMessage(text), err }

func (h *Host) vaultRoutes() {
	type one struct {
		Plaintext  []byte `json:"plaintext,omitempty"`
		Ciphertext []byte `json:"ciphertext,omitempty"`
	}
	h.onStack("POST", "/encrypt", func(r *http.Request, s *stack) (any, error) {
		var q one
		if err := read(r, &q); err != nil {
			return nil, err
		}
		sealed, err := h.vault.seal(s.ID, q.Plaintext)
		return one{Ciphertext: sealed}, err
	})
	h.onStack("POST", "/decrypt", func(r *http.Request, s *stack) (any, error) {
		var q one
		if err := read(r, &q); err != nil {
			return nil, err
		}
		plain, err := h.vault.open(s.ID, q.Ciphertext)
		return map[string][]byte{"plaintext": plain}, err
	})
	h.onStack("POST", "/decrypt/log-batch-3rd-party", func(*http.Request, *stack) (any, error) { return nil, nil })
	h.onStack("POST", "/decrypt/log-3rd-party", func(*http.Request, *stack) (any, error) { return nil, nil })
	h.onStack("POST", "/batch-encrypt", func(r *http.Request, s *stack) (any, error) {
		var q struct{ Plaintexts [][]byte }
		if err := read(r, &q); err != nil {
			return nil, err
		}
		if h.forgets("batch-encrypt") {
			return nil, fail(http.StatusNotFound, "Not Found")
		}
		out := make([][]byte, len(q.Plaintexts))
		for i, plain := range q.Plaintexts {
			var err error
			if out[i], err = h.vault.seal(s.ID, plain); err != nil {
				return nil, err
			}
		}
		return map[string]any{"ciphertexts": out}, nil
	})
	h.onStack("POST", "/batch-decrypt", func(r *http.Request, s *stack) (any, error) {
		var q struct{ Ciphertexts []string }
		if err := read(r, &q); err != nil {
			return nil, err
		}
		if h.forgets("batch-decrypt") {
			return nil, fail(http.StatusNotFound, "Not Found")
		}
		out := map[string][]byte{}
		for _, text := range q.Ciphertexts {
			var sealed []byte
			if err := json.Unmarshal([]byte(strconv.Quote(text)), &sealed); err != nil {
				return nil, fail(http.StatusBadRequest, "invalid ciphertext")
			}
			var err error
			if out[text], err = h.vault.open(s.ID, sealed); err != nil {
				return nil, err
			}
		}
		return map[string]any{"plaintexts": out}, nil
	})
}

// page is the number of stacks in one page of a list.
const page = 20

func (h *Host) list(r *http.Request) (any, error) {
	q := r.URL.Query()
	names := make([]string, 0, len(h.stacks))
	for name, s := range h.stacks {
		tag, has := s.Tags[q.Get("tagName")]
		if (q.Get("organization") == "" || q.Get("organization") == s.Org) &&
			(q.Get("project") == "" || q.Get("project") == s.Project) &&
			(q.Get("tagName") == "" || has && (q.Get("tagValue") == "" || q.Get("tagValue") == tag)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := map[string]any{}
	if after := q.Get("continuationToken"); after != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return name <= after })
	}
	if v := h.behaviour().Version; (v == 0 || v >= 8) && len(names) > page {
		names = names[:page]
		out["continuationToken"] = names[page-1]
	}
	list := []map[string]any{}
	for _, name := range names {
		s := h.stacks[name]
		e := map[string]any{"id": s.ID, "orgName": s.Org, "projectName": s.Project, "stackName": s.Name}
		if s.Version > 0 {
			e["lastUpdate"] = s.last().Ended
			if state, err := s.state(s.Version); err == nil {
				e["resourceCount"] = count(state)
			}
		}
		list = append(list, e)
	}
	out["stacks"] = list
	return out, nil
}

// count returns the number of resources in a state.
func count(state []byte) int {
	var d struct {
		Deployment struct{ Resources []json.RawMessage }
	}
	if json.Unmarshal(state, &d) != nil {
		return 0
	}
	return len(d.Deployment.Resources)
}

func (h *Host) create(r *http.Request) (any, error) {
	var q struct {
		StackName string
		Tags      map[string]string
		State     json.RawMessage
		Config    json.RawMessage
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	s := &stack{Org: r.PathValue("org"), Project: r.PathValue("project"), Name: q.StackName, Tags: q.Tags, Config: q.Config}
	id := sha256.Sum256([]byte(s.name())) // the same in a repeated session
	s.ID = hex.EncodeToString(id[:16])
	if s.Org != User && s.Org != Team {
		return nil, fail(http.StatusNotFound, "Not Found: Organization '%s' not found", s.Org)
	}
	if s.Name == "" || strings.Contains(s.Name, "/") {
		return nil, fail(http.StatusBadRequest, "Bad Request: invalid stack name")
	}
	if h.stacks[s.name()] != nil {
		return nil, fail(http.StatusConflict, "Conflict: Stack '%s' already exists", s.Name)
	}
	s.dir = filepath.Join(h.dir, "stacks", s.ID)
	if err := s.save(); err != nil {
		return nil, err
	}
	h.stacks[s.name()] = s
	if len(q.State) > 0 && string(q.State) != "null" {
		_, err := h.importState(s, q.State)
		return nil, err
	}
	return nil, nil
}

func (s *stack) describe() map[string]any {
	d := map[string]any{"id": s.ID, "orgName": s.Org, "projectName": s.Project, "stackName": s.Name, "tags": s.Tags,
		"version": s.Version, "activeUpdate": ""}
	if len(s.Config) > 0 {
		d["config"] = s.Config
	}
	if last := s.last(); last != nil {
		d["activeUpdate"] = last.ID // the last one stays
		if last.Status == running {
			d["currentOperation"] = map[string]any{"kind": last.Kind, "author": User, "started": last.Started}
		}
	}
	return d
}

func (h *Host) remove(r *http.Request, s *stack) (any, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	state, err := s.state(s.Version)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("force") != "true" && count(state) > 0 {
		return nil, fail(http.StatusBadRequest, "Bad Request: Stack still contains resources.")
	}
	delete(h.stacks, s.name())
	return nil, os.RemoveAll(s.dir)
}

func (h *Host) rename(r *http.Request, s *stack) (any, error) {
	var q struct{ NewName, NewProject string }
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if err := s.idle(); err != nil {
		return nil, err
	}
	next := *s
	if q.NewName != "" {
		next.Name = q.NewName
	}
	if q.NewProject != "" {
		next.Project = q.NewProject
	}
	if h.stacks[next.name()] != nil {
		return nil, fail(http.StatusConflict, "Conflict: Stack '%s' already exists", next.Name)
	}
	state, err := s.state(s.Version)
	if err != nil {
		return nil, err
	}
	if next.Version > 0 {
		renamed, err := renamed(state, s, &next)
		if err == nil {
			next.Version++
			now := h.now().Unix()
			next.Runs = append(slices.Clone(next.Runs), &run{ID: newID(), Kind: "rename", Status: "succeeded", Version: next.Version,
				Started: now, Ended: now})
			err = next.keep(next.Version, renamed)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := next.save(); err != nil {
		return nil, err
	}
	delete(h.stacks, s.name())
	h.stacks[next.name()] = &next
	return nil, nil
}

// renamed returns a state whose resources, and whose provider of secrets, have the names of another stack.
func renamed(state []byte, s, next *stack) ([]byte, error) {
	var v object
	if err := decode(state, &v); err != nil {
		return nil, err
	}
	deployment, _ := v["deployment"].(object)
	if p, ok := deployment["secrets_providers"].(object); ok && p["type"] == "service" {
		if obj, ok := p["state"].(object); ok {
			obj["project"], obj["stack"] = next.Project, next.Name
		}
	}
	before, after := "urn:pulumi:"+s.Name+"::"+s.Project+"::", "urn:pulumi:"+next.Name+"::"+next.Project+"::"
	ownBefore := s.Project + "-" + s.Name
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			if rest, ok := strings.CutPrefix(v, before); ok {
				if name, ok := strings.CutSuffix(rest, "::"+ownBefore); ok && name == "pulumi:pulumi:Stack" {
					rest = name + "::" + next.Project + "-" + next.Name
				}
				return after + rest
			}
		case map[string]any:
			for k, e := range v {
				v[k] = walk(e)
			}
		case []any:
			for i, e := range v {
				v[i] = walk(e)
			}
		}
		return v
	}
	return encode(walk(v))
}
