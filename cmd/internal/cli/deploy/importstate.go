package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/workspace"
)

// importsOfState has a converter read the state of another tool.
func importsOfState(ctx context.Context, a *console.Console, o *importOptions) (_ map[string]urn.URN,
	entries []ImportEntry, err error) {
	if o.file != "" || o.query != "" || o.parent != "" || o.provider != "" {
		return nil, nil, console.WithCode(console.CodeBadUsage, "--from describes the whole import: remove the other flags")
	}
	args := append([]string(nil), o.args...)
	for i, arg := range args { // the plugin runs in another folder
		if path := a.Path(arg); exists(path) {
			args[i] = path
		}
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	defer providers.Close()
	converter, err := providers.Converter(ctx, o.from)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, converter.Close()) }()
	found, said, err := converter.State(ctx, args)
	if err != nil {
		return nil, nil, fmt.Errorf("converter %s: %w; nothing was imported", o.from, err)
	}
	if _, err := operation.SayConverted(a, a.World.Dir, said); err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("the state has no resources whose types have a mapping: nothing was imported")
	}
	for _, r := range found {
		entries = append(entries, ImportEntry{Type: r.Type, Name: r.Name, ID: r.ID, Parent: r.Parent, Version: r.Version,
			PluginDownloadURL: r.PluginDownloadURL, Properties: r.Properties, Component: r.Component, Remote: r.Remote,
			LogicalName: r.LogicalName})
	}
	fmt.Fprintf(a.Streams.Err, "%s to import\n", diag.Count(len(entries), "resource"))
	return map[string]urn.URN{}, entries, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
