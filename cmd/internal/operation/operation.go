package operation

import (
	"context"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Options are the flags of all commands that plan or apply, by the stage that they are for.
type Options struct {
	Command string            // as users call it, such as up
	Flags   map[string]string // flags that were set, for the history

	OpenOptions
	ConfigOptions
	ProgramOptions
	PlanOptions
	PendingOptions
	ApplyOptions
	ShowOptions
}

// OpenOptions choose the project and its stack.
type OpenOptions struct {
	Dir         string // of `run`
	Stack       string
	Untrusted   bool
	LockTimeout time.Duration // how long to wait for the stack's lock; 0 for no wait
	Timeout     time.Duration // of the whole command; 0 for none
	Neighbours  *Neighbours   // of a preview of several stacks; nil for one alone
}

// ConfigOptions select the configuration of the stack.
type ConfigOptions struct {
	Config     []string // key=value
	ConfigPath bool     // keys of Config are paths into values
	ConfigFile string   // instead of the stack's settings
	configFrom []string // key=FILE
	configEnv  string   // a prefix of environment variables
	plan       string   // a file that has the configuration of its plan
}

// ProgramOptions limit what the program may do.
type ProgramOptions struct {
	AllowEnv      bool
	RestrictPaths bool
	AllowStacks   []string // stacks whose outputs an untrusted program may read
	AcceptPlugins bool     // that no lock file has
	MaxValue      int64    // MiB
	MaxSteps      int64
	Parallel      int
	MonitorRPC    bool
}

// PlanOptions select what is planned, and what is done with the plan.
type PlanOptions struct {
	Scope           scopeOptions
	Refresh         string
	ExpectNoChanges bool
	MaxDeletes      *int // how many objects the operation may delete or replace; nil for no limit
	ContinueOnError bool
	PolicyPacks     []string
	PolicyConfigs   []string // of PolicyPacks, in the same order

	PreviewOnly  bool
	PlanOnly     bool // of `run`
	writeAliases bool // of resources that look renamed
	savePlan     string
	importFile   string
}

// PendingOptions decide about what an earlier run has left open.
type PendingOptions struct {
	ResolvePending []string
	AcceptLoss     bool // create although a repair has lost records
	unasked        bool // `run` never asks
}

// ApplyOptions decide whether the operation runs, and what is kept of it.
type ApplyOptions struct {
	Yes         bool
	SkipPreview bool
	Strict      bool
	Remove      bool   // of `destroy`
	Message     string // for the history

	ExecKind, ExecAgent string // what has started the command, for the history; empty for a person
}

// ShowOptions select what is shown.
type ShowOptions struct {
	view.Detail
	Reports  console.ReportFlags
	Json     bool
	UI       bool // in a browser
	ExitCode bool // of `drift`: the exit code reports drift
}

// ImportKind is the kind of an operation that only records objects that exist.
const ImportKind = "resource-import"

// Operation is one kind of operation on a stack, such as update or destroy.
type Operation struct {
	Kind     string // in the history: update, refresh or destroy
	Planning string // text of a preview
	Applying string // text of the operation itself
	Question string
	program  bool // it runs the program
	policies bool // policy packs check it
	destroys bool // policy packs check only what it destroys
	run      func(context.Context, engine.Options, engine.Program) (*engine.Result, error)
	// On runs an operation without a program that needs more of a stack than the options of the engine, instead of run.
	On func(context.Context, *Checked, engine.Options) (*engine.Result, error)
}

var (
	updateOperation = Operation{Kind: "update", Planning: "Previewing update", Applying: "Updating", program: true,
		policies: true,
		Question: "Do you want to perform this update?", run: engine.Update}
	refreshOperation = Operation{Kind: "refresh", Planning: "Previewing refresh", Applying: "Refreshing",
		Question: "Do you want to perform this refresh?\nNo resources will be modified as part of this refresh; just your " +
			"stack's state will be.",
		run: engine.Refresh}
	destroyOperation = Operation{Kind: "destroy", Planning: "Previewing destroy", Applying: "Destroying", destroys: true,
		Question: "Do you want to perform this destroy?", run: engine.Destroy}

	// previewOperation is an update that is never applied.
	previewOperation = Operation{Kind: "preview", Planning: updateOperation.Planning, program: true, policies: true,
		run: engine.Update}
)
