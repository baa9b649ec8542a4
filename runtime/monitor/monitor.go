package monitor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Monitor serves the requests of a program. All methods are safe for concurrent use and block until the response is
// ready. An error that wraps ErrShutdown means that the operation has ended and does nothing more.
type Monitor interface {
	// Info identifies the deployment.
	Info(ctx context.Context) (Info, error)
	// SupportsFeature reports whether the engine supports the named feature of E2.4.
	SupportsFeature(ctx context.Context, feature string) (bool, error)
	// RegisterPackage registers a package and returns the reference by which resources and calls name it (E2.67).
	RegisterPackage(ctx context.Context, p Package) (ref string, err error)
	// RegisterResource registers a resource and returns after it has reached the declared state or is planned.
	RegisterResource(ctx context.Context, r RegisterRequest) (RegisterResponse, error)
	// RegisterOutputs records the outputs of a component or of the stack (E2.59).
	RegisterOutputs(ctx context.Context, u urn.URN, outputs value.Value) error
	// ReadResource reads a resource that is managed elsewhere (E2.45).
	ReadResource(ctx context.Context, r ReadRequest) (ReadResponse, error)
	// Invoke calls a provider function (E2.50).
	Invoke(ctx context.Context, r InvokeRequest) (InvokeResponse, error)
	// Call calls a method of a resource (E2.56).
	Call(ctx context.Context, r CallRequest) (CallResponse, error)
	// SignalAndWaitForShutdown announces that the program makes no further requests, and waits until the engine is done
	// (E2.68).
	SignalAndWaitForShutdown(ctx context.Context) error
}

// Info describes the deployment that a program runs in (E2.3).
type Info struct {
	Project, Stack, Organization string
	Config                       map[string]string // full key to plain text
	ConfigSecretKeys             []string
	DryRun                       bool // a preview
	Parallel                     int
}

// Package names a provider package.
type Package struct {
	Name, Version, DownloadURL string
	Checksums                  map[string][]byte // platform such as linux-amd64 to SHA-256 of the archive
	Parameterization           *Parameterization
	// Extension reports whether the parameters add a package to the plugin's own instead of replacing it.
	Extension bool
}

// Parameterization selects the package that a parameterizable plugin provides.
type Parameterization struct {
	Name, Version string
	Value         []byte
}

// Position is a position in the source of a program: an absolute path, a 1-based line and a 1-based column (D11).
type Position struct {
	Path         string
	Line, Column int
}

// Timeouts bound the operations on a resource, as Go durations such as 5m; "" means the provider's default (E5.33).
type Timeouts struct{ Create, Update, Delete, Read string }

// Alias is a former name of a resource (E4.13). Either URN or some of the other fields are set. An empty field stands
// for the current value of the resource.
type Alias struct {
	URN                        urn.URN
	Name, Type, Stack, Project string
	Parent                     urn.URN
	NoParent                   bool
}

// Plugin selects the provider that serves a request: by reference, or by its package and version.
type Plugin struct {
	Provider          string // provider reference; may be empty
	PackageRef        string // from RegisterPackage
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte
}

// RegisterRequest describes a resource to register.
type RegisterRequest struct {
	Type   string // canonical token
	Name   string
	Parent urn.URN
	Custom bool // managed by a provider; otherwise a component
	Remote bool // a component that its provider constructs

	Inputs value.Value // a map
	// Defaults are paths of inputs with the default of the package's schema, which the program does not set.
	Defaults             []value.Path
	PropertyDependencies urn.Dependencies // of inputs; none given means Dependencies for every input (E1.48)
	Dependencies         []urn.URN

	Plugin
	Providers map[string]string // package to provider reference

	Protect                 *bool // nil: inherited
	RetainOnDelete          *bool // nil: inherited
	DeleteBeforeReplace     *bool // nil: the provider's choice
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	HideDiffs               []string
	AdditionalSecretOutputs []string
	Aliases                 []Alias
	ImportID                string
	CustomTimeouts          Timeouts
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	ReplacementTrigger      value.Value // null for none
	EnvVarMappings          map[string]string
	Hooks                   map[string][]string // hook type to hook names
	// Transforms apply to this resource and its descendants; see TransformRegistrar.
	Transforms []Transform
	// Transformed holds the positions of the transforms that set inputs, by the path of the input. A Transform may add
	// to it, but must not modify existing entries.
	Transformed map[string]*Position

	SourcePosition *Position
}

// Result is the outcome of a registration.
type Result uint8

// The results of a registration (E2.37).
const (
	Succeeded Result = iota
	Failed
	Skipped
)

// RegisterResponse describes a registered resource.
type RegisterResponse struct {
	URN     urn.URN
	ID      value.Value // null for a component, unknown for a resource to be created
	Outputs value.Value // a map; outputs absent from it are null if Known, unknown otherwise
	Result  Result
	// Known reports whether outputs absent from Outputs are null rather than unknown: the resource is in its final
	// state.
	Known bool
	// PropertyDependencies are the dependencies of a remote component's outputs, by property.
	PropertyDependencies map[string][]urn.URN
}

// ReadRequest reads a resource by ID.
type ReadRequest struct {
	Type, Name   string
	Parent       urn.URN
	ID           value.Value // a string, possibly unknown
	State        value.Value // a map: further known properties
	Dependencies []urn.URN
	Plugin
	AdditionalSecretOutputs []string
	SourcePosition          *Position
}

// ReadResponse is the state of a read resource.
type ReadResponse struct {
	URN     urn.URN
	ID      value.Value
	Outputs value.Value // a map
	Known   bool        // as in RegisterResponse
}

// InvokeRequest calls a provider function.
type InvokeRequest struct {
	Token     string
	Args      value.Value // a map, fully known
	Parent    urn.URN
	DependsOn []urn.URN
	Plugin
	SourcePosition *Position
}

// InvokeResponse is the result of a function. Unknown reports that the call could not be made yet (E2.51).
type InvokeResponse struct {
	Result   value.Value // a map
	Failures []Failure
	Unknown  bool
}

// CallRequest calls a method of a resource.
type CallRequest struct {
	Token           string
	Args            value.Value // a map, with __self__
	ArgDependencies map[string][]urn.URN
	Plugin
	SourcePosition *Position
}

// CallResponse is a method's result.
type CallResponse struct {
	Result             value.Value
	ReturnDependencies map[string][]urn.URN
	Failures           []Failure
}

// Failure is one reason for a rejection, with the property concerned, if any.
type Failure struct{ Property, Reason string }

// HookRegistrar is a Monitor that lets programs run hooks around operations on resources (E2.75). A Monitor that does
// not implement it has no hooks.
type HookRegistrar interface {
	// RegisterHook registers a hook, before resources refer to it. It may be called until the program calls
	// SignalAndWaitForShutdown, also concurrently.
	RegisterHook(ctx context.Context, h Hook) error
}

// Hook is a function that runs before or after an operation on a resource.
type Hook struct {
	Name         string
	OnDryRun     bool // run it in previews too
	IgnoreErrors bool // treat its error as a warning
	// OnError makes it an error hook, which decides after a failure whether to retry.
	OnError bool
	// Run runs the hook. args is a map that describes the operation: urn, id, name, type, newInputs, oldInputs,
	// newOutputs, oldOutputs, and for an error hook failedOperation and errors. retry is used for error hooks only.
	Run func(ctx context.Context, args value.Value) (retry bool, err error)
}

// Transform changes a registration before the engine processes it (E2.70). It gets a registration whose inputs carry
// their dependencies, with the resolved provider and the inherited options, and returns the registration to use. It
// must not change the type, name, parent and kind of the resource. An error fails the registration.
type Transform func(ctx context.Context, r RegisterRequest) (RegisterRequest, error)

// InvokeTransform changes the arguments, provider, version, URL and checksums of a function call.
type InvokeTransform func(ctx context.Context, r InvokeRequest) (InvokeRequest, error)

// TransformRegistrar is a Monitor that lets programs change their requests and those of their components (E2.69–E2.74).
// A Monitor that does not implement it has no transforms, and ignores the ones in a RegisterRequest.
type TransformRegistrar interface {
	// RegisterStackTransform adds a transform for all later registrations. It runs after the transforms of the resource
	// and of its ancestors, in order of registration.
	RegisterStackTransform(ctx context.Context, t Transform) error
	// RegisterStackInvokeTransform adds a transform for all later function calls.
	RegisterStackInvokeTransform(ctx context.Context, t InvokeTransform) error
}
