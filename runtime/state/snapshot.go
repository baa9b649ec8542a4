package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Snapshot is the state of a stack at one moment. Each resource follows its dependencies (E1.50). Do not modify a
// snapshot or its contents once it is shared; make copies.
type Snapshot struct {
	Manifest        Manifest
	SecretsProvider *SecretsProvider // nil when the state has no secrets
	Resources       []*Resource
	Pending         []Operation
	Metadata        json.RawMessage            // as read; nil for {}
	Snippets        json.RawMessage            // as read
	Extensions      json.RawMessage            // as read
	Unknown         map[string]json.RawMessage // unknown deployment keys, preserved (F0.3)
	// ByteStrings reports whether the state, or a sealed secret in it, may contain strings that are not UTF-8 (F5.2).
	ByteStrings bool
}

// Manifest records the version that wrote a snapshot, and the time (F5.4).
type Manifest struct {
	Time    time.Time
	Magic   string
	Version string
	Unknown map[string]json.RawMessage // unknown keys, preserved (F0.3)
}

// SecretsProvider is the type and the record of the manager that seals a snapshot's secrets (F5.5).
type SecretsProvider struct {
	Type  string          `json:"type"`
	State json.RawMessage `json:"state,omitempty"`

	Unknown map[string]json.RawMessage `json:"-"` // unknown keys, preserved (F0.3)
}

// Resource is the state of one resource (E1.20–E1.46). Do not modify it once it is shared; make a copy with Clone.
type Resource struct {
	URN    urn.URN
	Type   string
	Custom bool
	ID     string

	Inputs  value.Value // a map
	Outputs value.Value // a map

	Parent               urn.URN
	Provider             string // reference
	Dependencies         []urn.URN
	PropertyDependencies urn.Dependencies

	Delete             bool // replaced, pending deletion
	PendingReplacement bool // deleted, not yet created again
	External           bool // read, not managed
	Protect            bool
	RetainOnDelete     bool
	Taint              bool

	InitErrors              []string
	Aliases                 []urn.URN // the alias that matched in this operation
	CustomTimeouts          Timeouts
	ImportID                string
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	AdditionalSecretOutputs []string
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	HideDiffs               []string
	ReplacementTrigger      value.Value // null when absent
	RefreshBeforeUpdate     bool
	ViewOf                  urn.URN
	ResourceHooks           map[string][]string
	Created, Modified       *time.Time
	SourcePosition          string // project:///<path>#<line>,<column>
	StackTrace              json.RawMessage
	ExtensionRef            string
	SnippetID               string

	Unknown         map[string]json.RawMessage // unknown keys, preserved (F0.3)
	UnknownTimeouts map[string]json.RawMessage // unknown keys of customTimeouts, preserved
}

// Timeouts are in seconds; 0 is the provider's default.
type Timeouts struct {
	Create float64 `json:"create,omitempty"`
	Update float64 `json:"update,omitempty"`
	Delete float64 `json:"delete,omitempty"`
	Read   float64 `json:"read,omitempty"`
}

// OperationKind is the kind of an operation in flight.
type OperationKind string

// The kinds of pending operations (F5.15).
const (
	Creating  OperationKind = "creating"
	Updating  OperationKind = "updating"
	Deleting  OperationKind = "deleting"
	Reading   OperationKind = "reading"
	Importing OperationKind = "importing"
)

// Operation is an operation that has begun and has no recorded result.
type Operation struct {
	Resource *Resource
	Kind     OperationKind
	Unknown  map[string]json.RawMessage // unknown keys, preserved (F0.3)
}

// Clone returns a shallow copy of r.
func (r *Resource) Clone() *Resource {
	c := *r
	return &c
}

// IsProvider reports whether the resource is a provider.
func (r *Resource) IsProvider() bool { return urn.IsProviderType(r.Type) }

// NewManifest returns the manifest for a snapshot written by the given version at time t (F5.4).
func NewManifest(version string, t time.Time) Manifest {
	return Manifest{Time: t, Version: version, Magic: magicOf(version)}
}

// magicOf returns the magic that a manifest must have (F5.4, E6.7).
func magicOf(version string) string {
	if version == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:])
}

// Withheld is added to a resource's initErrors if its secrets could not be sealed. It makes the next update repair the
// resource (E5.40).
const Withheld = "its secrets could not be recorded, because there was no secrets provider to seal them"

// WithoutSecrets returns a copy of r with every secret replaced by null and, for a custom resource, Withheld added to
// its initErrors. It returns r itself if it has no secrets.
func (r *Resource) WithoutSecrets() *Resource {
	if !r.Inputs.ContainsSecret() && !r.Outputs.ContainsSecret() && !r.ReplacementTrigger.ContainsSecret() {
		return r
	}
	bare := r.Clone()
	bare.Inputs, bare.Outputs, bare.ReplacementTrigger = blank(r.Inputs), blank(r.Outputs), blank(r.ReplacementTrigger)
	if r.Custom {
		bare.InitErrors = append(append([]string(nil), r.InitErrors...), Withheld)
	}
	return bare
}

func blank(v value.Value) value.Value {
	if !v.ContainsSecret() {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if x.IsSecret() {
			return value.Null
		}
		return x
	})
}
