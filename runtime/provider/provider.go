package provider

import (
	"context"
	"io"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Provider is a loaded provider that has no configuration yet. All methods are safe for concurrent use.
type Provider interface {
	// Info identifies the provider.
	Info(ctx context.Context) (Info, error)
	// Parameterize makes the provider serve another package; it comes before everything else (E3.8).
	Parameterize(ctx context.Context, r ParameterizeRequest) (ParameterizeResponse, error)
	// Schema returns the package schema as JSON text (F2.16). The caller must not modify it.
	Schema(ctx context.Context, r SchemaRequest) ([]byte, error)
	// CheckConfig validates configuration and fills in defaults (E3.18).
	CheckConfig(ctx context.Context, r CheckRequest) (CheckResponse, error)
	// DiffConfig compares configurations (E3.20).
	DiffConfig(ctx context.Context, r DiffRequest) (DiffResponse, error)
	// Configure gives the provider its configuration. It is called at most once.
	Configure(ctx context.Context, r ConfigureRequest) (Configured, error)
	// Cancel asks for calls in flight to end soon.
	Cancel(ctx context.Context) error
	// Close cancels and frees everything that the provider holds, a process too. It is safe to call twice.
	Close() error
}

// SchemaReader is a Provider whose schema, which may have 150 MB, can be read without a text of it in memory.
type SchemaReader interface {
	// ReadSchema passes the text that Schema returns to read. open starts at the beginning of the text each time, and
	// is valid until read returns. ReadSchema returns the error of the request, or of read.
	ReadSchema(ctx context.Context, r SchemaRequest, read func(open func() io.Reader) error) error
}

// Mapper is a Provider that knows how the names of another tool's provider map to its own.
type Mapper interface {
	// Mapping returns the provider of the tool key that the mapping is for, and the mapping in the form that converters
	// of that tool read. Both are empty if there is none. An empty name stands for the plugin's own choice.
	Mapping(ctx context.Context, key, name string) (from string, data []byte, err error)
}

// Configured is a provider that manages resources. All methods are safe for concurrent use. Errors are *Error where
// the outcome matters to the engine.
type Configured interface {
	Check(ctx context.Context, r CheckRequest) (CheckResponse, error)
	Diff(ctx context.Context, r DiffRequest) (DiffResponse, error)
	Create(ctx context.Context, r CreateRequest) (CreateResponse, error)
	Read(ctx context.Context, r ReadRequest) (ReadResponse, error)
	Update(ctx context.Context, r UpdateRequest) (UpdateResponse, error)
	Delete(ctx context.Context, r DeleteRequest) error
	Invoke(ctx context.Context, r InvokeRequest) (InvokeResponse, error)
	Call(ctx context.Context, r CallRequest) (CallResponse, error)
	Construct(ctx context.Context, r ConstructRequest) (ConstructResponse, error)
}

// Info describes a provider.
type Info struct {
	Name    string
	Version string // empty when not known
}

// ParameterizeRequest gives either command-line arguments or a value kept from an earlier parameterization.
type ParameterizeRequest struct {
	Args          []string
	Name, Version string
	Value         []byte
}

// ParameterizeResponse names the package that the provider now serves.
type ParameterizeResponse struct{ Name, Version string }

// SchemaRequest asks for a schema; the subpackage belongs to a parameterized provider.
type SchemaRequest struct{ SubpackageName, SubpackageVersion string }

// Subject is the resource that a request is about.
type Subject struct {
	URN  urn.URN
	Name string
	Type string
}

// SubjectOf takes name and type from a URN (F2.18).
func SubjectOf(u urn.URN) Subject { return Subject{URN: u, Name: u.Name(), Type: u.Type()} }

// ConfigureRequest gives a provider its configuration (E3.23).
type ConfigureRequest struct {
	Subject
	ID     string
	Inputs value.Value // a map, checked
}

// CheckRequest asks whether inputs are valid (E4.21). Olds is an empty map when there are none.
type CheckRequest struct {
	Subject
	Olds, News    value.Value
	RandomSeed    []byte // 32 bytes, the same for each check of one resource in one operation (E4.9)
	AllowUnknowns bool   // a preview
	Autonaming    *Autonaming
}

// Autonaming proposes a name for resources that name themselves (E4.126).
type Autonaming struct {
	Mode string // propose, enforce or disable
	Name string
	// Insist reports whether the user should hear of it when the provider takes no such proposals.
	Insist bool
}

// CheckResponse holds the inputs to use, or what is wrong with those given.
type CheckResponse struct {
	Inputs   value.Value
	Failures []Failure
	// AutonamingIgnored reports whether the provider could not be told what the request has as Autonaming.
	AutonamingIgnored bool
}

// Failure is one thing wrong with an input; Property is empty when it is about all.
type Failure = monitor.Failure

// DiffRequest asks what it takes to get from an old state to new inputs.
type DiffRequest struct {
	Subject
	ID            string
	OldInputs     value.Value
	OldOutputs    value.Value
	News          value.Value
	IgnoreChanges []string
	AllowUnknowns bool
}

// Changes is the result of a provider's diff.
type Changes uint8

// The results of a diff. DiffUnknown leaves it to the engine to compare inputs (E4.46). DiffUnavailable is no
// provider's answer: it stands for the answer of a provider whose configuration is not known yet (E3.52).
const (
	DiffUnknown Changes = iota
	DiffNone
	DiffSome
	DiffUnavailable
)

// DiffKind is the kind of change of one property.
type DiffKind uint8

// The kinds of property changes; the odd ones force a replacement.
const (
	DiffAdd DiffKind = iota
	DiffAddReplace
	DiffDelete
	DiffDeleteReplace
	DiffUpdate
	DiffUpdateReplace
)

var diffKindNames = [...]string{"add", "add-replace", "delete", "delete-replace", "update", "update-replace"}

// String is the kind's name in events (E8.15).
func (k DiffKind) String() string { return diffKindNames[min(int(k), len(diffKindNames)-1)] }

// Replaces reports whether the change forces a replacement.
func (k DiffKind) Replaces() bool { return k&1 == 1 }

// AsReplace is the kind with a replacement forced.
func (k DiffKind) AsReplace() DiffKind { return k | 1 }

// PropertyDiff is the change of one property.
type PropertyDiff struct {
	Kind      DiffKind
	InputDiff bool // the change is one of inputs, not of outputs
}

// DiffResponse is the provider's answer to Diff (F2.23).
type DiffResponse struct {
	Changes             Changes
	Replaces            []string // keys or paths that force a replacement
	Stables             []string
	Diffs               []string                // changed keys
	Detailed            map[string]PropertyDiff // by property path; nil when the provider gave none
	DeleteBeforeReplace bool
}

// Replace reports whether the change needs a replacement (E4.47).
func (d DiffResponse) Replace() bool {
	if len(d.Replaces) > 0 {
		return true
	}
	for _, p := range d.Detailed {
		if p.Kind.Replaces() {
			return true
		}
	}
	return false
}

// CreateRequest asks for a new resource; with Preview, only for what it would be like.
type CreateRequest struct {
	Subject
	Inputs  value.Value
	Timeout float64 // seconds; 0 is the provider's own choice
	Preview bool
	Views   *Views // nil when nobody wants to know of views
}

// CreateResponse is a new resource. ID is empty only in a preview.
type CreateResponse struct {
	ID                  string
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// ReadRequest asks for the present state of a resource. Inputs is null for an import.
type ReadRequest struct {
	Subject
	ID      string
	Inputs  value.Value
	Outputs value.Value
	Timeout float64
	Views   *Views
}

// ReadResponse is a resource as it is. An empty ID says that there is none. Inputs is null when the provider gave none.
type ReadResponse struct {
	ID                  string
	Inputs              value.Value
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// UpdateRequest asks for a change in place.
type UpdateRequest struct {
	Subject
	ID            string
	OldInputs     value.Value
	OldOutputs    value.Value
	News          value.Value
	Timeout       float64
	IgnoreChanges []string
	Preview       bool
	Views         *Views
}

// UpdateResponse is the changed resource.
type UpdateResponse struct {
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// DeleteRequest asks for the end of a resource.
type DeleteRequest struct {
	Subject
	ID      string
	Inputs  value.Value
	Outputs value.Value
	Timeout float64
	Views   *Views
}

// InvokeRequest calls a function.
type InvokeRequest struct {
	Token   string
	Args    value.Value
	Preview bool
}

// InvokeResponse is a function's result, or why there is none.
type InvokeResponse struct {
	Result   value.Value
	Failures []Failure
}

// CallRequest calls a method.
type CallRequest struct {
	Token           string
	Args            value.Value
	ArgDependencies map[string][]urn.URN
	Deployment      DeploymentInfo
}

// CallResponse is a method's result, or why there is none.
type CallResponse struct {
	Result             value.Value
	ReturnDependencies map[string][]urn.URN
	Failures           []Failure
}

// DeploymentInfo describes the deployment that a call or a construction happens in, and where its monitor listens.
type DeploymentInfo struct {
	monitor.Info
	MonitorEndpoint string // host:port
}

// ConstructRequest asks for a component (E2.38).
type ConstructRequest struct {
	Deployment              DeploymentInfo
	Type, Name              string
	Parent                  urn.URN
	Inputs                  value.Value
	InputDependencies       map[string][]urn.URN
	Dependencies            []urn.URN
	Providers               map[string]string
	Aliases                 []urn.URN
	AliasSpecs              []monitor.Alias // aliases that are not given as URNs
	Protect                 *bool
	RetainOnDelete          *bool
	DeleteBeforeReplace     *bool
	AdditionalSecretOutputs []string
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	CreateTimeout           string
	UpdateTimeout           string
	DeleteTimeout           string
	ReplacementTrigger      value.Value
}

// ConstructResponse is a constructed component.
type ConstructResponse struct {
	URN               urn.URN
	Outputs           value.Value
	StateDependencies map[string][]urn.URN
}
