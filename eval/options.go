package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Options are the inputs of a run besides the program.
type Options struct {
	Cwd           string // program directory, absolute: ${pulumi.cwd}, and what relative paths are relative to (L1.2)
	RootDirectory string // project directory, absolute: ${pulumi.rootDirectory}; Cwd when empty
	// Workers bounds how many nodes are evaluated at the same time. With 1 they run exactly in the program's order. 0
	// means the parallelism of the deployment.
	Workers int
	// EngineVersion is the version of the Pulumi engine that pulumi.requiredVersion is compared with (L3.62). Empty
	// skips the comparison.
	EngineVersion string
	// RequireVersion asks the engine whether its version is in a range, where that is the engine's to say; nil to compare
	// with EngineVersion. An error is the engine's refusal.
	RequireVersion func(ctx context.Context, wanted string) error
	// EngineKnowsPackages reports whether the engine was told which packages the program needs, as the Pulumi CLI is:
	// it completes requests that name no version by itself (E3.29).
	EngineKnowsPackages bool
	// Command runs a command of a hook (L10.C14) in a folder and returns what it wrote; nil when commands cannot be run.
	// Says gets what the commands of hooks wrote, line by line and without the secrets that they were given; nil to drop
	// it.
	Command func(ctx context.Context, dir string, words []string) (said string, err error)
	Says    func(line string)
	// Bundle makes texts, by their names in an archive, of a source file below dir and what it imports; nil when nothing
	// here can. The error says where the fault is.
	Bundle func(ctx context.Context, dir string, r builtins.BundleRequest) (map[string]string, error)
	// Message shows a message of the program; nil for no output. It is called by one goroutine.
	Message func(ctx context.Context, m Message)
	// Covered is called with what a run reaches, for the coverage of tests; it may be nil. e is a branch of a condition,
	// the `if` of a resource with its value taken, or the call of a provider function. Several goroutines call it.
	Covered func(e ast.Expr, taken bool)
	// ReadFile reads a file for fn::readFile and its kin; nil to read the file system. The path is as in the program,
	// made absolute by Cwd.
	ReadFile func(path string) ([]byte, error)
	// ParseData reads a text as data for fn::fromYAML; nil when nothing here can. The parser has such a function.
	ParseData func(src *diag.Source) (ast.Expr, diag.Diagnostics)
	// Getenv looks up the environment variables that schemas name for defaults (L3.15); nil for none.
	Getenv func(name string) (string, bool)
	// RestrictPaths limits functions that name files to the files of the project (L6.23).
	RestrictPaths bool
	// Untrusted is for the program of a stranger (D13): it reads files of the project and nothing else, no private
	// address, no environment, and runs no command. Getenv and Command are not asked then.
	Untrusted bool
	// AllowEnv lets fn::env read every environment variable, not only those that the program lists (L10.C9).
	AllowEnv bool
	// Limits bound what the evaluation may cost (Y309); what is 0 is as in builtins.DefaultLimits.
	Limits builtins.Limits
	// Crash receives a panic, in the goroutine that panicked, and does not return; nil lets the panic end the process
	// as Go does. Locks may stay held after that, so that no clean-up is possible.
	Crash func(fault any)
	// SourcePath makes the absolute path of a source's name, for source positions (D11); nil to join it to Cwd.
	SourcePath func(name string) string
}

// Result is the outcome of a run.
type Result struct {
	Stack urn.URN
	// Outputs are the stack's outputs, a map of those that could be computed.
	Outputs value.Value
	// Failed and Skipped count configuration values, variables, resources and outputs: those that failed, and those
	// that were left out because of that.
	Failed, Skipped int
	// SkippedResources are the names of the resources among what was left out, in the order of evaluation.
	SkippedResources []string
}
