package plugin

import (
	"context"
	"math"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
)

// ServeAnalyzer is Serve for a policy pack.
func ServeAnalyzer(a analyzer.Analyzer) (address string, stop func(), err error) {
	return transport.Serve("the policy pack", func(s *grpc.Server) {
		pulumirpc.RegisterAnalyzerServer(s, &analyzerServer{analyzer: a})
	}, grpc.ForceServerCodecV2(newCodec()))
}

// analyzerServer translates calls for a policy pack in this process.
type analyzerServer struct {
	pulumirpc.UnimplementedAnalyzerServer
	analyzer analyzer.Analyzer
}

// Handshake does nothing.
func (s *analyzerServer) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (
	*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

// GetPluginInfo returns no version, which GetAnalyzerInfo has: engines call it while they cannot start other plugins,
// and describing the pack may need one.
func (s *analyzerServer) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

// GetAnalyzerInfo describes the pack.
func (s *analyzerServer) GetAnalyzerInfo(ctx context.Context, _ *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	info, err := s.analyzer.Info(ctx)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.AnalyzerInfo{Name: info.Name, DisplayName: info.Name, Version: info.Version,
		SupportsConfig: info.SupportsConfig}
	for i := range info.Policies {
		p := &info.Policies[i]
		about := &pulumirpc.PolicyInfo{Name: p.Name, DisplayName: p.Name, Description: p.Description,
			EnforcementLevel: pulumirpc.EnforcementLevel(
				p.Level), PolicyType: pulumirpc.PolicyType_POLICY_TYPE_RESOURCE}
		if p.Stack {
			about.PolicyType = pulumirpc.PolicyType_POLICY_TYPE_STACK
		}
		if !p.Properties.IsNull() {
			properties, err := wire.Options{}.Encode(p.Properties)
			if err != nil {
				return nil, err
			}
			about.ConfigSchema = &pulumirpc.PolicyConfigSchema{Properties: properties, Required: p.Required}
		}
		answer.Policies = append(answer.Policies, about)
	}
	return answer, nil
}

// Configure gives each policy its configuration.
func (s *analyzerServer) Configure(ctx context.Context, r *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	config := make(map[string]analyzer.Config, len(r.GetPolicyConfig()))
	for name, c := range r.GetPolicyConfig() {
		properties, err := wire.KeepAll().Decode(c.GetProperties())
		if err != nil {
			return nil, err
		}
		config[name] = analyzer.Config{Level: analyzer.Level(c.GetEnforcementLevel()), Properties: properties}
	}
	return &emptypb.Empty{}, s.analyzer.Configure(ctx, config)
}

// ConfigureStack describes the stack.
func (s *analyzerServer) ConfigureStack(ctx context.Context, r *pulumirpc.AnalyzerStackConfigureRequest) (
	*pulumirpc.AnalyzerStackConfigureResponse, error) {
	return &pulumirpc.AnalyzerStackConfigureResponse{}, s.analyzer.ConfigureStack(ctx, analyzer.Stack{
		Project: r.GetProject(), Stack: r.GetStack(), Organization: r.GetOrganization(), DryRun: r.GetDryRun(),
		Config: r.GetConfig(), SecretKeys: r.GetConfigSecretKeys(), Tags: r.GetTags()})
}

// Remediate returns the changes to the inputs of a resource.
func (s *analyzerServer) Remediate(ctx context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse,
	error) {
	about, err := described(r)
	if err != nil {
		return nil, err
	}
	list, err := s.analyzer.Remediate(ctx, about)
	if err != nil {
		return nil, err
	}
	info, err := s.analyzer.Info(ctx)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.RemediateResponse{}
	for _, m := range list {
		change := &pulumirpc.Remediation{PolicyName: m.Policy, PolicyPackName: info.Name,
			PolicyPackVersion: info.Version, Description: m.Description, Diagnostic: m.Diagnostic}
		if !m.Properties.IsNull() {
			if change.Properties, err = packEncoding.Encode(m.Properties); err != nil {
				return nil, err
			}
		}
		answer.Remediations = append(answer.Remediations, change)
	}
	return answer, nil
}

// Analyze returns the violations of one resource.
func (s *analyzerServer) Analyze(ctx context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	about, err := described(r)
	if err != nil {
		return nil, err
	}
	list, err := s.analyzer.Analyze(ctx, about)
	return s.answer(ctx, list, err)
}

// AnalyzeStack returns the violations of all resources together.
func (s *analyzerServer) AnalyzeStack(ctx context.Context, r *pulumirpc.AnalyzeStackRequest) (
	*pulumirpc.AnalyzeResponse, error) {
	all := make([]analyzer.Resource, 0, len(r.GetResources()))
	for _, one := range r.GetResources() {
		about, err := described(one)
		if err != nil {
			return nil, err
		}
		about.Parent, about.Dependencies = urn.URN(one.GetParent()), wire.URNs(one.GetDependencies())
		about.PropertyDependencies = urn.DependenciesOf(wire.Dependencies(one.GetPropertyDependencies()))
		all = append(all, about)
	}
	list, err := s.analyzer.AnalyzeStack(ctx, all)
	return s.answer(ctx, list, err)
}

// Cancel does nothing: the engine cancels the calls.
func (s *analyzerServer) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (s *analyzerServer) answer(ctx context.Context, list []analyzer.Violation, err error) (*pulumirpc.AnalyzeResponse,
	error) {
	if err != nil {
		return nil, err
	}
	info, err := s.analyzer.Info(ctx)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.AnalyzeResponse{}
	for _, v := range list {
		message := v.Message
		if v.Description != "" { // Pulumi's engine shows the message alone
			message = v.Description + "\n" + message
		}
		answer.Diagnostics = append(answer.Diagnostics, &pulumirpc.AnalyzeDiagnostic{PolicyName: v.Policy,
			PolicyPackName: info.Name, PolicyPackVersion: info.Version, Description: v.Description, Message: message,
			EnforcementLevel: pulumirpc.EnforcementLevel(v.Level), Urn: string(v.URN)})
	}
	return answer, nil
}

// analyzed is the common part of the descriptions of resources.
type analyzed interface {
	proto.Message
	GetUrn() string
	GetName() string
	GetType() string
	GetOptions() *pulumirpc.AnalyzerResourceOptions
	GetProvider() *pulumirpc.AnalyzerProviderResource
}

// described decodes an engine's description of a resource.
func described(r analyzed) (analyzer.Resource, error) {
	properties, err := all(r, "properties")
	if err != nil {
		return analyzer.Resource{}, err
	}
	o := r.GetOptions()
	about := analyzer.Resource{Reference: analyzer.Reference{URN: urn.URN(r.GetUrn()), Type: r.GetType(),
		Name: r.GetName(), Properties: properties[0].MapOrEmpty()},
		Options: analyzer.Options{Protect: o.GetProtect(), IgnoreChanges: o.GetIgnoreChanges(),
			AdditionalSecretOutputs: o.GetAdditionalSecretOutputs(), Aliases: wire.URNs(o.GetAliases()),
			Parent: urn.URN(o.GetParent())}}
	if o.GetDeleteBeforeReplaceDefined() {
		first := o.GetDeleteBeforeReplace()
		about.Options.DeleteBeforeReplace = &first
	}
	t := o.GetCustomTimeouts()
	about.Options.Create, about.Options.Update, about.Options.Delete = duration(t.GetCreate()), duration(t.GetUpdate()),
		duration(t.GetDelete())
	if p := r.GetProvider(); p != nil {
		config, err := all(p, "properties")
		if err != nil {
			return about, err
		}
		about.Provider = &analyzer.Reference{URN: urn.URN(p.GetUrn()), Type: p.GetType(), Name: p.GetName(),
			Properties: config[0].MapOrEmpty()}
	}
	return about, nil
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
