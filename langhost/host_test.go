package langhost_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
)

// fakeEngine implements the engine's service and its schema loader.
type fakeEngine struct {
	pulumirpc.UnimplementedEngineServer
	codegen.UnimplementedLoaderServer
	address string

	mu       sync.Mutex // guards messages
	messages []string
}

func (e *fakeEngine) Log(_ context.Context, r *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages = append(e.messages, r.GetSeverity().String()+" "+r.GetMessage())
	return &emptypb.Empty{}, nil
}

func (e *fakeEngine) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.messages, "\n")
}

func (e *fakeEngine) RequirePulumiVersion(_ context.Context, r *pulumirpc.RequirePulumiVersionRequest) (
	*pulumirpc.RequirePulumiVersionResponse, error) {
	if r.GetPulumiVersionRange() != ">=3.0.0" {
		return nil, fmt.Errorf("3.200.0 is not in %s", r.GetPulumiVersionRange())
	}
	return &pulumirpc.RequirePulumiVersionResponse{}, nil
}

const thingSchema = `{"name": "pkg", "version": "1.2.3", "resources": {"pkg:index:Thing": {
	"inputProperties": {"size": {"type": "integer"}}, "properties": {"size": {"type": "integer"}}}}}`

func (e *fakeEngine) GetSchema(_ context.Context, r *codegen.GetSchemaRequest) (*codegen.GetSchemaResponse, error) {
	if text, ok := kubernetesSchemas[r.GetPackage()+"/"+r.GetParameterization().GetName()]; ok {
		return &codegen.GetSchemaResponse{Schema: []byte(text)}, nil
	}
	if r.GetPackage() != "pkg" {
		return nil, fmt.Errorf("there is no plugin %s", r.GetPackage())
	}
	return &codegen.GetSchemaResponse{Schema: []byte(thingSchema)}, nil
}

func startEngine(t *testing.T) *fakeEngine {
	t.Helper()
	e := &fakeEngine{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterEngineServer(server, e)
	codegen.RegisterLoaderServer(server, e)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	e.address = listener.Addr().String()
	return e
}

// serveHost starts a host as the CLI does and connects to the port that it prints.
func serveHost(t *testing.T, e *fakeEngine, env ...string) (pulumirpc.LanguageRuntimeClient, *grpc.ClientConn) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- langhost.Serve(ctx, langhost.Options{Version: "1.0.0", EngineAddress: e.address, Env: env}, writer)
	}()
	port, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, reader.Close())
		require.NoError(t, writer.Close())
	})
	return pulumirpc.NewLanguageRuntimeClient(conn), conn
}

// writeFiles writes files, by name, to a new folder and returns it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func serveMonitor(t *testing.T, m monitor.Monitor) string {
	t.Helper()
	address, stop, err := rpc.Serve(t.Context(), m)
	require.NoError(t, err)
	t.Cleanup(stop)
	return address
}

func info(dir string) *pulumirpc.ProgramInfo {
	return &pulumirpc.ProgramInfo{RootDirectory: dir, ProgramDirectory: dir, EntryPoint: "."}
}

func runRequest(e *fakeEngine, monitorAddress, dir string) *pulumirpc.RunRequest {
	return &pulumirpc.RunRequest{
		Project: "proj", Stack: "dev", Organization: "org", Pwd: dir, Info: info(dir), MonitorAddress: monitorAddress,
		LoaderTarget: e.address,
		Config:       map[string]string{"proj:size": "4", "proj:token": "s3cr3t"}, ConfigSecretKeys: []string{"proj:token"},
		Parallel: 4,
	}
}

const project = "name: proj\nruntime: yaml\n"

func newRecorder() *monitortest.Recorder {
	return &monitortest.Recorder{Deployment: monitor.Info{Project: "proj", Stack: "dev", Organization: "org", Parallel: 4}}
}

// F9.5, L1.I: a run registers resources with the caller's monitor, with inputs converted by the engine's schemas and
// with source positions. It keeps the working directory, and runs do not influence each other.
func TestRun(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	before, err := os.Getwd()
	require.NoError(t, err)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			dir := writeFiles(t, map[string]string{"Pulumi.yaml": project + "main: sub\n", "sub/Main.yaml": fmt.Sprintf(`config:
  size: {type: integer}
  token: {type: string}
resources:
  thing%d:
    type: pkg:Thing
    properties: {size: "${size}"}
outputs:
  token: ${token}
  where: ${pulumi.cwd}
`, i)})
			r := newRecorder()
			got, err := host.Run(t.Context(), runRequest(e, serveMonitor(t, r), dir))
			require.NoError(t, err)
			require.Empty(t, got.GetError())
			require.False(t, got.GetBail(), e.said())
			name := fmt.Sprintf("thing%d", i)
			thing, found := r.Registered(name)
			require.True(t, found)
			require.Equal(t, "pkg:index:Thing", thing.Type)
			require.Equal(t, value.Int(4), thing.Inputs.Get("size"))
			require.Equal(t, filepath.Join(dir, "sub", "Main.yaml"), thing.SourcePosition.Path)
			require.Equal(t, 5, thing.SourcePosition.Line)
			outputs := r.Outputs("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev")
			require.True(t, outputs.Get("token").IsSecret())
			require.True(t, value.SameContent(value.String(filepath.Join(dir, "sub")), outputs.Get("where")))
		})
	}
	wait.Wait()
	after, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// L2.34: a list in the configuration does not fit the type string, although the engine sends it as text; a text that
// looks like a list does.
func TestRunKnowsStructuredConfig(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	dir := writeFiles(t, map[string]string{"Pulumi.yaml": project +
		"config:\n  list: {type: string}\n  text: {type: string}\n  word: {type: string}\n"})
	request := runRequest(e, serveMonitor(t, newRecorder()), dir)
	request.Config = map[string]string{"proj:list": `["a"]`, "proj:text": `["a"]`, "proj:word": "w"}
	request.ConfigSecretKeys = []string{"proj:word"}
	kept, err := structpb.NewStruct(map[string]any{"proj:list": []any{"a"}, "proj:text": `["a"]`,
		"proj:word": map[string]any{wire.SignatureKey: "1b47061264138c4ac30d75fd1eb44270", "value": "w"}})
	require.NoError(t, err)
	//lint:ignore SA1019 older engines send nothing else
	request.ConfigPropertyMap = kept
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.True(t, got.GetBail())
	require.Contains(t, e.said(), "config proj:list: `[\"a\"]` is not a string")
	require.NotContains(t, e.said(), "proj:text")
	require.NotContains(t, e.said(), "proj:word")
}

// L1.I: the engine gets the findings with their positions, and the response has Bail set.
func TestRunTellsFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ program, want string }{
		"check":  {"outputs:\n  o: ${nothing}\n", "ERROR Main.yaml:2:8: `nothing` is not declared"},
		"syntax": {"outputs: [\n", "ERROR Main.yaml:"},
		"version with a leading v": {"pulumi: {requiredVersion: '>=v9.0.0 || v9.1.0'}\n",
			"3.200.0 is not in >=9.0.0 || 9.1.0"},
		"version": {"pulumi: {requiredVersion: '>=9.0.0'}\n",
			"ERROR Main.yaml:1:27: 3.200.0 is not in >=9.0.0"},
		"schema": {"resources: {r: {type: 'other:Thing'}}\n", "there is no plugin other"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEngine(t)
			host, _ := serveHost(t, e)
			dir := writeFiles(t, map[string]string{"Pulumi.yaml": project, "Main.yaml": c.program})
			got, err := host.Run(t.Context(), runRequest(e, serveMonitor(t, newRecorder()), dir))
			require.NoError(t, err)
			require.True(t, got.GetBail())
			require.Empty(t, got.GetError())
			require.Contains(t, e.said(), c.want)
			require.NotContains(t, e.said(), "\x1b")
		})
	}
}

// L1.F1, L1.F2, L1.F4: the output of the compiler is the program, and the compiler gets the description of the run.
func TestCompiler(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"))
	dir := writeFiles(t, map[string]string{"Pulumi.yaml": project,
		"compile": "echo 'outputs:'\necho \"  stack: '$PULUMI_STACK of $PULUMI_PROJECT'\"\necho \"  argument: '$1'\"\n"})
	request := runRequest(e, "", dir)
	options := func(compiler any) *structpb.Struct {
		s, err := structpb.NewStruct(map[string]any{"compiler": compiler})
		require.NoError(t, err)
		return s
	}
	request.Info.Options = options("sh compile 'two words'")
	r := newRecorder()
	request.MonitorAddress = serveMonitor(t, r)
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.Empty(t, got.GetError())
	require.False(t, got.GetBail(), e.said())
	outputs := r.Outputs("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev")
	require.True(t, value.SameContent(value.String("dev of proj"), outputs.Get("stack")))
	require.True(t, value.SameContent(value.String("two words"), outputs.Get("argument")))

	for name, c := range map[string]struct {
		compiler any
		want     string
	}{
		"it fails":     {"sh -c 'echo oops >&2; exit 3'", "exit status 3 [Y100]\n  oops"},
		"no text":      {true, "must be a string"},
		"open quote":   {"sh 'x", "is not closed"},
		"no such file": {"does-not-exist-anywhere", "does-not-exist-anywhere"},
	} {
		request.Info.Options = options(c.compiler)
		got, err := host.Run(t.Context(), request)
		require.NoError(t, err, name)
		require.Contains(t, got.GetError(), c.want, name)
	}
}

// L7.30, L1.41: GetRequiredPackages returns the packages that a program uses, with versions and parameters of their
// declarations.
func TestRequiredPackages(t *testing.T) {
	t.Parallel()
	host, _ := serveHost(t, startEngine(t))
	dir := writeFiles(t, map[string]string{
		"Pulumi.yaml": project,
		"Main.yaml": `components:
  Own:
    resources: {inner: {type: 'inside:m:R'}}
resources:
  prov: {type: 'pulumi:providers:aws', options: {version: 9.9.9}}
  a: {type: 'base:m:A', options: {version: 2.0.0, pluginDownloadURL: 'https://x.test'}}
  b: {type: 'sub:A'}
  c: {type: 'ext:A'}
  d: {type: 'components:Own'}
variables:
  v: {'fn::invoke': {function: 'called:f'}}
`,
		"sdks/aws.yaml": "packageDeclarationVersion: 1\nname: aws\nversion: 1.0.0\n",
		"sdks/sub.yaml": "packageDeclarationVersion: 1\nname: bridge\nversion: 3.0.0\nparameterization: {name: sub, " +
			"version: 0.1.0, value: eA==}\n",
		"sdks/ext.yaml": "packageDeclarationVersion: 1\nname: bridge\nversion: 3.0.0\nextension: {name: ext, version: " +
			"0.2.0, value: eQ==}\n",
		"sdks/unused.yaml": "packageDeclarationVersion: 1\nname: unused\nversion: 3.0.0\n",
	})
	got, err := host.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: info(dir)})
	require.NoError(t, err)
	var lines []string
	for _, p := range got.GetPackages() {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", p.GetKind(), p.GetName(), p.GetVersion(),
			p.GetServer(), p.GetParameterization().GetName(), p.GetExtension().GetName())))
	}
	require.ElementsMatch(t, []string{
		"resource aws 1.0.0", "resource base 2.0.0 https://x.test", "resource bridge 3.0.0  sub",
		"resource bridge 3.0.0   ext", "resource called", "resource inside",
	}, lines)

	names, err := host.GetProgramDependencies(t.Context(), &pulumirpc.GetProgramDependenciesRequest{Info: info(dir)})
	require.NoError(t, err)
	require.Len(t, names.GetDependencies(), len(lines))

	faulty := writeFiles(t, map[string]string{"Pulumi.yaml": project, "Main.yaml": "resources: [\n"})
	got, err = host.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: info(faulty)})
	require.NoError(t, err, "config set has to go on working")
	require.Empty(t, got.GetPackages())
}

// F9.4: the packages that a component package requires include neither itself nor those of a project in a parent
// folder.
func TestRequiredPackagesOfPlugin(t *testing.T) {
	t.Parallel()
	host, _ := serveHost(t, startEngine(t))
	dir := writeFiles(t, map[string]string{
		"Pulumi.yaml":             "name: user\nruntime: yaml\nresources: {p: {type: 'parts:Pair'}}\n",
		"parts/PulumiPlugin.yaml": "name: parts\nruntime: yaml\n",
		"parts/pair.yaml": "components: {Pair: {resources: {a: {type: 'pkg:Thing', options: {version: 1.2.0}}, b: " +
			"{type: 'parts:index:One'}}}, One: {}}\n",
	})
	for name, parts := range map[string]*pulumirpc.ProgramInfo{
		"all": info(filepath.Join(dir, "parts")), "only the root": {RootDirectory: filepath.Join(dir, "parts")},
	} {
		got, err := host.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: parts})
		require.NoError(t, err, name)
		require.Len(t, got.GetPackages(), 1, name)
		require.Equal(t, "pkg 1.2.0", got.GetPackages()[0].GetName()+" "+got.GetPackages()[0].GetVersion())
	}
}

// L1.40, L1.41: GeneratePackage writes one declaration file, and Pack copies it.
func TestPackages(t *testing.T) {
	t.Parallel()
	host, _ := serveHost(t, startEngine(t))
	for name, c := range map[string]struct{ schema, file, want string }{
		"plain": {`{"name": "p", "version": "1.2.3", "pluginDownloadURL": "https://x.test"}`, "p-1.2.3.yaml",
			"packageDeclarationVersion: 1\nname: p\nversion: '1.2.3'\ndownloadUrl: https://x.test\n"},
		"with parameters": {`{"name": "p", "version": "1.2.3", "parameterization": {"baseProvider": {"name": "b", "version": "2.0.0"}, "parameter": "eA=="}}`, "p-1.2.3.yaml",
			"packageDeclarationVersion: 1\nname: b\nversion: '2.0.0'\nparameterization:\n  name: p\n  version: '1.2.3'\n  " +
				"value: eA==\n"},
		"extension": {`{"name": "p", "version": "1.2.3", "extensionParameterization": {"baseProvider": {"name": "b", "version": "2.0.0"}, "parameter": "eA=="}}`, "p-1.2.3.yaml",
			"packageDeclarationVersion: 1\nname: b\nversion: '2.0.0'\nextension:\n  name: p\n  version: '1.2.3'\n  value: eA==\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := host.GeneratePackage(t.Context(), &pulumirpc.GeneratePackageRequest{Directory: filepath.Join(dir, "sdk"),
				Schema: c.schema})
			require.NoError(t, err)
			packed, err := host.Pack(t.Context(), &pulumirpc.PackRequest{PackageDirectory: filepath.Join(dir, "sdk"),
				DestinationDirectory: filepath.Join(dir, "out")})
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, "out", c.file), packed.GetArtifactPath())
			text, err := os.ReadFile(packed.GetArtifactPath())
			require.NoError(t, err)
			require.Equal(t, c.want, string(text))
		})
	}
	_, err := host.GeneratePackage(t.Context(), &pulumirpc.GeneratePackageRequest{Schema: `{"name": "p"}`,
		ExtraFiles: map[string][]byte{"x.go": nil}})
	require.ErrorContains(t, err, "cannot carry files")
}

// F9.11: GenerateProject writes a project with the translated program, and nothing if it does not understand a part.
func TestGenerateProject(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	source := writeFiles(t, map[string]string{
		"main.pp":      "resource thing \"pkg:index:Thing\" { size = 1 }\ncomponent c \"./part\" {}\n",
		"part/main.pp": "output o { value = cwd() }\n",
	})
	declaration := filepath.Join(writeFiles(t,
		map[string]string{"pkg-1.2.3.yaml": "packageDeclarationVersion: 1\nname: pkg\nversion: 1.2.3\n"}), "pkg-1.2.3.yaml")
	target := t.TempDir()
	got, err := host.GenerateProject(t.Context(), &pulumirpc.GenerateProjectRequest{
		SourceDirectory: source, TargetDirectory: target,
		Project:      `{"name": "p", "main": "sub", "description": "a: b", "runtime": "go", "AdditionalKeys": null}`,
		LoaderTarget: e.address, LocalDependencies: map[string]string{"pkg": declaration},
	})
	require.NoError(t, err)
	require.Empty(t, got.GetDiagnostics())
	for path, want := range map[string]string{
		"Pulumi.yaml":             "name: p\nruntime: yaml\ndescription: 'a: b'\nmain: sub\n",
		"sub/sdks/pkg-1.2.3.yaml": "packageDeclarationVersion: 1\nname: pkg\nversion: 1.2.3\n",
		"sub/Main.yaml": "components:\n  Part:\n    outputs:\n      o: ${pulumi.cwd}\nresources:\n  thing:\n    type: " +
			"pkg:Thing\n    properties:\n      size: 1\n" +
			"  c:\n    type: components:Part\n",
	} {
		text, err := os.ReadFile(filepath.Join(target, path))
		require.NoError(t, err)
		require.Equal(t, want, string(text), path)
	}

	empty := t.TempDir()
	got, err = host.GenerateProject(t.Context(), &pulumirpc.GenerateProjectRequest{
		SourceDirectory: writeFiles(t, map[string]string{"main.pp": "a = unheardOf(1)\n"}), TargetDirectory: empty,
		Project: `{"name": "p"}`,
	})
	require.NoError(t, err)
	require.Len(t, got.GetDiagnostics(), 1)
	require.EqualValues(t, 5, got.GetDiagnostics()[0].GetSubject().GetStart().GetColumn())
	left, err := os.ReadDir(empty)
	require.NoError(t, err)
	require.Empty(t, left)
}

// L1.G, L1.35: components written in YAML are served as a provider.
func TestRunPlugin(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	dir := writeFiles(t, map[string]string{
		"PulumiPlugin.yaml": "name: parts\nversion: 1.1.0\nruntime: yaml\n",
		"more.yaml": `components:
  Pair:
    inputs:
      size: {type: integer, default: 2}
    resources:
      one: {type: 'pkg:Thing', properties: {size: "${size}"}}
    outputs:
      size: ${one.size}
      project: ${pulumi.project}
`})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := host.RunPlugin(ctx, &pulumirpc.RunPluginRequest{Pwd: dir, Info: info(dir), Kind: "resource",
		LoaderTarget: e.address})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(string(first.GetStdout())),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	provider := pulumirpc.NewResourceProviderClient(conn)

	schema, err := provider.GetSchema(ctx, &pulumirpc.GetSchemaRequest{})
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "parts", "version": "1.1.0", "meta": {"supportPack": true}, "resources": {"parts:index:Pair": {"isComponent": true,
		"inputProperties": {"size": {"type": "integer", "default": 2}},
		"properties": {"size": {"type": "integer"}, "project": {"type": "string"}}, "required": ["project"]}}}`, schema.GetSchema())

	_, err = provider.Configure(ctx, &pulumirpc.ConfigureRequest{AcceptSecrets: true, AcceptResources: true})
	require.NoError(t, err)
	r := newRecorder()
	made, err := provider.Construct(ctx, &pulumirpc.ConstructRequest{
		Project: "proj", Stack: "dev", MonitorEndpoint: serveMonitor(t, r), Type: "parts:index:Pair", Name: "pair",
		Inputs: &structpb.Struct{},
	})
	require.NoError(t, err)
	require.Equal(t, "urn:pulumi:dev::proj::parts:index:Pair::pair", made.GetUrn())
	require.EqualValues(t, 2, made.GetState().GetFields()["size"].GetNumberValue())
	require.Equal(t, "proj", made.GetState().GetFields()["project"].GetStringValue())
	child, found := r.Registered("pair-one") // L3.52
	require.True(t, found)
	require.EqualValues(t, made.GetUrn(), child.Parent)

	_, err = provider.Construct(ctx, &pulumirpc.ConstructRequest{Type: "parts:index:Other", Name: "x",
		MonitorEndpoint: "127.0.0.1:1"})
	require.ErrorContains(t, err, "no component parts:index:Other")
	_, err = provider.Create(ctx, &pulumirpc.CreateRequest{Urn: made.GetUrn()})
	require.ErrorContains(t, err, "has components only")
}

// L1.31, L1.32: all faults of a plugin's files are reported together.
func TestFaultyPlugins(t *testing.T) {
	t.Parallel()
	host, _ := serveHost(t, startEngine(t))
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no name": {map[string]string{"PulumiPlugin.yaml": "runtime: yaml\n"}, "has no name"},
		"two of a name": {map[string]string{"PulumiPlugin.yaml": "name: p\ncomponents: {A: {}}\n",
			"b.yaml": "components: {A: {}}\n"}, "there is a component `A` already"},
		"a program": {map[string]string{"PulumiPlugin.yaml": "name: p\nresources: {}\n"},
			"has no `resources` of its own"},
		"described twice": {map[string]string{"PulumiPlugin.yaml": "name: p\ndescription: one\n",
			"b.yaml": "description: two\n"}, "gives its description already"},
		"no plugin": {map[string]string{"Pulumi.yaml": project}, "has no PulumiPlugin.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, c.files)
			stream, err := host.RunPlugin(t.Context(), &pulumirpc.RunPluginRequest{Info: info(dir), LoaderTarget: "127.0.0.1:1"})
			require.NoError(t, err)
			_, err = stream.Recv()
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestPacksAreOpenedLate starts faulty policy packs without an error, because the Pulumi CLI serves no schemas during
// the start. Only calls that describe a pack report its faults.
func TestPacksAreOpenedLate(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	const head, rule = "name: p\nversion: 1.0.0\nruntime: yaml\npolicies: {r: {match: {type: 'pkg:Thing'}, ", "violation: no}}\n"
	for name, c := range map[string]struct{ pack, want string }{
		"good":     {head + rule, ""},
		"no name":  {"runtime: yaml\n", "the policy pack has no name"},
		"destroys": {head + "destroy: true, " + rule, "asks no pack about"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, map[string]string{"PulumiPolicy.yaml": c.pack})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream, err := host.RunPlugin(ctx, &pulumirpc.RunPluginRequest{Info: info(dir), Kind: "analyzer",
				LoaderTarget: e.address})
			require.NoError(t, err)
			first, err := stream.Recv()
			require.NoError(t, err)
			conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(string(first.GetStdout())),
				grpc.WithTransportCredentials(insecure.NewCredentials()))
			require.NoError(t, err)
			defer conn.Close()
			pack := pulumirpc.NewAnalyzerClient(conn)
			_, err = pack.ConfigureStack(ctx, &pulumirpc.AnalyzerStackConfigureRequest{Stack: "dev", Project: "proj"})
			require.NoError(t, err)
			_, err = pack.GetPluginInfo(ctx, &emptypb.Empty{})
			require.NoError(t, err)
			got, err := pack.GetAnalyzerInfo(ctx, &emptypb.Empty{})
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "1.0.0", got.GetVersion())
			found, err := pack.Analyze(ctx, &pulumirpc.AnalyzeRequest{Type: "pkg:index:Thing", Name: "x",
				Urn: "urn:pulumi:dev::proj::pkg:index:Thing::x", Properties: &structpb.Struct{}})
			require.NoError(t, err)
			require.Len(t, found.GetDiagnostics(), 1)
		})
	}
}

// F9.12: Cancel ends a run that waits for the engine.
func TestCancel(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	dir := writeFiles(t, map[string]string{"Pulumi.yaml": project, "Main.yaml": "resources: {r: {type: 'pkg:Thing'}}\n"})
	started, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	r := newRecorder()
	r.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
		close(started)
		<-release
		return monitor.RegisterResponse{}, monitor.ErrShutdown
	}
	address := serveMonitor(t, r)
	answer := make(chan *pulumirpc.RunResponse, 1)
	go func() {
		got, _ := host.Run(t.Context(), runRequest(e, address, dir))
		answer <- got
	}()
	<-started
	_, err := host.Cancel(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.True(t, (<-answer).GetBail())
}

// F9.1: ParseArgs accepts the command lines that engines use.
func TestParseArgs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		address string
		fails   bool
	}{
		"address":        {[]string{"127.0.0.1:1"}, "127.0.0.1:1", false},
		"obsolete flags": {[]string{"-tracing", "x", "--root=y", "-compiler=z", "127.0.0.1:1"}, "127.0.0.1:1", false},
		"none":           {nil, "", false},
		"unknown flag":   {[]string{"-wrong"}, "", true},
		"too many":       {[]string{"a", "b"}, "", true},
	} {
		got, err := langhost.ParseArgs(c.args)
		require.Equal(t, c.fails, err != nil, name)
		require.Equal(t, c.address, got.EngineAddress, name)
	}
}

// A program under the Pulumi CLI has limits too. The command line and the project's runtime options change them.
func TestLimits(t *testing.T) {
	t.Parallel()
	a, err := langhost.ParseArgs([]string{"-max-value=512", "--max-steps", "7", "127.0.0.1:1"})
	require.NoError(t, err)
	require.Equal(t, builtins.Limits{Value: 512 << 20, Steps: 7}, a.Limits)
	require.Equal(t, "127.0.0.1:1", a.EngineAddress)
	options, err := structpb.NewStruct(map[string]any{"max-value": 3, "max-steps": "9"})
	require.NoError(t, err)
	require.Equal(t, builtins.Limits{Value: 3 << 20, Steps: 9}, langhost.LimitsOf(&pulumirpc.ProgramInfo{Options: options},
		a.Limits))
	require.Equal(t, a.Limits, langhost.LimitsOf(&pulumirpc.ProgramInfo{}, a.Limits))
	e := startEngine(t)
	host, _ := serveHost(t, e)
	request := runRequest(e, serveMonitor(t, newRecorder()), writeFiles(t, map[string]string{
		"Pulumi.yaml": project + "outputs: {a: '${[for i in range(1000) : i + 1]}'}\n"}))
	request.Info.Options = options
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.True(t, got.GetBail())
	require.Contains(t, e.said(), "takes more than 9 steps")
}
