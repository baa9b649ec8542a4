package operation

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/httpget"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/value"
)

// openRemote reads the content behind an asset's or archive's URI.
func (p *Pipeline) openRemote(ctx context.Context, uri string) (io.ReadCloser, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URI", uri)
	}
	switch u.Scheme {
	case "file":
		if p.options.Untrusted {
			if err := confine.Path(p.Workspace.Project.Dir, u.Path); err != nil {
				return nil, err
			}
		}
		return os.Open(u.Path)
	case "http", "https":
		client := p.Console.World.HTTP
		if p.options.Untrusted {
			if err := confine.Host(u.Hostname()); err != nil {
				return nil, err
			}
			client = confine.Client()
		}
		return httpget.Open(ctx, client, uri, 0)
	}
	return nil, fmt.Errorf("%s: content can be read from file, http and https, not from %q", uri, u.Scheme)
}

// stackOutputs reads the outputs of another stack in the same backend, for stack references.
func (p *Pipeline) stackOutputs(ctx context.Context, name string) (value.Value, error) {
	ref, err := backend.ParseRef(name, p.Workspace.Project.Name.Text)
	if err != nil {
		return value.Null, err
	}
	if err := p.mayReadStack(name); err != nil {
		return value.Null, err
	}
	other := &console.Vault{Options: p.Vault.Options, Current: p.Vault.Manager()}
	loaded, err := p.Stack.Backend.Load(ctx, ref, other.Opener)
	if err != nil {
		return value.Null, p.Console.ExplainSecret(err, ref.Stack)
	}
	return StackOutputs(loaded.Snapshot), nil
}

// stackResources reads the resources of another stack in the same backend (E2.65).
func (p *Pipeline) stackResources(ctx context.Context, name string) (value.Value, error) {
	ref, err := backend.ParseRef(name, p.Workspace.Project.Name.Text)
	if err != nil {
		return value.Null, err
	}
	if err := p.mayReadStack(name); err != nil {
		return value.Null, err
	}
	other := &console.Vault{Options: p.Vault.Options, Current: p.Vault.Manager()}
	loaded, err := p.Stack.Backend.Load(ctx, ref, other.Opener)
	if err != nil {
		return value.Null, p.Console.ExplainSecret(err, ref.Stack)
	}
	resources := map[string]value.Value{}
	for _, r := range loaded.Snapshot.Resources {
		if !r.Delete {
			resources[string(r.URN)] = value.MapOf(value.Entry{Key: "type", Value: value.String(r.Type)},
				value.Entry{Key: "outputs", Value: r.Outputs})
		}
	}
	return value.Map(resources), nil
}
