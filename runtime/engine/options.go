package engine

import (
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Options control what to operate on and how. Base and everything it holds are not modified.
type Options struct {
	Project, Stack, Organization string
	RootDir                      string // of the project, absolute; source positions are relative to it
	ProgramDir                   string // absolute; asset paths are relative to it

	Config           map[string]string // full key to plain text; objects as JSON
	ConfigSecretKeys []string

	Base      *state.Snapshot // nil for a stack without a state
	Journal   journal.Journal // takes every change of state; must be nil if and only if DryRun
	Providers provider.Loader
	Policies  []PolicyPack // configured; they stay the caller's to close
	Events    func(Event)  // called by one goroutine at a time, in order; must not block for long; nil for nobody

	DryRun          bool // preview: nothing is changed
	Parallel        int  // operations at the same time; 0 is 4 times the processors
	ContinueOnError bool
	Refresh         bool // read every resource before the program runs
	// SkipRefreshBefore leaves out what providers want to have read before each operation (E4.112).
	SkipRefreshBefore bool
	RunProgram        bool // with Refresh, read each resource when the program registers it (E7.29)

	// Targets, Replace and Excludes are URNs or globs of URNs (E4.98). With Targets, or with Excludes alone, the
	// operation is confined; Replace forces replacements and confines nothing (E4.104).
	Targets, Replace, Excludes []string
	TargetDependents           bool // what depends on a target is one too
	ExcludeDependents          bool // what depends on something excluded is excluded too
	ExcludeProtected           bool // protected resources are excluded (E4.78)
	IgnoreProtect              bool // protected resources are deleted and replaced like others (E4.77)

	// Retry names creations pending in Base that are made again, with the inputs that are recorded of them.
	Retry []urn.URN

	Plan            *UpdatePlan // binds an update, and the preview of one, to what was planned; nil for no plan
	MonitorEndpoint string      // host:port at which other processes reach this deployment's monitor; empty for none
	// Serve gives the deployment to anyone who offers its monitor to other processes, before anything runs, and gets back
	// the endpoint; nil when MonitorEndpoint says it all.
	Serve func(*Deployment) (endpoint string, err error)

	// Terminate is closed to give up at once: calls in flight are abandoned and nothing more is written (E5.51). Nil when
	// that never happens. A first, gentle interrupt is the cancellation of the operation's context (E5.50).
	Terminate <-chan struct{}

	// StackOutputs reads another stack's outputs by its name, for stack references; nil when that is not possible.
	StackOutputs func(ctx context.Context, name string) (value.Value, error)
	// StackResources reads another stack's resources by its name: a map of URNs to maps with type and outputs; nil when
	// that is not possible.
	StackResources func(ctx context.Context, name string) (value.Value, error)
	// Open reads the content behind an asset's or archive's URI; nil when remote content is not possible.
	Open func(ctx context.Context, uri string) (io.ReadCloser, error)
	// AllowFile returns an error for an absolute path of an asset or archive that may not be opened; nil allows all.
	AllowFile func(path string) error
	// Seed gives 32 random bytes for a resource's automatic names; nil for the system's randomness.
	Seed func() []byte
	// NewID gives the ID of a new provider resource; nil for random UUIDs (E1.17).
	NewID func() string
	// Crash receives a panic, in the goroutine that panicked, and does not return; nil lets the panic end the process
	// as Go does. The journal has everything up to that moment, and steps that had not ended are open in it, as after
	// a kill.
	Crash func(fault any)
	// Now is the clock; nil for the system's.
	Now func() time.Time
}

// setDefaults fills in what was left out.
func (o *Options) setDefaults() {
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

// now is the present moment, as states keep it.
func (o *Options) now() *time.Time {
	t := o.Now().UTC()
	return &t
}

// urnOf returns the name of a resource of this stack.
func (o *Options) urnOf(parent urn.URN, typ, name string) urn.URN {
	return urn.New(o.Stack, o.Project, parent, typ, name)
}

// Result is how an operation ended.
type Result struct {
	Snapshot *state.Snapshot // after the operation; Base for a preview
	Plan     *UpdatePlan     // of the preview of an update; nil otherwise
	Changes  map[Op]int      // counted steps (E8.2–E8.7)
	Failed   bool            // something was reported as an error
	// PlanViolated reports whether it ended because it would not have done what was planned (E7.76).
	PlanViolated bool
	Canceled     bool // it was interrupted, once or twice
	// Terminated reports whether it was given up at once: Snapshot lacks what was in flight, and so may the journal
	// (E5.51).
	Terminated bool
}

// HasChanges reports whether anything but reads and sames was counted (E8.5).
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

// withHashes fills in the hashes of assets and archives that have none (E2.15). Relative paths count from the program
// directory.
func (o *Options) withHashes(ctx context.Context, v value.Value) (value.Value, error) {
	opener := value.DirOpener{Dir: o.ProgramDir, Allow: o.AllowFile}
	if o.Open != nil {
		opener.Fetch = func(uri string) (io.ReadCloser, error) { return o.Open(ctx, uri) }
	}
	return value.WithDigests(v, opener)
}
