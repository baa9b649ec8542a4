package embedded

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Options are the external inputs of embedded providers. The zero Options use the process's working directory and an
// empty environment.
type Options struct {
	Dir     string   // the program's folder, in which commands run and relative paths begin
	Environ []string // the environment of commands, as "name=value"
	Windows bool     // use cmd /C as the default interpreter instead of /bin/sh -c
	// Log receives each line that a command prints, with secrets masked; it may be nil. It is called concurrently.
	Log func(LogLine)
	// SuppressSecretOutput withholds the output of commands with secret inputs from Log and from errors.
	SuppressSecretOutput bool
	// Now returns the current time; nil for the system's clock.
	Now func() time.Time
	// Random is the source of random bytes for everything without a seed; nil for the system's. It is read
	// concurrently.
	Random io.Reader
	// Supervisor is the command line of a process that kills commands and their child processes when this process ends;
	// see supervise.Start. Without a supervisor they continue if this process is killed.
	Supervisor []string
	// Confined is the only folder that an untrusted program may read; empty for a trusted program. An untrusted program
	// may also not use private addresses or commands (D13).
	Confined string
	// LargestFile limits the size of a file that a function reads, in bytes; 0 for 256 MiB.
	LargestFile int64
	// Grace is the time for a cancelled command to end before it is killed; 0 for two seconds.
	Grace time.Duration
}

// LogLine is one line that a command printed.
type LogLine struct {
	URN    urn.URN // of the resource; empty for a function call
	Stderr bool
	Secret bool   // some of the command's inputs are secret, and none of the resource's last one was
	Text   string // without the line break; very long lines are split
}

// environment returns the value of an environment variable in Environ; empty if it is not set.
func (o Options) environment(name string) string { return environ.List(o.Environ).Get(name) }

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Random = cmp.Or(o.Random, rand.Reader)
	o.LargestFile = cmp.Or(o.LargestFile, 256<<20)
	o.Grace = cmp.Or(o.Grace, 2*time.Second)
	return o
}

// Names returns the packages that this build embeds, in alphabetical order.
func Names() []string {
	return slices.Sorted(maps.Keys(catalog))
}

// Schema returns the schema of a package as JSON text (F8.1), and reports whether the package is embedded. The caller
// must not modify the text.
func Schema(name string) ([]byte, bool) {
	e, ok := catalog[name]
	if !ok {
		return nil, false
	}
	return e.text(), true
}

// Version returns the version of the public package that an embedded package follows, and reports whether name is
// embedded.
func Version(name string) (string, bool) {
	e, ok := catalog[name]
	if !ok {
		return "", false
	}
	return e.schema().Version, true
}

// NewLoader returns a loader of embedded providers. It is safe for concurrent use. Load returns a
// *provider.MissingError for a package that is not embedded or is parameterized. It ignores the version and the
// download URL; the caller decides first whether they rule out the embedded provider (D8).
func NewLoader(o Options) provider.Loader { return loader{o.withDefaults()} }

type loader struct{ options Options }

func (l loader) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	e, ok := catalog[p.Name]
	if !ok || p.Parameterization != nil {
		looked := make([]string, 0, len(catalog))
		for _, name := range Names() {
			looked = append(looked, name+" (embedded)")
		}
		return nil, &provider.MissingError{Package: p.Name, Version: p.Version, Looked: looked}
	}
	if p.Name == "command" && l.options.Confined != "" {
		return nil, errors.New("the package command runs commands, which an untrusted program may not (--untrusted)")
	}
	ctx, cancel := context.WithCancel(context.Background()) // ends with the provider, not with this call
	return &shell{name: p.Name, schema: e.schema(), text: e.text(), kinds: e.kinds(l.options), done: ctx,
			cancel: cancel},
		nil
}
