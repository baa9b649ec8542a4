package console

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/serviceapi"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres"
	"github.com/yamlhost/yamlhost/runtime/backend/service"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// DefaultBackend is the backend that is used if none is chosen (D3).
const DefaultBackend = "file://~"

// Backends opens backends as the environment variables, the project file and the current login select them.
type Backends struct {
	*Console
	upgrading bool // accept a backend that still has the layout without projects
}

// Backends returns the backends for this console.
func (a *Console) Backends() Backends { return Backends{Console: a} }

// where returns the URL of the backend and the directory that relative paths in the URL are relative to (F6.1, D3). p
// may be nil.
func (b Backends) where(p *project.Project) (url, workDir string, err error) {
	if url := b.World.Getenv("PULUMI_BACKEND_URL"); url != "" {
		return url, b.World.Dir, nil
	}
	if p != nil && p.BackendURL != "" {
		return p.BackendURL, p.Dir, nil
	}
	url, err = backend.CurrentLogin(b.World.CredentialsHome())
	if err != nil {
		return "", "", err
	}
	if url == "" {
		url = DefaultBackend
	}
	return url, b.World.Dir, nil
}

// Open opens the backend of a project; p may be nil.
func (b Backends) Open(p *project.Project) (*backend.Backend, error) {
	url, workDir, err := b.where(p)
	if err != nil {
		return nil, err
	}
	return b.OpenAt(url, workDir)
}

// Here opens the backend of the project in the working directory. If there is no readable project, it opens the backend
// that is used outside of projects.
func (b Backends) Here() (*backend.Backend, error) {
	p, _, err := b.OpenProject(b.World.Dir)
	if err != nil {
		p = nil
	}
	return b.Open(p)
}

// Local opens the backend of a project if it is a folder of this machine. Otherwise, or if opening fails, it returns
// nil.
func (b Backends) Local(p *project.Project) *backend.Backend {
	url, workDir, err := b.where(p)
	if err != nil || !strings.HasPrefix(url, "file://") {
		return nil
	}
	local, err := b.OpenAt(url, workDir)
	if err != nil {
		return nil
	}
	return local
}

// OpenToUpgrade is like Open, but also accepts a backend that still has the layout without projects. p may be nil.
func (b Backends) OpenToUpgrade(p *project.Project) (*backend.Backend, error) {
	b.upgrading = true
	return b.Open(p)
}

// OpenAt opens the backend at a URL; relative paths in it are relative to workDir.
func (b Backends) OpenAt(url, workDir string) (*backend.Backend, error) {
	o := backend.Options{
		Upgrading: b.upgrading, Home: b.World.Home, WorkDir: workDir, Version: "yamlhost/" + b.Version(), Now: b.World.Now,
		RetainCheckpoints: b.diyTrue("RETAIN_CHECKPOINTS"), DisableBackups: b.diyTrue("DISABLE_CHECKPOINT_BACKUPS"),
		Disk: b.World.Disk, Lease: b.World.Lease, Deferral: b.World.ServiceDeferral,
		OpenObjects: func(url string) (backend.Objects, error) { return b.World.Stores.open(url, b.openObjects) },
		OpenService: func(url string) (backend.Service, error) { return b.openService(url, b.token) },
		Opening:     func(ctx context.Context) (context.Context, func()) { return b.opening(ctx, url) },
		Note:        func(text string) { fmt.Fprintln(b.Streams.Err, text) },
	}
	if home := b.World.PulumiHome(); home != "" {
		o.Copies = filepath.Join(home, "yamlhost", "services")
	}
	if b.World.Process != nil {
		o.Process = b.World.Process()
	}
	switch gzip, zstd := b.diyTrue("GZIP"), b.diyTrue("ZSTD"); {
	case gzip && zstd:
		return nil, WithCode(CodeUsage, "PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD cannot be used together")
	case gzip:
		o.Compression = backend.Gzip
	case zstd:
		o.Compression = backend.Zstd
	}
	return backend.Open(url, o)
}

// opening returns a context for the first request to a backend. The first signal cancels the context; if the request
// takes long, a message names the backend. The caller must call done after the request.
func (b Backends) opening(ctx context.Context, url string) (_ context.Context, done func()) {
	name, _, _ := strings.Cut(backend.PublicURL(url), "?")
	timer := time.AfterFunc(cmp.Or(b.World.Patience, 4*time.Second), func() {
		fmt.Fprintf(b.Streams.Err, "waiting for %s\n", name)
	})
	if b.Signals == nil {
		return ctx, func() { timer.Stop() }
	}
	ctx, end := b.Signals.Gentle(ctx)
	return ctx, func() { timer.Stop(); end() }
}

// openService opens a service; token returns the access token for it.
func (b Backends) openService(url string, token func(url string) (string, error)) (backend.Service, error) {
	organization, err := backend.DefaultOrganization(b.World.PulumiHome(), url)
	if err != nil {
		return nil, err
	}
	url = strings.TrimRight(url, "/")
	return service.Open(url, service.Options{Organization: organization, Options: b.calls(url, token)})
}

// calls returns the options for calls to a service.
func (b Backends) calls(url string, token func(url string) (string, error)) serviceapi.Options {
	return serviceapi.Options{Token: func() (string, error) { return token(url) }, HTTP: b.World.HTTP,
		Agent: "yamlhost/" + b.Version(), Pause: cmp.Or(b.World.ServicePause, time.Second/2),
		Opening: func(ctx context.Context) (context.Context, func()) { return b.opening(ctx, url) }}
}

// chosen returns the name of the stack that the flag, the environment or the selection names (D3, F6.15). It is empty
// if none is chosen.
func (b Backends) chosen(p *project.Project, url, flag string) (string, error) {
	if name := cmp.Or(flag, b.World.Getenv("PULUMI_STACK")); name != "" {
		return name, nil
	}
	return backend.SelectedStack(b.World.PulumiHome(), p.Name.Text, p.Path, url)
}

// Selected returns the short name of the project's selected stack, without a request to anything; empty if there is
// none.
func (b Backends) Selected(p *project.Project) string {
	url, _, err := b.where(p)
	if local := b.Local(p); local != nil {
		url = local.URL()
	}
	if err != nil {
		return ""
	}
	name, err := b.chosen(p, url, "")
	if err != nil || name == "" {
		return ""
	}
	ref, err := backend.ParseName(name, p.Name.Text)
	if err != nil {
		return ""
	}
	return ref.Stack
}

// environments returns access to the environments of the service that stores the project's stacks, or nil if no service
// does. Environment names without an organization belong to the owner of stack (of the chosen stack if stack is empty),
// or else to the default organization. If looks is set and only the project file names the service, the only token that
// is sent to it is one saved by a login to that service.
func (b Backends) environments(p *project.Project, stack string, looks bool) (*environments.Hosted, error) {
	url, _, err := b.where(p)
	if err != nil || !backend.IsService(url) {
		return nil, nil // opening the backend reports it
	}
	url = strings.TrimRight(url, "/")
	token := b.token
	if looks && p != nil && p.BackendURL != "" && b.World.Getenv("PULUMI_BACKEND_URL") == "" {
		token = func(url string) (string, error) { return backend.Token(b.World.CredentialsHome(), url) }
	}
	client, err := serviceapi.New(url, b.calls(url, token))
	if err != nil {
		return nil, fmt.Errorf("the backend %s: %w", backend.PublicURL(url), err)
	}
	var ref backend.Ref
	if stack, err = b.chosen(p, url, stack); err == nil && stack != "" {
		ref, err = backend.ParseName(stack, p.Name.Text)
	}
	if err != nil {
		return nil, err
	}
	return &environments.Hosted{Client: client, Owner: ref.Owner, Default: func(ctx context.Context) (string, error) {
		s, err := b.openService(url, token)
		if err != nil {
			return "", err
		}
		return s.Organization(ctx)
	}}, nil
}

// token returns the token for a service that was chosen as the backend: the one in the environment, or else the one in
// credentials.json. It is empty if there is none.
func (b Backends) token(url string) (string, error) {
	if token := b.World.Getenv(AccessToken); token != "" {
		return token, nil
	}
	return backend.Token(b.World.CredentialsHome(), url)
}

// AccessToken is the environment variable that holds the token for a service.
const AccessToken = "PULUMI_ACCESS_TOKEN"

// SignIn checks that the service at url accepts token, and returns the token's user.
func (b Backends) SignIn(ctx context.Context, url, token string) (backend.User, error) {
	s, err := b.openService(url, func(string) (string, error) { return token, nil })
	if err != nil {
		return backend.User{}, err
	}
	return s.User(ctx)
}

// Hosted reports whether a service stores the project's stacks.
func (b Backends) Hosted(p *project.Project) bool {
	url, _, err := b.where(p)
	return err == nil && backend.IsService(url)
}

// openObjects opens an object store. Its background goroutines, such as one that renews credentials, outlive the
// command.
func (b Backends) openObjects(rawURL string) (backend.Objects, error) {
	var objects backend.Objects
	var err error
	if postgres.Handles(rawURL) {
		objects, err = postgres.Open(context.Background(), rawURL, b.World.Lookup)
	} else {
		objects, err = bucket.Open(context.Background(), rawURL, b.World.Lookup)
	}
	if err == nil && b.World.Objects != nil {
		objects = b.World.Objects(objects)
	}
	return objects, err
}

// diyTrue reports whether a boolean setting of the backend is on, under its present name or its old one (F7.18).
func (b Backends) diyTrue(name string) bool {
	return b.World.Enabled("PULUMI_DIY_BACKEND_"+name) || b.World.Enabled("PULUMI_SELF_MANAGED_STATE_"+name)
}

// Stores returns the URL schemes of the object stores that this build can open.
func Stores() []string { return append(bucket.Known(), postgres.Known()...) }

// OpenStores caches open object stores by URL so that the stacks of one command share connections. It is safe for
// concurrent use. A nil OpenStores opens a store anew each time.
type OpenStores struct {
	mu     sync.Mutex
	opened map[string]backend.Objects // by URL; guarded by mu
}

// open returns the object store at rawURL. It calls open if the store is not open yet.
func (s *OpenStores) open(rawURL string, open func(rawURL string) (backend.Objects, error)) (backend.Objects, error) {
	if s == nil {
		return open(rawURL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.opened[rawURL]; known != nil {
		return known, nil
	}
	objects, err := open(rawURL)
	if err == nil {
		s.opened[rawURL] = objects
	}
	return objects, err
}

// NewOpenStores returns an empty OpenStores.
func NewOpenStores() *OpenStores { return &OpenStores{opened: map[string]backend.Objects{}} }
