// Command yamlhost-noop is yamlhost with the provider noop built in. It is for measuring.
package main

import (
	"context"
	"os"

	"github.com/yamlhost/yamlhost/bench/noop"
	"github.com/yamlhost/yamlhost/cmd/custom"
)

func main() { os.Exit(custom.Run(context.Background(), "0.1.0", noop.Loader{})) }
