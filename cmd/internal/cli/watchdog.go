package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value/urn"
)

// defaultPatience is how long a provider may take to answer before people are told what is being waited for.
const defaultPatience = time.Minute

// watchdog knows which calls to providers are under way, and says so when one takes long (D10). It is safe for concurrent
// use.
type watchdog struct {
	patience time.Duration
	tell     func(engine.Event)

	mu    sync.Mutex
	calls map[int]*waiting
	next  int
}

type waiting struct {
	plugin, does string
	about        urn.URN
	since        time.Time
	told         int // how often
}

func newWatchdog(patience time.Duration, tell func(engine.Event)) *watchdog {
	if patience <= 0 {
		patience = defaultPatience
	}
	return &watchdog{patience: patience, tell: tell, calls: map[int]*waiting{}}
}

// begin notes a call; the caller calls done when it has its answer.
func (w *watchdog) begin(plugin, does string, about urn.URN) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.next
	w.next++
	w.calls[n] = &waiting{plugin: plugin, does: does, about: about, since: time.Now()}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, n)
	}
}

// watch speaks up until stop is called: first after the patience is over, then each time that the wait has doubled.
func (w *watchdog) watch() (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(max(w.patience/4, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-ticker.C:
				for _, m := range w.overdue(now) {
					w.tell(m)
				}
			}
		}
	})
	return func() { close(over); watching.Wait() }
}

func (w *watchdog) overdue(now time.Time) []*engine.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*waiting
	for _, c := range w.calls {
		if now.Sub(c.since) >= w.patience<<min(c.told, 20) {
			c.told++
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *waiting) int { return a.since.Compare(b.since) })
	var messages []*engine.Message
	for _, c := range list {
		messages = append(messages, &engine.Message{URN: c.about, Severity: diag.Info, Text: fmt.Sprintf(
			"still waiting for the provider %s to %s, for %s now", c.plugin, c.does, now.Sub(c.since).Round(time.Second/10))})
	}
	return messages
}

// watched is a provider whose calls a watchdog knows of.
type watched struct {
	provider.Provider
	w    *watchdog
	name string
}

func (p watched) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	defer p.w.begin(p.name, "check its configuration", r.URN)()
	return p.Provider.CheckConfig(ctx, r)
}

func (p watched) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	defer p.w.begin(p.name, "compare its configuration", r.URN)()
	return p.Provider.DiffConfig(ctx, r)
}

func (p watched) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	defer p.w.begin(p.name, "give its schema", "")()
	return p.Provider.Schema(ctx, r)
}

func (p watched) Parameterize(ctx context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	defer p.w.begin(p.name, "take its parameters", "")()
	return p.Provider.Parameterize(ctx, r)
}

func (p watched) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	defer p.w.begin(p.name, "take its configuration", r.URN)()
	c, err := p.Provider.Configure(ctx, r)
	if err != nil || c == nil {
		return c, err
	}
	return watchedCalls{c, p.w, p.name}, nil
}

// watchedCalls is a configured provider whose calls a watchdog knows of.
type watchedCalls struct {
	c    provider.Configured
	w    *watchdog
	name string
}

func (p watchedCalls) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	defer p.w.begin(p.name, "check inputs", r.URN)()
	return p.c.Check(ctx, r)
}

func (p watchedCalls) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	defer p.w.begin(p.name, "compare inputs", r.URN)()
	return p.c.Diff(ctx, r)
}

func (p watchedCalls) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	defer p.w.begin(p.name, "create the resource", r.URN)()
	return p.c.Create(ctx, r)
}

func (p watchedCalls) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	defer p.w.begin(p.name, "read the resource", r.URN)()
	return p.c.Read(ctx, r)
}

func (p watchedCalls) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	defer p.w.begin(p.name, "update the resource", r.URN)()
	return p.c.Update(ctx, r)
}

func (p watchedCalls) Delete(ctx context.Context, r provider.DeleteRequest) error {
	defer p.w.begin(p.name, "delete the resource", r.URN)()
	return p.c.Delete(ctx, r)
}

func (p watchedCalls) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	defer p.w.begin(p.name, "answer "+r.Token, "")()
	return p.c.Invoke(ctx, r)
}

func (p watchedCalls) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	defer p.w.begin(p.name, "answer "+r.Token, "")()
	return p.c.Call(ctx, r)
}

func (p watchedCalls) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	defer p.w.begin(p.name, "construct "+r.Type, "")()
	return p.c.Construct(ctx, r)
}

// watchedLoader gives out watched providers.
type watchedLoader struct {
	provider.Loader
	w *watchdog
}

// Load starts a provider.
func (l watchedLoader) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	defer l.w.begin(pkg.Name, "start", "")()
	p, err := l.Loader.Load(ctx, pkg)
	if err != nil || p == nil {
		return p, err
	}
	return watched{p, l.w, pkg.Name}, nil
}
