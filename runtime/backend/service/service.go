package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// Options configure a Service.
type Options struct {
	serviceapi.Options
	// Organization owns the stacks whose names have no owner; if it is empty, the service's default organization does.
	Organization string
}

// Service is a service at a URL. It is safe for concurrent use.
type Service struct {
	client *serviceapi.Client

	mu           sync.Mutex // guards the fields below
	organization string
	capabilities *capabilities
}

var _ backend.Service = (*Service)(nil)

// Open returns the service at a URL. It sends no request yet.
func Open(rawURL string, o Options) (*Service, error) {
	client, err := serviceapi.New(rawURL, o.Options)
	if err != nil {
		return nil, fmt.Errorf("the backend %s: %w", backend.PublicURL(rawURL), err)
	}
	return &Service{client: client, organization: o.Organization}, nil
}

// stackPath returns the path of a stack in the API, or of something below it.
func stackPath(r backend.Ref, rest ...string) string {
	return serviceapi.Path(append([]string{"stacks", r.Owner, r.Project, r.Stack}, rest...)...)
}

// get sends a GET request, which may be repeated.
func (s *Service) get(ctx context.Context, path string, query url.Values, answer any) error {
	return s.explain(s.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: path, Query: query}, answer))
}

// post sends a POST request, which must not be repeated.
func (s *Service) post(ctx context.Context, path string, body, answer any) error {
	return s.client.Do(ctx, serviceapi.Call{Method: http.MethodPost, Path: path, Body: body, Packed: true}, answer)
}

// explain adds the URL of the service to an error. A service that is away gives a *backend.AwayError.
func (s *Service) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*serviceapi.AwayError)):
		return &backend.AwayError{URL: s.client.URL(), Err: err}
	}
	return fmt.Errorf("the service %s: %w", s.client.URL(), err)
}

// explainStack is explain for a call about a stack, which may also be missing or locked.
func (s *Service) explainStack(ctx context.Context, r backend.Ref, err error) error {
	switch serviceapi.Status(err) {
	case http.StatusNotFound:
		return &backend.NotFoundError{Ref: r}
	case http.StatusConflict:
		if found, failed := s.Stack(ctx, r); failed == nil && found.Lock != nil {
			return &backend.LockedError{Ref: r, Locks: []backend.Lock{*found.Lock}}
		}
		if refused, ok := errors.AsType[*serviceapi.StatusError](err); ok {
			lock := backend.Lock{Path: s.client.URL(), Operation: "an update", Foreign: true}
			if refused.Message != "" {
				lock.Operation += " (" + strings.TrimSuffix(refused.Message, ".") + ")"
			}
			return &backend.LockedError{Ref: r, Locks: []backend.Lock{lock}}
		}
	}
	return s.explain(err)
}

// User returns the user of the token.
func (s *Service) User(ctx context.Context) (backend.User, error) {
	var answer struct {
		Login         string `json:"githubLogin"`
		Organizations []struct {
			Login string `json:"githubLogin"`
		} `json:"organizations"`
	}
	if err := s.get(ctx, "/user", nil, &answer); err != nil {
		return backend.User{}, err
	}
	if answer.Login == "" {
		return backend.User{}, fmt.Errorf("the service %s did not return the user of the token", s.client.URL())
	}
	u := backend.User{Name: answer.Login}
	for _, o := range answer.Organizations {
		u.Organizations = append(u.Organizations, o.Login)
	}
	return u, nil
}

// Organization returns the user's default organization: the one in Options, else the service's default, else the user's
// own.
func (s *Service) Organization(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.organization != "" {
		return s.organization, nil
	}
	var answer struct{ GitHubLogin string }
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: "/user/organizations/default"}, &answer)
	if err != nil && serviceapi.Status(err) != http.StatusNotFound {
		return "", s.explain(err)
	}
	if answer.GitHubLogin == "" {
		user, err := s.User(ctx)
		if err != nil {
			return "", err
		}
		answer.GitHubLogin = user.Name
	}
	s.organization = answer.GitHubLogin
	return s.organization, nil
}

// Stacks lists stacks, page by page.
func (s *Service) Stacks(ctx context.Context, owner, project string) (list []backend.Hosted, err error) {
	query := url.Values{}
	if owner != "" {
		query.Set("organization", owner)
	}
	if project != "" {
		query.Set("project", project)
	}
	for {
		var answer struct {
			Stacks []struct {
				OrgName, ProjectName, StackName string
				LastUpdate                      *int64
				ResourceCount                   *int
			}
			ContinuationToken string
		}
		if err := s.get(ctx, "/user/stacks", query, &answer); err != nil {
			return nil, err
		}
		for _, a := range answer.Stacks {
			h := backend.Hosted{Ref: backend.Ref{Owner: a.OrgName, Project: a.ProjectName, Stack: a.StackName},
				Resources: -1}
			if a.LastUpdate != nil {
				h.Updated = time.Unix(*a.LastUpdate, 0)
			}
			if a.ResourceCount != nil {
				h.Resources = *a.ResourceCount
			} else if a.LastUpdate == nil {
				h.Resources = 0
			}
			list = append(list, h)
		}
		if answer.ContinuationToken == "" {
			return list, nil
		}
		query.Set("continuationToken", answer.ContinuationToken)
	}
}

// stackAnswer is a stack as the service describes it.
type stackAnswer struct {
	Tags             map[string]string `json:"tags"`
	Version          int               `json:"version"`
	ActiveUpdate     string            `json:"activeUpdate"`
	CurrentOperation *struct {
		Kind    string `json:"kind"`
		Author  string `json:"author"`
		Started int64  `json:"started"`
	} `json:"currentOperation"`
}

func (s *Service) stack(ctx context.Context, r backend.Ref) (answer stackAnswer, err error) {
	err = s.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: stackPath(r)}, &answer)
	if serviceapi.Status(err) == http.StatusNotFound {
		return answer, &backend.NotFoundError{Ref: r}
	}
	return answer, s.explain(err)
}

// lock returns the operation that holds the stack; nil if none does.
func (a stackAnswer) lock(page string) *backend.Lock {
	if a.CurrentOperation == nil {
		return nil
	}
	return &backend.Lock{Path: page, Operation: a.CurrentOperation.Kind, User: a.CurrentOperation.Author,
		Timestamp: time.Unix(a.CurrentOperation.Started, 0), Foreign: true}
}

// Stack describes a stack.
func (s *Service) Stack(ctx context.Context, r backend.Ref) (backend.Hosted, error) {
	a, err := s.stack(ctx, r)
	if err != nil {
		return backend.Hosted{}, err
	}
	return backend.Hosted{Ref: r, Tags: a.Tags, Version: a.Version, Resources: -1, Lock: a.lock(s.page(r))}, nil
}

// page returns the URL of a stack's page, or of a page below it. Pulumi Cloud has its pages at another host.
func (s *Service) page(r backend.Ref, rest ...string) string {
	base := s.client.URL()
	if scheme, host, ok := strings.Cut(base, "://"); ok && strings.HasPrefix(host, "api.") {
		base = scheme + "://app." + strings.TrimPrefix(host, "api.")
	}
	return base + serviceapi.Path(append([]string{r.Owner, r.Project, r.Stack}, rest...)...)
}

// Page returns the URL of a stack's page.
func (s *Service) Page(r backend.Ref) string { return s.page(r) }

// Create makes a stack without resources.
func (s *Service) Create(ctx context.Context, r backend.Ref) error {
	err := s.post(ctx, serviceapi.Path("stacks", r.Owner, r.Project), map[string]any{
		"stackName": r.Stack, "tags": map[string]string{"pulumi:project": r.Project, "pulumi:runtime": "yaml"}}, nil)
	switch serviceapi.Status(err) {
	case http.StatusConflict:
		return &backend.ExistsError{Ref: r}
	case http.StatusNotFound, http.StatusForbidden:
		return fmt.Errorf("the service %s has no organization %q that the token may create stacks in (%w); "+
			"`yamlhost whoami --json` lists yours", s.client.URL(), r.Owner, err)
	}
	return s.explain(err)
}

// Remove removes a stack.
func (s *Service) Remove(ctx context.Context, r backend.Ref, force bool) error {
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodDelete, Path: stackPath(r),
		Query: url.Values{"force": {strconv.FormatBool(force)}}}, nil)
	if serviceapi.Status(err) == http.StatusBadRequest && strings.Contains(err.Error(), "still contains resources") {
		if found, failed := s.Stack(ctx, r); failed == nil && found.Lock != nil { // they are those of a run
			return &backend.LockedError{Ref: r, Locks: []backend.Lock{*found.Lock}}
		}
		return &backend.NotEmptyError{Ref: r}
	}
	return s.explainStack(ctx, r, err)
}

// Rename gives a stack another name.
func (s *Service) Rename(ctx context.Context, from, to backend.Ref) error {
	err := s.post(ctx, stackPath(from, "rename"),
		map[string]string{"newName": to.Stack, "newProject": to.Project}, nil)
	if serviceapi.Status(err) == http.StatusConflict {
		if found, failed := s.Stack(ctx, from); failed != nil || found.Lock == nil {
			return &backend.ExistsError{Ref: to}
		}
	}
	return s.explainStack(ctx, from, err)
}

// SetTags replaces the tags of a stack.
func (s *Service) SetTags(ctx context.Context, r backend.Ref, tags map[string]string) error {
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodPatch, Path: stackPath(r, "tags"), Body: tags, Again: true},
		nil)
	return s.explainStack(ctx, r, err)
}

// Export returns the bytes of a state as the service has them.
func (s *Service) Export(ctx context.Context, r backend.Ref, version int) ([]byte, error) {
	path := stackPath(r, "export")
	if version > 0 {
		path = stackPath(r, "export", strconv.Itoa(version))
	}
	var text json.RawMessage
	err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: path, State: true}, &text)
	if version > 0 && serviceapi.Status(err) == http.StatusNotFound {
		if _, failed := s.Stack(ctx, r); failed == nil {
			return nil, &backend.NoVersionError{Ref: r, Version: version}
		}
	}
	return text, s.explainStack(ctx, r, err)
}

// Import replaces a state, and waits until the service has done it.
func (s *Service) Import(ctx context.Context, r backend.Ref, deployment []byte) error {
	var answer struct{ UpdateID string }
	if err := s.post(ctx, stackPath(r, "import"), deployment, &answer); err != nil {
		return s.explainStack(ctx, r, err)
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		var now struct{ Status string }
		if err := s.get(ctx, stackPath(r, "update", answer.UpdateID), nil, &now); err != nil {
			return err
		}
		switch now.Status {
		case "succeeded":
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("the service %s has not taken the state: the import %s", s.client.URL(), now.Status)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// historyPage is the number of records per request.
const historyPage = 100

// History returns records, newest first.
func (s *Service) History(ctx context.Context, r backend.Ref, limit int) (list []backend.Record, err error) {
	for page := 1; limit <= 0 || len(list) < limit; page++ {
		var answer struct {
			Updates []struct {
				backend.Record
				Config map[string]configValue `json:"config"`
			}
		}
		query := url.Values{"pageSize": {strconv.Itoa(historyPage)}, "page": {strconv.Itoa(page)}}
		err := s.client.Do(ctx, serviceapi.Call{Method: http.MethodGet, Path: stackPath(r, "updates"), Query: query}, &answer)
		if err != nil {
			return nil, s.explainStack(ctx, r, err)
		}
		for _, u := range answer.Updates {
			u.Record.Config = map[string]json.RawMessage{}
			for key, v := range u.Config {
				u.Record.Config[key] = v.raw()
			}
			list = append(list, u.Record)
		}
		if len(answer.Updates) < historyPage {
			break
		}
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// configValue is a configuration value in the form of the service.
type configValue struct {
	String string `json:"string"`
	Secret bool   `json:"secret"`
	Object bool   `json:"object"`
}

// raw returns the value in the form of backend.Record.
func (v configValue) raw() json.RawMessage {
	if v.Object && json.Valid([]byte(v.String)) {
		return json.RawMessage(v.String)
	}
	var text any = v.String
	if v.Secret {
		text = map[string]string{"secure": v.String}
	}
	raw, err := json.Marshal(text)
	if err != nil {
		panic("service: a text does not encode: " + err.Error())
	}
	return raw
}

// configValueOf returns a value of backend.Record in the form of the service. Secrets stay sealed.
func configValueOf(raw json.RawMessage) configValue {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return configValue{String: text}
	}
	var secure map[string]string
	if json.Unmarshal(raw, &secure) == nil && len(secure) == 1 && secure["secure"] != "" {
		return configValue{String: secure["secure"], Secret: true}
	}
	return configValue{String: string(raw), Object: true, Secret: strings.Contains(string(raw), `"secure":`)}
}

// Cancel ends the operation that holds a stack.
func (s *Service) Cancel(ctx context.Context, r backend.Ref) (*backend.Lock, error) {
	a, err := s.stack(ctx, r)
	if err != nil {
		return nil, err
	}
	lock := a.lock(s.page(r))
	if lock == nil || a.ActiveUpdate == "" {
		return nil, nil
	}
	err = s.post(ctx, stackPath(r, "update", a.ActiveUpdate, "cancel"), nil, nil)
	if status := serviceapi.Status(err); status == http.StatusConflict || status == http.StatusNotFound {
		return nil, nil // it has just ended
	}
	return lock, s.explain(err)
}
