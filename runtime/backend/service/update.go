package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// leaseSeconds is the length of the lease that a renewal asks for: the most that a service grants.
const leaseSeconds = 300

// update is an operation that has begun. It is safe for concurrent use.
type update struct {
	service *Service
	ref     backend.Ref
	facts   backend.UpdateFacts

	mu     sync.Mutex // guards the fields below
	ticket ticket

	sequence int    // of the last checkpoint; guarded by the caller, who sends one at a time
	last     []byte // the last checkpoint that the service acknowledged; nil if there is none
}

// ticket has what another process needs to resume an operation.
type ticket struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

// kindOf returns the path element of a kind of operation. A kind without one of its own is an update.
func kindOf(kind string) string {
	switch kind {
	case "preview", "refresh", "destroy":
		return kind
	}
	return "update"
}

// Begin creates an operation and starts it. If the answer is lost, it ends that operation and begins another one.
func (s *Service) Begin(ctx context.Context, r backend.Ref, about *backend.Record, dryRun bool) (backend.Update,
	error) {
	skipped := 0
	for attempt := 1; ; attempt++ {
		u, err := s.begin(ctx, r, about, dryRun)
		if err == nil {
			u.facts.Skipped = skipped
			return u, nil
		}
		if u == nil || attempt == 3 {
			return nil, err
		}
		if dryRun {
			continue // a preview holds nothing
		}
		started, failed := u.abandon(context.WithoutCancel(ctx))
		if failed != nil {
			return nil, err
		}
		if started {
			skipped++
		}
	}
}

// abandon ends an operation without its token, and reports whether it had started.
func (u *update) abandon(ctx context.Context) (started bool, err error) {
	do := u.service.client.Do
	err = do(ctx, serviceapi.Call{Method: http.MethodPost, Path: u.path("cancel"), Again: true}, nil)
	if err != nil && serviceapi.Status(err) == 0 {
		return false, err
	}
	var now struct{ Status string }
	err = do(ctx, serviceapi.Call{Method: http.MethodGet, Path: u.path()}, &now)
	return now.Status == "cancelled", err
}

// begin is one attempt of Begin. With an error, the update is not nil if it may have started.
func (s *Service) begin(ctx context.Context, r backend.Ref, about *backend.Record, dryRun bool) (*update, error) {
	kind := kindOf(about.Kind)
	if dryRun {
		kind = "preview"
	}
	config := map[string]configValue{}
	for key, raw := range about.Config {
		config[key] = configValueOf(raw)
	}
	request := map[string]any{
		"name": r.Project, "runtime": "yaml", "main": "", "description": "", "config": config,
		"options":  map[string]any{"color": "raw", "dryRun": dryRun, "parallel": 0},
		"metadata": map[string]any{"message": about.Message, "environment": about.Environment},
	}
	var created struct {
		UpdateID         string
		RequiredPolicies []struct {
			backend.Policy
			Version      int
			VersionTag   string
			PackLocation string
			Exceptions   map[string]backend.PolicyException
		}
		Messages []struct{ Message string }
	}
	// An operation that was created but not started does not lock the stack.
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodPost, Path: stackPath(r, kind), Body: request,
		Packed: true, Again: true}, &created)
	if err != nil {
		return nil, s.explainStack(ctx, r, err)
	}
	u := &update{service: s, ref: r, ticket: ticket{ID: created.UpdateID}}
	for _, p := range created.RequiredPolicies {
		required := p.Policy
		required.Owner, required.Location, required.Version = r.Owner, p.PackLocation, p.VersionTag
		if p.VersionTag == "" {
			required.Version = strconv.Itoa(p.Version)
		}
		maps.DeleteFunc(required.Config, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
		required.Exceptions = slices.Collect(maps.Values(p.Exceptions))
		u.facts.Policies = append(u.facts.Policies, required)
	}
	for _, m := range created.Messages {
		u.facts.Messages = append(u.facts.Messages, printable.Short(m.Message, 2000))
	}
	var started struct {
		Version         int
		Token           string
		TokenExpiration int64
		JournalVersion  int
	}
	err = s.post(ctx, u.path(), map[string]any{"journalVersion": 1}, &started)
	if errors.As(err, new(*serviceapi.AwayError)) {
		return u, s.explain(err) // it may have started, and its token is lost
	}
	if err != nil {
		return nil, s.explainStack(ctx, r, err)
	}
	u.ticket.Token = started.Token
	u.facts.Version, u.facts.Journal = started.Version, started.JournalVersion == 1
	u.facts.Renewal = renewal(started.TokenExpiration)
	if u.facts.Page = s.page(r, "updates", strconv.Itoa(started.Version)); dryRun {
		u.facts.Page = s.page(r, "previews", created.UpdateID)
	}
	return u, nil
}

// Resume returns an operation that another process has begun.
func (s *Service) Resume(r backend.Ref, text json.RawMessage) (backend.Update, error) {
	u := &update{service: s, ref: r}
	if err := json.Unmarshal(text, &u.ticket); err != nil || u.ticket.ID == "" || u.ticket.Token == "" {
		return nil, errors.New("it is not known which operation was under way")
	}
	return u, nil
}

// renewal returns when to renew a token that expires then, in Unix seconds: after half of the remaining time.
func renewal(expires int64) time.Duration {
	left := time.Until(time.Unix(expires, 0)) / 2
	return min(max(left, 200*time.Millisecond), leaseSeconds/2*time.Second)
}

func (u *update) path(rest ...string) string {
	// The path has update for every kind of operation, as in the Pulumi CLI.
	return stackPath(u.ref, append([]string{"update", u.ticket.ID}, rest...)...)
}

// Facts returns the service's answer to Begin.
func (u *update) Facts() backend.UpdateFacts { return u.facts }

// Ticket returns what Resume takes.
func (u *update) Ticket() json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	text, err := json.Marshal(u.ticket)
	if err != nil {
		panic("service: three texts do not encode: " + err.Error())
	}
	return text
}

// eventsCall is the one call that is not repeated: lost events do not matter.
const eventsCall = "events/batch"

// call makes a call with the token of the operation. All calls but eventsCall may be repeated.
func (u *update) call(ctx context.Context, method, what string, body, answer any) error {
	u.mu.Lock()
	token := u.ticket.Token
	u.mu.Unlock()
	err := u.service.client.Do(ctx, serviceapi.Call{Method: method, Path: u.path(strings.Split(what, "/")...), Body: body,
		Lease: token, Again: what != eventsCall, Packed: true, Patient: true}, answer)
	switch serviceapi.Status(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict:
		return &backend.LockLostError{Ref: u.ref, Lease: true,
			Why: "the service refuses the token of this operation: it was cancelled, or its lease has run out"}
	}
	return err
}

// Append sends journal entries. It divides those that are too many for one request.
func (u *update) Append(ctx context.Context, entries []json.RawMessage) error {
	body := append([]byte(nil), `{"entries":[`...)
	for i, e := range entries {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, e...)
	}
	err := u.call(ctx, http.MethodPatch, "journalentries", append(body, "]}"...), nil)
	if half := len(entries) / 2; half > 0 && serviceapi.Status(err) == http.StatusRequestEntityTooLarge {
		if err = u.Append(ctx, entries[:half]); err == nil {
			err = u.Append(ctx, entries[half:])
		}
	}
	return err
}

// Checkpoint sends a state: as the difference from the last one if the service accepts that, else whole.
func (u *update) Checkpoint(ctx context.Context, deployment []byte) error {
	u.sequence++
	able := u.service.able(ctx)
	if u.last != nil && able.delta && len(deployment) >= able.cutoff {
		sum := sha256.Sum256(deployment)
		err := u.call(ctx, http.MethodPatch, "checkpointdelta", map[string]any{"version": able.schema,
			"checkpointHash": hex.EncodeToString(sum[:]), "sequenceNumber": u.sequence,
			"deploymentDelta": deltaOf(u.last, deployment)}, nil)
		if err == nil {
			u.last = deployment
		}
		if err == nil || ctx.Err() != nil || errors.As(err, new(*serviceapi.AwayError)) {
			return err
		}
		u.sequence++ // the difference does not fit the service's state; any other fault shows again with the whole
	}
	// The service applies deltas to these very bytes.
	body := fmt.Appendf(nil, `{"version":%d,"sequenceNumber":%d,"untypedDeployment":`, able.schema, u.sequence)
	body = append(append(body, deployment...), '}')
	err := u.call(ctx, http.MethodPatch, "checkpointverbatim", body, nil)
	if u.last = nil; err == nil {
		u.last = deployment
	}
	return err
}

// Renew extends the lease on the stack.
func (u *update) Renew(ctx context.Context) (time.Duration, error) {
	var answer struct {
		Token           string
		TokenExpiration int64
	}
	if err := u.call(ctx, http.MethodPost, "renew_lease", map[string]int{"duration": leaseSeconds}, &answer); err != nil {
		return 0, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if answer.Token != "" {
		u.ticket.Token = answer.Token
	}
	return renewal(answer.TokenExpiration), nil
}

// Events sends the lines of events.
func (u *update) Events(ctx context.Context, lines []json.RawMessage) error {
	return u.call(ctx, http.MethodPost, eventsCall, map[string]any{"events": lines}, nil)
}

// Complete ends the operation. If the answer to an earlier attempt was lost, the service may refuse the token because
// the operation has ended; that is no error if it ended with this status.
func (u *update) Complete(ctx context.Context, status string) error {
	err := u.call(ctx, http.MethodPost, "complete", map[string]string{"status": status}, nil)
	if !errors.As(err, new(*backend.LockLostError)) {
		return err
	}
	var now struct{ Status string }
	failed := u.service.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: u.path()}, &now)
	if failed == nil && now.Status == status {
		return nil
	}
	return err
}

// capabilities are the extensions of the protocol that a service supports.
type capabilities struct {
	delta  bool
	cutoff int // the least size of a state for a delta, in bytes
	schema int // the version of the schema of states
}

// able returns what the service supports. A service that does not answer supports no extension.
func (s *Service) able(ctx context.Context) capabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.capabilities != nil {
		return *s.capabilities
	}
	able := &capabilities{schema: 3}
	var answer struct {
		Capabilities []struct {
			Capability    string
			Configuration struct{ CheckpointCutoffSizeBytes, Version int }
		}
	}
	if err := s.get(ctx, "/capabilities", nil, &answer); errors.As(err, new(*backend.AwayError)) {
		return *able
	}
	for _, c := range answer.Capabilities {
		switch c.Capability {
		case "delta-checkpoint-uploads-v2":
			able.delta, able.cutoff = true, c.Configuration.CheckpointCutoffSizeBytes
		case "deployment-schema-version":
			able.schema = max(able.schema, c.Configuration.Version)
		}
	}
	s.capabilities = able
	return *able
}
