package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
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
type Backends struct {
	world   *World
	version string
	notes   io.Writer   // what backends have to say
	stores  *OpenStores // shared with others; nil for none
	signals *interrupts // nil for none
}

// Backends are those that this command can open.
func (a *Console) Backends() Backends {
	return Backends{world: &a.World, version: a.Version(), notes: a.Streams.Err, stores: a.World.Stores,
		signals: a.Signals}
}

// where is where state lives, and what relative paths in it are relative to (F6.1, D3). p may be nil.
func (b Backends) where(p *project.Project) (url, workDir string, err error) {
	if url := b.world.Getenv("PULUMI_BACKEND_URL"); url != "" {
		return url, b.world.Dir, nil
	}
	if p != nil && p.BackendURL != "" {
		return p.BackendURL, p.Dir, nil
	}
	url, err = backend.CurrentLogin(b.world.CredentialsHome())
	if err != nil {
		return "", "", err
	}
	if url == "" {
		url = DefaultBackend
	}
	return url, b.world.Dir, nil
}

// Open opens the backend of a project; p may be nil.
func (b Backends) Open(p *project.Project) (*backend.Backend, error) {
	url, workDir, err := b.where(p)
	if err != nil {
		return nil, err
	}
	return b.OpenAt(url, workDir)
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
	url, workDir, err := b.where(p)
	if err != nil {
		return nil, err
	}
	return b.openAt(url, workDir, true)
}

// OpenAt opens the backend at a URL; relative paths in it are relative to workDir.
func (b Backends) OpenAt(url, workDir string) (*backend.Backend, error) {
	return b.openAt(url, workDir, false)
}

func (b Backends) openAt(url, workDir string, upgrading bool) (*backend.Backend, error) {
	o := backend.Options{
		Upgrading: upgrading,

		Home: b.world.Home, WorkDir: workDir, Version: "yamlhost/" + b.version, Now: b.world.Now,
		RetainCheckpoints: b.diyTrue("RETAIN_CHECKPOINTS"), DisableBackups: b.diyTrue("DISABLE_CHECKPOINT_BACKUPS"),
		Disk: b.world.Disk, Lease: b.world.Lease, Deferral: b.world.ServiceDeferral,
		OpenObjects: func(url string) (backend.Objects, error) { return b.stores.open(url, b.openObjects) },
		OpenService: func(url string) (backend.Service, error) { return b.openService(url, b.token) },
		Opening:     func(ctx context.Context) (context.Context, func()) { return b.opening(ctx, url) },
		Note:        func(text string) { fmt.Fprintln(b.notes, text) },
	}
	if home := b.world.PulumiHome(); home != "" {
		o.Copies = filepath.Join(home, "yamlhost", "services")
	}
	if b.world.Process != nil {
		o.Process = b.world.Process()
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
	timer := time.AfterFunc(cmp.Or(b.world.Patience, 4*time.Second), func() {
		fmt.Fprintf(b.notes, "waiting for %s\n", name)
	})
	if b.signals == nil {
		return ctx, func() { timer.Stop() }
	}
	ctx, end := b.signals.Gentle(ctx)
	return ctx, func() { timer.Stop(); end() }
}

// openService opens a service, with what signs in to it.
func (b Backends) openService(url string, token func(url string) (string, error)) (backend.Service, error) {
	organization, err := backend.DefaultOrganization(b.world.PulumiHome(), url)
	if err != nil {
		return nil, err
	}
	url = strings.TrimRight(url, "/")
	return service.Open(url, service.Options{Organization: organization, Options: b.calls(url, token)})
}

// calls are the options for calls of a service.
func (b Backends) calls(url string, token func(url string) (string, error)) serviceapi.Options {
	return serviceapi.Options{Token: func() (string, error) { return token(url) }, HTTP: b.world.HTTP,
		Agent: "yamlhost/" + b.version, Pause: cmp.Or(b.world.ServicePause, time.Second/2),
		Opening: func(ctx context.Context) (context.Context, func()) { return b.opening(ctx, url) }}
}

// chosen is the name of the stack that the flag, the environment or the selection names (D3, F6.15), or empty.
func (b Backends) chosen(p *project.Project, url, flag string) (string, error) {
	if name := cmp.Or(flag, b.world.Getenv("PULUMI_STACK")); name != "" {
		return name, nil
	}
	return backend.SelectedStack(b.world.PulumiHome(), p.Name.Text, p.Path, url)
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
	if looks && p != nil && p.BackendURL != "" && b.world.Getenv("PULUMI_BACKEND_URL") == "" {
		token = func(url string) (string, error) { return backend.Token(b.world.CredentialsHome(), url) }
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
	if token := b.world.Getenv(AccessToken); token != "" {
		return token, nil
	}
	return backend.Token(b.world.CredentialsHome(), url)
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
		objects, err = postgres.Open(context.Background(), rawURL, b.world.Lookup)
	} else {
		objects, err = bucket.Open(context.Background(), rawURL, b.world.Lookup)
	}
	if err == nil && b.world.Objects != nil {
		objects = b.world.Objects(objects)
	}
	return objects, err
}

// diyTrue is a boolean setting of the backend, under its name of today or the old one (F7.18).
func (b Backends) diyTrue(name string) bool {
	return b.world.Enabled("PULUMI_DIY_BACKEND_"+name) || b.world.Enabled("PULUMI_SELF_MANAGED_STATE_"+name)
}

// Stores returns the schemes of the stores that this build can open.
func Stores() []string { return append(bucket.Known(), postgres.Known()...) }
