package plugin

import (
	"io"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Severity is how much a plugin's message matters.
type Severity uint8

// The severities of messages.
const (
	Debug Severity = iota
	Info
	Warning
	Error
)

// Message is something that a plugin tells the user through the engine (F2.11).
type Message struct {
	URN       urn.URN // of the resource that it is about, or empty
	Severity  Severity
	Text      string
	Ephemeral bool // a status, not to be kept
}

// Override is a plugin that the project file names (F2.25).
type Override struct {
	Name, Version string // an empty version is any
	Path          string // the executable or the directory that holds it, relative to the root directory or absolute
}

// Options is everything that a Host takes from outside. The caller must not modify it afterwards. Callbacks may be
// called from several goroutines at once, and must not block for long.
type Options struct {
	// Env is the environment of this process, as in os.Environ. Plugins inherit it but for what opens the secrets of
	// stacks; see environ.List.ForChildren. Pass names what they inherit all the same.
	Env  []string
	Pass []string
	// Path lists the directories to look for executables, in order; IgnoreAmbient leaves them out
	// (PULUMI_IGNORE_AMBIENT_PLUGINS).
	Path          []string
	IgnoreAmbient bool
	// Approve returns an error for an installed plugin that may not be used; nil allows all. An error ends the search.
	Approve func(InstalledPlugin) error
	// Home is the directory that holds the folder plugins; empty for none.
	Home string
	// ProgramDir is the working directory of plugins; relative overrides are relative to RootDir.
	ProgramDir, RootDir string
	// Project is the project's name; RuntimeOptions are its runtime.options (E3.2).
	Project        string
	RuntimeOptions map[string]string
	// Overrides come before everything else but attached providers.
	Overrides []Override
	// ReadScript reads the PulumiPlugin.yaml of a plugin that is a program in source form; nil when none can be run.
	ReadScript func(path string) (Script, error)
	// Languages are commands that start language hosts, by the name of the language. Others are looked for on Path and
	// among the installed plugins.
	Languages map[string][]string
	// DebugProviders are running providers to attach to, by name, with their ports (PULUMI_DEBUG_PROVIDERS, E3.7).
	DebugProviders map[string]int
	// LegacySearch takes the highest version at or above the one asked for (PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH, F2.29).
	LegacySearch bool
	// DisablePreview asks providers for nothing while previewing (PULUMI_DISABLE_PROVIDER_PREVIEW, E3.53).
	DisablePreview bool
	// PulumiVersion is the version of Pulumi that plugins see; empty accepts any version that they require.
	PulumiVersion string
	// MapperTarget, LoaderTarget and ResolverTarget are addresses of services handed to plugins; empty for none (F2.12).
	MapperTarget, LoaderTarget, ResolverTarget string
	// Log gets the messages of plugins; nil to drop them.
	Log func(Message)
	// Warn gets what a user should know but need not act on; nil to drop it.
	Warn func(text string)
	// StartLimit is how long a plugin may take to print its port and answer its first call; 0 is the usual 10 s (F2.7).
	// EndLimit is how long it may take to answer Cancel, and then to end by itself; 0 is the usual 5 s (F2.13).
	StartLimit, EndLimit time.Duration
	// Trace gets a JSON line per call (PULUMI_DEBUG_GRPC, F2.39), with secrets blanked out; nil for none. The host
	// writes whole lines, one at a time.
	Trace io.Writer
}

func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}
