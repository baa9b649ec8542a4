package console

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/workspace/crd"
)

// Streams are the input and output streams of a command. Results go to Out, progress and diagnostics to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	InTerminal, OutTerminal, ErrTerminal bool
	// Size returns the terminal's columns and lines. It is nil, or returns zeros, when there is no terminal.
	Size func() (columns, lines int)
	// ReadPassword reads a line without showing it; nil without a terminal.
	ReadPassword func() (string, error)
	// Restore makes the terminal what it was at the start, for when ReadPassword is given up; nil where there is nothing
	// to do.
	Restore func()
}

// World is the part of the machine that a command can see.
type World struct {
	Version string // of this program
	Env     []string
	Self    string // the executable of this program; empty when it is not known
	// AsPulumi reports whether the program was called by the name of the Pulumi CLI, and answers as that does.
	AsPulumi bool
	Dir      string                 // working directory, absolute
	Home     string                 // the user's home directory
	Process  func() backend.Process // who takes locks
	Now      func() time.Time
	// Random is where built-in providers get their randomness; nil for the system's. It is read concurrently.
	Random io.Reader
	// Exit ends the process at once; nil for os.Exit.
	Exit func(code int)
	// Signals brings interrupts; nil when there are none. The first is gentle, the second is not (D10).
	Signals <-chan os.Signal
	// HTTP downloads plugins; nil for the usual client.
	HTTP *http.Client
	// Patience is how long a call to a provider may take before a message says that the command waits for it, and the
	// first answer of where state lives; 0 for a minute, and for 4 seconds.
	Patience time.Duration
	// Lease is how long a lock in a store of objects holds without being renewed; 0 for the usual time.
	Lease time.Duration
	// ServicePause is how long to wait before a call of a service is repeated for the first time; 0 for half a second.
	ServicePause time.Duration
	// ServiceDeferral is how long the end of a step waits for the beginning of another one, to be sent to a service with
	// it; 0 for a second.
	ServiceDeferral time.Duration
	// Disk has the folders of states; nil for the file system of this machine.
	Disk disk.Disk
	// Objects makes of a store of states the one that is used; nil for the store itself.
	Objects func(backend.Objects) backend.Objects
	// Found receives every finding that is shown as text, for tests; nil otherwise. Calls do not overlap.
	Found func(diag.Diagnostic)
	// Stores are shared by the stacks of a command, and by commands in one process that follow each other, such as jobs of
	// a worker; nil for each its own.
	Stores *OpenStores
	// Keys has the keys of passphrases for such commands, likewise.
	Keys *secrets.Keyring
	// Previews are those that a command is a part of whose stacks are previewed in several processes; nil for none.
	Previews *Previews
	// Embedded are further providers in this process; they come before the built-in ones.
	Embedded []EmbeddedProviders
}

// EmbeddedProviders are providers that live in this process.
type EmbeddedProviders interface {
	provider.Loader
	// Schema is the schema of a package as JSON text, and whether there is such a package.
	Schema(name string) ([]byte, bool)
}

// Quit ends the process with an exit code.
func (w *World) Quit(code int) {
	if w.Exit != nil {
		w.Exit(code)
		return
	}
	os.Exit(code)
}

// ChildEnv returns the environment of commands, compilers and plugins: without variables that open the secrets of
// stacks, unless --pass-env names them (D13).
func (a *Console) ChildEnv() environ.List {
	return environ.List(a.World.Env).ForChildren(a.Global.PassEnv...)
}

// Supervisor is the command line of the process that ends commands with this one; nil where there is none
// (supervise.Start).
func (w *World) Supervisor() []string {
	if w.Self == "" {
		return nil
	}
	return []string{w.Self, supervise.Word}
}

// Lookup is an environment variable, and whether it is set.
func (w *World) Lookup(name string) (string, bool) {
	return environ.List(w.Env).Lookup(name)
}

// Getenv is an environment variable; empty when it is not set.
func (w *World) Getenv(name string) string {
	return environ.List(w.Env).Get(name)
}

// Enabled reports whether a boolean PULUMI_* variable is on (F7.15).
func (w *World) Enabled(name string) bool {
	return environ.List(w.Env).True(name)
}

// path is a path as a user gave it, made absolute.
func (w *World) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(w.Dir, p)
}

// PulumiHome is the folder that holds plugins, schemas and what is selected.
func (w *World) PulumiHome() string {
	if home := w.Getenv("PULUMI_HOME"); home != "" {
		return w.path(home)
	}
	if w.Home == "" {
		return ""
	}
	return filepath.Join(w.Home, ".pulumi")
}

// CredentialsHome is the folder of credentials.json (F6.16).
func (w *World) CredentialsHome() string {
	if dir := w.Getenv("PULUMI_CREDENTIALS_PATH"); dir != "" {
		return w.path(dir)
	}
	return w.PulumiHome()
}

// CRDs keep the kinds of Kubernetes that files define beside the schemas of plugins.
func (w *World) CRDs() *crd.Cache {
	home := w.PulumiHome()
	if home == "" {
		return new(crd.Cache)
	}
	return &crd.Cache{Dir: filepath.Join(home, "yamlhost", "schemas")}
}

func (w *World) time() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// Previews are the planned outputs of the stacks of one preview, if each stack runs in a process, or on a machine, of
// its own. Package operation defines their text, which has no secrets.
type Previews struct {
	Before  map[string][]byte // what others have planned, by PROJECT/STACK
	Planned []byte            // what this one plans; nil as long as it has planned nothing
}

// DownloadOverrides is the environment variable that sends downloads elsewhere (F2.35).
const DownloadOverrides = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"

// DownloadsForbidden names what forbids downloads; empty when nothing does.
func DownloadsForbidden(a *Console) string {
	switch {
	case a.Global.Offline:
		return "--offline"
	case a.World.Enabled("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
		return "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
	}
	return ""
}
