package provider

import (
	"context"
	"io"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Provider is a loaded provider without configuration. All methods are safe for concurrent use.
type Provider interface {
	// Info identifies the provider.
	Info(ctx context.Context) (Info, error)
	// Parameterize makes the provider serve another package. It must come before all other calls (E3.8).
	Parameterize(ctx context.Context, r ParameterizeRequest) (ParameterizeResponse, error)
	// Schema returns the package schema as JSON text (F2.16). The caller must not modify it.
	Schema(ctx context.Context, r SchemaRequest) ([]byte, error)
	// CheckConfig validates configuration and fills in defaults (E3.18).
	CheckConfig(ctx context.Context, r CheckRequest) (CheckResponse, error)
	// DiffConfig compares configurations (E3.20).
	DiffConfig(ctx context.Context, r DiffRequest) (DiffResponse, error)
	// Configure gives the provider its configuration. It is called at most once.
	Configure(ctx context.Context, r ConfigureRequest) (Configured, error)
	// Cancel asks calls in flight to end soon.
	Cancel(ctx context.Context) error
	// Close cancels calls and frees everything the provider holds, including its process. It is safe to call twice.
	Close() error
}

// SchemaReader is a Provider that can stream its schema, which may be as large as 150 MB, instead of returning it as
// one text in memory.
type SchemaReader interface {
	// ReadSchema passes the text that Schema would return to read. Each call of open starts at the beginning of the
	// text; open is valid until read returns. ReadSchema returns the error of the request or of read.
	ReadSchema(ctx context.Context, r SchemaRequest, read func(open func() io.Reader) error) error
}

// Mapper is a Provider that can map the names of another tool's provider to its own.
type Mapper interface {
	// Mapping returns the name of the provider of the tool key that the mapping is for, and the mapping in the format
	// that converters for that tool read. Both are empty if there is no mapping. If name is empty, the plugin chooses
	// the provider.
	Mapping(ctx context.Context, key, name string) (from string, data []byte, err error)
}

// Configured is a provider that can manage resources. All methods are safe for concurrent use. They return an *Error
// wherever the outcome matters to the engine.
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
	Version string // empty if unknown
}

// ParameterizeRequest holds either command-line arguments or the value of an earlier parameterization.
type ParameterizeRequest struct {
	Args          []string
	Name, Version string
	Value         []byte
}

// ParameterizeResponse names the package that the provider now serves.
type ParameterizeResponse struct{ Name, Version string }

// SchemaRequest asks for a schema; the subpackage is for a parameterized provider.
type SchemaRequest struct{ SubpackageName, SubpackageVersion string }

// Subject is the resource that a request concerns.
type Subject struct {
	URN  urn.URN
	Name string
	Type string
}

// SubjectOf returns the subject for u, with the name and type taken from u (F2.18).
func SubjectOf(u urn.URN) Subject { return Subject{URN: u, Name: u.Name(), Type: u.Type()} }

// ConfigureRequest holds the provider's configuration (E3.23).
type ConfigureRequest struct {
	Subject
	ID     string
	Inputs value.Value // a checked map
}

// CheckRequest asks whether inputs are valid (E4.21). Olds is an empty map if there are no old inputs.
type CheckRequest struct {
	Subject
	Olds, News    value.Value
	RandomSeed    []byte // 32 bytes, the same for every check of one resource in one operation (E4.9)
	AllowUnknowns bool   // true in a preview
	Autonaming    *Autonaming
}

// Autonaming proposes a name to providers that name resources themselves (E4.126).
type Autonaming struct {
	Mode string // propose, enforce or disable
	Name string
	// Insist reports whether to warn the user if the provider does not support proposed names.
	Insist bool
}

// CheckResponse holds either the inputs to use or the faults of the given inputs.
type CheckResponse struct {
	Inputs   value.Value
	Failures []Failure
	// AutonamingIgnored reports whether the request's Autonaming could not be passed to the provider.
	AutonamingIgnored bool
}

// Failure is one fault of the inputs; Property is empty if it concerns the inputs as a whole.
type Failure = monitor.Failure

// DiffRequest asks which changes lead from an old state to new inputs.
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

// The results of a diff. With DiffUnknown, the engine compares inputs itself (E4.46). DiffUnavailable never comes from
// a provider: it stands for the answer of a provider whose configuration is not known yet (E3.52).
const (
	DiffUnknown Changes = iota
	DiffNone
	DiffSome
	DiffUnavailable
)

// DiffKind is the kind of change of one property.
type DiffKind uint8

// The kinds of property changes; odd values force a replacement.
const (
	DiffAdd DiffKind = iota
	DiffAddReplace
	DiffDelete
	DiffDeleteReplace
	DiffUpdate
	DiffUpdateReplace
)

var diffKindNames = [...]string{"add", "add-replace", "delete", "delete-replace", "update", "update-replace"}

// String returns the kind's name in events (E8.15).
func (k DiffKind) String() string { return diffKindNames[min(int(k), len(diffKindNames)-1)] }

// Replaces reports whether the change forces a replacement.
func (k DiffKind) Replaces() bool { return k&1 == 1 }

// AsReplace returns the corresponding kind that forces a replacement.
func (k DiffKind) AsReplace() DiffKind { return k | 1 }

// DiffKindOf returns the kind of a difference between two values.
func DiffKindOf(k value.ChangeKind) DiffKind {
	return [...]DiffKind{value.Added: DiffAdd, value.Removed: DiffDelete, value.Changed: DiffUpdate}[k]
}

// PropertyDiff is the change of one property.
type PropertyDiff struct {
	Kind      DiffKind
	InputDiff bool // the change concerns inputs, not outputs
}

// DiffResponse is the provider's answer to Diff (F2.23).
type DiffResponse struct {
	Changes             Changes
	Replaces            []string // keys or property paths that force a replacement
	Stables             []string
	Diffs               []string                // changed keys
	Detailed            map[string]PropertyDiff // by property path; nil if the provider sent none
	DeleteBeforeReplace bool
}

// Replace reports whether the change requires a replacement (E4.47).
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

// CreateRequest asks for a new resource. With Preview, it asks only for the expected result.
type CreateRequest struct {
	Subject
	Inputs  value.Value
	Timeout float64 // seconds; 0 for the provider's default
	Preview bool
	Views   *Views // nil if views are not wanted
}

// CreateResponse is a new resource. ID is empty only in a preview.
type CreateResponse struct {
	ID                  string
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// ReadRequest asks for the current state of a resource. Inputs is null for an import.
type ReadRequest struct {
	Subject
	ID      string
	Inputs  value.Value
	Outputs value.Value
	Timeout float64
	Views   *Views
}

// ReadResponse is the current state of a resource. ID is empty if the resource does not exist. Inputs is null if the
// provider sent none.
type ReadResponse struct {
	ID                  string
	Inputs              value.Value
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// UpdateRequest asks for an in-place update.
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

// UpdateResponse is the updated resource.
type UpdateResponse struct {
	Outputs             value.Value
	RefreshBeforeUpdate bool
}

// DeleteRequest asks for the deletion of a resource.
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

// InvokeResponse is a function's result or the failures that prevented it.
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

// CallResponse is a method's result or the failures that prevented it.
type CallResponse struct {
	Result             value.Value
	ReturnDependencies map[string][]urn.URN
	Failures           []Failure
}

// DeploymentInfo describes the deployment of a call or construction and the address of its resource monitor.
type DeploymentInfo struct {
	monitor.Info
	MonitorEndpoint string // host:port
}

// ConstructRequest asks for the construction of a component (E2.38).
type ConstructRequest struct {
	Deployment              DeploymentInfo
	Type, Name              string
	Parent                  urn.URN
	Inputs                  value.Value
	InputDependencies       map[string][]urn.URN
	Dependencies            []urn.URN
	Providers               map[string]string
	Aliases                 []urn.URN
	AliasSpecs              []monitor.Alias // aliases not given as URNs
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
