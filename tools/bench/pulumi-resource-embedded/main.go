// Command pulumi-resource-embedded serves a built-in provider as a plugin for other engines. The name of the executable
// selects it, as in pulumi-resource-random. Random numbers are always the same, so that the results of two hosts can be
// compared.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

func main() {
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), "pulumi-resource-")
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	loader := embedded.NewLoader(embedded.Options{Dir: dir, Environ: os.Environ(), Random: zeros{}})
	p, err := loader.Load(ctx, provider.Package{Name: name})
	if err != nil {
		return err
	}
	return plugin.ServeMain(ctx, p, os.Stdout, os.Args[len(os.Args)-1])
}

// zeros is a source of random numbers that are all 0, so that neither the order of calls nor the process matters.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
