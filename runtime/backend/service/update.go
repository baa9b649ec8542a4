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

// leaseSeconds is for how long the stack is held from each renewal on: the most that a service gives.
const leaseSeconds = 300

// update is an operation that has begun. It is safe for concurrent use.
type update struct {
	service *Service
	ref     backend.Ref
	facts   backend.UpdateFacts

	mu     sync.Mutex // guards what follows
	ticket ticket

	sequence int    // of the last checkpoint; guarded by the caller, who sends one at a time
	last     []byte // the last checkpoint that the service has whole; nil if there is none
}

// ticket is what another process needs to go on with an operation.
type ticket struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

// kinds of operations that have calls of their own. Any other is an update.
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
	// What is created and never started holds nothing.
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodPost, Path: stackPath(r, kind), Body: request, Packed: true,
		Again: true}, &created)
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
		u.facts.Messages = append(u.facts.Messages, printable.Text(m.Message))
	}
	var started struct {
		Version         int
		Token           string
		TokenExpiration int64
		JournalVersion  int
	}
	err = s.send(ctx, http.MethodPost, u.path(), map[string]any{"journalVersion": 1}, &started)
	if errors.As(err, new(*serviceapi.AwayError)) {
		return u, s.explain(err) // nobody knows its token
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

// renewal is after which time a token that expires then is renewed: when half of its time is over.
func renewal(expires int64) time.Duration {
	left := time.Until(time.Unix(expires, 0)) / 2
	return min(max(left, 200*time.Millisecond), leaseSeconds/2*time.Second)
}

func (u *update) path(rest ...string) string {
	// Whatever it does, it is an update: so the Pulumi CLI calls it, too.
	return stackPath(u.ref, append([]string{"update", u.ticket.ID}, rest...)...)
}

// Facts returns what the service has answered at the beginning.
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

// call makes a call inside of the operation, which may be repeated.
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

// Append sends journal entries. A body that is too large is divided.
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

// Checkpoint sends a state: what differs from the last one where the service takes that, else all of it.
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
		u.sequence++ // it does not fit what the service has, or else the whole is refused, too
	}
	// The service applies deltas to these bytes: they must stay as they are.
	body := fmt.Appendf(nil, `{"version":%d,"sequenceNumber":%d,"untypedDeployment":`, able.schema, u.sequence)
	body = append(append(body, deployment...), '}')
	err := u.call(ctx, http.MethodPatch, "checkpointverbatim", body, nil)
	if u.last = nil; err == nil {
		u.last = deployment
	}
	return err
}

// Renew holds the stack for some more time.
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

// Complete ends the operation. If an earlier answer was lost, the service may refuse the token of what has ended.
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

// capabilities are what a service can do beyond the oldest protocol.
type capabilities struct {
	delta  bool
	cutoff int // how large a state has to be for deltas
	schema int // of states
}

// able returns what the service can do. One that does not answer can do nothing special.
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
