package langhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// pluginFile marks a folder as a plugin.
const pluginFile = "PulumiPlugin.yaml"

// RunPlugin serves the components of a plugin written in YAML as a provider (F9.10, L1.35), in this process, until the
// stream is cancelled. The first line of the streamed output is the port.
func (h *Host) RunPlugin(r *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	ctx, done := h.begin(stream.Context())
	defer done()
	info := r.GetInfo()
	if _, err := confine.Anywhere().Stat(filepath.Join(info.GetProgramDirectory(), workspace.PackFile)); err == nil ||
		r.GetKind() == "analyzer" {
		return h.runPack(ctx, r, stream)
	}
	p, err := openPlugin(info.GetProgramDirectory())
	if err != nil {
		return err
	}
	schemas, closeSchemas, err := h.schemas(r.GetLoaderTarget())
	if err != nil {
		return err
	}
	defer closeSchemas()
	p.cwd, p.schemas, p.getenv = r.GetPwd(), schemas, h.options.Env.Lookup
	p.log = func(ds diag.Diagnostics) { h.engine.report(ctx, ds) }
	p.requireVersion = h.engine.requireVersion
	served := componentProvider{plugin: p, Refusing: refusing(p.name)}
	if served.types, err = h.typesOf(ctx, p, r.GetEnv()); err != nil {
		return err
	}
	defer func() { _ = served.Close() }()
	address, stop, err := plugin.Serve(served)
	if err != nil {
		return err
	}
	defer stop()
	return announce(ctx, address, stream)
}

// announce sends the port of a plugin to the engine and waits until ctx is done.
func announce(ctx context.Context, address string, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("serve the plugin: %w", err)
	}
	err = stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: []byte(port +
		"\n")}})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// componentPlugin is a folder with components written in YAML (L1.G).
type componentPlugin struct {
	dir, cwd      string
	name, version string
	namespace     string
	description   string
	file          *ast.File
	packages      []schema.Descriptor

	schemas        schema.Loader
	getenv         func(string) (string, bool)
	requireVersion func(ctx context.Context, wanted string) error
	log            func(diag.Diagnostics)

	checking   sync.Mutex // held while the components are checked; guards components
	components []*check.Component
}

// openPlugin reads all files of a plugin (L1.30). The error lists their faults.
func openPlugin(dir string) (*componentPlugin, error) {
	paths, err := confine.Anywhere().Glob(dir, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the plugin: %w", err)
	}
	if !slices.Contains(paths, filepath.Join(dir, pluginFile)) {
		return nil, fmt.Errorf("%s has no %s", dir, pluginFile)
	}
	files, found, err := project.PackageFiles(confine.Anywhere(), dir, workspace.Relative(dir))
	if err != nil {
		return nil, err
	}
	p := &componentPlugin{dir: dir, packages: workspace.Descriptors(files), file: &ast.File{}}
	declared := map[string]bool{}
	for _, f := range files {
		declared[f.Path] = true
	}
	slices.Sort(paths)
	for _, path := range paths {
		if declared[path] {
			continue
		}
		text, err := confine.Anywhere().ReadFile(context.Background(), path)
		if err != nil {
			return nil, fmt.Errorf("read the plugin: %w", err)
		}
		file, diags := parser.Parse(diag.NewSource(filepath.Base(path), project.StripBOM(text)),
			parser.Options{Plugin: true})
		found.Add(diags...)
		found.Add(p.merge(file)...)
	}
	if p.name == "" {
		found.Add(diag.Diagnostic{Code: diag.WrongKind, Summary: "the plugin has no name", Detail: "write `name: …` into " +
			pluginFile})
	}
	p.version = schema.PlainVersion(p.version)
	if p.version == "" {
		p.version = "0.0.0" // L1.32
	}
	return p, errorOf(found)
}

// merge adds a file to the plugin (L1.30, L1.32).
func (p *componentPlugin) merge(file *ast.File) diag.Diagnostics {
	var diags diag.Diagnostics
	take := func(dst *string, src *ast.Literal, field string) {
		switch {
		case src == nil:
		case *dst != "":
			diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: src.Range,
				Summary: "another file of the plugin gives its " + field + " already",
				Detail:  "keep it in " + pluginFile})
		default:
			*dst = src.Value
		}
	}
	take(&p.name, file.Name, "name")
	take(&p.version, file.Version, "version")
	take(&p.namespace, file.Namespace, "namespace")
	take(&p.description, file.Description, "description")
	if p.file.Source == nil || file.Source.Name() == pluginFile {
		p.file.Source = file.Source
	}
	for _, c := range file.Components {
		for _, other := range p.file.Components {
			if other.Name.Value == c.Name.Value {
				diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: c.Name.Range, Summary: "there is a component `" +
					c.Name.Value + "` already",
					Related: []diag.Related{{Range: other.Name.Range, Message: "the other component is here"}}})
			}
		}
		p.file.Components = append(p.file.Components, c)
	}
	p.file.Dynamic = append(p.file.Dynamic, file.Dynamic...)
	return diags
}

// check checks the components and returns them. After a success it returns the same components without a new check.
func (p *componentPlugin) check(ctx context.Context) ([]*check.Component, error) {
	p.checking.Lock()
	defer p.checking.Unlock()
	if p.components != nil {
		return p.components, nil
	}
	program, diags := p.checkWith(ctx, p.schemas)
	if err := errorOf(diags); err != nil {
		return nil, err
	}
	p.log(diags)
	p.components = program.Components
	return p.components, nil
}

func (p *componentPlugin) checkWith(ctx context.Context, schemas schema.Loader) (*check.Program, diag.Diagnostics) {
	return check.Check(ctx, &ast.File{Source: p.file.Source}, check.Options{
		Project: p.name, Schemas: schemas, Packages: p.packages, ProgramDir: p.dir,
		Local: []check.LocalPackage{{Name: p.name, Dir: p.dir, File: p.file}},
	})
}

// component returns the component with a token.
func (p *componentPlugin) component(ctx context.Context, token string) (*check.Component, error) {
	components, err := p.check(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		if c.Token == token {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the plugin %s has no component %s", p.name, token)
}

// errorOf joins the findings of severity Error into one error; nil if there are none.
func errorOf(ds diag.Diagnostics) error {
	var texts []string
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			texts = append(texts, messageOf(d))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "\n"))
}
