// Command pulumi-resource-gallery is a provider for tests with rare features: it takes names that the engine proposes,
// publishes views of its resources, reads a variable of its environment, and has a component that changes its children
// by transforms.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/cmdutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

const version = "1.0.0"

type server struct {
	pulumirpc.UnimplementedResourceProviderServer
	engine *grpc.ClientConn
	made   atomic.Int64
}

func (s *server) Handshake(context.Context, *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse,
	error) {
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true,
		SupportsAutonamingConfiguration: true}, nil
}

func (s *server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

func (s *server) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: `{"name": "gallery", "version": "` + version + `", "resources": {
  "gallery:index:Room": {
    "inputProperties": {"name": {"type": "string"}, "pictures": {"type": "array", "items": {"type": "string"}}, "colour": {"type": "string"}},
    "properties": {"name": {"type": "string"}, "pictures": {"type": "array", "items": {"type": "string"}}, "colour": {"type": "string"}, "keeper": {"type": "string"}},
    "required": ["name"]},
  "gallery:index:Wing": {"isComponent": true,
    "inputProperties": {"colour": {"type": "string"}}, "properties": {"room": {"type": "string"}}}}}`}, nil
}

func (s *server) CheckConfig(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

func (s *server) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

func (s *server) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true,
		SupportsPreview: true}, nil
}

// Check names a room without a name: it keeps the old name, or takes the proposed one or that of the resource.
func (s *server) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	news := r.GetNews()
	if news.Fields["name"] == nil {
		name := r.GetOlds().GetFields()["name"]
		proposal := r.GetAutonaming()
		switch {
		case name != nil:
		case proposal == nil:
			name = structpb.NewStringValue(r.GetName() + "-auto")
		case proposal.GetMode() == pulumirpc.CheckRequest_AutonamingOptions_DISABLE:
			return &pulumirpc.CheckResponse{Failures: []*pulumirpc.CheckFailure{{Property: "name",
				Reason: "a room needs a name"}}}, nil
		default:
			name = structpb.NewStringValue(proposal.GetProposedName())
		}
		if news.Fields == nil {
			news.Fields = map[string]*structpb.Value{}
		}
		news.Fields["name"] = name
	}
	return &pulumirpc.CheckResponse{Inputs: news}, nil
}

func (s *server) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	answer := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}
	for _, key := range []string{"name", "pictures", "colour"} {
		if r.GetOldInputs().GetFields()[key].String() != r.GetNews().GetFields()[key].String() {
			answer.Changes, answer.Diffs = pulumirpc.DiffResponse_DIFF_SOME, append(answer.Diffs, key)
			if key == "name" {
				answer.Replaces = []string{key}
			}
		}
	}
	return answer, nil
}

// tell publishes the steps of a room's pictures.
func tell(ctx context.Context, address, token string, old []*pulumirpc.View, inputs *structpb.Struct) error {
	if address == "" {
		return nil
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	before := map[string]*pulumirpc.View{}
	for _, v := range old {
		before[v.GetName()] = v
	}
	state := func(name string, inputs *structpb.Struct) *pulumirpc.ViewStepState {
		return &pulumirpc.ViewStepState{Type: "gallery:index:Picture", Name: name, Inputs: inputs, Outputs: inputs}
	}
	var steps []*pulumirpc.ViewStep
	for i, v := range inputs.GetFields()["pictures"].GetListValue().GetValues() {
		now, err := structpb.NewStruct(map[string]any{"place": i + 1})
		if err != nil {
			return err
		}
		step := &pulumirpc.ViewStep{Op: pulumirpc.ViewStep_CREATE, New: state(v.GetStringValue(), now)}
		if was := before[v.GetStringValue()]; was != nil {
			step.Op, step.Old = pulumirpc.ViewStep_UPDATE, state(was.GetName(), was.GetInputs())
			delete(before, was.GetName())
		}
		steps = append(steps, step)
	}
	for _, v := range old {
		if before[v.GetName()] != nil {
			steps = append(steps, &pulumirpc.ViewStep{Op: pulumirpc.ViewStep_DELETE, Old: state(v.GetName(), v.GetInputs())})
		}
	}
	_, err = pulumirpc.NewResourceStatusClient(conn).PublishViewSteps(ctx, &pulumirpc.PublishViewStepsRequest{Token: token,
		Steps: steps})
	return err
}

func outputs(inputs *structpb.Struct) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{"keeper": structpb.NewStringValue(
		os.Getenv("GALLERY_KEEPER"))}}
	for key, v := range inputs.GetFields() {
		out.Fields[key] = v
	}
	return out
}

func (s *server) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	if err := tell(ctx, r.GetResourceStatusAddress(), r.GetResourceStatusToken(), nil, r.GetProperties()); err != nil {
		return nil, err
	}
	id := ""
	if !r.GetPreview() {
		id = fmt.Sprintf("%s-%d", r.GetName(), s.made.Add(1))
	}
	return &pulumirpc.CreateResponse{Id: id, Properties: outputs(r.GetProperties())}, nil
}

func (s *server) Update(ctx context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	if err := tell(ctx, r.GetResourceStatusAddress(), r.GetResourceStatusToken(), r.GetOldViews(),
		r.GetNews()); err != nil {
		return nil, err
	}
	return &pulumirpc.UpdateResponse{Properties: outputs(r.GetNews())}, nil
}

func (s *server) Delete(ctx context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, tell(ctx, r.GetResourceStatusAddress(), r.GetResourceStatusToken(), r.GetOldViews(), nil)
}

func (s *server) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return &pulumirpc.ReadResponse{Id: r.GetId(), Inputs: r.GetInputs(), Properties: r.GetProperties()}, nil
}

func (s *server) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// wing is a component with a room, which a transform paints.
type wing struct {
	pulumi.ResourceState
	Room pulumi.StringOutput `pulumi:"room"`
}

type wingArgs struct {
	Colour pulumi.StringInput `pulumi:"colour"`
}

type room struct {
	pulumi.CustomResourceState
	Name pulumi.StringOutput `pulumi:"name"`
}

func (s *server) Construct(ctx context.Context, r *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	return provider.Construct(ctx, r, s.engine, func(ctx *pulumi.Context, typ, name string,
		inputs provider.ConstructInputs, options pulumi.ResourceOption,
	) (*provider.ConstructResult, error) {
		args := &wingArgs{}
		if err := inputs.CopyTo(args); err != nil {
			return nil, err
		}
		paint := func(_ context.Context, r *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
			if r.Type != "gallery:index:Room" {
				return nil
			}
			r.Props["colour"] = args.Colour
			r.Opts.Protect = true
			return &pulumi.ResourceTransformResult{Props: r.Props, Opts: r.Opts}
		}
		component := &wing{}
		recorded := pulumi.Map{}
		if args.Colour != nil {
			recorded["colour"] = args.Colour
		}
		err := ctx.RegisterComponentResourceV2(typ, name, recorded, component, options,
			pulumi.Transforms([]pulumi.ResourceTransform{paint}))
		if err != nil {
			return nil, err
		}
		inside := &room{}
		if err := ctx.RegisterResource("gallery:index:Room", name+"-room", pulumi.Map{}, inside,
			pulumi.Parent(component)); err != nil {
			return nil, err
		}
		component.Room = inside.Name
		if err := ctx.RegisterResourceOutputs(component, pulumi.Map{"room": inside.Name}); err != nil {
			return nil, err
		}
		return provider.NewConstructResult(component)
	})
}

func main() {
	s := &server{}
	if len(os.Args) > 1 {
		conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()),
			rpcutil.GrpcChannelOptions())
		if err != nil {
			cmdutil.Exit(err)
		}
		s.engine = conn
	}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Init: func(g *grpc.Server) error {
		pulumirpc.RegisterResourceProviderServer(g, s)
		return nil
	}})
	if err != nil {
		cmdutil.Exit(err)
	}
	fmt.Println(handle.Port)
	if err := <-handle.Done; err != nil {
		cmdutil.Exit(err)
	}
}
