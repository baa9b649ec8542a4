// Package analyzer is the contract between the engine and policy packs: what an engine tells of resources, and what a
// pack answers. It knows neither how a pack is written nor how it is reached.
//
// An Analyzer is one running pack. The engine asks it at three moments: Remediate and then Analyze for each resource,
// after the provider has checked its inputs and before its steps are chosen; AnalyzeStack once, after the program. It
// asks a DestroyAnalyzer before it deletes or replaces a resource, too.
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

// The levels, with the numbers that they have in the protocol.
const (
	Advisory  Level = iota // a violation is a warning
	Mandatory              // a violation is an error
	Disabled               // the policy is not asked
	Remediate              // the policy changes the inputs; a violation that remains is an error
)

var levelNames = [...]string{"advisory", "mandatory", "disabled", "remediate"}

// String returns the name of the level in configuration files.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", l)
}

// ParseLevel is the inverse of String. It returns Advisory for a name that is no level's.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(levelNames[:], name)
	return Level(max(i, 0)), i >= 0
}

// Info describes a pack.
type Info struct {
	Name, Version  string
	SupportsConfig bool
	Policies       []Policy
	Initial        map[string]Config // configuration that the pack brings, by policy
}

// Policy describes one rule of a pack.
type Policy struct {
	Name, Description string
	Level             Level
	Stack             bool // it is about the whole stack
	// Properties are the configurable properties, each with a JSON schema; null when there are none.
	Properties value.Value
	Required   []string // properties that must be configured
}

// Config is the configuration of one policy.
type Config struct {
	Level      Level
	Properties value.Value // a map, or null
}

// ConfigError is the error of a configuration of a policy that the policy does not take.
type ConfigError struct {
	Policy   string
	Property string // empty when the error is about the policy as a whole
	Err      error  // what is wrong, without the subject
}

func (e *ConfigError) Error() string {
	if e.Property == "" {
		return e.Policy + ": " + e.Err.Error()
	}
	return e.Policy + ": " + e.Property + " " + e.Err.Error()
}

func (e *ConfigError) Unwrap() error { return e.Err }

// Stack is what packs may know of an operation.
type Stack struct {
	Project, Stack, Organization string
	DryRun                       bool // a preview: values may be unknown
	Config                       map[string]string
	SecretKeys                   []string
	Tags                         map[string]string
	Environ                      []string // more variables of a pack in a process of its own, as name=value
}

// Resource is a resource as policies see it. Its values are not modified.
type Resource struct {
	Reference
	Options  Options
	Provider *Reference // nil for a component
	// Parent and the dependencies are given to AnalyzeStack only.
	Parent               urn.URN
	Dependencies         []urn.URN
	PropertyDependencies map[string][]urn.URN
}

// Reference is a resource without its surroundings.
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
	// URN is the resource that it is about; empty for the one that was asked about, or the stack.
	URN urn.URN
}

// Remediation is what a policy changes in the inputs of a resource.
type Remediation struct {
	Policy, Description string
	Properties          value.Value // all inputs; null leaves them unchanged
	Diagnostic          string      // why the policy could not remedy; empty if it could
}

// DestroyAnalyzer is an Analyzer that has policies about what an operation destroys. Pulumi's protocol has none.
type DestroyAnalyzer interface {
	Analyzer
	// AnalyzeDestroy returns the violations of what an operation does to a resource of the state. It is safe for
	// concurrent use.
	AnalyzeDestroy(ctx context.Context, r Resource, what Destruction) ([]Violation, error)
}

// Destruction is the way in which the object of a resource ends.
type Destruction string

// The ways, with the names that they have in policies.
const (
	Deletion    Destruction = "delete"
	Replacement Destruction = "replace"
)

// DestroyOnly is an Analyzer of what an operation destroys. It has nothing to object to anything else.
type DestroyOnly struct{ DestroyAnalyzer }

// Remediate changes nothing.
func (DestroyOnly) Remediate(context.Context, Resource) ([]Remediation, error) { return nil, nil }

// Analyze finds nothing.
func (DestroyOnly) Analyze(context.Context, Resource) ([]Violation, error) { return nil, nil }

// AnalyzeStack finds nothing.
func (DestroyOnly) AnalyzeStack(context.Context, []Resource) ([]Violation, error) { return nil, nil }

// Analyzer is a running policy pack. Analyze is safe for concurrent use; the other methods are called one at a time.
// An error of any method means that the pack cannot be relied on.
type Analyzer interface {
	// Info describes the pack.
	Info(ctx context.Context) (Info, error)
	// Configure gives each policy its configuration. Packs that do not support configuration get none.
	Configure(ctx context.Context, config map[string]Config) error
	// ConfigureStack comes before the resources of an operation.
	ConfigureStack(ctx context.Context, s Stack) error
	// Remediate returns the changes to the inputs of a resource, in order; each has seen those before it.
	Remediate(ctx context.Context, r Resource) ([]Remediation, error)
	// Analyze returns the violations of one resource.
	Analyze(ctx context.Context, r Resource) ([]Violation, error)
	// AnalyzeStack returns the violations of all resources together.
	AnalyzeStack(ctx context.Context, all []Resource) ([]Violation, error)
	// Close ends the pack.
	Close() error
}
