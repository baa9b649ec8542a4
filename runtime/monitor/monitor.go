package monitor

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Monitor carries out what a program asks for. All methods are safe for concurrent use and block until the answer is
// there. An error that wraps ErrShutdown means that the operation has ended and nothing more will be done.
type Monitor interface {
	// Info identifies the deployment.
	Info(ctx context.Context) (Info, error)
	// SupportsFeature answers for the names of E2.4.
	SupportsFeature(ctx context.Context, feature string) (bool, error)
	// RegisterPackage announces a package that resources and calls name by the returned reference (E2.67).
	RegisterPackage(ctx context.Context, p Package) (ref string, err error)
	// RegisterResource registers a resource and returns once it is as the program wants it, or is planned to be.
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

// Info describes which deployment a program runs in (E2.3).
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
	// Extension reports whether the parameters add a package to what the plugin is instead of replacing it.
	Extension bool
}

// Parameterization makes a package out of a plugin that can be several.
type Parameterization struct {
	Name, Version string
	Value         []byte
}

// Position is a place in a text of the program: an absolute path, a 1-based line and a 1-based column (D11).
type Position struct {
	Path         string
	Line, Column int
}

// Timeouts bound operations of a resource; Go duration texts such as 5m, empty for the provider's own choice (E5.33).
type Timeouts struct{ Create, Update, Delete, Read string }

// Alias is a name that a resource had (E4.13). Either URN is set, or the other fields are. An empty field means the
// value that the resource has now.
type Alias struct {
	URN                        urn.URN
	Name, Type, Stack, Project string
	Parent                     urn.URN
	NoParent                   bool
}

// RegisterRequest asks for a resource.
type RegisterRequest struct {
	Type   string // canonical token
	Name   string
	Parent urn.URN
	Custom bool // managed by a provider; else a component
	Remote bool // a component that its provider constructs

	Inputs value.Value // a map
	// inputs that the program leaves out, with the default of the package's schema
	Defaults             []value.Path
	PropertyDependencies map[string][]urn.URN // by input; nil to take Dependencies for all (E1.48)
	Dependencies         []urn.URN

	Provider          string            // provider reference, empty for none
	Providers         map[string]string // package to provider reference
	PackageRef        string            // from RegisterPackage
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte

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
	ReplacementTrigger      value.Value // null when absent
	EnvVarMappings          map[string]string
	Hooks                   map[string][]string // hook type to hook names
	// Transforms apply to this resource and to everything below it; see TransformRegistrar.
	Transforms []Transform
	// Transformed are the places of the transforms that have set inputs, by the path of the input. A Transform adds to it;
	// what it holds already must not be modified.
	Transformed map[string]*Position

	SourcePosition *Position
}

// Result describes how a registration ended.
type Result uint8

// The results of a registration (E2.37).
const (
	Succeeded Result = iota
	Failed
	Skipped
)

// RegisterResponse is a registered resource.
type RegisterResponse struct {
	URN     urn.URN
	ID      value.Value // null for a component, unknown for a resource to be created
	Outputs value.Value // a map; outputs absent from it are null if Known, unknown otherwise
	Result  Result
	// Known reports whether what Outputs lacks is null and not merely unknown yet: the resource exists as it will be.
	Known bool
	// PropertyDependencies are the dependencies of a remote component's outputs, by property.
	PropertyDependencies map[string][]urn.URN
}

// ReadRequest reads a resource by ID.
type ReadRequest struct {
	Type, Name              string
	Parent                  urn.URN
	ID                      value.Value // a string, maybe unknown
	State                   value.Value // a map: what is known of it besides
	Dependencies            []urn.URN
	Provider                string
	PackageRef              string
	Version                 string
	PluginDownloadURL       string
	PluginChecksums         map[string][]byte
	AdditionalSecretOutputs []string
	SourcePosition          *Position
}

// ReadResponse is the state of a resource that was read.
type ReadResponse struct {
	URN     urn.URN
	ID      value.Value
	Outputs value.Value // a map
	Known   bool        // as with RegisterResponse
}

// InvokeRequest calls a provider function.
type InvokeRequest struct {
	Token             string
	Args              value.Value // a map, fully known
	Provider          string
	Parent            urn.URN
	DependsOn         []urn.URN
	PackageRef        string
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte
	SourcePosition    *Position
}

// InvokeResponse is a function's result. Unknown says that the call could not be made yet (E2.51).
type InvokeResponse struct {
	Result   value.Value // a map
	Failures []Failure
	Unknown  bool
}

// CallRequest calls a method of a resource.
type CallRequest struct {
	Token             string
	Args              value.Value // a map, with __self__
	ArgDependencies   map[string][]urn.URN
	Provider          string
	PackageRef        string
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte
	SourcePosition    *Position
}

// CallResponse is a method's result.
type CallResponse struct {
	Result             value.Value
	ReturnDependencies map[string][]urn.URN
	Failures           []Failure
}

// Failure is one reason why a provider refused, with the property it is about when there is one.
type Failure struct{ Property, Reason string }

// HookRegistrar is a Monitor that lets programs take part in operations on resources (E2.75). A Monitor that does not
// implement it has no hooks.
type HookRegistrar interface {
	// RegisterHook announces a hook, before resources name it. It is called at any time until the program has waited for
	// the engine (SignalAndWaitForShutdown), also several times at once.
	RegisterHook(ctx context.Context, h Hook) error
}

// Hook runs beside an operation on a resource.
type Hook struct {
	Name         string
	OnDryRun     bool // in previews too
	IgnoreErrors bool // a fault is a warning
	// OnError makes it a hook that is asked, after a failure, whether to try again.
	OnError bool
	// Run runs it. args is a map that describes the operation: urn, id, name, type, newInputs, oldInputs,
	// newOutputs, oldOutputs, and of an error hook failedOperation and errors. retry counts for an error hook only.
	Run func(ctx context.Context, args value.Value) (retry bool, err error)
}

// Transform changes what a program asks for before anything is done about it (E2.70). It gets a registration whose
// inputs carry their dependencies, with the provider found and the options of the parent applied, and returns the
// registration to use. It may not change type, name, parent and kind of the resource. An error fails the registration.
type Transform func(ctx context.Context, r RegisterRequest) (RegisterRequest, error)

// InvokeTransform changes the arguments and the provider, version, URL and checksums of a function call.
type InvokeTransform func(ctx context.Context, r InvokeRequest) (InvokeRequest, error)

// TransformRegistrar is a Monitor that lets programs change what they and their components ask for (E2.69–E2.74). A
// Monitor that does not implement it has no transforms, and ignores the ones in a RegisterRequest.
type TransformRegistrar interface {
	// RegisterStackTransform applies t to every resource that is registered from now on, after the resource's own
	// transforms and its ancestors', in the order in which transforms are registered.
	RegisterStackTransform(ctx context.Context, t Transform) error
	// RegisterStackInvokeTransform applies t to every function call from now on.
	RegisterStackInvokeTransform(ctx context.Context, t InvokeTransform) error
}
