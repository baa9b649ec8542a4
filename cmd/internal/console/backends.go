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

// DefaultBackend is the backend if none is chosen (D3).
const DefaultBackend = "file://~"

// Backends opens the places where state lives, as the environment says.
type Backends struct{ *Console }

// Backends are those that this command can open.
func (a *Console) Backends() Backends { return Backends{a} }

// where is where state lives, and what relative paths in it are relative to (F6.1, D3). p may be nil.
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
	return b.openFor(p, false)
}

// Here opens the backend of the project of the working directory, or the one of no project where that cannot be read.
func (b Backends) Here() (*backend.Backend, error) {
	p, _, err := b.OpenProject(b.World.Dir)
	if err != nil {
		p = nil
	}
	return b.Open(p)
}

// Local opens the backend of a project if it is a folder of this machine; else, or if that fails, it returns
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

// OpenToUpgrade opens the backend of a project, also one of the layout without projects; p may be nil.
func (b Backends) OpenToUpgrade(p *project.Project) (*backend.Backend, error) {
	return b.openFor(p, true)
}

func (b Backends) openFor(p *project.Project, upgrading bool) (*backend.Backend, error) {
	url, workDir, err := b.where(p)
	if err != nil {
		return nil, err
	}
	return b.openAt(url, workDir, upgrading)
}

// OpenAt opens the backend at a URL; relative paths in it are relative to workDir.
func (b Backends) OpenAt(url, workDir string) (*backend.Backend, error) {
	return b.openAt(url, workDir, false)
}

func (b Backends) openAt(url, workDir string, upgrading bool) (*backend.Backend, error) {
	o := backend.Options{
		Upgrading: upgrading, Home: b.World.Home, WorkDir: workDir, Version: "yamlhost/" + b.Version(), Now: b.World.Now,
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

// opening is the context for what waits for the first answer of a place where state lives: the first signal ends it,
// and a message says what is waited for. The caller calls done when it is over.
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

// openService opens a service, with what signs in to it.
func (b Backends) openService(url string, token func(url string) (string, error)) (backend.Service, error) {
	organization, err := backend.DefaultOrganization(b.World.PulumiHome(), url)
	if err != nil {
		return nil, err
	}
	url = strings.TrimRight(url, "/")
	return service.Open(url, service.Options{Organization: organization, Options: b.calls(url, token)})
}

// calls are the options for calls of a service.
func (b Backends) calls(url string, token func(url string) (string, error)) serviceapi.Options {
	return serviceapi.Options{Token: func() (string, error) { return token(url) }, HTTP: b.World.HTTP,
		Agent: "yamlhost/" + b.Version(), Pause: cmp.Or(b.World.ServicePause, time.Second/2),
		Opening: func(ctx context.Context) (context.Context, func()) { return b.opening(ctx, url) }}
}

// chosen is the name of the stack that the flag, the environment or the selection names (D3, F6.15), or empty.
func (b Backends) chosen(p *project.Project, url, flag string) (string, error) {
	if name := cmp.Or(flag, b.World.Getenv("PULUMI_STACK")); name != "" {
		return name, nil
	}
	return backend.SelectedStack(b.World.PulumiHome(), p.Name.Text, p.Path, url)
}

// environments are those of the service that keeps a project's stacks; nil if none does. Names without an organization
// are of the owner of the stack, an empty one being the chosen one, else of the default organization. With looks, a
// service that only the project names gets no token but one that was kept for it.
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

// token returns the token for a service that was chosen as the backend, empty if there is none: that of the
// environment, else the one of credentials.json.
func (b Backends) token(url string) (string, error) {
	if token := b.World.Getenv(AccessToken); token != "" {
		return token, nil
	}
	return backend.Token(b.World.CredentialsHome(), url)
}

// AccessToken is the variable with the token for a service.
const AccessToken = "PULUMI_ACCESS_TOKEN"

// SignIn makes sure that a service takes a token, and returns whose it is.
func (b Backends) SignIn(ctx context.Context, url, token string) (backend.User, error) {
	s, err := b.openService(url, func(string) (string, error) { return token, nil })
	if err != nil {
		return backend.User{}, err
	}
	return s.User(ctx)
}

// Hosted reports whether a project's stacks are kept by a service.
func (b Backends) Hosted(p *project.Project) bool {
	url, _, err := b.where(p)
	return err == nil && backend.IsService(url)
}

// openObjects opens a store of objects. Goroutines behind it, such as one that renews credentials, outlive the
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

// diyTrue is a boolean setting of the backend, under its name of today or the old one (F7.18).
func (b Backends) diyTrue(name string) bool {
	return b.World.Enabled("PULUMI_DIY_BACKEND_"+name) || b.World.Enabled("PULUMI_SELF_MANAGED_STATE_"+name)
}

// Stores returns the schemes of the stores that this build can open.
func Stores() []string { return append(bucket.Known(), postgres.Known()...) }

// OpenStores are the stores of objects that a command has opened, each once: stacks that one command works on share its
// connections. It is safe for concurrent use; a nil one opens anew each time.
type OpenStores struct {
	mu     sync.Mutex
	opened map[string]backend.Objects // by URL; guarded by mu
}

// open opens a store of objects, or returns the one that is open.
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

// NewOpenStores has opened nothing yet.
func NewOpenStores() *OpenStores { return &OpenStores{opened: map[string]backend.Objects{}} }
