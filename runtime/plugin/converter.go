package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"

	"github.com/yamlhost/yamlhost/internal/transport"
	"github.com/yamlhost/yamlhost/schema"
)

// Converter is a plugin that reads the programs and states of another tool. It is not safe for concurrent use.
type Converter struct {
	client
	remote  pulumirpc.ConverterClient
	address string // of the services that it asks
	stop    func()
}

// ConverterServices answer the requests of a converter. They are called concurrently.
type ConverterServices struct {
	// Mapping returns the mapping of a provider's names to those of a package. plugin is the package that should have
	// it; empty for the package of the same name. Empty data means none.
	Mapping func(ctx context.Context, name, plugin string) ([]byte, error)
	// Schema returns the text of a package's schema.
	Schema func(ctx context.Context, d schema.Descriptor) ([]byte, error)
}

// ConverterFinding is a remark of a converter about a place of its input. File is empty for no place.
type ConverterFinding struct {
	Error           bool
	Summary, Detail string
	File            string
	Line            int // 1-based
}

// ConvertedResource is a resource of another tool's state in the form for an import.
type ConvertedResource struct {
	Type, Name, ID    string
	Version           string
	PluginDownloadURL string
	LogicalName       string
	Component, Remote bool
	Parent            string
	Properties        []string
}

// serve serves the services at an address of their own (F2.12), until stop is called.
func (s ConverterServices) serve() (address string, stop func(), err error) {
	return transport.Serve("the services for converters", func(server *grpc.Server) {
		codegen.RegisterMapperServer(server, converterServer{services: s})
		codegen.RegisterLoaderServer(server, converterServer{services: s})
	})
}

// LoadConverter starts the converter for a tool. The caller closes it.
func (h *Host) LoadConverter(ctx context.Context, name string, services ConverterServices) (_ *Converter, err error) {
	o := &h.options
	path, err := o.FindKind("converter", name, "")
	if err != nil {
		return nil, err
	}
	c := &Converter{client: client{host: h, name: name}, stop: func() {}}
	defer func() {
		if err != nil {
			c.abandon()
			c.stop()
		}
	}()
	if c.address, c.stop, err = services.serve(); err != nil {
		return nil, err
	}
	start := program{name: name, path: path, env: o.inherited(), dir: o.ProgramDir}
	port := 0
	if c.process, port, err = o.launch(ctx, start, o.StartLimit); err != nil {
		return nil, err
	}
	if err := c.connect(port); err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	c.remote = pulumirpc.NewConverterClient(c.conn)
	return c, nil
}

// Program converts the program in a folder to PCL, which the converter writes to another folder. generated is the
// folder of the future project; args are those of the tool.
func (c *Converter) Program(ctx context.Context, from, to, generated string, args []string) ([]ConverterFinding,
	error) {
	got, err := c.remote.ConvertProgram(ctx, &pulumirpc.ConvertProgramRequest{SourceDirectory: from,
		TargetDirectory: to,
		MapperTarget:    c.address, LoaderTarget: c.address, Args: args, GeneratedProjectDirectory: generated})
	if err != nil {
		return nil, c.fail(ctx, "convert the program", err)
	}
	return findings(got.GetDiagnostics()), nil
}

// State reads the state that args name.
func (c *Converter) State(ctx context.Context, args []string) ([]ConvertedResource, []ConverterFinding, error) {
	got, err := c.remote.ConvertState(ctx, &pulumirpc.ConvertStateRequest{MapperTarget: c.address,
		LoaderTarget: c.address, Args: args})
	if err != nil {
		return nil, nil, c.fail(ctx, "convert the state", err)
	}
	var found []ConvertedResource
	for _, r := range got.GetResources() {
		if r.GetParameterization() != nil || r.GetExtension() != nil {
			return nil, nil, fmt.Errorf("the converter %s answers that %s %s is of a package with parameters, which cannot be "+
				"imported that way yet", c.name, r.GetType(), r.GetName())
		}
		found = append(found, ConvertedResource{Type: r.GetType(), Name: r.GetName(), ID: r.GetId(),
			Version:           r.GetVersion(),
			PluginDownloadURL: r.GetPluginDownloadURL(), LogicalName: r.GetLogicalName(), Component: r.GetIsComponent(),
			Remote: r.GetIsRemote(), Parent: r.GetParent(), Properties: r.GetProperties()})
	}
	return found, findings(got.GetDiagnostics()), nil
}

// Close ends the converter, and the services for it.
func (c *Converter) Close() error {
	c.end(func(context.Context) {}) // converters have no Cancel
	c.stop()
	return nil
}

// GenerateProject lets the host of a language write a project from the PCL in a folder. project is the project file as
// JSON.
func (h *Host) GenerateProject(ctx context.Context, language, from, to, project string, services ConverterServices) (
	_ []ConverterFinding, err error) {
	o := &h.options
	command, ok := o.languageHost(language)
	if !ok {
		return nil, fmt.Errorf("no plugin %[1]s of the kind language is installed or on $PATH; it comes with the Pulumi CLI, or "+
			"install it with: yamlhost plugin install language %[1]s VERSION", language)
	}
	engine, err := h.EngineAddress()
	if err != nil {
		return nil, err
	}
	address, stop, err := services.serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	c := &client{host: h, name: language}
	defer c.abandon()
	if c.process, c.conn, err = o.startHost(ctx, language, command, engine, o.inherited(), o.ProgramDir); err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	got, err := pulumirpc.NewLanguageRuntimeClient(c.conn).GenerateProject(ctx, &pulumirpc.GenerateProjectRequest{
		SourceDirectory: from, TargetDirectory: to, Project: project, LoaderTarget: address, MapperTarget: address})
	if err != nil {
		return nil, c.fail(ctx, "generate the project", err)
	}
	return findings(got.GetDiagnostics()), nil
}

func findings(list []*codegen.Diagnostic) []ConverterFinding {
	var found []ConverterFinding
	for _, d := range list {
		found = append(found, ConverterFinding{Error: d.GetSeverity() == codegen.DiagnosticSeverity_DIAG_ERROR,
			Summary: d.GetSummary(), Detail: d.GetDetail(), File: d.GetSubject().GetFilename(),
			Line: int(d.GetSubject().GetStart().GetLine())})
	}
	return found
}

type converterServer struct {
	codegen.UnimplementedMapperServer
	codegen.UnimplementedLoaderServer
	services ConverterServices
}

// GetMapping returns the mapping of a provider, or nothing.
func (s converterServer) GetMapping(ctx context.Context, r *codegen.GetMappingRequest) (*codegen.GetMappingResponse,
	error) {
	data, err := s.services.Mapping(ctx, r.GetProvider(), r.GetPulumiProvider())
	if err != nil {
		return nil, err
	}
	return &codegen.GetMappingResponse{Data: data}, nil
}

// GetSchema returns the schema of a package.
func (s converterServer) GetSchema(ctx context.Context, r *codegen.GetSchemaRequest) (*codegen.GetSchemaResponse,
	error) {
	d := schema.Descriptor{Name: r.GetPackage(), Version: r.GetVersion(), DownloadURL: r.GetDownloadUrl()}
	if p := r.GetParameterization(); p != nil {
		d.Parameterization = &schema.Parameterization{Name: p.GetName(), Version: p.GetVersion(), Value: p.GetValue()}
	}
	text, err := s.services.Schema(ctx, d)
	if err != nil {
		return nil, err
	}
	return &codegen.GetSchemaResponse{Schema: json.RawMessage(text)}, nil
}
