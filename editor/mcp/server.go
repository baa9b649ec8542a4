package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Options are the folder and the features of a server.
type Options struct {
	Version string // version of yamlhost
	Folder  string // absolute path; programs outside of it are not read
	// Root returns the folder of the project that contains a file.
	Root func(path string) string
	// Plan previews the selected stack of the project in a folder, as text; nil to disable previews.
	Plan func(ctx context.Context, dir string) (string, error)
}

// Serve answers a client until it closes its end, or ctx is cancelled. It reads a message from each line of r, and
// answers a line that is not a message with an error.
func Serve(ctx context.Context, r io.Reader, out io.Writer, session *editor.Session, options Options) error {
	s, err := newServer(session, options)
	if err != nil {
		return err
	}
	err = s.Run(ctx, lines{r, out})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// server has one method for each tool. The SDK may call them concurrently.
type server struct {
	session *editor.Session
	options Options
	folder  string // options.Folder without symbolic links
}

// newServer returns an SDK server with the tools. The tool plan is missing if previews are disabled.
func newServer(session *editor.Session, options Options) (*mcp.Server, error) {
	folder, err := filepath.EvalSymlinks(options.Folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	s := &server{session: session, options: options, folder: folder}
	m := mcp.NewServer(&mcp.Implementation{Name: "yamlhost", Version: options.Version}, &mcp.ServerOptions{
		// No capabilities but those of the tools that follow: the SDK would announce logging by default.
		Capabilities: &mcp.ServerCapabilities{},
		Instructions: "Checks Pulumi YAML and JSON programs in one folder. Paths are relative to it. Nothing is changed.",
	})
	// The tools read one folder, and no network: the SDK takes a missing hint for an open world.
	closed := false
	reading := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
	mcp.AddTool(m, &mcp.Tool{Name: "check", Annotations: reading,
		Description: "Finds what is wrong in a program: syntax, names, types, properties. The findings of `yamlhost check`."},
		s.check)
	mcp.AddTool(m, &mcp.Tool{Name: "explain", Annotations: reading,
		Description: "Explains a finding by its code, such as Y210, with a wrong and a right example."}, s.explain)
	mcp.AddTool(m, &mcp.Tool{Name: "schema", Annotations: reading,
		Description: "Describes a resource or a function of a provider: inputs, outputs, allowed values. Without a type, " +
			"lists those of a package."}, s.schema)
	mcp.AddTool(m, &mcp.Tool{Name: "functions", Annotations: reading,
		Description: "Describes the built-in functions that programs call as fn::name or inside of ${…}, with examples."},
		s.functions)
	mcp.AddTool(m, &mcp.Tool{Name: "graph", Annotations: reading,
		Description: "Shows the dependencies in a program: configuration, variables, resources and outputs, each " +
			"with what it needs."}, s.graph)
	if options.Plan != nil {
		// Not idempotent, since plugins run, and in an open world, since they call clouds.
		mcp.AddTool(m, &mcp.Tool{Name: "plan", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
			Description: "Previews the stack that is selected: what an update would create, update, replace and delete. It " +
				"runs plugins of the project and changes nothing."}, s.plan)
	}
	return m, nil
}

// path returns the absolute path of a file that a client names, or of the folder's program if name is empty. It
// returns an error if the file is missing or outside of the folder.
func (s *server) path(name string) (string, error) {
	if name == "" {
		for _, name := range []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json", "PulumiPlugin.yaml", "Main.yaml"} {
			if _, err := confine.Anywhere().Stat(filepath.Join(s.folder, name)); err == nil {
				// Through the same tests as a name of the client: it may be a link.
				return s.path(name)
			}
		}
		return "", errors.New("the folder has no Pulumi.yaml; name a file")
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.folder, filepath.FromSlash(name))
	}
	// Neither the path itself nor its target may lead outside of the folder: a caller must not learn what exists
	// there.
	if !s.holds(file) && !within(s.options.Folder, file) {
		return "", fmt.Errorf("%s is outside of the folder", name)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", fmt.Errorf("%s does not exist", name)
	}
	if !s.holds(real) {
		return "", fmt.Errorf("%s is outside of the folder", name)
	}
	if info, err := confine.Anywhere().Stat(real); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", name)
	}
	// Reading a program reads its project, so that this has to be in the folder, too.
	root, err := filepath.EvalSymlinks(s.options.Root(real))
	if err != nil || !s.holds(root) {
		return "", fmt.Errorf("%s belongs to a project outside of the folder", name)
	}
	return real, nil
}

// holds reports whether a path without symbolic links is in the folder.
func (s *server) holds(path string) bool { return within(s.folder, path) }

// within reports whether path is folder or below it, by the names alone.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// program reads and checks the program of a file, and returns it with its path. The session has no open texts: Refresh
// makes a new snapshot, so that each call reads the files as they are on disk.
func (s *server) program(ctx context.Context, name string) (*editor.Program, string, error) {
	path, err := s.path(name)
	if err != nil {
		return nil, "", err
	}
	s.session.Refresh()
	p, err := s.session.Snapshot().Program(ctx, path)
	if err != nil {
		return nil, "", err
	}
	return p, path, nil
}

// The inputs and outputs of the tools are structs, from whose tags the SDK makes their JSON schemas.
type fileInput struct {
	File string `json:"file,omitempty" jsonschema:"the path of the program in the folder; Pulumi.yaml by default"`
}

// findings are those of a program, in the form of `check --format json`.
type findings struct {
	Diagnostics []diag.Record `json:"diagnostics"`
}

// check is the tool check. As in an editor, hints and portability findings are left out.
func (s *server) check(ctx context.Context, _ *mcp.CallToolRequest, input fileInput) (*mcp.CallToolResult, findings,
	error) {
	p, _, err := s.program(ctx, input.File)
	if err != nil {
		return nil, findings{}, err
	}
	var shown diag.Diagnostics
	for _, d := range p.Findings {
		if d.Severity <= diag.Info {
			shown.Add(d)
		}
	}
	return nil, findings{shown.Records()}, nil
}

// explainInput names a finding. The code is required: there is no page of all of them.
type explainInput struct {
	Code string `json:"code" jsonschema:"the code of a finding, such as Y210"`
}

// explain is the tool explain.
func (s *server) explain(_ context.Context, _ *mcp.CallToolRequest, input explainInput) (
	*mcp.CallToolResult, any, error) {
	page, ok := diag.Explain(diag.Code(strings.ToUpper(input.Code)))
	if !ok {
		return nil, nil, fmt.Errorf("there is no code %q", input.Code)
	}
	return text(page.Text), nil, nil
}

// text returns a result with a text.
func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// schemaInput names a token or a package. The file matters even so: it decides the version of the package.
type schemaInput struct {
	fileInput
	Type  string `json:"type" jsonschema:"the token of a resource or a function, such as random:RandomPet, or the name of a package"`
	Query string `json:"query,omitempty" jsonschema:"letters that the tokens of a package hold"`
}

// schema is the tool schema. A type without a colon is the name of a package.
func (s *server) schema(ctx context.Context, _ *mcp.CallToolRequest, input schemaInput) (
	*mcp.CallToolResult, any, error) {
	path, err := s.path(input.File)
	if err != nil {
		return nil, nil, err
	}
	s.session.Refresh()
	snapshot := s.session.Snapshot()
	if !strings.Contains(input.Type, ":") {
		tokens, err := editor.FindTokens(ctx, snapshot, path, input.Type, input.Query)
		return nil, map[string]any{"tokens": tokens}, err
	}
	info, err := editor.Describe(ctx, snapshot, path, input.Type)
	return nil, info, err
}

// functionsInput names no file: the functions of the language are the same everywhere.
type functionsInput struct {
	Name string `json:"name,omitempty" jsonschema:"the name of a function, with or without fn::; all of them by default"`
}

// function is a record of the table of functions, without what only the checker needs.
type function struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Summary   string `json:"summary"`
	Example   string `json:"example,omitempty"`
	Call      string `json:"call,omitempty"`
	Gives     string `json:"gives,omitempty"`
}

// functions is an object with one list, because a tool cannot answer with a list alone.
type functions struct {
	Functions []function `json:"functions"`
}

// functions is the tool functions.
func (s *server) functions(_ context.Context, _ *mcp.CallToolRequest, input functionsInput) (*mcp.CallToolResult,
	functions, error) {
	list := builtins.Table()
	if name := strings.TrimPrefix(input.Name, "fn::"); name != "" {
		f, ok := builtins.Lookup(name)
		if !ok {
			return nil, functions{}, fmt.Errorf("there is no function %q", input.Name)
		}
		list = []*builtins.Func{f}
	}
	// A list and not null in JSON, for clients that validate the answer.
	answer := functions{Functions: []function{}}
	for _, f := range list {
		answer.Functions = append(answer.Functions, function{f.Name, f.Signature(), f.Summary, f.Example, f.Call,
			f.Gives})
	}
	return nil, answer, nil
}

// vertices are the nodes of a graph, as `graph --format json` writes them.
type vertices struct {
	Nodes []check.Vertex `json:"nodes"`
}

// graph is the tool graph.
func (s *server) graph(ctx context.Context, _ *mcp.CallToolRequest, input fileInput) (*mcp.CallToolResult, vertices,
	error) {
	p, path, err := s.program(ctx, input.File)
	if err != nil {
		return nil, vertices{}, err
	}
	if p.Checked == nil {
		return nil, vertices{}, fmt.Errorf("%s is not a program", filepath.Base(path))
	}
	return nil, vertices{append([]check.Vertex{}, p.Checked.Graph()...)}, nil
}

// plan is the tool plan. The file has been found in the folder, and so has its project.
func (s *server) plan(ctx context.Context, _ *mcp.CallToolRequest, input fileInput) (*mcp.CallToolResult, any, error) {
	path, err := s.path(input.File)
	if err != nil {
		return nil, nil, err
	}
	planned, err := s.options.Plan(ctx, s.options.Root(path))
	if err != nil {
		return nil, nil, err
	}
	return text(planned), nil, nil
}
