package guard

import (
	"context"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Options are the parts of a Guard.
type Options struct {
	// Secrets records the secrets in the inputs and outputs of providers and masks them. It must not be nil.
	Secrets *mask.Masker
	// Open names the inputs of a package's provider that are encrypted but not secret, such as its source code. It may
	// be nil.
	Open func(pkg string) []string
	// Patience is how long a call may take before Slow is called; 0 means one minute.
	Patience time.Duration
	// Slow is called for slow calls; it may be nil. It runs in a goroutine of Watch, one call at a time.
	Slow func(Wait)
}

// Guard wraps an engine's provider loader. It is safe for concurrent use.
type Guard struct {
	secrets secrets
	open    func(pkg string) []string
	dog     *watchdog
}

// New returns a guard.
func New(o Options) *Guard {
	if o.Slow == nil {
		o.Slow = func(Wait) {}
	}
	if o.Open == nil {
		o.Open = func(string) []string { return nil }
	}
	return &Guard{secrets{o.Secrets}, o.Open, newWatchdog(o.Patience, o.Slow)}
}

// Watch starts reporting slow calls. stop ends that and waits for a report in progress.
func (g *Guard) Watch() (stop func()) { return g.dog.watch() }

// Loader returns a loader whose providers are guarded.
func (g *Guard) Loader(l provider.Loader) provider.Loader { return loader{l, g} }

// loader loads guarded providers.
type loader struct {
	provider.Loader
	guard *Guard
}

// Load starts a guarded provider.
func (l loader) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	defer l.guard.dog.begin(pkg.Name, "start", "")()
	p, err := l.Loader.Load(ctx, pkg)
	if err != nil || p == nil {
		return p, err
	}
	return guarded{p, protection{l.guard.dog, l.guard.secrets, pkg.Name, l.guard.open(pkg.Name)}}, nil
}
