package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// Finder loads plugins and their schemas: it finds installed plugins, downloads missing ones, and asks a plugin for its
// schema only if the cache does not have it. It is safe for concurrent use.
type Finder struct {
	Host  *Host
	Cache SchemaCache
	// Fetcher downloads missing plugins; nil to download nothing.
	Fetcher *install.Fetcher
	// AskOnce uses the cache also for schemas of plugins on PATH. Otherwise such a plugin is asked each time, and the
	// cache updated, since a plugin under development may be a script that starts another program.
	AskOnce bool
}

// Load starts a plugin, after downloading it if it is missing. missing may add to the error the other places that were
// searched; it may be nil. The error wraps *provider.MissingError if there is no such plugin.
func (f *Finder) Load(ctx context.Context, pkg provider.Package, missing func(*provider.MissingError)) (
	provider.Provider, error) {
	loaded, err := f.Host.Load(ctx, pkg)
	if absent, ok := errors.AsType[*provider.MissingError](err); ok {
		if missing != nil {
			missing(absent)
		}
		if err := f.Fetcher.Fetch(ctx, pkg, absent); err != nil {
			return nil, err
		}
		return f.Host.Load(ctx, pkg)
	}
	return loaded, err
}

// Schema opens the schema of a plugin, after downloading the plugin if it is missing. The error wraps
// schema.ErrNotFound if there is no such plugin; its Advice tells what to do.
func (f *Finder) Schema(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	loc, err := f.find(ctx, d)
	if err != nil {
		return nil, err
	}
	path := f.Cache.Path(d, loc)
	if path == "" {
		text, err := f.askSchema(ctx, d)
		if err != nil {
			return nil, err
		}
		return schema.Parse(text)
	}
	installed := loc.Installed()
	if !loc.Ambient || f.AskOnce {
		if pkg, err := f.Cache.Open(path, installed); err == nil && pkg.Owns(d.PackageName()) {
			return pkg, nil
		}
	}
	var pkg *schema.Package
	err = f.ask(ctx, d, func(loaded provider.Provider, r provider.SchemaRequest) error {
		keep := func(open func() io.Reader) (err error) {
			pkg, err = f.Cache.Keep(path, installed, open)
			return err
		}
		if reader, ok := loaded.(provider.SchemaReader); ok { // without a copy of the text in memory
			return reader.ReadSchema(ctx, r, keep)
		}
		text, err := loaded.Schema(ctx, r)
		if err != nil {
			return err
		}
		return keep(func() io.Reader { return bytes.NewReader(text) })
	})
	return pkg, err
}

// KeptSchema opens the schema of an installed plugin if the cache has it. It starts no plugin and downloads nothing.
func (f *Finder) KeptSchema(d schema.Descriptor) (*schema.Package, error) {
	loc, err := f.Host.Find(d.Name, d.Version)
	if err != nil {
		return nil, err
	}
	path := f.Cache.Path(d, loc)
	if path == "" {
		return nil, schema.ErrNotFound
	}
	return f.Cache.Open(path, loc.Installed())
}

// SchemaText returns the text of the schema that Schema opens.
func (f *Finder) SchemaText(ctx context.Context, d schema.Descriptor) ([]byte, error) {
	if _, err := f.Schema(ctx, d); err != nil { // fills the cache with a valid schema
		return nil, err
	}
	loc, err := f.Host.Find(d.Name, d.Version)
	if err != nil {
		return nil, err
	}
	if path := f.Cache.Path(d, loc); path != "" {
		if text, err := os.ReadFile(path); err == nil {
			return text, nil
		}
	}
	return f.askSchema(ctx, d)
}

// find locates the plugin of a package.
func (f *Finder) find(ctx context.Context, d schema.Descriptor) (Location, error) {
	loc, err := f.Host.Find(d.Name, d.Version)
	absent, ok := errors.AsType[*provider.MissingError](err)
	if !ok {
		return loc, err
	}
	err = f.Fetcher.Fetch(ctx, provider.Package{Name: d.Name, Version: d.Version, DownloadURL: d.DownloadURL}, absent)
	if err != nil {
		return Location{}, asNotFound(err)
	}
	return f.Host.Find(d.Name, d.Version)
}

// asNotFound makes the error of a missing plugin match schema.ErrNotFound as well.
func asNotFound(err error) error {
	if missing, ok := errors.AsType[*provider.MissingError](err); ok {
		return notFoundError{missing}
	}
	return err
}

// notFoundError is the error of a missing plugin for package schema.
type notFoundError struct{ *provider.MissingError }

// Advice tells what to do, for the checker.
func (e notFoundError) Advice() string { return e.MissingError.Advice }

// Unwrap returns both errors.
func (e notFoundError) Unwrap() []error { return []error{schema.ErrNotFound, e.MissingError} }

func (f *Finder) askSchema(ctx context.Context, d schema.Descriptor) ([]byte, error) {
	var text []byte
	err := f.ask(ctx, d, func(loaded provider.Provider, r provider.SchemaRequest) (err error) {
		text, err = loaded.Schema(ctx, r)
		return err
	})
	return text, err
}

// ask starts the plugin of a package for one request about its schema.
func (f *Finder) ask(ctx context.Context, d schema.Descriptor,
	question func(provider.Provider, provider.SchemaRequest) error) error {
	pkg := provider.Package{Name: d.Name, Version: d.Version, DownloadURL: d.DownloadURL}
	request := provider.SchemaRequest{}
	if q := d.Parameterization; q != nil {
		pkg.Parameterization = &provider.Parameterization{Name: q.Name, Version: q.Version, Value: q.Value}
		request = provider.SchemaRequest{SubpackageName: q.Name, SubpackageVersion: q.Version}
	}
	loaded, err := f.Host.Load(ctx, pkg)
	if err != nil {
		return err
	}
	return errors.Join(question(loaded, request), loaded.Close())
}

// Parameterize passes parameters to a plugin (L7.32), and returns the descriptor of the resulting package and its
// schema.
func (f *Finder) Parameterize(ctx context.Context, pkg provider.Package, parameters []string) (schema.Descriptor,
	[]byte, error) {
	loaded, err := f.Load(ctx, pkg, nil)
	if err != nil {
		return schema.Descriptor{}, nil, asNotFound(err)
	}
	became, err := loaded.Parameterize(ctx, provider.ParameterizeRequest{Args: parameters})
	var text []byte
	if err == nil {
		text, err = loaded.Schema(ctx, provider.SchemaRequest{SubpackageName: became.Name,
			SubpackageVersion: became.Version})
	}
	if err := errors.Join(err, loaded.Close()); err != nil {
		return schema.Descriptor{}, nil, err
	}
	type origin struct {
		BaseProvider struct{ Name, Version string }
		Parameter    []byte
	}
	var head struct {
		Name, Version             string
		Parameterization          *origin
		ExtensionParameterization *origin
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Name == "" {
		return schema.Descriptor{}, nil, errors.New("the schema that the plugin makes from its parameters cannot be read")
	}
	made, name, version := head.Parameterization, head.Name, head.Version
	extension := head.ExtensionParameterization
	// A plugin that is older than extensions describes one as a package of its own name, and gives it another name in
	// its answer to the parameters.
	if extension == nil && made != nil && made.BaseProvider.Name == name && became.Name != name {
		extension = made
	}
	if extension != nil { // its tokens may be those of its base (L1.41)
		made, name, version = extension, became.Name, became.Version
	}
	if made == nil {
		return schema.Descriptor{}, nil, fmt.Errorf("the schema of %s lacks the parameters with which the plugin %s "+
			"makes it", head.Name,
			pkg.Name)
	}
	return schema.Descriptor{
		Name: made.BaseProvider.Name, Version: made.BaseProvider.Version, DownloadURL: pkg.DownloadURL,
		Extension:        extension != nil,
		Parameterization: &schema.Parameterization{Name: name, Version: version, Value: made.Parameter},
	}, text, nil
}
