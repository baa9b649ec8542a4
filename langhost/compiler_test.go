package langhost_test

import (
	"os"
	"path/filepath"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
)

// compiled writes a project with script as its compiler and returns its program info.
func compiled(t *testing.T, files map[string]string, script string) *pulumirpc.ProgramInfo {
	t.Helper()
	files["compile"] = script
	if files["Pulumi.yaml"] == "" {
		files["Pulumi.yaml"] = project
	}
	program := info(writeFiles(t, files))
	options, err := structpb.NewStruct(map[string]any{"compiler": "sh compile"})
	require.NoError(t, err)
	program.Options = options
	return program
}

const stackURN = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev"

// L1.F1: the compiler runs in the program's folder, and its output may be JSON.
func TestCompilerRunsInTheProgramsFolder(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"))
	program := compiled(t, map[string]string{"sub/place": "here",
		"sub/compile": `printf '{"outputs": {"place": "%s"}}' "$(cat place)"`}, "exit 1")
	program.ProgramDirectory = filepath.Join(program.RootDirectory, "sub")
	r := newRecorder()
	request := runRequest(e, serveMonitor(t, r), program.RootDirectory)
	request.Info = program
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.Empty(t, got.GetError())
	require.False(t, got.GetBail(), e.said())
	require.True(t, value.SameContent(value.String("here"), r.Outputs(stackURN).Get("place")))
}

// L1.F2: the compiler gets the description of the run, with the configuration as texts. A variable that is already set
// takes precedence, with a warning that names it.
func TestCompilerEnvironment(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"), "PULUMI_STACK=mine", "OTHER=kept")
	program := compiled(t, map[string]string{}, `cat <<END
outputs:
  stack: '$PULUMI_STACK'
  project: '$PULUMI_PROJECT'
  organization: '$PULUMI_ORGANIZATION'
  config: '$PULUMI_CONFIG'
  root: '$PULUMI_ROOT_DIRECTORY'
  other: '$OTHER'
END
`)
	r := newRecorder()
	request := runRequest(e, serveMonitor(t, r), program.RootDirectory)
	request.Info = program
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.False(t, got.GetBail(), e.said())
	outputs := r.Outputs(stackURN)
	for name, want := range map[string]string{
		"stack": "mine", "project": "proj", "organization": "org", "config": `{"proj:size":"4","proj:token":"s3cr3t"}`,
		"root": program.RootDirectory, "other": "kept",
	} {
		require.True(t, value.SameContent(value.String(want), outputs.Get(name)), "%s is %s", name, outputs.Get(name))
	}
	require.Contains(t, e.said(), "WARNING the environment sets PULUMI_STACK")
}

// L1.F3, L1.F2: GetRequiredPackages runs the compiler without a stack. Its variables are empty and its configuration is
// an empty object.
func TestCompilerTellsPackages(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"))
	program := compiled(t, map[string]string{"Main.yaml": "resources: {r: {type: 'unused:Thing'}}\n"},
		"echo \"resources: {r: {type: 'stack-${PULUMI_STACK:-none}:Thing'}}\"\n[ \"$PULUMI_CONFIG\" = '{}' ] && [ -z "+
			"\"$PULUMI_PROJECT$PULUMI_ORGANIZATION\" ]\n")
	got, err := host.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: program})
	require.NoError(t, err)
	require.Len(t, got.GetPackages(), 1)
	require.Equal(t, "stack-none", got.GetPackages()[0].GetName())
}

// L1.F5: a compiled program without a name gets that of the project, also if the project has a program file without
// one.
func TestCompiledProgramHasTheProjectsName(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"))
	program := compiled(t, map[string]string{"Main.yaml": "outputs: {from: the file}\n"},
		"echo 'outputs: {name: \"${pulumi.project}\", from: the compiler, size: \"${proj:size}\"}'\n")
	r := newRecorder()
	request := runRequest(e, serveMonitor(t, r), program.RootDirectory)
	request.Info = program
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.False(t, got.GetBail(), e.said())
	outputs := r.Outputs(stackURN)
	require.True(t, value.SameContent(value.String("proj"), outputs.Get("name")))
	require.True(t, value.SameContent(value.String("the compiler"), outputs.Get("from")))
	require.True(t, value.SameContent(value.Int(4), outputs.Get("size")), "%s", outputs.Get("size"))
}

// L1.F4: findings in a compiled program name the compiler in place of a file; L1.F6: the standard error of a
// successful compiler is logged and is not an error.
func TestCompilerMessages(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e, "PATH="+os.Getenv("PATH"))
	program := compiled(t, map[string]string{},
		"echo 'one thing is deprecated' >&2\necho 'outputs: {o: \"${nothing}\"}'\n")
	request := runRequest(e, serveMonitor(t, newRecorder()), program.RootDirectory)
	request.Info = program
	got, err := host.Run(t.Context(), request)
	require.NoError(t, err)
	require.True(t, got.GetBail())
	require.Contains(t, e.said(), "INFO one thing is deprecated")
	require.Contains(t, e.said(), "ERROR <sh compile>:1:17: `nothing` is not declared")
}
