// Command pulumi-resource-drawer is the provider for crash tests, as a plugin. DRAWER is the folder of its objects, and
// DRAWER_DELAY how long a change takes, as Go writes durations.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

func main() {
	served := &drawer.Provider{Dir: os.Getenv("DRAWER")}
	if delay, err := time.ParseDuration(os.Getenv("DRAWER_DELAY")); err == nil {
		served.Delay = func() time.Duration { return delay }
	}
	if err := plugin.ServeMain(context.Background(), served, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
