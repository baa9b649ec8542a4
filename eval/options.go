package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Options are the inputs of a run besides the program.
type Options struct {
	Cwd           string // program directory, absolute: ${pulumi.cwd}, the base of relative paths (L1.2)
	RootDirectory string // project directory, absolute: ${pulumi.rootDirectory}; Cwd when empty
	// Workers bounds how many nodes are evaluated at the same time. With 1 they run exactly in the program's order. 0
	// means the parallelism of the deployment.
	Workers int
	// EngineVersion is the version of the Pulumi engine that pulumi.requiredVersion is compared with (L3.62). Empty
	// skips the comparison.
	EngineVersion string
	// RequireVersion asks the engine whether its version is in a range; nil to compare with EngineVersion. It returns
	// an error if the engine refuses.
	RequireVersion func(ctx context.Context, wanted string) error
	// EngineKnowsPackages reports whether the engine knows the packages of the program, as the Pulumi CLI does: it adds
	// versions to requests without one (E3.29).
	EngineKnowsPackages bool
	// Command runs a command of a hook (L10.C14) in a folder and returns its output; nil if commands cannot be run.
	// Says receives the output of hooks line by line, with their secrets masked; nil to drop it. SuppressSecretOutput
	// withholds that of commands with secrets in their words, in errors too.
	Command func(ctx context.Context, dir string, words []string) (said string, err error)
	Says    func(line string)

	SuppressSecretOutput bool
	// Bundle packs a source file below dir with its imports into texts by their names in an archive; nil if
	// unsupported. The error names the place of a fault.
	Bundle func(ctx context.Context, dir string, r builtins.BundleRequest) (map[string]string, error)
	// Message shows a message of the program; nil for no output. It is called by one goroutine.
	Message func(ctx context.Context, m Message)
	// Covered is called for each expression that a run reaches, for the coverage of tests; it may be nil. e is a branch
	// of a condition, the `if` of a resource with its value taken, or the call of a provider function. Several
	// goroutines call it.
	Covered func(e ast.Expr, taken bool)
	// ReadFile reads a file for fn::readFile and similar functions; nil to read the file system. The path is as in the
	// program, made absolute by Cwd.
	ReadFile func(path string) ([]byte, error)
	// ParseData reads a text as data for fn::fromYAML; nil if unsupported. The parser has such a function.
	ParseData program.ParseData
	// Getenv looks up the environment variables that schemas name for defaults (L3.15); nil for none.
	Getenv func(name string) (string, bool)
	// RestrictPaths limits functions that name files to the files of the project (L6.23).
	RestrictPaths bool
	// Confined limits them further, also where a path is written out: a policy pack reads no file outside of its
	// folder.
	Confined bool
	// Untrusted restricts a program that is not trusted (D13): it may read only files of the project and public
	// addresses, no environment, and runs no command. Getenv and Command are not called then.
	Untrusted bool
	// AllowEnv lets fn::env read every environment variable, not only those that the program lists (L10.C9).
	AllowEnv bool
	// Limits bound what the evaluation may cost (Y309); 0 means the value in builtins.DefaultLimits.
	Limits builtins.Limits
	// Budget is charged instead of a new one with Limits, for evaluations that share a budget; it may be nil.
	Budget *builtins.Budget
	// Crash receives a panic, in the goroutine that panicked, and does not return; nil lets the panic end the process
	// as Go does. Locks may stay held after that, so no clean-up is possible.
	Crash func(fault any)
	// SourcePath returns the absolute path of a source by its name, for source positions (D11); nil to join it to Cwd.
	SourcePath func(name string) string
}

// Result is the outcome of a run.
type Result struct {
	Stack urn.URN
	// Outputs is the map of the stack's outputs that could be computed.
	Outputs value.Value
	// Failed, Skipped and NotStarted count configuration values, variables, resources and outputs that failed, that
	// need something that failed, and that the end of the run left out although they need nothing that failed.
	Failed, Skipped, NotStarted int
	// FailedResources, SkippedResources and ResourcesNotStarted are the names of such resources, in the order of the
	// program; of those that failed, the ones whose failure the monitor has not reported.
	FailedResources, SkippedResources, ResourcesNotStarted []string
}
