package langhost

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/transport"
)

// Arguments is the parsed command line of a language host.
type Arguments struct {
	EngineAddress string
	Limits        builtins.Limits // of an evaluation; 0 means the limit in builtins.DefaultLimits
}

// ParseArgs parses the command line of a language host: flags, then the engine's address (F9.1). Flags of older engines
// have no effect.
func ParseArgs(args []string) (a Arguments, err error) {
	flags := flag.NewFlagSet("pulumi-language-yaml", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	maxValue := flags.Int64("max-value", 0, "")
	flags.Int64Var(&a.Limits.Steps, "max-steps", 0, "")
	for _, name := range []string{"tracing", "root", "compiler"} {
		flags.String(name, "", "")
	}
	if err := flags.Parse(args); err != nil {
		return a, err
	}
	if flags.NArg() > 1 {
		return a, fmt.Errorf("one address of an engine is expected, not %d arguments", flags.NArg())
	}
	a.EngineAddress, a.Limits.Value = flags.Arg(0), *maxValue<<20
	return a, nil
}

// Command runs a language host: it parses the command line, serves until ctx is done or the engine has ended, and
// returns the exit code. Errors go to o.Stderr.
func Command(ctx context.Context, name string, args []string, o Options, stdout io.Writer) (code int) {
	a, err := ParseArgs(args)
	if err == nil {
		o.EngineAddress, o.Limits = a.EngineAddress, a.Limits
		err = Serve(ctx, o, stdout)
	}
	if err != nil {
		fmt.Fprintf(o.Stderr, "%s: %s\n", name, err)
		return 1
	}
	return 0
}

// Serve prints the port to stdout (F2.5) and serves until ctx is done. It returns an error if the engine ends first.
func Serve(ctx context.Context, o Options, stdout io.Writer) error {
	host, err := New(o)
	if err != nil {
		return err
	}
	address, stop, err := transport.Serve("the language host", func(s *grpc.Server) {
		pulumirpc.RegisterLanguageRuntimeServer(s, host)
		pulumirpc.RegisterConverterServer(s, host)
		grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	})
	if err != nil {
		return errors.Join(err, host.Close())
	}
	defer stop()
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = fmt.Fprintln(stdout, port)
	}
	if err == nil {
		err = host.engine.watch(ctx)
	}
	return errors.Join(err, host.Close())
}
