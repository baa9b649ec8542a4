package host

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const running = "running"

// run is an update, preview, refresh, destroy or import of a stack.
type run struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Status   string          `json:"status"` // "not started", running, succeeded, failed or cancelled
	Program  json.RawMessage `json:"program,omitempty"`
	Version  int             `json:"version"` // after it; 0 for what takes none
	Token    string          `json:"token,omitempty"`
	Expires  int64           `json:"expires,omitempty"` // milliseconds
	Journal  bool            `json:"journal,omitempty"`
	Sequence int             `json:"sequence,omitempty"` // of the last checkpoint
	Started  int64           `json:"started"`
	Ended    int64           `json:"ended,omitempty"`
	Changes  json.RawMessage `json:"changes,omitempty"`
	DryRun   bool            `json:"dryRun,omitempty"`
}

func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// last returns the last run that has a version or is running.
func (s *stack) last() *run {
	for _, u := range slices.Backward(s.Runs) {
		if u.Version > 0 {
			return u
		}
	}
	return nil
}

// active returns the run that holds the stack.
func (s *stack) active() *run {
	if last := s.last(); last != nil && last.Status == running {
		return last
	}
	return nil
}

func (s *stack) idle() error {
	if u := s.active(); u != nil {
		return fail(http.StatusConflict, "Conflict: Another update is currently in progress.")
	}
	return nil
}

// expire ends a run whose lease has run out.
func (s *stack) expire(now time.Time) error {
	if u := s.active(); u != nil && now.UnixMilli() > u.Expires {
		return s.end(u, "failed", now)
	}
	return nil
}

// current returns the present state, even in the middle of a run.
func (s *stack) current() ([]byte, error) {
	u := s.active()
	if u == nil {
		return s.state(s.Version)
	}
	if text, err := os.ReadFile(s.file("checkpoint-" + u.ID)); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	base, err := s.state(s.Version)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadFile(s.file("entries-" + u.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return base, nil
	} else if err != nil {
		return nil, err
	}
	return replay(base, entries)
}

// end ends a run and makes its state a new version of the stack.
func (s *stack) end(u *run, status string, now time.Time) error {
	state, err := s.current()
	if err != nil {
		return err
	}
	if err := s.keep(u.Version, state); err != nil {
		return err
	}
	u.Status, u.Ended, u.Token = status, now.Unix(), ""
	s.Version = u.Version
	return s.save()
}

func (h *Host) runRoutes() {
	for _, kind := range []string{"update", "preview", "refresh", "destroy"} {
		h.onStack("POST", "/"+kind, func(r *http.Request, s *stack) (any, error) { return h.newRun(r, s, kind) })
	}
	h.onStack("POST", "/import", func(r *http.Request, s *stack) (any, error) {
		var state json.RawMessage
		if err := read(r, &state); err != nil {
			return nil, err
		}
		if err := s.idle(); err != nil {
			return nil, err
		}
		id, err := h.importState(s, state)
		return map[string]string{"updateId": id}, err
	})
	h.onStack("GET", "/updates", h.history)
	h.onStack("GET", "/updates/latest", func(_ *http.Request, s *stack) (any, error) {
		for _, u := range slices.Backward(s.Runs) {
			if u.Version > 0 && u.Status != running && len(u.Program) > 0 {
				return map[string]any{"info": u.info(s)}, nil
			}
		}
		return nil, fail(http.StatusNotFound, "Not Found: no update")
	})
	h.onRun("GET", "", func(r *http.Request, _ *stack, u *run) (any, error) {
		out := map[string]any{"status": u.Status, "events": []any{}}
		if u.Status == running || u.Status == "not started" {
			out["continuationToken"] = "0"
		}
		return out, nil
	})
	h.onRun("POST", "", h.start)
	h.onRun("POST", "/cancel", func(_ *http.Request, s *stack, u *run) (any, error) {
		if u.Status != running || u.DryRun {
			return nil, fail(http.StatusConflict, "Conflict: The update has already completed.")
		}
		return nil, s.end(u, "cancelled", h.now())
	})
	h.leased("POST", "/renew_lease", h.renew)
	h.leased("POST", "/complete", h.complete)
	h.leased("POST", "/events/batch", events)
	h.leased("PATCH", "/checkpoint", func(r *http.Request, s *stack, u *run) (any, error) {
		var q map[string]json.RawMessage
		if err := read(r, &q); err != nil {
			return nil, err
		}
		delete(q, "isInvalid")
		if string(q["features"]) == "null" {
			delete(q, "features")
		}
		text, err := encode(q)
		if err == nil {
			err = put(s.file("checkpoint-"+u.ID), text)
		}
		return nil, err
	})
	h.leased("PATCH", "/checkpointverbatim", checkpointVerbatim)
	h.leased("PATCH", "/checkpointdelta", checkpointDelta)
	h.leased("PATCH", "/journalentries", journalEntries)
}

// onRun registers a call about a run.
func (h *Host) onRun(method, rest string, f func(r *http.Request, s *stack, u *run) (any, error)) {
	h.onStack(method, "/{kind}/{id}"+rest, func(r *http.Request, s *stack) (any, error) {
		for _, u := range s.Runs {
			if u.ID == r.PathValue("id") {
				return f(r, s, u)
			}
		}
		return nil, fail(http.StatusNotFound, "Not Found: Update '%s' not found", r.PathValue("id"))
	})
}

// leased registers a call that only the holder of the run's token may make.
func (h *Host) leased(method, rest string, f func(r *http.Request, s *stack, u *run) (any, error)) {
	h.onRun(method, rest, func(r *http.Request, s *stack, u *run) (any, error) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "update-token ")
		if u.Token == "" {
			return nil, fail(http.StatusConflict, "Conflict: The update has already completed.")
		}
		if token != u.Token {
			return nil, fail(http.StatusUnauthorized, "Unauthorized: The update token is invalid or has expired.")
		}
		return f(r, s, u)
	})
}

func (h *Host) newRun(r *http.Request, s *stack, kind string) (any, error) {
	u := &run{ID: newID(), Kind: kind, Status: "not started"}
	var program struct{ Options struct{ DryRun bool } }
	if err := read(r, &u.Program); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(u.Program, &program); err != nil {
		return nil, err
	}
	if u.DryRun = kind == "preview" || program.Options.DryRun; u.DryRun {
		u.Kind = "preview"
	} else if err := s.idle(); err != nil {
		return nil, err
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(u *run) bool { return u.Version == 0 && u.Status != "not started" && !u.DryRun })
	s.Runs = append(s.Runs, u)
	return map[string]any{"updateID": u.ID, "requiredPolicies": h.requiredPolicies(r.Host)}, s.save()
}

func (h *Host) lease(asked time.Duration) time.Duration {
	longest := h.behaviour().Lease
	if longest == 0 {
		longest = 5 * time.Minute
	}
	if asked > 0 {
		return min(asked, longest)
	}
	return longest
}

func (h *Host) start(r *http.Request, s *stack, u *run) (any, error) {
	var q struct {
		Tags           map[string]string
		JournalVersion int
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if u.Status != "not started" {
		return nil, fail(http.StatusConflict, "Conflict: The update has already been started.")
	}
	if u.DryRun {
		u.Status, u.Started, u.Token = running, h.now().Unix(), newID() // the Pulumi CLI needs a token here too
		u.Expires = h.now().Add(h.lease(0)).UnixMilli()
		return map[string]any{"version": s.Version, "token": u.Token, "tokenExpiration": u.Expires / 1000}, s.save()
	}
	if err := s.idle(); err != nil {
		return nil, err
	}
	if q.Tags != nil {
		s.Tags = q.Tags
	}
	u.Status, u.Started, u.Version, u.Token = running, h.now().Unix(), s.Version+1, newID()
	u.Expires = h.now().Add(h.lease(0)).UnixMilli()
	out := map[string]any{"version": u.Version, "token": u.Token, "tokenExpiration": u.Expires / 1000}
	if u.Journal = q.JournalVersion > 0 && !h.forgets("journal"); u.Journal {
		out["journalVersion"] = 1
	}
	// The run becomes the last, which holds the stack.
	s.Runs = append(slices.DeleteFunc(s.Runs, func(o *run) bool { return o == u }), u)
	return out, s.save()
}

func (h *Host) renew(r *http.Request, s *stack, u *run) (any, error) {
	var q struct{ Duration int }
	if err := read(r, &q); err != nil {
		return nil, err
	}
	u.Expires = h.now().Add(h.lease(time.Duration(q.Duration) * time.Second)).UnixMilli()
	return map[string]any{"token": u.Token, "tokenExpiration": u.Expires / 1000}, s.save()
}

func (h *Host) complete(r *http.Request, s *stack, u *run) (any, error) {
	var q struct{ Status string }
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if u.DryRun {
		u.Status, u.Ended, u.Token = q.Status, h.now().Unix(), ""
		return map[string]any{"version": s.Version}, s.save()
	}
	return map[string]any{"version": u.Version}, s.end(u, q.Status, h.now())
}

func events(r *http.Request, s *stack, u *run) (any, error) {
	var q struct{ Events []json.RawMessage }
	if err := read(r, &q); err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for _, e := range q.Events {
		lines.Write(e)
		lines.WriteByte('\n')
		var known struct {
			SummaryEvent *struct{ ResourceChanges json.RawMessage }
		}
		if json.Unmarshal(e, &known) == nil && known.SummaryEvent != nil {
			u.Changes = known.SummaryEvent.ResourceChanges
		}
	}
	return nil, add(s.file("events-"+u.ID), lines.Bytes())
}

// add appends to a file.
func add(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func checkpointVerbatim(r *http.Request, s *stack, u *run) (any, error) {
	var q struct {
		UntypedDeployment json.RawMessage
		SequenceNumber    int
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if q.SequenceNumber < u.Sequence {
		return nil, nil // a late copy of a repeated call
	}
	if !json.Valid(q.UntypedDeployment) {
		return nil, fail(http.StatusBadRequest, "Bad Request: no deployment")
	}
	u.Sequence = q.SequenceNumber
	return nil, errors.Join(put(s.file("checkpoint-"+u.ID), q.UntypedDeployment), s.save())
}

func checkpointDelta(r *http.Request, s *stack, u *run) (any, error) {
	var q struct {
		CheckpointHash  string
		SequenceNumber  int
		DeploymentDelta json.RawMessage
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if q.SequenceNumber <= u.Sequence {
		return nil, nil // it exists already
	}
	base, err := os.ReadFile(s.file("checkpoint-" + u.ID))
	if err != nil {
		return nil, fail(http.StatusBadRequest, "Bad Request: there is no checkpoint that the delta could apply to")
	}
	next, err := patch(base, q.DeploymentDelta, q.CheckpointHash)
	if err != nil {
		return nil, err
	}
	u.Sequence = q.SequenceNumber
	return nil, errors.Join(put(s.file("checkpoint-"+u.ID), next), s.save())
}

// journalEntries stores entries in the order of arrival; replay sorts them and applies each once.
func journalEntries(r *http.Request, s *stack, u *run) (any, error) {
	var q struct{ Entries []json.RawMessage }
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if !u.Journal {
		return nil, fail(http.StatusBadRequest, "Bad Request: the update keeps no journal")
	}
	var lines bytes.Buffer
	for _, e := range q.Entries {
		if err := json.Compact(&lines, e); err != nil {
			return nil, fail(http.StatusBadRequest, "Bad Request: malformed entry")
		}
		lines.WriteByte('\n')
	}
	return nil, add(s.file("entries-"+u.ID), lines.Bytes())
}

func (h *Host) importState(s *stack, state json.RawMessage) (string, error) {
	var d struct{ Deployment json.RawMessage }
	if err := decode(state, &d); err != nil {
		return "", err
	}
	if len(d.Deployment) == 0 || string(d.Deployment) == "null" {
		state = json.RawMessage(emptyState)
	}
	now := h.now().Unix()
	u := &run{ID: newID(), Kind: "import", Status: "succeeded", Version: s.Version + 1, Started: now, Ended: now}
	if err := s.keep(u.Version, state); err != nil {
		return "", err
	}
	s.Version = u.Version
	s.Runs = append(s.Runs, u)
	return u.ID, s.save()
}

// info describes a run in the history.
func (u *run) info(s *stack) map[string]any {
	var program struct {
		Config   json.RawMessage
		Metadata struct {
			Message     string
			Environment json.RawMessage
		}
	}
	_ = json.Unmarshal(u.Program, &program) // an import has none
	or := func(raw json.RawMessage) json.RawMessage {
		if len(raw) == 0 {
			return json.RawMessage("{}")
		}
		return raw
	}
	result := u.Status
	if result == running {
		result = "in-progress"
	} else if result == "cancelled" {
		result = "failed"
	}
	out := map[string]any{"kind": u.Kind, "startTime": u.Started, "endTime": u.Ended, "message": program.Metadata.Message,
		"environment": or(program.Metadata.Environment), "config": or(program.Config), "result": result,
		"version": u.Version, "resourceChanges": or(u.Changes)}
	if state, err := s.state(u.Version); err == nil {
		out["resourceCount"] = count(state)
	}
	return out
}

func (h *Host) history(r *http.Request, s *stack) (any, error) {
	list := []map[string]any{}
	for _, u := range slices.Backward(s.Runs) {
		if u.Version > 0 {
			list = append(list, u.info(s))
		}
	}
	if size, err := strconv.Atoi(r.URL.Query().Get("pageSize")); err == nil && size > 0 {
		number, err := strconv.Atoi(r.URL.Query().Get("page"))
		if err != nil || number < 1 {
			number = 1
		}
		list = list[min(len(list), (number-1)*size):min(len(list), number*size)]
	}
	return map[string]any{"updates": list}, nil
}
