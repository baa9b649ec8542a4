package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

var _ provider.Loader = (*Host)(nil)

// Host starts plugins and serves their requests to the engine. It is safe for concurrent use.
type Host struct {
	options Options
	trace   *tracer

	views views // views of resources that plugins report

	mu      sync.Mutex // guards the fields below
	closed  bool
	engine  string // address of the engine's service, empty until first needed
	stop    func() // ends that service
	loaded  map[*client]struct{}
	loading sync.WaitGroup // running calls of Load
}

// NewHost returns a host, which starts nothing before the first Load. Close releases everything.
func NewHost(o Options) *Host {
	o.StartLimit, o.EndLimit = cmp.Or(o.StartLimit, startLimit), cmp.Or(o.EndLimit, graceLimit)
	h := &Host{options: o, loaded: map[*client]struct{}{}}
	if o.Trace != nil {
		h.trace = &tracer{out: o.Trace}
	}
	return h
}

// EngineAddress returns the address of the service for plugins, and starts it if necessary.
func (h *Host) EngineAddress() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.engineAddress()
}

func (h *Host) engineAddress() (string, error) {
	if h.closed {
		return "", errors.New("plugins can no longer be started: the host is closed")
	}
	if h.engine == "" {
		address, stop, err := serveEngine(&h.options, &h.views)
		if err != nil {
			return "", err
		}
		h.engine, h.stop = address, stop
	}
	return h.engine, nil
}

// Load starts a plugin, or attaches to a running one, and makes it the package that p names. It returns
// *provider.MissingError when there is no such plugin and *provider.CrashError when it ended instead of coming up.
func (h *Host) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	h.mu.Lock()
	engine, err := h.engineAddress()
	if err == nil {
		h.loading.Add(1)
	}
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer h.loading.Done()
	c, err := h.open(ctx, p, engine)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	closed := h.closed
	if !closed {
		h.loaded[c] = struct{}{}
	}
	h.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil, errors.New("plugins can no longer be started: the host is closed")
	}
	return c, nil
}

// Close ends all loaded providers concurrently, and then the engine's service. It is safe to call twice.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.loading.Wait()
	h.mu.Lock()
	var closing sync.WaitGroup
	for c := range h.loaded {
		closing.Go(func() { _ = c.Close() })
	}
	stop := h.stop
	h.stop = nil
	h.mu.Unlock()
	closing.Wait()
	if stop != nil {
		stop()
	}
	return nil
}

func (h *Host) forget(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.loaded, c)
}

// open starts a plugin and prepares it to serve the package (E3.1–E3.8).
func (h *Host) open(ctx context.Context, p provider.Package, engine string) (_ *client, err error) {
	c := &client{host: h, name: p.Name, pkg: p.Name, capabilities: capabilities{preview: true}}
	defer func() {
		if err != nil {
			c.abandon()
		}
	}()
	limit := h.options.StartLimit
	if p.Name == "pulumi-nodejs" || p.Name == "pulumi-python" {
		limit *= scriptPatience // a script starts an interpreter, which loads an SDK; the Pulumi CLI has no limit
	}
	starting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	port, attached := h.options.DebugProviders[p.Name]
	request := &pulumirpc.ProviderHandshakeRequest{
		EngineAddress:               engine,
		ConfigureWithUrn:            true,
		SupportsViews:               true,
		SupportsRefreshBeforeUpdate: true,
		InvokeWithPreview:           true,
		AcceptsByteString:           true,
	}
	if !attached {
		where, err := h.options.find(p.Name, p.Version)
		if err != nil {
			return nil, err
		}
		request.RootDirectory, request.ProgramDirectory = &where.dir, &where.dir
		env, err := h.options.environment(p)
		if err != nil {
			return nil, err
		}
		dir, err := filepath.Abs(h.options.ProgramDir)
		if err != nil {
			return nil, fmt.Errorf("start plugin %s: %w", p.Name, err)
		}
		if where.script {
			src := source{name: p.Name, dir: where.Path, file: install.ScriptFile, kind: "resource"}
			c.process, port, err = h.options.startSource(ctx, src, engine, env, dir)
			starting, cancel = context.WithTimeout(ctx, h.options.StartLimit)
			defer cancel()
		} else {
			c.process, port, err = h.options.launch(starting, program{p.Name, where.Path, []string{engine}, env, dir},
				limit)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.connect(port); err != nil {
		return nil, err
	}
	c.remote = pulumirpc.NewResourceProviderClient(c.conn)
	if err := c.handshake(starting, request); err != nil {
		return nil, err
	}
	if attached {
		if _, err := c.remote.Attach(starting, &pulumirpc.PluginAttach{Address: engine}); err != nil &&
			status.Code(err) != codes.Unimplemented {
			return nil, c.fail(starting, "attach", err)
		}
	}
	if err := c.greet(ctx, p.Version); err != nil {
		return nil, err
	}
	if parameters := p.Parameterization; parameters != nil {
		got, err := c.Parameterize(ctx, provider.ParameterizeRequest{
			Name: parameters.Name, Version: parameters.Version, Value: parameters.Value,
		})
		if err != nil {
			return nil, err
		}
		if got.Name != parameters.Name { // E3.8
			return nil, fmt.Errorf("plugin %s: parameterize response name %q does not match expected package %q", p.Name,
				got.Name, parameters.Name)
		}
	}
	return c, nil
}

// handshake is the first call to a plugin. It must succeed, or be unknown to the plugin (E3.3).
func (c *client) handshake(ctx context.Context, request *pulumirpc.ProviderHandshakeRequest) error {
	return c.firstCall(ctx, "handshake", func(ctx context.Context) error {
		r, err := c.remote.Handshake(ctx, request, grpc.WaitForReady(true))
		if err == nil {
			c.shaken = true
			c.capabilities = capabilities{
				secrets: r.GetAcceptSecrets(), resources: r.GetAcceptResources(), outputs: r.GetAcceptOutputs(),
				byteStrings: r.GetAcceptsByteString(), autonaming: r.GetSupportsAutonamingConfiguration(),
				preview: true,
			}
		}
		return err
	})
}

// firstCall makes the first call to a plugin, again while the plugin is not available. It returns no error for a call
// that the plugin does not have (E3.3: Configure reports its capabilities). ctx ends with the time to start.
func (c *client) firstCall(ctx context.Context, doing string, call func(context.Context) error) error {
	ctx, stop := c.whileAlive(ctx)
	defer stop()
	for {
		err := call(ctx)
		switch status.Code(err) {
		case codes.OK, codes.Unimplemented:
			return nil
		case codes.Unavailable:
			if c.process != nil && c.process.gone() {
				return c.process.crash()
			}
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-ctx.Done():
			}
		}
		if c.process != nil && c.process.gone() {
			return c.process.crash()
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded {
			return c.silent()
		}
		return c.fail(ctx, doing, err)
	}
}

// whileAlive returns a context that ends with the plugin's process. Without it, a plugin that ends during its start
// would use up the whole time limit. The caller calls stop.
func (c *client) whileAlive(ctx context.Context) (_ context.Context, stop func()) {
	if c.process == nil {
		return ctx, func() {}
	}
	watched, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-c.process.ended:
			cancel()
		case <-watched.Done():
		}
	})
	return watched, func() {
		cancel()
		watching.Wait()
	}
}

// ready waits until the plugin serves on the port that it printed, for as long as a plugin has to start. It is for
// plugins whose first call may take long.
func (c *client) ready(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, c.host.options.StartLimit)
	defer cancel()
	alive, stop := c.whileAlive(limited)
	defer stop()
	for now := c.conn.GetState(); now != connectivity.Ready; now = c.conn.GetState() {
		c.conn.Connect()
		if c.conn.WaitForStateChange(alive, now) {
			continue
		}
		switch {
		case c.process.gone():
			return c.process.crash()
		case ctx.Err() != nil:
			return fmt.Errorf("start plugin %s: %w", c.name, context.Cause(ctx))
		}
		return c.silent()
	}
	return nil
}

// silent returns the error for a plugin that does not answer its first call in time.
func (c *client) silent() error {
	limit := c.host.options.StartLimit
	if c.process == nil {
		return fmt.Errorf("plugin %s did not answer within %s", c.name, limit)
	}
	return fmt.Errorf("plugin %s printed a port, but did not answer there within %s%s", c.name, limit,
		c.process.lastWords())
}

// greet asks the plugin for its version and warns if it is older than required (E3.6).
func (c *client) greet(ctx context.Context, wanted string) error {
	info, err := c.remote.GetPluginInfo(ctx, &emptypb.Empty{})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return c.fail(ctx, "ask for the version", err)
	}
	c.version = info.GetVersion()
	if wanted == "" {
		return nil
	}
	want, err := semver.NewVersion(wanted)
	if err != nil {
		return nil
	}
	if have, err := semver.NewVersion(c.version); err != nil || have.LessThan(want) {
		c.host.options.warn(fmt.Sprintf("resource plugin %s is expected to have version >=%s, but has %s; "+
			"the wrong version may be on your path, or this may be a bug in the plugin", c.name, want,
			cmp.Or(c.version, "none")))
	}
	return nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
