// Command pulumi-language-yaml is the language host that the Pulumi CLI starts for YAML programs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/yamlhost/yamlhost/langhost"
)

// version is set by the linker.
var version = "0.1.0"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	address, err := langhost.ParseArgs(os.Args[1:])
	if err == nil {
		err = langhost.Serve(ctx, langhost.Options{Version: version, EngineAddress: address, Env: os.Environ(), Stderr: os.Stderr}, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-yaml:", err)
		os.Exit(1)
	}
}
