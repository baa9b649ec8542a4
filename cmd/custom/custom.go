// Package custom builds a yamlhost with more providers in the binary than its own. Everything else of cmd is internal,
// so this is the way in for a main package elsewhere, such as tools/bench/yamlhost-noop.
package custom

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
)

// Providers load providers that live in this process.
type Providers = cli.EmbeddedProviders

// Run runs yamlhost over the arguments and streams of the process and returns the exit code. The providers come before
// the built-in ones, the first of them first.
func Run(ctx context.Context, version string, providers ...Providers) int {
	streams, world := cli.System(version)
	world.Embedded = append(world.Embedded, providers...)
	return cli.Run(ctx, os.Args[1:], streams, world)
}
