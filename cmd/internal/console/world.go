package console

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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
	// ReadPassword reads a line without showing it. It is nil without a terminal.
	ReadPassword func() (string, error)
	// Keys makes In deliver each key when it is pressed, unseen, until restore is called. It is nil without a terminal.
	Keys func() (restore func(), err error)
	// Restore resets the terminal to its state at the start, for when ReadPassword is abandoned. It is nil if there is
	// nothing to reset.
	Restore func()
	// End puts back what was switched on in the terminal when the process began. It is nil if nothing was.
	End func()
}

// Width returns the columns of the terminal for a stream that is one; 0, which is no limit, for another.
func (s *Streams) Width(terminal bool) int {
	if !terminal || s.Size == nil {
		return 0
	}
	columns, _ := s.Size()
	return columns
}

// Fold breaks the lines of a text between words where it goes to a terminal that is narrower, and indents what follows.
func (s *Streams) Fold(text string, terminal bool) string {
	width := s.Width(terminal)
	if width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = diag.Fold(line, width-1, 0, indent+2, nil)
	}
	return strings.Join(lines, "\n")
}

// World is the part of the machine that a command can see. Tests replace it.
type World struct {
	Version string // of this program
	Env     []string
	Self    string // path of this program's executable; empty if unknown
	// AsPulumi is set if the program was called by the name of the Pulumi CLI and has to behave like it.
	AsPulumi bool
	Dir      string                 // working directory, absolute
	Home     string                 // the user's home directory
	Process  func() backend.Process // the process that takes locks
	Now      func() time.Time
	// Random is the source of randomness for built-in providers; nil means the system's. It is read concurrently.
	Random io.Reader
	// Exit ends the process at once; nil means os.Exit.
	Exit func(code int)
	// Signals delivers interrupts; nil means none. The first ends the command gracefully, the second at once (D10).
	Signals <-chan os.Signal
	// HTTP is the client for downloads of plugins and for services; nil means the default client.
	HTTP *http.Client
	// Patience is how long a call to a provider, or the first answer of a backend, may take before a message says that
	// the command is waiting. 0 means a minute for providers and 4 seconds for backends.
	Patience time.Duration
	// Lease is how long a lock in an object store holds without being renewed; 0 means the default.
	Lease time.Duration
	// ServicePause is how long to wait before the first retry of a call to a service; 0 means half a second.
	ServicePause time.Duration
	// ServiceDeferral is how long the end of a step may wait so that it is sent to a service together with the
	// beginning of another step; 0 means a second.
	ServiceDeferral time.Duration
	// Disk is the file system that holds the folders of states; nil means that of this machine.
	Disk disk.Disk
	// Objects wraps an object store before it is used; nil means no wrapper.
	Objects func(backend.Objects) backend.Objects
	// Found receives every finding that is shown as text, for tests; it may be nil. Calls do not overlap.
	Found func(diag.Diagnostic)
	// Stores holds connections shared by the stacks of a command, and by successive commands in one process, such as
	// the jobs of a worker. With nil, nothing is shared.
	Stores *OpenStores
	// Keys holds the keys of passphrases for the same commands as Stores.
	Keys *secrets.Keyring
	// Previews is set if this command is part of a preview of several stacks that runs in several processes; otherwise
	// nil.
	Previews *Previews
	// Embedded are additional providers in this process; they take precedence over the built-in ones.
	Embedded []EmbeddedProviders
}

// EmbeddedProviders is a set of providers that run in this process.
type EmbeddedProviders interface {
	provider.Loader
	// Schema returns the schema of a package as JSON text, and reports whether there is such a package.
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

// ChildEnv returns the environment for commands, compilers and plugins that this program starts. Variables that open
// the secrets of stacks are removed unless --pass-env names them (D13).
func (a *Console) ChildEnv() environ.List {
	return environ.List(a.World.Env).ForChildren(a.Global.PassEnv...)
}

// Supervisor returns the command line of the process that ends started commands together with this one. It is nil if
// the path of this program is unknown. See supervise.Start.
func (w *World) Supervisor() []string {
	if w.Self == "" {
		return nil
	}
	return []string{w.Self, supervise.Word}
}

// Lookup returns an environment variable and reports whether it is set.
func (w *World) Lookup(name string) (string, bool) {
	return environ.List(w.Env).Lookup(name)
}

// Getenv returns an environment variable, or "" if it is not set.
func (w *World) Getenv(name string) string {
	return environ.List(w.Env).Get(name)
}

// Enabled reports whether a boolean PULUMI_* variable is on (F7.15).
func (w *World) Enabled(name string) bool {
	return environ.List(w.Env).True(name)
}

// path makes a path that the user gave absolute.
func (w *World) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(w.Dir, p)
}

// PulumiHome returns the folder that holds plugins, schemas and selections, or "" if there is no home directory.
func (w *World) PulumiHome() string {
	if home := w.Getenv("PULUMI_HOME"); home != "" {
		return w.path(home)
	}
	if w.Home == "" {
		return ""
	}
	return filepath.Join(w.Home, ".pulumi")
}

// CredentialsHome returns the folder of credentials.json (F6.16).
func (w *World) CredentialsHome() string {
	if dir := w.Getenv("PULUMI_CREDENTIALS_PATH"); dir != "" {
		return w.path(dir)
	}
	return w.PulumiHome()
}

// CRDs returns the cache for Kubernetes kinds defined in files. It is stored beside the schemas of plugins.
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

// Previews holds the planned outputs of the stacks of one preview, if each stack runs in its own process or on its own
// machine. Package operation defines their format, which contains no secrets.
type Previews struct {
	Before  map[string][]byte // planned outputs of other stacks, by PROJECT/STACK
	Planned []byte            // planned outputs of this stack; nil until it has planned
}

// DownloadOverrides is the environment variable that redirects downloads (F2.35).
const DownloadOverrides = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"

// DownloadsForbidden returns the flag or variable that forbids downloads, or "" if they are allowed.
func DownloadsForbidden(a *Console) string {
	switch {
	case a.Global.Offline:
		return "--offline"
	case a.World.Enabled("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
		return "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
	}
	return ""
}
