package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// parameterized are the packages that plugins make of the arguments in the project's `packages`, by what they were asked
// for. A plugin is asked once in a run, and its schema kept: an argument may be a file, so that nothing is kept longer.
type parameterized struct {
	mu    sync.Mutex // guards made
	made  map[string]*madePackage
	texts sync.Map // the schemas, by the key of their descriptor
}

type madePackage struct {
	once       sync.Once
	descriptor schema.Descriptor
	err        error
}

// parameterize asks a plugin what package it becomes with arguments; its schema says how to ask for that again.
func (p *providers) parameterize(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	key, err := json.Marshal([]any{pkg.Source, pkg.Version, pkg.PluginDownloadURL, pkg.Parameters})
	if err != nil {
		return schema.Descriptor{}, err
	}
	p.parameterized.mu.Lock()
	made := p.parameterized.made[string(key)]
	if made == nil {
		if p.parameterized.made == nil {
			p.parameterized.made = map[string]*madePackage{}
		}
		made = &madePackage{}
		p.parameterized.made[string(key)] = made
	}
	p.parameterized.mu.Unlock()
	made.once.Do(func() {
		made.descriptor, made.err = p.askParameterized(ctx, pkg)
		if missing, ok := errors.AsType[*provider.MissingError](made.err); ok {
			made.err = notFoundError{missing}
		}
	})
	return made.descriptor, made.err
}

func (p *providers) askParameterized(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	wanted := provider.Package{Name: pkg.Source, Version: pkg.Version, DownloadURL: pkg.PluginDownloadURL}
	if err := p.paths.bar(wanted.Name); err != nil {
		return schema.Descriptor{}, err
	}
	loaded, err := p.host.Load(ctx, wanted)
	var missing *provider.MissingError
	if errors.As(err, &missing) {
		if err = p.acquire(ctx, wanted, missing); err == nil {
			loaded, err = p.host.Load(ctx, wanted)
		}
	}
	if err != nil {
		return schema.Descriptor{}, err
	}
	text, err := parameterizedSchema(ctx, loaded, pkg.Parameters)
	if closing := loaded.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return schema.Descriptor{}, err
	}
	var head struct {
		Name, Version    string
		Parameterization *struct {
			BaseProvider struct{ Name, Version string }
			Parameter    []byte
		}
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Name == "" {
		return schema.Descriptor{}, errors.New("the schema of what the plugin makes of its parameters cannot be read")
	}
	if head.Parameterization == nil {
		return schema.Descriptor{}, fmt.Errorf("the schema of %s does not say how the plugin %s makes it", head.Name, pkg.Source)
	}
	d := schema.Descriptor{
		Name: head.Parameterization.BaseProvider.Name, Version: head.Parameterization.BaseProvider.Version, DownloadURL: pkg.PluginDownloadURL,
		Parameterization: &schema.Parameterization{Name: head.Name, Version: head.Version, Value: head.Parameterization.Parameter},
	}
	if p.paths.has(wanted.Name) {
		d.Name, d.Version = wanted.Name, "" // by which its path is known
	}
	p.parameterized.texts.Store(d.Key(), text)
	return d, nil
}

func parameterizedSchema(ctx context.Context, loaded provider.Provider, args []string) ([]byte, error) {
	became, err := loaded.Parameterize(ctx, provider.ParameterizeRequest{Args: args})
	if err != nil {
		return nil, err
	}
	return loaded.Schema(ctx, provider.SchemaRequest{SubpackageName: became.Name, SubpackageVersion: became.Version})
}

// parameterizedText is the schema that a plugin gave in this run for a package that it made of arguments.
func (p *providers) parameterizedText(d schema.Descriptor) []byte {
	if text, ok := p.parameterized.texts.Load(d.Key()); ok {
		return text.([]byte)
	}
	return nil
}
