package operation

import (
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// Options are the flags of all commands that plan or apply.
type Options struct {
	Dir     string // of `run`
	Stack   string
	Message string
	Command string            // as people call it, such as up
	Flags   map[string]string // flags that were set, for the history

	Config     []string
	ConfigPath bool
	ConfigFile string
	sources    configSources

	writeAliases bool // of resources that look renamed

	Yes             bool
	SkipPreview     bool
	PreviewOnly     bool
	PlanOnly        bool // of `run`
	ExpectNoChanges bool
	ContinueOnError bool
	Parallel        int
	Timeout         time.Duration // of the whole command; 0 for none
	LockTimeout     time.Duration // how long to wait for the stack's lock; 0 not at all
	Refresh         string
	SettlePending   []string
	AcceptLoss      bool // create although a repair has lost records
	PolicyPacks     []string
	PolicyConfigs   []string // of PolicyPacks, in the same order
	MaxDeletes      *int     // how many objects the operation may delete or replace; nil for no limit
	unasked         bool     // `run` never asks
	Scope           scopeOptions
	savePlan, plan  string
	importFile      string
	Strict          bool
	ExitCode        bool // of `drift`: tell drift by the exit code
	Remove          bool // of `destroy`
	MonitorRPC      bool
	AllowEnv        bool
	RestrictPaths   bool
	Untrusted       bool
	AllowStacks     []string // whose outputs a program that is not trusted may read
	AcceptPlugins   bool     // that no lock file has
	MaxValue        int64    // MiB
	MaxSteps        int64

	Reports          console.ReportFlags
	Json             bool
	Diff             bool
	Flat             bool
	Timestamps       bool
	ShowSames        bool
	ShowReads        bool
	ShowComputed     bool
	ShowSecrets      bool
	SuppressOutputs  bool
	SuppressProgress bool
	UI               bool // show it in a browser

	Neighbours *Neighbours // of a preview of several stacks; nil for one alone
}
