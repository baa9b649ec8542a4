package plugin_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"go.uber.org/goleak"
)

// childMode is the environment variable that turns this test binary into a plugin.
const childMode = "YAMLHOST_TEST_PLUGIN"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode))
	}
	goleak.VerifyTestMain(m)
}

// block waits until the host closes stdin.
func block() { _, _ = bufio.NewReader(os.Stdin).ReadString(0) }

func child(mode string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	engine := os.Args[len(os.Args)-1]
	serve := func() int {
		if err := plugin.ServeMain(ctx, &misfit{engine: engine}, os.Stdout, engine); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	switch mode {
	case "serve":
		fmt.Fprintln(os.Stderr, "serving")
		return serve()
	case "escapes":
		fmt.Print("\x1b]9;4;3;\x1b\\  ")
		return serve()
	case "nonsense":
		fmt.Println("Welcome to my program!")
		block()
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		return 7
	case "language":
		return languageHost(ctx)
	case "quiet exit":
	case "silent":
		fmt.Fprintln(os.Stderr, "thinking")
		block()
	case "half a line":
		fmt.Print("wait, I")
		block()
	case "closed":
		_ = os.Stdout.Close()
		block()
	case "endless line":
		for range 1000 {
			fmt.Print(strings.Repeat("x", 100))
		}
		block()
	case "deaf": // accepts connections and never answers
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 1
		}
		fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		fmt.Println("listening")
		block()
	case "exit after port":
		fmt.Println(1) // an unused port
		return 4
	case "shaken": // refuses the handshake with its directories in the error
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 1
		}
		server := grpc.NewServer()
		pulumirpc.RegisterResourceProviderServer(server, shaken{})
		go func() { _ = server.Serve(listener) }()
		fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		block()
	case "stubborn":
		signal.Ignore(os.Interrupt)
		ctx = context.Background()
		_ = plugin.ServeMain(ctx, &misfit{engine: engine}, os.Stdout, "")
	case "parent": // runs its own host, whose plugin must not outlive it
		host := plugin.NewHost(plugin.Options{Env: []string{childMode + "=stubborn"},
			Path: []string{os.Getenv("PLUGIN_DIR")}})
		p, err := host.Load(ctx, provider.Package{Name: "misfit"})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		configured, err := p.Configure(ctx, provider.ConfigureRequest{Inputs: value.EmptyMap()})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		got, err := configured.Invoke(ctx, provider.InvokeRequest{Token: "pid"})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		pid, _ := got.Result.Get("pid").AsInt()
		fmt.Println(pid)
		block()
	}
	return 0
}

type shaken struct {
	pulumirpc.UnimplementedResourceProviderServer
}

func (shaken) Handshake(_ context.Context, r *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse,
	error) {
	return nil, status.Errorf(codes.InvalidArgument, "root %s program %s", r.GetRootDirectory(), r.GetProgramDirectory())
}

// misfit is a provider whose behaviour depends on its inputs.
type misfit struct {
	recorder
	engine string
}

func (m *misfit) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return m, nil
}

// Cancel creates the file that CANCELLED names.
func (m *misfit) Cancel(context.Context) error {
	if note := os.Getenv("CANCELLED"); note != "" {
		return os.WriteFile(note, nil, 0o600)
	}
	return nil
}

func (m *misfit) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	do, _ := r.Inputs.Get("do").AsString()
	switch do {
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(3)
	case "kill":
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		<-ctx.Done()
	case "hang":
		<-ctx.Done()
		return provider.CreateResponse{}, ctx.Err()
	case "print":
		fmt.Println("12345")
		fmt.Fprintln(os.Stderr, "chatter")
	case "partial":
		return provider.CreateResponse{}, &provider.Error{
			Outcome: provider.Partial, ID: "half", Outputs: r.Inputs.With("out", value.Int(1)), Inputs: r.Inputs,
			Reasons: []string{"not ready", "not healthy"}, RefreshBeforeUpdate: true,
		}
	case "log":
		conn, err := grpc.NewClient("passthrough:///"+m.engine, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return provider.CreateResponse{}, err
		}
		defer func() { _ = conn.Close() }()
		if _, err := pulumirpc.NewEngineClient(conn).Log(ctx, &pulumirpc.LogRequest{
			Severity: pulumirpc.LogSeverity_WARNING, Message: "careful", Urn: string(r.URN), StreamId: 4, Ephemeral: true,
		}); err != nil {
			return provider.CreateResponse{}, err
		}
	}
	return provider.CreateResponse{ID: "id", Outputs: r.Inputs}, nil
}

func (m *misfit) Invoke(_ context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	switch r.Token {
	case "pid":
		return provider.InvokeResponse{Result: value.EmptyMap().With("pid", value.Int(os.Getpid()))}, nil
	case "env":
		result := value.EmptyMap()
		for _, entry := range os.Environ() {
			name, text, _ := strings.Cut(entry, "=")
			result = result.With(name, value.String(text))
		}
		dir, _ := os.Getwd()
		return provider.InvokeResponse{Result: result.With("cwd", value.String(dir)).With("args",
			value.String(strings.Join(os.Args[1:], " ")))}, nil
	}
	return provider.InvokeResponse{Result: value.EmptyMap()}, nil
}
