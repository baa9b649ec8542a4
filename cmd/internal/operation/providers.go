package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
	"github.com/yamlhost/yamlhost/workspace/sources"
)

// PulumiVersion is the version of the Pulumi engine with which this program is compatible (L3.62).
const PulumiVersion = "3.260.0"

// Providers decides which provider serves a package: an installed plugin or an explicit version or download URL takes
// precedence over a built-in provider (D8). It is safe for concurrent use.
type Providers struct {
	used      usedPlugins
	finder    plugin.Finder
	inProcess []console.EmbeddedProviders // in this process, in order of preference
	Given     *GivenSchemas               // schemas that the command line names; nil for none

	MayReadStack func(name string) error // an error for a stack that the program may not read; nil allows all
	trace        *os.File                // every call to a plugin, with PULUMI_DEBUG_GRPC; nil for none

	Paths   *pathPlugins     // those that the project names by their paths
	Sources *sources.Sources // of dynamic types
	dynamic provider.Loader
	trust   Trust

	parameterized parameterized
	newStack      bool // the stack has no resources yet; set before the program runs
}

var _ provider.Loader = (*Providers)(nil)

// builtIn are the providers of package embedded.
type builtIn struct{ provider.Loader }

func (builtIn) Schema(name string) ([]byte, bool) { return embedded.Schema(name) }

func (builtIn) Version(name string) (string, bool) { return embedded.Version(name) }

// Trust is the degree to which a command trusts the code of a project (D13).
type Trust uint8

// The levels of trust.
const (
	Trusted Trust = iota // plugins, commands and compilers of the project are started
	// nothing that the project brings is started; plugins of the user are asked for their schemas
	Careful
	Untrusted // and plugins are started only when they are installed and locked
)

// NewProviders returns the providers of a project. log receives messages of plugins and commands; it may be nil and is
// called concurrently. Close ends all plugins.
func NewProviders(a *console.Console, ws *workspace.Workspace, log func(plugin.Message), trust Trust) *Providers {
	home := a.World.PulumiHome()
	options := plugin.Options{
		Env: a.World.Env, Pass: a.Global.PassEnv, Supervisor: a.World.Supervisor(),
		Path:          filepath.SplitList(a.World.Getenv("PATH")),
		IgnoreAmbient: a.World.Enabled("PULUMI_IGNORE_AMBIENT_PLUGINS"),
		Home:          home, ProgramDir: ws.Dir(), RootDir: ws.Project.Dir, Project: ws.Project.Name.Text,
		DebugProviders: debugProviders(a.World.Getenv("PULUMI_DEBUG_PROVIDERS")),
		LegacySearch:   a.World.Getenv("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH") != "",
		DisablePreview: a.World.Enabled("PULUMI_DISABLE_PROVIDER_PREVIEW"), PulumiVersion: PulumiVersion, Log: log,
		ReadScript: func(path string) (plugin.Script, error) {
			p, err := project.ReadPluginProgram(confine.Door{}, path)
			return plugin.Script(p), err
		},
	}
	if command := ws.Project.Compiler; command != nil {
		options.RuntimeOptions = map[string]string{"compiler": command.Text}
	}
	if a.World.Self != "" { // this program runs plugins in YAML, whatever is on the path
		options.Languages = map[string][]string{"yaml": {a.World.Self, "serve", "language"}}
	}
	if log != nil {
		options.Warn = once(func(text string) { log(plugin.Message{Severity: plugin.Warning, Text: text}) })
	}
	for _, p := range ws.Project.Plugins {
		if p.Kind == "providers" {
			options.Overrides = append(options.Overrides, plugin.Override{Name: p.Name, Version: p.Version,
				Path: p.Path})
		}
	}
	for _, p := range ws.Plugins {
		options.Overrides = append(options.Overrides, plugin.Override{Name: p.Name, Path: p.Dir})
	}
	for _, c := range ws.Components {
		if len(c.File.Dynamic) > 0 { // the language host serves the provider of its types
			options.Overrides = append(options.Overrides, plugin.Override{Name: c.Name, Path: c.Dir})
		}
	}
	inProcess := embedded.Options{Dir: ws.Dir(), Environ: a.ChildEnv(), Windows: runtime.GOOS == "windows",
		Now: a.World.Now, Random: a.World.Random, SuppressSecretOutput: a.Global.SuppressSecretOutput}
	inProcess.Supervisor = a.World.Supervisor()
	p := &Providers{trust: trust}
	hint := once(func(text string) { log(plugin.Message{Severity: plugin.Info, Text: text}) })
	if log != nil {
		inProcess.Log = func(line embedded.LogLine) {
			if line.Secret && (line.URN != "" || p.newStack) {
				hint(secretOutputHint)
			}
			log(plugin.Message{URN: line.URN, Severity: plugin.Info, Text: line.Text})
		}
	}
	files := &sources.Sources{Confined: trust == Untrusted}
	opts := dynamic.Options{Dir: ws.Dir(), Environ: a.World.Env, Path: options.Path, Project: options.Project,
		Maps: files.Map, Supervisor: a.World.Supervisor(), SuppressSecretOutput: a.Global.SuppressSecretOutput}
	if log != nil {
		opts.Log = func(line dynamic.LogLine) {
			if line.Secret && p.newStack {
				hint(secretOutputHint)
			}
			log(plugin.Message{URN: line.URN, Severity: severityOf(line.Severity), Text: line.Text})
		}
	}
	options.Approve = asLocked(lockDir(ws), trust == Untrusted)
	if trust >= Careful {
		options.Path = outside(options.Path, ws.Project.Dir)
	}
	if trust == Untrusted {
		options.IgnoreAmbient = true
		inProcess.Confined, inProcess.Environ = ws.Project.Dir, nil
	}
	if path := a.World.Getenv("PULUMI_DEBUG_GRPC"); path != "" {
		var err error
		if p.trace, err = os.OpenFile(a.Path(path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			options.Trace = p.trace
		} else if options.Warn != nil {
			options.Warn("PULUMI_DEBUG_GRPC: " + err.Error())
		}
	}
	p.Paths = pathPluginsOf(ws)
	p.Paths.Barred = trust >= Careful
	p.finder = plugin.Finder{Host: plugin.NewHost(options), Cache: plugin.SchemaCache{Home: home},
		AskOnce: trust >= Careful}
	p.Sources, p.dynamic = files, dynamic.NewLoader(opts)
	p.inProcess = append(append([]console.EmbeddedProviders(nil), a.World.Embedded...),
		builtIn{embedded.NewLoader(inProcess)})
	return p
}

// secretOutputHint is shown when the first command of a resource with secret inputs prints output, and when a function
// or the code of a dynamic type does so before the stack has anything.
const secretOutputHint = "The output of commands and code with secret inputs is shown, with secrets replaced where " +
	"they are recognized. To show none of it, use --suppress-secret-output."

// severityOf returns the severity of a line that the code of a dynamic type printed.
func severityOf(name string) plugin.Severity {
	switch name {
	case "debug":
		return plugin.Debug
	case "warning":
		return plugin.Warning
	case "error":
		return plugin.Error
	}
	return plugin.Info
}

// once passes each text on only once, since a command may start a plugin several times. It is safe for concurrent use.
func once(tell func(text string)) func(text string) {
	var told sync.Map
	return func(text string) {
		if _, again := told.LoadOrStore(text, true); !again {
			tell(text)
		}
	}
}

// debugProviders reads PULUMI_DEBUG_PROVIDERS, a list of name:port.
func debugProviders(text string) map[string]int {
	ports := map[string]int{}
	for item := range strings.SplitSeq(text, ",") {
		name, port, found := strings.Cut(strings.TrimSpace(item), ":")
		if n, err := strconv.Atoi(port); found && err == nil {
			ports[name] = n
		}
	}
	return ports
}

// Close ends all plugins.
func (p *Providers) Close() error {
	err := p.finder.Host.Close()
	if p.trace != nil {
		err = errors.Join(err, p.trace.Close())
	}
	return err
}

// Embedded returns the in-process provider that serves a package; nil if a plugin serves it, or none.
func (p *Providers) Embedded(name, version, url string, parameterized bool) console.EmbeddedProviders {
	if parameterized || url != "" || p.Paths.has(name) {
		return nil
	}
	for _, own := range p.inProcess {
		if _, found := own.Schema(name); !found {
			continue
		}
		if version != "" && !servesVersion(own, name, version) {
			return nil
		}
		if _, err := p.finder.Host.Find(name, version); err == nil {
			return nil
		}
		return own
	}
	return nil
}

// servesVersion reports whether an in-process provider replaces that version of its public package.
func servesVersion(own console.EmbeddedProviders, name, version string) bool {
	versioned, ok := own.(interface {
		Version(name string) (string, bool)
	})
	if !ok {
		return false
	}
	have, found := versioned.Version(name)
	return found && strings.TrimPrefix(version, "v") == have
}

// Load starts a provider.
func (p *Providers) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	if err := p.refuse(pkg.Name); err != nil {
		return nil, err
	}
	if pkg.Name == dynamic.Package {
		return p.dynamic.Load(ctx, pkg)
	}
	if own := p.Embedded(pkg.Name, pkg.Version, pkg.DownloadURL, pkg.Parameterization != nil); own != nil {
		return own.Load(ctx, pkg)
	}
	if err := p.notePlugin(pkg); err != nil {
		return nil, err
	}
	return p.finder.Load(ctx, pkg, func(missing *provider.MissingError) {
		if version, found := embedded.Version(pkg.Name); found {
			missing.Looked = append(missing.Looked, "the built-in providers (which have "+pkg.Name+" "+version+")")
		}
	})
}

// Schemas returns a loader of the schemas of these providers.
func (p *Providers) Schemas() schema.Loader {
	loader, _ := p.WatchedSchemas()
	return loader
}

// WatchedSchemas is Schemas with a function that reports whether an opened schema turned out to be damaged, for
// instance by a concurrent write to its file. Opening it again gives a valid schema or an error.
func (p *Providers) WatchedSchemas() (loader schema.Loader, damaged func() bool) {
	var mu sync.Mutex
	var opened []*schema.Package // guarded by mu
	loader = schema.NewPackageLoader(func(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
		pkg, err := p.openSchema(ctx, d)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			opened = append(opened, pkg)
		}
		return pkg, err
	})
	return loader, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(opened, (*schema.Package).Damaged)
	}
}

// openSchema finds the schema of a package: that of the command line, the built-in one, or the plugin's. It asks the
// plugin only if the cache has no sound copy.
func (p *Providers) openSchema(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	if path := p.Given.find(d); path != "" {
		return p.finder.Cache.OpenFile(path)
	}
	if pkg, err := p.ownPackage(d); pkg != nil || err != nil {
		return pkg, err
	}
	return p.finder.Schema(ctx, d)
}

// KeptSchema returns the schema of a built-in or installed package if that needs no plugin: for completion, which must
// be quick and start nothing.
func (p *Providers) KeptSchema(name string) (*schema.Package, error) {
	d := schema.Descriptor{Name: name}
	if pkg, err := p.ownPackage(d); pkg != nil || err != nil {
		return pkg, err
	}
	return p.finder.KeptSchema(d)
}

// ownPackage returns the parsed ownSchema of a package; nil without one.
func (p *Providers) ownPackage(d schema.Descriptor) (*schema.Package, error) {
	text, err := p.ownSchema(d)
	if text == nil || err != nil {
		return nil, err
	}
	return schema.Parse(text)
}

// ownSchema returns the schema of a package of this process: a parameterized package of this run, or an in-process
// provider. It returns nil for others, and an error for a plugin that must not be started.
func (p *Providers) ownSchema(d schema.Descriptor) ([]byte, error) {
	if text, ok := p.parameterized.texts.Load(d.Key()); ok {
		return text.([]byte), nil
	}
	if own := p.Embedded(d.Name, d.Version, d.DownloadURL, d.Parameterization != nil); own != nil {
		text, _ := own.Schema(d.Name)
		return text, nil
	}
	return nil, p.Paths.bar(d.Name)
}

// FetchSchema returns the whole text of a package's schema.
func (p *Providers) FetchSchema(ctx context.Context, d schema.Descriptor) ([]byte, error) {
	if path := p.Given.find(d); path != "" {
		return plugin.ReadSchemaFile(path)
	}
	if text, err := p.ownSchema(d); text != nil || err != nil {
		return text, err
	}
	return p.finder.SchemaText(ctx, d)
}

// PackageNames returns the packages that are built in, installed, or a project's own.
func PackageNames(home string, own []string) []string {
	names := append(embedded.Names(), own...)
	for _, installed := range install.Resources(home) {
		names = append(names, installed.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// parameterized caches the parameterized packages of the project's `packages`, by request, for one run only, since a
// parameter may be the name of a file.
type parameterized struct {
	made  parallel.Memo[string, schema.Descriptor, error]
	texts sync.Map // the schemas, by the key of their descriptor
}

// Parameterize passes parameters to a plugin and returns the descriptor of the resulting package, from its schema.
func (p *Providers) Parameterize(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	key, err := json.Marshal([]any{pkg.Source, pkg.Version, pkg.PluginDownloadURL, pkg.Parameters})
	if err != nil {
		return schema.Descriptor{}, err
	}
	return p.parameterized.made.Get(string(key), func() (schema.Descriptor, error) {
		return p.askParameterized(ctx, pkg)
	})
}

func (p *Providers) askParameterized(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
	wanted := provider.Package{Name: pkg.Source, Version: pkg.Version, DownloadURL: pkg.PluginDownloadURL}
	if err := p.Paths.bar(wanted.Name); err != nil {
		return schema.Descriptor{}, err
	}
	d, text, err := p.finder.Parameterize(ctx, wanted, pkg.Parameters)
	if err != nil {
		return d, err
	}
	if p.Paths.has(wanted.Name) {
		d.Name, d.Version = wanted.Name, "" // the name for which the project has a path
	}
	p.parameterized.texts.Store(d.Key(), text)
	return d, nil
}

// Extended returns a package with the extensions of its plugin that the project declares (L1.41). Extensions that
// cannot be loaded are omitted.
func (p *Providers) Extended(ctx context.Context, ws *workspace.Workspace, base *schema.Package) *schema.Package {
	made := slices.Clone(ws.Packages)
	for _, pkg := range ws.Project.Packages {
		if len(pkg.Parameters) > 0 && pkg.Source == base.Name {
			if d, err := p.Parameterize(ctx, pkg); err == nil {
				made = append(made, d)
			}
		}
	}
	loader := p.Schemas()
	var extensions []*schema.Package
	for _, d := range made {
		if d.Extension && d.Name == base.Name && d.PackageName() != base.Name {
			if more, err := loader.Load(ctx, d); err == nil {
				extensions = append(extensions, more)
			}
		}
	}
	if len(extensions) == 0 {
		return base
	}
	return schema.Extended(base, nil, extensions...)
}

// Described returns the package with a name in the project: one declared beside the program, a parameterized one
// (L7.32), or else the plugin of that name. It starts a plugin only if the project has an entry of that name.
func (p *Providers) Described(ctx context.Context, ws *workspace.Workspace, name, version string) (schema.Descriptor,
	error) {
	version = schema.PlainVersion(version)
	for _, d := range ws.Packages {
		if d.PackageName() == name && (version == "" || version == d.PackageVersion()) {
			return d, nil
		}
	}
	for _, pkg := range ws.Project.Packages {
		if len(pkg.Parameters) == 0 || pkg.Name.Text != name {
			continue
		}
		d, err := p.Parameterize(ctx, pkg)
		if err != nil {
			return d, fmt.Errorf("package %s, which the plugin %s makes of parameters: %w", name, pkg.Source, err)
		}
		if version == "" || version == d.PackageVersion() {
			return d, nil
		}
	}
	return schema.Descriptor{Name: name, Version: version}, nil
}
