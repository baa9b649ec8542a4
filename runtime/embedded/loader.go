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
	Dir     string   // the program directory: where commands run and relative paths begin
	Environ []string // the environment of commands, as "name=value"
	Windows bool     // the default interpreter is cmd /C instead of /bin/sh -c
	// Log receives each line that a command prints, with secrets masked; nil drops them. It is called concurrently.
	Log func(LogLine)
	// SuppressSecretOutput withholds the output of commands with secret inputs from Log and from errors.
	SuppressSecretOutput bool
	// Now returns the current time; nil for the system's clock.
	Now func() time.Time
	// Random is the source of randomness for everything without a seed; nil for the system's. It is read concurrently.
	Random io.Reader
	// Supervisor is the command line of a process that kills commands and their child processes when this process ends;
	// see supervise.Start. Without one they survive a kill.
	Supervisor []string
	// Confined is the folder to which an untrusted program is confined: then private addresses and commands are
	// forbidden too (D13). Empty for a trusted program.
	Confined string
	// LargestFile bounds the size of a file that a function reads, in bytes; 0 for 256 MiB.
	LargestFile int64
	// Grace is the time for a cancelled command to end before it is killed; 0 for two seconds.
	Grace time.Duration
}

// LogLine is one line that a command printed.
type LogLine struct {
	URN    urn.URN // of the resource; empty for a function call
	Stderr bool
	Secret bool   // some of the command's inputs are secret
	Text   string // without its line break; very long lines are split
}

// environment returns a variable of commands; empty if it is not set.
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

// Schema returns the schema of an embedded package as JSON text (F8.1), and whether there is such a package. The caller
// must not modify it.
func Schema(name string) ([]byte, bool) {
	e, ok := catalog[name]
	if !ok {
		return nil, false
	}
	return e.text(), true
}

// Version returns the version of the public package that an embedded one follows, and whether there is such a package.
func Version(name string) (string, bool) {
	e, ok := catalog[name]
	if !ok {
		return "", false
	}
	return e.schema().Version, true
}

// NewLoader makes a loader of embedded providers. It is safe for concurrent use. Load goes by name alone and returns
// *provider.MissingError for a package that is not embedded or is parameterized; whether a wanted version or download
// URL rules the embedded provider out is for the caller to decide first (D8).
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
	ctx, cancel := context.WithCancel(context.Background()) // ends with the provider, not with the call that loaded it
	return &shell{name: p.Name, schema: e.schema(), text: e.text(), kinds: e.kinds(l.options), done: ctx, cancel: cancel},
		nil
}
