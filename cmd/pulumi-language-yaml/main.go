// Command pulumi-language-yaml is the language host that the Pulumi CLI starts for YAML programs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/internal/release"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/langhost"
)

// version is set by the linker. If it is empty, the version comes from the build information.
var version string

func main() {
	if len(os.Args) > 1 && os.Args[1] == supervise.Word {
		os.Exit(supervise.Main(os.Args[2:], os.Environ()))
	}
	memory.Bound(os.Getenv)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	o := langhost.Options{Version: release.Version(version), Env: os.Environ(), Stderr: os.Stderr}
	if self, err := os.Executable(); err == nil {
		o.Supervisor = []string{self, supervise.Word}
	}
	code := langhost.Command(ctx, "pulumi-language-yaml", os.Args[1:], o, os.Stdout)
	stop()
	os.Exit(code)
}
