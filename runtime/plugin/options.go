package plugin

import (
	"io"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// Severity is the severity of a plugin's message.
type Severity uint8

// The severities of messages.
const (
	Debug Severity = iota
	Info
	Warning
	Error
)

// Message is a message of a plugin to the user, through the engine (F2.11).
type Message struct {
	URN       urn.URN // of the resource concerned, or empty
	Severity  Severity
	Text      string
	Ephemeral bool // a status, not to be kept
}

// Override is a plugin that the project file names (F2.25).
type Override struct {
	Name, Version string // an empty version is any
	Path          string // the executable or the directory that holds it, relative to the root directory or absolute
}

// Options are the external inputs of a Host. The caller must not modify them afterwards. Callbacks may be called from
// several goroutines at once, and must not block for long.
type Options struct {
	// Env is the environment of this process, as in os.Environ. Plugins inherit it without the variables that open the
	// secrets of stacks; see environ.List.ForChildren. Pass names variables that they inherit all the same.
	Env  []string
	Pass []string
	// Supervisor is the command line of a process that kills plugins when this process ends (supervise.Begin); nil for
	// none.
	Supervisor []string
	// Path lists the directories to search for executables, in order; IgnoreAmbient skips them
	// (PULUMI_IGNORE_AMBIENT_PLUGINS).
	Path          []string
	IgnoreAmbient bool
	// Approve returns an error for an installed plugin that may not be used; nil allows all. An error ends the search.
	Approve func(install.Plugin) error
	// Home is the directory that holds the folder plugins; empty for none.
	Home string
	// ProgramDir is the working directory of plugins; relative overrides are relative to RootDir.
	ProgramDir, RootDir string
	// Project is the project's name; RuntimeOptions are its runtime.options (E3.2).
	Project        string
	RuntimeOptions map[string]string
	// Overrides come before all other sources except attached providers.
	Overrides []Override
	// ReadScript reads the PulumiPlugin.yaml of a plugin in source form; nil if none can be run.
	ReadScript func(path string) (Script, error)
	// Languages are commands that start language hosts, by the name of the language. Other hosts are searched on Path
	// and among the installed plugins.
	Languages map[string][]string
	// DebugProviders are running providers to attach to, by name, with their ports (PULUMI_DEBUG_PROVIDERS, E3.7).
	DebugProviders map[string]int
	// LegacySearch takes the highest version at or above the one asked for (PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH, F2.29).
	LegacySearch bool
	// DisablePreview makes no calls of Create and Update in previews (PULUMI_DISABLE_PROVIDER_PREVIEW, E3.53).
	DisablePreview bool
	// PulumiVersion is the version of Pulumi that plugins see; empty accepts any version that they require.
	PulumiVersion string
	// Log receives the messages of plugins; nil to drop them.
	Log func(Message)
	// Warn receives warnings for the user; nil to drop them.
	Warn func(text string)
	// StartLimit is the time for a plugin to print its port and answer its first call; 0 for 10 s (F2.7). EndLimit is
	// the time to answer Cancel, and then to end by itself; 0 for 5 s (F2.13).
	StartLimit, EndLimit time.Duration
	// Trace receives a JSON line per call (PULUMI_DEBUG_GRPC, F2.39), with secrets masked; nil for none. The host
	// writes whole lines, one at a time.
	Trace io.Writer
}

func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}
