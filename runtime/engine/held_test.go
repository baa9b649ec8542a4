package engine

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// mayChange lists what an engine calls in other programs, and whether that may change anything there. The methods are
// those of provider.Configured.
var mayChange = map[string]bool{
	"Create": true, "Update": true, "Delete": true,
	"Invoke":    true, // a function may run a command
	"Call":      true, // so may a method
	"Construct": true, // the provider's process registers resources, and may change things itself
	"Hook":      true, // a command, or a function of the program
	"Check":     false, "Diff": false, "Read": false,
}

// tracer is a journal and a loader of providers that record in which order the engine asks whether the run holds the
// stack, and calls what may change something. It is safe for concurrent use.
type tracer struct {
	*memory
	cloud *cloud
	mu    sync.Mutex // guards trace
	trace []string
}

func (l *tracer) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trace = append(l.trace, what)
}

func (l *tracer) Held(context.Context) error { l.note("Held"); return nil }

func (l *tracer) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	return intercepting{l.cloud, func(i *intercepted) answering { return &traced{i, l} }}.Load(ctx, p)
}

// traced is a provider whose calls a tracer records.
type traced struct {
	*intercepted
	tracer *tracer
}

func (p *traced) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	p.tracer.note("Create")
	return p.intercepted.Create(ctx, r)
}

func (p *traced) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	p.tracer.note("Update")
	return p.intercepted.Update(ctx, r)
}

func (p *traced) Delete(ctx context.Context, r provider.DeleteRequest) error {
	p.tracer.note("Delete")
	return p.intercepted.Delete(ctx, r)
}

func (p *traced) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	p.tracer.note("Invoke")
	return p.intercepted.Invoke(ctx, r)
}

func (p *traced) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	p.tracer.note("Call")
	return p.intercepted.Call(ctx, r)
}

func (p *traced) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	p.tracer.note("Construct")
	return provider.ConstructResponse{}, nil
}

// D14: the engine asks whether the run still holds the stack immediately before each call that may change something, in
// a program that makes, changes, replaces and removes resources between hooks of all kinds, repeats failed operations,
// and calls functions, methods and components.
func TestEveryChangeIsOfAHolder(t *testing.T) {
	methods := []string{"Hook"}
	for m := range reflect.TypeFor[provider.Configured]().Methods() {
		methods = append(methods, m.Name)
	}
	require.ElementsMatch(t, methods, slices.Collect(maps.Keys(mayChange)), "each call is in the table")

	w := newWorld()
	seen := map[string]int{}
	hooked := map[string][]string{"OnError": {"hook"}}
	for _, kind := range []string{"Create", "Update", "Delete"} {
		hooked["Before"+kind], hooked["After"+kind] = []string{"hook"}, []string{"hook"}
	}
	for round := range 3 {
		l := &tracer{memory: &memory{}, cloud: w.cloud}
		o, _ := w.options(1, false)
		o.Journal, o.Providers, o.MonitorEndpoint = l, l, "nowhere"
		w.cloud.fails[[]string{"create flaky", "update flaky", "delete flaky"}[round]] = failure{kind: "plain", times: 1}
		result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
			hook := func(context.Context, value.Value) (bool, error) { l.note("Hook"); return true, nil }
			for _, h := range []monitor.Hook{{Name: "hook", OnError: true, Run: hook}} {
				if err := m.(monitor.HookRegistrar).RegisterHook(ctx, h); err != nil {
					return err
				}
			}
			var requests []monitor.RegisterRequest
			for _, name := range []string{"a", "flaky"} {
				if round < 2 {
					requests = append(requests, monitor.RegisterRequest{Name: name, Hooks: hooked,
						Inputs: inputs("v", []string{"1", "2"}[round])})
				}
			}
			requests = append(requests, monitor.RegisterRequest{Name: "comp", Type: "test:index:Comp", Remote: true})
			if err := registering(requests...)(ctx, m, urn.URN("")); err != nil {
				return err
			}
			if _, err := m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:find", Args: value.EmptyMap()}); err != nil {
				return err
			}
			_, err := m.Call(ctx, monitor.CallRequest{Token: "test:index:Res/method", Args: value.EmptyMap()})
			return err
		})
		require.NoError(t, err)
		require.False(t, result.Failed, "round %d", round)
		w.state = result.Snapshot
		for i, what := range l.trace {
			if seen[what]++; mayChange[what] {
				require.True(t, i > 0 && l.trace[i-1] == "Held", "%s is called without a look: %s", what,
					strings.Join(l.trace, " "))
			}
		}
	}
	for name, changes := range mayChange {
		require.Equal(t, changes, seen[name] > 0, "%s was called: %v", name, seen)
	}
}
