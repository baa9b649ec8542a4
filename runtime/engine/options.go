package engine

import (
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Options configure an operation. Base and everything in it is not modified.
type Options struct {
	Project, Stack, Organization string
	RootDir                      string // of the project, absolute; source positions are relative to it
	ProgramDir                   string // absolute; asset paths are relative to it

	Config           map[string]string // full key to plain text; objects as JSON
	ConfigSecretKeys []string

	Base      *state.Snapshot // nil for a stack without a state
	Journal   journal.Journal // takes every change of state; must be nil if and only if DryRun
	Providers provider.Loader
	Policies  []PolicyPack // the configured policy packs; the caller closes them
	Events    func(Event)  // receives events one at a time, in order; must not block for long; may be nil

	DryRun          bool // preview: change nothing
	Parallel        int  // maximum number of concurrent provider calls; 0 means 4 per processor
	ContinueOnError bool
	Refresh         bool // read every resource before the program runs
	// SkipRefreshBefore omits the reads that providers ask for before each operation (E4.112).
	SkipRefreshBefore bool
	RunProgram        bool // with Refresh, read each resource when the program registers it (E7.29)

	// Targets, Replace and Excludes are URNs or globs of URNs (E4.98). Targets and Excludes restrict the operation;
	// Replace forces replacements and restricts nothing (E4.104).
	Targets, Replace, Excludes []string
	TargetDependents           bool // target the dependants of targets too
	ExcludeDependents          bool // exclude the dependants of excluded resources too
	ExcludeProtected           bool // exclude protected resources (E4.78)
	IgnoreProtect              bool // delete and replace protected resources like others (E4.77)

	// Retry names the pending creations in Base that are repeated with their recorded inputs.
	Retry []urn.URN

	Plan            *UpdatePlan // constrains an update or its preview to the planned steps; nil for no plan
	RecordPlan      bool        // the result of a preview of an update has its plan
	MonitorEndpoint string      // host:port of this deployment's monitor for other processes; empty for none
	// Serve, if not nil, starts to offer the deployment's monitor to other processes before anything runs, and returns
	// its endpoint, which replaces MonitorEndpoint.
	Serve func(*Deployment) (endpoint string, err error)

	// Terminate is closed to give up at once: calls in flight are abandoned and nothing more is written (E5.51). It may
	// be nil. The first, gentle interrupt is the cancellation of the operation's context (E5.50).
	Terminate <-chan struct{}

	// StackOutputs reads the outputs of the named stack for stack references; nil if that is not supported.
	StackOutputs func(ctx context.Context, name string) (value.Value, error)
	// StackResources reads the resources of the named stack: a map of URNs to maps with type and outputs; nil if that
	// is not supported.
	StackResources func(ctx context.Context, name string) (value.Value, error)
	// Open reads the content of an asset's or archive's URI; nil if remote content is not supported.
	Open func(ctx context.Context, uri string) (io.ReadCloser, error)
	// Door opens the files of assets and archives.
	Door confine.Door
	// Seed returns 32 random bytes for a resource's automatic names; nil means crypto/rand.
	Seed func() []byte
	// NewID returns the ID of a new provider resource; nil means random UUIDs (E1.17).
	NewID func() string
	// Crash receives a panic, on the goroutine that panicked, and does not return; nil lets the panic end the process.
	// The journal is complete up to that moment, and steps in progress stay open in it, as after a kill.
	Crash func(fault any)
	// Now is the clock; nil for the system's.
	Now func() time.Time
}

// setDefaults replaces zero options by their defaults.
func (o *Options) setDefaults() {
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == nil {
		o.Seed = func() []byte {
			seed := make([]byte, 32)
			_, _ = rand.Read(seed) // never fails
			return seed
		}
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Parallel <= 0 {
		o.Parallel = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Base == nil {
		o.Base = &state.Snapshot{}
	}
}

// urnOf returns the URN of a resource in this stack.
func (o *Options) urnOf(parent urn.URN, typ, name string) urn.URN {
	return urn.New(o.Stack, o.Project, parent, typ, name)
}

// Result is the outcome of an operation.
type Result struct {
	Snapshot *state.Snapshot // after the operation; Base for a preview
	Plan     *UpdatePlan     // of the preview of an update with RecordPlan; nil otherwise
	Duration time.Duration
	Changes  map[Op]int // number of steps of each kind (E8.2–E8.7)
	Failed   bool       // an error was reported
	// PlanViolated reports whether the operation failed because its steps deviated from the plan (E7.76).
	PlanViolated bool
	Canceled     bool // interrupted, once or twice
	Interrupted  bool // interrupted, and nothing else failed
	// Terminated reports whether the operation was abandoned: Snapshot lacks the steps that were in flight, and so may
	// the journal (E5.51).
	Terminated bool
}

// HasChanges reports whether any step other than a read, same or discard was counted (E8.5).
func (r *Result) HasChanges() bool {
	for op, n := range r.Changes {
		switch op {
		case OpSame, OpRead, OpReadReplacement, OpDiscard:
		default:
			if n > 0 {
				return true
			}
		}
	}
	return false
}

// withHashes computes the missing hashes of the assets and archives in v (E2.15). Relative paths are resolved against
// the program directory.
func (o *Options) withHashes(ctx context.Context, v value.Value) (value.Value, error) {
	opener := value.DirOpener{Dir: o.ProgramDir, Door: o.Door}
	if o.Open != nil {
		opener.Fetch = func(uri string) (io.ReadCloser, error) { return o.Open(ctx, uri) }
	}
	return value.WithDigests(v, opener)
}
