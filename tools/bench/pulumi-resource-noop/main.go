// Command pulumi-resource-noop is the provider that does nothing, as a plugin. If a file schema.json lies beside it,
// the plugin serves that schema instead, for measurements of schemas alone.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/noop"
)

// described is a provider with the schema in a file.
type described struct {
	noop.Provider
	schema string // path of the file
}

func (p *described) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return os.ReadFile(p.schema)
}

func main() {
	var served provider.Provider = &noop.Provider{}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), "schema.json")
		if _, err := os.Stat(beside); err == nil {
			served = &described{schema: beside}
		}
	}
	if err := plugin.ServeMain(context.Background(), served, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
