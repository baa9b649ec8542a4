package guard

import (
	"context"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Options are the parts of a Guard.
type Options struct {
	// Secrets learns what providers are given and give, and hides it. It must not be nil.
	Secrets *mask.Masker
	// Open names the inputs of a package's provider that are sealed and are no secrets, such as its source code; nil for
	// none.
	Open func(pkg string) []string
	// Patience is how long a call may take before Slow is called; 0 for a minute.
	Patience time.Duration
	// Slow is called for calls that take long; it may be nil. It runs in a goroutine of Watch, one call at a time.
	Slow func(Wait)
}

// Guard wraps the loader of an engine's providers. It is safe for concurrent use.
type Guard struct {
	secrets secrets
	open    func(pkg string) []string
	dog     *watchdog
}

// New makes a guard.
func New(o Options) *Guard {
	if o.Slow == nil {
		o.Slow = func(Wait) {}
	}
	if o.Open == nil {
		o.Open = func(string) []string { return nil }
	}
	return &Guard{secrets{o.Secrets}, o.Open, newWatchdog(o.Patience, o.Slow)}
}

// Watch reports slow calls until stop is called, which waits for the last of them to be told.
func (g *Guard) Watch() (stop func()) { return g.dog.watch() }

// Loader returns a loader whose providers are guarded.
func (g *Guard) Loader(l provider.Loader) provider.Loader { return loader{l, g} }

// loader gives out guarded providers.
type loader struct {
	provider.Loader
	guard *Guard
}

// Load starts a provider.
func (l loader) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	defer l.guard.dog.begin(pkg.Name, "start", "")()
	p, err := l.Loader.Load(ctx, pkg)
	if err != nil || p == nil {
		return p, err
	}
	return guarded{p, post{l.guard.dog, l.guard.secrets, pkg.Name, l.guard.open(pkg.Name)}}, nil
}
