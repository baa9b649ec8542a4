package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// packFile marks a folder as a policy pack.
const packFile = "PulumiPolicy.yaml"

var _ analyzer.Analyzer = (*pack)(nil)

// pack is a policy pack in a process of its own.
type pack struct {
	client
	analyzer pulumirpc.AnalyzerClient
	limit    time.Duration // of each call: a pack that hangs must not hang the operation
}

// LoadPack starts the policy pack at a path: an executable, or a folder with a PulumiPolicy.yaml that the host of its
// language runs. s is for packs that read the stack from their environment. The caller closes the pack.
func (h *Host) LoadPack(ctx context.Context, path string, s analyzer.Stack) (_ analyzer.Analyzer, err error) {
	engine, err := h.EngineAddress()
	if err != nil {
		return nil, err
	}
	o := &h.options
	dir := filepath.Dir(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("policy pack %s: %w", path, err)
	}
	if info.IsDir() {
		dir = path
	}
	p := &pack{client: client{host: h, name: filepath.Base(path)}, limit: scriptPatience * o.StartLimit}
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	env, err := o.packEnvironment(s)
	if err != nil {
		return nil, err
	}
	port := 0
	if info.IsDir() {
		p.process, port, err = o.startPack(ctx, path, engine, env)
	} else {
		p.process, port, err = o.launch(ctx, program{p.name, path, []string{engine, dir}, env, dir}, o.StartLimit)
	}
	if err != nil {
		return nil, err
	}
	if err := p.connect(port); err != nil {
		return nil, err
	}
	p.analyzer = pulumirpc.NewAnalyzerClient(p.conn)
	starting, cancel := context.WithTimeout(ctx, o.StartLimit)
	defer cancel()
	err = p.firstCall(starting, "begin", func(ctx context.Context) error {
		_, err := p.analyzer.Handshake(ctx, &pulumirpc.AnalyzerHandshakeRequest{EngineAddress: engine,
			RootDirectory: &dir, ProgramDirectory: &dir}, grpc.WaitForReady(true))
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// startPack runs a pack in source form by the host of its language, or else by the executable that older versions of
// the Pulumi CLI have for that language.
func (o *Options) startPack(ctx context.Context, dir, engine string, env []string) (*process, int, error) {
	name := filepath.Base(dir)
	if o.ReadScript == nil {
		return nil, 0, fmt.Errorf("policy pack %s is a program in source form, which cannot be run here", name)
	}
	script, err := o.ReadScript(filepath.Join(dir, packFile))
	if err != nil {
		return nil, 0, fmt.Errorf("start policy pack %s: %w", name, err)
	}
	if _, ok := o.languageHost(script.Language); ok || script.Language == "" {
		return o.startSource(ctx, source{name: name, dir: dir, file: packFile, kind: "analyzer"}, engine, env, dir)
	}
	executable := "pulumi-analyzer-policy-" + script.Language
	if script.Language == "nodejs" {
		executable = "pulumi-analyzer-policy"
	}
	if path, found := o.onPath(executable); found {
		return o.launch(ctx, program{name, path, []string{engine, dir}, env, dir}, o.StartLimit)
	}
	return nil, 0, fmt.Errorf("policy pack %s is written in %s, and neither pulumi-language-%s nor %s, which could run it, "+
		"is on $PATH; they come with the Pulumi CLI", name, script.Language, script.Language, executable)
}

// packEnvironment returns the variables of a pack. Packs of older libraries read the stack in them.
func (o *Options) packEnvironment(s analyzer.Stack) ([]string, error) {
	config, err := json.Marshal(s.Config)
	if err != nil {
		return nil, err
	}
	env := append(o.inherited(), s.Environ...)
	return append(env, "PULUMI_PROJECT="+s.Project, "PULUMI_STACK="+s.Stack, "PULUMI_ORGANIZATION="+s.Organization,
		"PULUMI_DRY_RUN="+strconv.FormatBool(s.DryRun), "PULUMI_CONFIG="+string(config),
		"PULUMI_NODEJS_PROJECT="+s.Project, "PULUMI_NODEJS_STACK="+s.Stack,
		"PULUMI_NODEJS_DRY_RUN="+strconv.FormatBool(s.DryRun)), nil
}

// ask calls a pack, with its time limit.
func ask[Request, Answer any](ctx context.Context, p *pack, doing string,
	call func(context.Context, Request, ...grpc.CallOption) (Answer, error), r Request) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	answer, err := call(limited, r)
	if err != nil && status.Code(err) != codes.Unimplemented {
		return answer, p.fail(limited, doing, err)
	}
	return answer, err
}

// Info describes the pack.
func (p *pack) Info(ctx context.Context) (analyzer.Info, error) {
	got, err := ask(ctx, p, "describe its policies", p.analyzer.GetAnalyzerInfo, &emptypb.Empty{})
	if err != nil {
		return analyzer.Info{}, err
	}
	info := analyzer.Info{Name: got.GetName(), Version: got.GetVersion(), SupportsConfig: got.GetSupportsConfig(),
		Initial: map[string]analyzer.Config{}}
	for _, policy := range got.GetPolicies() {
		properties, err := p.properties(policy.GetConfigSchema().GetProperties())
		if err != nil {
			return info, err
		}
		info.Policies = append(info.Policies, analyzer.Policy{Name: policy.GetName(), Properties: properties,
			Description: policy.GetDescription(), Level: analyzer.Level(policy.GetEnforcementLevel()),
			Stack:    policy.GetPolicyType() == pulumirpc.PolicyType_POLICY_TYPE_STACK,
			Required: policy.GetConfigSchema().GetRequired()})
	}
	for name, config := range got.GetInitialConfig() {
		properties, err := p.properties(config.GetProperties())
		if err != nil {
			return info, err
		}
		info.Initial[name] = analyzer.Config{Level: analyzer.Level(config.GetEnforcementLevel()),
			Properties: properties}
	}
	if info.Name == "" {
		return info, fmt.Errorf("policy pack %s answered nonsense: it has no name", p.name)
	}
	p.name = info.Name
	return info, nil
}

// properties decodes a struct that was not received as bytes.
func (p *pack) properties(s *structpb.Struct) (value.Value, error) {
	v, err := wire.KeepAll().Decode(s)
	if err != nil {
		return v, fmt.Errorf("policy pack %s answered values that cannot be read: %w", p.name, err)
	}
	return v, nil
}

// Configure gives each policy its configuration.
func (p *pack) Configure(ctx context.Context, config map[string]analyzer.Config) error {
	r := &pulumirpc.ConfigureAnalyzerRequest{PolicyConfig: map[string]*pulumirpc.PolicyConfig{}}
	for name, c := range config {
		policy := &pulumirpc.PolicyConfig{EnforcementLevel: pulumirpc.EnforcementLevel(c.Level)}
		err := p.encodeInto(policy, sent{"the configuration", c.Properties.MapOrEmpty(), wire.Options{}, "properties"})
		if err != nil {
			return err
		}
		r.PolicyConfig[name] = policy
	}
	_, err := ask(ctx, p, "configure", p.analyzer.Configure, r)
	return err
}

// ConfigureStack precedes the resources of an operation. Packs of older libraries read their environment instead.
func (p *pack) ConfigureStack(ctx context.Context, s analyzer.Stack) error {
	_, err := ask(ctx, p, "learn about the stack", p.analyzer.ConfigureStack, &pulumirpc.AnalyzerStackConfigureRequest{
		Stack: s.Stack, Project: s.Project, Organization: s.Organization, DryRun: s.DryRun, Config: s.Config,
		ConfigSecretKeys: s.SecretKeys, Tags: s.Tags})
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}

// packEncoding is the encoding of values for packs, which know secrets and unknowns.
var packEncoding = wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

// Remediate returns the changes to the inputs of a resource.
func (p *pack) Remediate(ctx context.Context, r analyzer.Resource) ([]analyzer.Remediation, error) {
	request, err := p.request(r)
	if err != nil {
		return nil, err
	}
	got, err := ask(ctx, p, "remediate "+string(r.URN), p.analyzer.Remediate, request)
	if err != nil && status.Code(err) != codes.Unimplemented {
		return nil, err
	}
	var list []analyzer.Remediation
	for _, m := range got.GetRemediations() {
		change := analyzer.Remediation{Policy: m.GetPolicyName(), Description: m.GetDescription(),
			Diagnostic: m.GetDiagnostic()}
		if m.ProtoReflect().Has(m.ProtoReflect().Descriptor().Fields().ByName("properties")) {
			if change.Properties, err = p.decode(wire.KeepAll(), "remedied properties", m, "properties"); err != nil {
				return nil, err
			}
		}
		list = append(list, change)
	}
	return list, nil
}

// Analyze returns the violations of one resource.
func (p *pack) Analyze(ctx context.Context, r analyzer.Resource) ([]analyzer.Violation, error) {
	request, err := p.request(r)
	if err != nil {
		return nil, err
	}
	got, err := ask(ctx, p, "analyze "+string(r.URN), p.analyzer.Analyze, request)
	return violations(got), err
}

// AnalyzeStack returns the violations of all resources together.
func (p *pack) AnalyzeStack(ctx context.Context, all []analyzer.Resource) ([]analyzer.Violation, error) {
	request := &pulumirpc.AnalyzeStackRequest{}
	for _, r := range all {
		one := &pulumirpc.AnalyzerResource{Type: r.Type, Urn: string(r.URN), Name: r.Name, Parent: string(r.Parent),
			Dependencies:         wire.Texts(r.Dependencies),
			PropertyDependencies: map[string]*pulumirpc.AnalyzerPropertyDependencies{}}
		var err error
		if one.Options, one.Provider, err = p.describe(one, r); err != nil {
			return nil, err
		}
		for name, urns := range r.PropertyDependencies.All() {
			one.PropertyDependencies[name] = &pulumirpc.AnalyzerPropertyDependencies{Urns: wire.Texts(urns)}
		}
		request.Resources = append(request.Resources, one)
	}
	got, err := ask(ctx, p, "analyze the stack", p.analyzer.AnalyzeStack, request)
	if status.Code(err) == codes.Unimplemented {
		return nil, nil
	}
	return violations(got), err
}

// Close asks the pack to end, and ends it.
func (p *pack) Close() error {
	p.end(func(ctx context.Context) {
		_, _ = p.analyzer.Cancel(ctx, &emptypb.Empty{}) // packs of older libraries do not have this method
	})
	return nil
}

// fail turns a failed call into an error that names the pack.
func (p *pack) fail(ctx context.Context, doing string, err error) error {
	failure := p.client.fail(ctx, doing, err)
	if e, ok := failure.(*provider.Error); ok && !strings.Contains(e.Message, p.name) {
		e.Message = doing + ": " + e.Message
	}
	return failure
}

// request describes a resource to a pack.
func (p *pack) request(r analyzer.Resource) (request *pulumirpc.AnalyzeRequest, err error) {
	request = &pulumirpc.AnalyzeRequest{Type: r.Type, Urn: string(r.URN), Name: r.Name}
	request.Options, request.Provider, err = p.describe(request, r)
	return request, err
}

// describe encodes the properties of a resource into a field of a message, and returns the other parts of its
// description.
func (p *pack) describe(message proto.Message, r analyzer.Resource) (*pulumirpc.AnalyzerResourceOptions,
	*pulumirpc.AnalyzerProviderResource, error) {
	err := p.encodeInto(message, sent{"properties", withoutInternal(r.Properties), packEncoding, "properties"})
	if err != nil {
		return nil, nil, err
	}
	o := r.Options
	options := &pulumirpc.AnalyzerResourceOptions{Protect: o.Protect, IgnoreChanges: o.IgnoreChanges,
		DeleteBeforeReplace:        o.DeleteBeforeReplace != nil && *o.DeleteBeforeReplace,
		DeleteBeforeReplaceDefined: o.DeleteBeforeReplace != nil,
		AdditionalSecretOutputs:    o.AdditionalSecretOutputs, Aliases: wire.Texts(o.Aliases), Parent: string(o.Parent),
		CustomTimeouts: &pulumirpc.AnalyzerResourceOptions_CustomTimeouts{Create: o.Create.Seconds(),
			Update: o.Update.Seconds(), Delete: o.Delete.Seconds()}}
	if r.Provider == nil {
		return options, nil, nil
	}
	about := &pulumirpc.AnalyzerProviderResource{Type: r.Provider.Type, Urn: string(r.Provider.URN),
		Name: r.Provider.Name}
	config := withoutInternal(r.Provider.Properties)
	return options, about, p.encodeInto(about, sent{"properties of the provider", config, packEncoding, "properties"})
}

func violations(r *pulumirpc.AnalyzeResponse) []analyzer.Violation {
	var list []analyzer.Violation
	for _, d := range r.GetDiagnostics() {
		list = append(list, analyzer.Violation{Policy: d.GetPolicyName(), Description: d.GetDescription(),
			Message: d.GetMessage(), Level: analyzer.Level(d.GetEnforcementLevel()), URN: urn.URN(d.GetUrn())})
	}
	return list
}
