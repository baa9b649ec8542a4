package plugin

import (
	"context"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// engineService serves the requests of plugins to the engine, at the address that they are started with (F2.11).
type engineService struct {
	pulumirpc.UnimplementedEngineServer
	options *Options

	mu   sync.Mutex // guards root
	root string
}

// serveEngine starts the service, with the one for views and the health service by which plugins notice our end. stop
// waits until its goroutines have ended.
func serveEngine(o *Options, v *views) (address string, stop func(), err error) {
	return transport.Serve("the engine's service for plugins", func(s *grpc.Server) {
		pulumirpc.RegisterEngineServer(s, &engineService{options: o})
		pulumirpc.RegisterResourceStatusServer(s, v)
		grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	})
}

// Log passes on a message.
func (s *engineService) Log(_ context.Context, r *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	if s.options.Log != nil {
		severity := Severity(r.GetSeverity()) // the numbers are the same
		if severity > Error {
			severity = Debug
		}
		s.options.Log(Message{URN: urn.URN(r.GetUrn()), Severity: severity, Text: r.GetMessage(),
			Ephemeral: r.GetEphemeral()})
	}
	return &emptypb.Empty{}, nil
}

// GetRootResource returns the URN that was set, if any.
func (s *engineService) GetRootResource(context.Context, *pulumirpc.GetRootResourceRequest) (
	*pulumirpc.GetRootResourceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pulumirpc.GetRootResourceResponse{Urn: s.root}, nil
}

// SetRootResource stores a URN for GetRootResource.
func (s *engineService) SetRootResource(_ context.Context, r *pulumirpc.SetRootResourceRequest) (
	*pulumirpc.SetRootResourceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root = r.GetUrn()
	return &pulumirpc.SetRootResourceResponse{}, nil
}

// StartDebugging returns an error: no debugger can be attached.
func (s *engineService) StartDebugging(context.Context, *pulumirpc.StartDebuggingRequest) (*emptypb.Empty, error) {
	return nil, status.Error(codes.Unimplemented,
		"yamlhost cannot attach debuggers; start the plugin yourself and set PULUMI_DEBUG_PROVIDERS")
}

// RequirePulumiVersion compares the emulated version of Pulumi with a range.
func (s *engineService) RequirePulumiVersion(_ context.Context, r *pulumirpc.RequirePulumiVersionRequest) (
	*pulumirpc.RequirePulumiVersionResponse, error) {
	wanted := strings.TrimSpace(r.GetPulumiVersionRange())
	if s.options.PulumiVersion == "" || wanted == "" {
		return &pulumirpc.RequirePulumiVersionResponse{}, nil
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "%q is not a range of versions", wanted)
	}
	have, err := semver.NewVersion(s.options.PulumiVersion)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "%q is not a version", s.options.PulumiVersion)
	}
	if !constraint.Check(have) {
		return nil, status.Errorf(codes.FailedPrecondition, "Pulumi version %s does not satisfy the required range %q", have,
			wanted)
	}
	return &pulumirpc.RequirePulumiVersionResponse{}, nil
}
