package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/transport"
)

// testPack is a policy pack about random pets. The file mode beside its PulumiPolicy.yaml selects a fault.
type testPack struct {
	pulumirpc.UnimplementedAnalyzerServer
	mode   string
	stack  *pulumirpc.AnalyzerStackConfigureRequest
	config map[string]*pulumirpc.PolicyConfig
}

const petType = "random:index/randomPet:RandomPet"

// playPack serves a testPack in a plugin process; the last argument is the folder of the pack.
func playPack() {
	text, err := os.ReadFile(filepath.Join(os.Args[len(os.Args)-1], "mode"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := &testPack{mode: strings.TrimSpace(string(text))}
	if p.mode == "prints" {
		fmt.Println("loading my rules")
	}
	address, _, err := transport.Serve("the pack", func(s *grpc.Server) { pulumirpc.RegisterAnalyzerServer(s, p) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(address[strings.LastIndex(address, ":")+1:])
	select {}
}

func (p *testPack) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	policy := func(name, about string, level pulumirpc.EnforcementLevel, t pulumirpc.PolicyType) *pulumirpc.PolicyInfo {
		return &pulumirpc.PolicyInfo{Name: name, Description: about, EnforcementLevel: level, PolicyType: t}
	}
	prefix := policy("prefix", "Pets have good prefixes", pulumirpc.EnforcementLevel_MANDATORY,
		pulumirpc.PolicyType_POLICY_TYPE_RESOURCE)
	prefix.ConfigSchema = &pulumirpc.PolicyConfigSchema{Properties: &structpb.Struct{Fields: map[string]*structpb.Value{
		"bad": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"type": structpb.NewStringValue("string"), "default": structpb.NewStringValue("bad")}})}}}
	info := &pulumirpc.AnalyzerInfo{Name: "pets", Version: "1.2.0", SupportsConfig: true, Policies: []*pulumirpc.PolicyInfo{
		prefix,
		policy("length", "Pets have three words", pulumirpc.EnforcementLevel_REMEDIATE,
			pulumirpc.PolicyType_POLICY_TYPE_RESOURCE),
		policy("few", "Few pets", pulumirpc.EnforcementLevel_ADVISORY, pulumirpc.PolicyType_POLICY_TYPE_STACK),
	}}
	switch p.mode {
	case "nameless":
		info.Name = ""
	case "reserved":
		info.Policies[0].Name = "all"
	}
	return info, nil
}

func (p *testPack) ConfigureStack(_ context.Context, r *pulumirpc.AnalyzerStackConfigureRequest) (
	*pulumirpc.AnalyzerStackConfigureResponse, error) {
	p.stack = r
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

func (p *testPack) Configure(_ context.Context, r *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	p.config = r.GetPolicyConfig()
	return &emptypb.Empty{}, nil
}

func (p *testPack) Remediate(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	properties := r.GetProperties()
	if r.GetType() != petType || p.config["length"].GetEnforcementLevel() != pulumirpc.EnforcementLevel_REMEDIATE ||
		properties.GetFields()["length"].GetNumberValue() == 3 {
		return &pulumirpc.RemediateResponse{}, nil
	}
	properties.Fields["length"] = structpb.NewNumberValue(3)
	return &pulumirpc.RemediateResponse{Remediations: []*pulumirpc.Remediation{{PolicyName: "length",
		Description: "Pets have three words", Properties: properties}}}, nil
}

func (p *testPack) Analyze(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	level := p.config["prefix"].GetEnforcementLevel()
	bad := p.config["prefix"].GetProperties().GetFields()["bad"].GetStringValue()
	if r.GetType() != petType || level == pulumirpc.EnforcementLevel_DISABLED {
		return &pulumirpc.AnalyzeResponse{}, nil
	}
	if p.mode == "crash" {
		fmt.Fprintln(os.Stderr, "my rule divides by zero")
		os.Exit(3)
	}
	if p.mode == "environment" {
		secret, err := os.ReadFile(os.Getenv("PETS_SECRET"))
		if err != nil {
			return nil, err
		}
		bad = os.Getenv("PETS_BAD")
		r.Name += " knows " + string(secret)
	}
	if got := r.GetProperties().GetFields()["prefix"].GetStringValue(); got == bad {
		return &pulumirpc.AnalyzeResponse{Diagnostics: []*pulumirpc.AnalyzeDiagnostic{{PolicyName: "prefix",
			Description: "Pets have good prefixes", EnforcementLevel: level, Urn: r.GetUrn(),
			Message: fmt.Sprintf("%s has the prefix %q in %s (preview: %v)", r.GetName(), got, p.stack.GetStack(),
				p.stack.GetDryRun())}}}, nil
	}
	return &pulumirpc.AnalyzeResponse{}, nil
}

func (p *testPack) AnalyzeStack(_ context.Context, r *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	pets := 0
	for _, one := range r.GetResources() {
		if one.GetType() == petType && strings.Contains(one.GetParent(), "pulumi:pulumi:Stack") {
			pets++
		}
	}
	if pets < 2 {
		return &pulumirpc.AnalyzeResponse{}, nil
	}
	return &pulumirpc.AnalyzeResponse{Diagnostics: []*pulumirpc.AnalyzeDiagnostic{{PolicyName: "few",
		Description: "Few pets", EnforcementLevel: p.config["few"].GetEnforcementLevel(),
		Message: fmt.Sprintf("there are %d pets", pets)}}}, nil
}
