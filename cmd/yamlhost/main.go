// Command yamlhost checks, plans and applies Pulumi YAML programs.
package main

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
)

// version is set by the linker.
var version = "0.1.0"

func main() {
	streams, world := cli.System(version)
	os.Exit(cli.Run(context.Background(), os.Args[1:], streams, world))
}
