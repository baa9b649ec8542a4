// Package analyzer is the contract between the engine and policy packs: the description of resources and the answers of
// packs. It is independent of how a pack is written or called.
//
// An Analyzer is one running pack. The engine calls Remediate and then Analyze for each resource, after the provider
// has checked its inputs and before its steps are chosen, and AnalyzeStack once after the program. It calls a
// DestroyAnalyzer before it deletes or replaces a resource, too.
package analyzer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Level is the enforcement of a policy.
type Level uint8

// The levels, with the numbers of the protocol.
const (
	Advisory  Level = iota // a violation is a warning
	Mandatory              // a violation is an error
	Disabled               // the policy does not run
	Remediate              // the policy changes the inputs; a remaining violation is an error
)

var levelNames = [...]string{"advisory", "mandatory", "disabled", "remediate"}

// String returns the name of the level as in configuration files.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", l)
}

// ParseLevel is the inverse of String. It returns Advisory and false for an unknown name.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(levelNames[:], name)
	return Level(max(i, 0)), i >= 0
}

// Info describes a pack.
type Info struct {
	Name, Version  string
	SupportsConfig bool
	Policies       []Policy
	Initial        map[string]Config // the pack's default configuration, by policy
}

// Policy describes one rule of a pack.
type Policy struct {
	Name, Description string
	Level             Level
	Stack             bool // the policy analyzes the whole stack
	// Properties are the configurable properties, each with a JSON schema; null for none.
	Properties value.Value
	Required   []string // properties that must be configured
}

// Config is the configuration of one policy.
type Config struct {
	Level      Level
	Properties value.Value // a map, or null
}

// ConfigError is the error for an invalid configuration of a policy.
type ConfigError struct {
	Policy   string
	Property string // empty if the error concerns the policy as a whole
	Err      error  // the fault, without its subject
}

func (e *ConfigError) Error() string {
	if e.Property == "" {
		return e.Policy + ": " + e.Err.Error()
	}
	return e.Policy + ": " + e.Property + " " + e.Err.Error()
}

func (e *ConfigError) Unwrap() error { return e.Err }

// Stack describes an operation to packs.
type Stack struct {
	Project, Stack, Organization string
	DryRun                       bool // a preview: values may be unknown
	Config                       map[string]string
	SecretKeys                   []string
	Tags                         map[string]string
	Environ                      []string // additional environment of a pack's process, as name=value
}

// Resource describes a resource to policies. Its values must not be modified.
type Resource struct {
	Reference
	Options  Options
	Provider *Reference // nil for a component
	// Parent and the dependencies are set for AnalyzeStack only.
	Parent               urn.URN
	Dependencies         []urn.URN
	PropertyDependencies urn.Dependencies
}

// Reference describes a resource without its relations.
type Reference struct {
	URN        urn.URN
	Type, Name string
	Properties value.Value // a map: inputs for Remediate and Analyze, outputs for AnalyzeStack
}

// Options are the options of a registration.
type Options struct {
	Protect                 bool
	IgnoreChanges           []string
	DeleteBeforeReplace     *bool
	AdditionalSecretOutputs []string
	Aliases                 []urn.URN
	Create, Update, Delete  time.Duration // custom timeouts; 0 for none
	Parent                  urn.URN
}

// Violation is a finding of a policy.
type Violation struct {
	Policy, Description, Message string
	Level                        Level
	// URN is the resource concerned; empty for the analyzed resource, or the stack.
	URN urn.URN
}

// Remediation is a policy's change of the inputs of a resource.
type Remediation struct {
	Policy, Description string
	Properties          value.Value // all inputs; null leaves them unchanged
	Diagnostic          string      // the reason why the policy could not remediate; empty if it could
}

// DestroyAnalyzer is an Analyzer with policies about destroyed resources. Pulumi's protocol has none.
type DestroyAnalyzer interface {
	Analyzer
	// AnalyzeDestroy returns the violations of destroying a resource of the state. It is safe for concurrent use.
	AnalyzeDestroy(ctx context.Context, r Resource, kind Destruction) ([]Violation, error)
}

// Destruction is the way in which the object of a resource is destroyed.
type Destruction string

// The ways, with their names in policies.
const (
	Deletion    Destruction = "delete"
	Replacement Destruction = "replace"
)

// DestroyOnly is an Analyzer with policies about destroyed resources only.
type DestroyOnly struct{ DestroyAnalyzer }

// Remediate returns no changes.
func (DestroyOnly) Remediate(context.Context, Resource) ([]Remediation, error) { return nil, nil }

// Analyze returns no violations.
func (DestroyOnly) Analyze(context.Context, Resource) ([]Violation, error) { return nil, nil }

// AnalyzeStack returns no violations.
func (DestroyOnly) AnalyzeStack(context.Context, []Resource) ([]Violation, error) { return nil, nil }

// Analyzer is a running policy pack. Analyze is safe for concurrent use; the other methods are called one at a time.
// After an error of any method the pack must not be relied on.
type Analyzer interface {
	// Info describes the pack.
	Info(ctx context.Context) (Info, error)
	// Configure sets the configuration of each policy. It is not called for packs that do not support configuration.
	Configure(ctx context.Context, config map[string]Config) error
	// ConfigureStack describes the operation, before any resource is analyzed.
	ConfigureStack(ctx context.Context, s Stack) error
	// Remediate returns the changes to the inputs of a resource, in order; each is based on the previous one.
	Remediate(ctx context.Context, r Resource) ([]Remediation, error)
	// Analyze returns the violations of one resource.
	Analyze(ctx context.Context, r Resource) ([]Violation, error)
	// AnalyzeStack returns the violations of all resources as a whole.
	AnalyzeStack(ctx context.Context, all []Resource) ([]Violation, error)
	// Close stops the pack.
	Close() error
}
