// Command pulumi-converter-yaml is the converter that the Pulumi CLI starts to translate YAML programs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/yamlhost/yamlhost/internal/release"
	"github.com/yamlhost/yamlhost/langhost"
)

// version is set by the linker. If it is empty, the version comes from the build information.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	o := langhost.Options{Version: release.Version(version), Env: os.Environ(), Stderr: os.Stderr}
	code := langhost.Command(ctx, "pulumi-converter-yaml", os.Args[1:], o, os.Stdout)
	stop()
	os.Exit(code)
}
