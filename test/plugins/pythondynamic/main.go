// Command pulumi-resource-pulumi-python replaces the provider of Pulumi's Python SDK in tests. It answers like that
// provider, according to its source (sdk/python/lib/pulumi/dynamic/__main__.py of version 3.260). It does not run the
// code in __provider, which the SDK would unpickle, but fails every call without it. Each call is a line of the file
// PYTHON_DYNAMIC_LOG.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

const codeKey = "__provider"

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, &provider{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if err := server.Serve(listener); err != nil {
		os.Exit(1)
	}
}

// provider implements the same methods as the SDK's provider, which lacks Handshake, CheckConfig, DiffConfig and
// GetSchema.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	config map[string]*structpb.Value
}

func (p *provider) Configure(_ context.Context, r *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	p.config = r.GetArgs().GetFields()
	return &pulumirpc.ConfigureResponse{AcceptSecrets: false}, nil
}

func (*provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "0.1.0"}, nil
}

// call records a call, and returns an error if its properties lack the code.
func (p *provider) call(method string, props *structpb.Struct) error {
	code := props.GetFields()[codeKey].GetStringValue()
	log, err := os.OpenFile(os.Getenv("PYTHON_DYNAMIC_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := fmt.Fprintf(log, "%s %s %s\n", method, code, p.config["py:color"].GetStringValue()); err != nil {
		return err
	}
	if code == "" {
		return status.Error(codes.Unknown, "Exception calling application: '__provider'") // a KeyError there
	}
	return nil
}

// with returns the outputs of the author's code, together with the code of the request.
func with(outs, props *structpb.Struct) *structpb.Struct {
	all := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for key, v := range outs.GetFields() {
		all.Fields[key] = v
	}
	all.Fields[codeKey] = props.GetFields()[codeKey]
	return all
}

func (p *provider) Check(_ context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: with(r.GetNews(), r.GetNews())}, p.call("check", r.GetNews())
}

func (p *provider) Diff(_ context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_UNKNOWN}, p.call("diff", r.GetNews())
}

func (p *provider) Create(_ context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	return &pulumirpc.CreateResponse{Id: "made", Properties: with(r.GetProperties(), r.GetProperties())},
		p.call("create", r.GetProperties())
}

func (p *provider) Update(_ context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return &pulumirpc.UpdateResponse{Properties: with(r.GetNews(), r.GetNews())}, p.call("update", r.GetNews())
}

func (p *provider) Read(_ context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return &pulumirpc.ReadResponse{Id: r.GetId(), Properties: with(r.GetProperties(), r.GetProperties())},
		p.call("read", r.GetProperties())
}

func (p *provider) Delete(_ context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, p.call("delete", r.GetProperties())
}
