package langhost

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are the settings of a Host.
type Options struct {
	Version       string // of this program
	EngineAddress string // host:port of the engine's service; empty if there is none
	// Schemas fetches the text of a schema if the engine offers no loader; nil for none.
	Schemas func(ctx context.Context, d schema.Descriptor) ([]byte, error)
	// Limits bound an evaluation. 0 means the limit in builtins.DefaultLimits. The project's runtime options max-value
	// (MiB) and max-steps override them.
	Limits builtins.Limits
	// Supervisor is the command line of a process that kills commands when this process ends (supervise.Start); nil for
	// none.
	Supervisor []string
	// Env is the environment, as NAME=value.
	Env environ.List
	// Stderr receives the messages that no engine takes; nil discards them.
	Stderr io.Writer
}

// Host is the language runtime. It is safe for concurrent use.
type Host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	pulumirpc.UnimplementedConverterServer
	options Options
	engine  *engineClient

	mu   sync.Mutex // guards runs
	runs map[*context.CancelFunc]struct{}
}

var (
	_ pulumirpc.LanguageRuntimeServer = (*Host)(nil)
	_ pulumirpc.ConverterServer       = (*Host)(nil)
)

// New returns a host, connected to the engine if there is one. The caller must call Close.
func New(o Options) (*Host, error) {
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	e, err := dialEngine(o.EngineAddress, o.Stderr)
	if err != nil {
		return nil, err
	}
	return &Host{options: o, engine: e, runs: make(map[*context.CancelFunc]struct{})}, nil
}

// Close cancels all calls and closes the connection to the engine.
func (h *Host) Close() error {
	h.cancelAll()
	return h.engine.close()
}

// begin returns a context that Cancel cancels. The caller must call done.
func (h *Host) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[&cancel] = struct{}{}
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.runs, &cancel)
		cancel()
	}
}

func (h *Host) cancelAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for cancel := range h.runs {
		(*cancel)()
	}
}

// Handshake accepts every engine (F9.13).
func (h *Host) Handshake(context.Context, *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse,
	error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// GetPluginInfo returns the version.
func (h *Host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: h.options.Version}, nil
}

// About returns the path and version of the running program.
func (h *Host) About(context.Context, *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	executable, err := os.Executable()
	if err != nil {
		executable = "yamlhost" // only shown
	}
	return &pulumirpc.AboutResponse{Executable: executable, Version: h.options.Version,
		Metadata: map[string]string{"host": "yamlhost"}}, nil
}

// RuntimeOptionsPrompts returns no prompts: no runtime option is needed in a new project.
func (h *Host) RuntimeOptionsPrompts(context.Context, *pulumirpc.RuntimeOptionsRequest) (
	*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

// Template does nothing: templates need no changes.
func (h *Host) Template(context.Context, *pulumirpc.TemplateRequest) (*pulumirpc.TemplateResponse, error) {
	return &pulumirpc.TemplateResponse{}, nil
}

// InstallDependencies does nothing: the engine installs provider plugins itself.
func (h *Host) InstallDependencies(*pulumirpc.InstallDependenciesRequest,
	pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	return nil
}

// Link does nothing: package declarations are used in place (L1.40).
func (h *Host) Link(context.Context, *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	return &pulumirpc.LinkResponse{}, nil
}

// childEnv returns the environment of hooks and compilers. It lacks the variables that unlock stack secrets, except
// those listed in PULUMI_OPTION_PASS_ENV.
func childEnv(env environ.List) environ.List {
	return env.ForChildren(strings.Split(env.Get("PULUMI_OPTION_PASS_ENV"), ",")...)
}

// Cancel cancels the running calls (F9.12).
func (h *Host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.cancelAll()
	return &emptypb.Empty{}, nil
}
