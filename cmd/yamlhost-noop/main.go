// Command yamlhost-noop is yamlhost with the provider noop built in. It is for measuring.
package main

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/bench/noop"
	"github.com/yamlhost/yamlhost/cmd/internal/cli"
)

func main() {
	streams, world := cli.System("0.1.0")
	world.Embedded = append(world.Embedded, noop.Loader{})
	os.Exit(cli.Run(context.Background(), os.Args[1:], streams, world))
}
