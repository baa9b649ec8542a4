// Command pulumi-resource-noop is the provider that does nothing, as a plugin.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/yamlhost/yamlhost/bench/noop"
	"github.com/yamlhost/yamlhost/runtime/plugin"
)

func main() {
	if err := plugin.ServeMain(context.Background(), &noop.Provider{}, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
