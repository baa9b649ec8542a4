// Command yamlhost checks, plans and applies Pulumi YAML programs.
package main

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
	"github.com/yamlhost/yamlhost/internal/release"
)

// version is set by the linker. If it is empty, the version comes from the build information.
var version string

func main() {
	streams, world := cli.System(release.Version(version))
	os.Exit(cli.Run(context.Background(), os.Args[1:], streams, world))
}
