// Command nodehost is a language host for TypeScript and JavaScript in tests: it starts the runner of Pulumi's Node.js
// SDK, which the project has installed, as pulumi-language-nodejs does. That host itself is not a module that a test
// could build. nodehost has no options, reports that programs need no packages, and runs no plugins except policy
// packs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "nodehost:", err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(server, &host{engine: os.Args[len(os.Args)-1]})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if err := server.Serve(listener); err != nil {
		os.Exit(1)
	}
}

type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func (*host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "3.0.0"}, nil
}

func (*host) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (
	*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (*host) GetRequiredPlugins(context.Context, *pulumirpc.GetRequiredPluginsRequest) (
	*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

// RunPlugin runs a policy pack until the call ends.
func (h *host) RunPlugin(r *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	if r.GetKind() != "analyzer" {
		return fmt.Errorf("a plugin of the kind %s is not run here", r.GetKind())
	}
	cmd := exec.CommandContext(stream.Context(), "node", append([]string{"./node_modules/@pulumi/pulumi/cmd/run-policy-pack"},
		append(r.GetArgs(), ".")...)...)
	cmd.Dir, cmd.Env = r.GetInfo().GetProgramDirectory(), append(os.Environ(), r.GetEnv()...)
	cmd.Stdout, cmd.Stderr = printed{stream}, os.Stderr
	err := cmd.Run()
	if stream.Context().Err() != nil {
		return nil
	}
	return err
}

// printed sends what a pack prints: first its port.
type printed struct {
	stream pulumirpc.LanguageRuntime_RunPluginServer
}

func (p printed) Write(text []byte) (int, error) {
	return len(text), p.stream.Send(&pulumirpc.RunPluginResponse{
		Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}})
}

// Run runs the program of a project.
func (h *host) Run(ctx context.Context, r *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	dir := r.GetInfo().GetProgramDirectory()
	config, err := json.Marshal(r.GetConfig())
	if err != nil {
		return nil, err
	}
	secret, err := json.Marshal(r.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", "./node_modules/@pulumi/pulumi/cmd/run", "--monitor", r.GetMonitorAddress(),
		"--engine", h.engine, "--project", r.GetProject(), "--stack", r.GetStack(), "--pwd", r.GetPwd(), "--dry-run",
		strconv.FormatBool(r.GetDryRun()), "--parallel", strconv.Itoa(int(r.GetParallel())), "--organization",
		r.GetOrganization(), ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "PULUMI_CONFIG="+string(config), "PULUMI_CONFIG_SECRET_KEYS="+string(secret),
		"PULUMI_NODEJS_TYPESCRIPT=false")
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &pulumirpc.RunResponse{Bail: true}, nil
	case err != nil:
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}
