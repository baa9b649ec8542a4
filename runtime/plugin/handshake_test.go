package plugin_test

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// shaker is a plugin with a handshake. It refuses once with each code in refuses.
type shaker struct {
	pulumirpc.UnimplementedResourceProviderServer
	answer  *pulumirpc.ProviderHandshakeResponse
	refuses []codes.Code

	mu       sync.Mutex
	calls    []string
	shaken   *pulumirpc.ProviderHandshakeRequest
	attached string
	created  *structpb.Struct
}

func (s *shaker) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *shaker) Handshake(_ context.Context, r *pulumirpc.ProviderHandshakeRequest) (
	*pulumirpc.ProviderHandshakeResponse, error) {
	s.note("Handshake")
	s.shaken = r
	if len(s.refuses) > 0 {
		code := s.refuses[0]
		s.refuses = s.refuses[1:]
		return nil, status.Error(code, "not now")
	}
	return s.answer, nil
}

func (s *shaker) Attach(_ context.Context, r *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	s.note("Attach")
	s.attached = r.GetAddress()
	return &emptypb.Empty{}, nil
}

func (s *shaker) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	s.note("GetPluginInfo")
	return &pulumirpc.PluginInfo{}, nil
}

func (s *shaker) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptResources: true}, nil
}

func (s *shaker) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	s.created = r.GetProperties()
	return &pulumirpc.CreateResponse{Id: "i", Properties: r.GetProperties()}, nil
}

func (s *shaker) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	s.note("Cancel")
	return &emptypb.Empty{}, nil
}

// load loads the attached plugin.
func (s *shaker) load(t *testing.T, host *plugin.Host) (provider.Provider, error) {
	t.Helper()
	return host.Load(t.Context(), provider.Package{Name: "pkg"})
}

func (s *shaker) host(t *testing.T) *plugin.Host {
	t.Helper()
	_, text, err := net.SplitHostPort(serveProvider(t, s))
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	host := plugin.NewHost(plugin.Options{DebugProviders: map[string]int{"pkg": port}})
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return host
}

// An attached plugin gets a handshake without directories and is never cancelled (E3.3, E3.4, E3.6, E3.7).
func TestAttached(t *testing.T) {
	t.Parallel()
	s := &shaker{answer: &pulumirpc.ProviderHandshakeResponse{}, refuses: []codes.Code{codes.Unavailable,
		codes.Unavailable}}
	host := s.host(t)
	p, err := s.load(t, host)
	require.NoError(t, err)
	require.NoError(t, p.Close())
	address, err := host.EngineAddress()
	require.NoError(t, err)
	require.Equal(t, address, s.attached)
	require.Equal(t, []string{"Handshake", "Handshake", "Handshake", "Attach", "GetPluginInfo"}, s.calls)
	r := s.shaken
	require.Equal(t, []any{address, true, true, true, true, true},
		[]any{r.GetEngineAddress(), r.GetConfigureWithUrn(), r.GetSupportsViews(),
			r.GetSupportsRefreshBeforeUpdate(), r.GetInvokeWithPreview(), r.GetAcceptsByteString()})
	require.True(t, r.RootDirectory == nil && r.ProgramDirectory == nil)
}

func TestRefusedHandshake(t *testing.T) { // E3.3
	t.Parallel()
	s := &shaker{refuses: []codes.Code{codes.PermissionDenied}}
	_, err := s.load(t, s.host(t))
	require.ErrorContains(t, err, "not now")
	require.Equal(t, []string{"Handshake"}, s.calls)
}

// The capabilities in the handshake override those in Configure's response, and previews are supported (E3.5).
func TestHandshakeTellsWhatIsAccepted(t *testing.T) {
	t.Parallel()
	inputs := value.Map(map[string]value.Value{
		"s": value.String("x").Secret(), "b": value.String("\xff"),
		"r": value.Resource(&value.ResourceRef{URN: resource, ID: value.String("i")})})
	s := &shaker{answer: &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptsByteString: true}}
	p, err := s.load(t, s.host(t))
	require.NoError(t, err)
	_, err = configure(t, p).Create(t.Context(), provider.CreateRequest{Inputs: inputs, Preview: true})
	require.NoError(t, err)
	got, err := wire.KeepAll().Decode(s.created)
	require.NoError(t, err)
	require.Equal(t, inputs.With("r", value.String("i")), got)
}

// Cancel calls the plugin's Cancel. It succeeds even if the plugin does not implement it (E3.55).
func TestCancel(t *testing.T) {
	t.Parallel()
	s := &shaker{answer: &pulumirpc.ProviderHandshakeResponse{}}
	p, err := s.load(t, s.host(t))
	require.NoError(t, err)
	require.NoError(t, p.Cancel(t.Context()))
	require.Contains(t, s.calls, "Cancel")
	require.NoError(t, attach(t, serveOld(t, &oldPlugin{}), nil).Cancel(t.Context()))
}

// The handshake of a started plugin contains its directory (E3.4).
func TestHandshakeOfAProcess(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "misfit")
	host := childHost(t, "shaken", func(o *plugin.Options) { o.Path = []string{dir} })
	_, err := host.Load(t.Context(), provider.Package{Name: "misfit"})
	require.ErrorContains(t, err, "root "+dir+" program "+dir)
}
