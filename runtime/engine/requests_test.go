package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// listener is a loader whose providers record all requests, and answer like the cloud by default.
type listener struct {
	*cloud
	mu      sync.Mutex
	asked   []any
	diff    func(provider.DiffRequest) provider.DiffResponse
	failing []provider.Failure // failures that Invoke returns
	checked value.Value        // the result of CheckConfig; null for the unchanged configuration
	adding  string             // an input that Check adds, with the value "added"; empty for none
}

type listening struct {
	*intercepted
	listener *listener
}

func (l *listener) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	l.note(p)
	return intercepting{l.cloud, func(i *intercepted) answering { return &listening{i, l} }}.Load(ctx, p)
}

func (l *listener) note(request any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, request)
}

func (p *listening) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	p.listener.note(r)
	return p.intercepted.Configure(ctx, r)
}

func (p *listening) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if !p.listener.checked.IsNull() {
		return provider.CheckResponse{Inputs: p.listener.checked}, nil
	}
	return p.Provider.CheckConfig(ctx, r)
}

func (p *listening) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	if !p.listener.checked.IsNull() {
		return provider.DiffResponse{Changes: provider.DiffNone}, nil
	}
	return p.Provider.DiffConfig(ctx, r)
}

func (p *listening) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.listener.note(r)
	got, err := p.Configured.Check(ctx, r)
	if p.listener.adding != "" {
		got.Inputs = got.Inputs.With(p.listener.adding, value.String("added"))
	}
	return got, err
}

func (p *listening) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.listener.note(r)
	if p.listener.diff != nil {
		return p.listener.diff(r), nil
	}
	return p.Configured.Diff(ctx, r)
}

func (p *listening) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	p.listener.note(r)
	return p.Configured.Update(ctx, r)
}

func (p *listening) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	p.listener.note(r)
	return p.Configured.Read(ctx, r)
}

func (p *listening) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	p.listener.note(r)
	if f := p.listener.failing; f != nil {
		return provider.InvokeResponse{Failures: f}, nil
	}
	return p.Configured.Invoke(ctx, r)
}

func (p *listening) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	p.listener.note(r)
	return p.Configured.Construct(ctx, r)
}

// questions returns the recorded requests of one type in order.
func questions[T any](l *listener) (all []T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.asked {
		if q, ok := r.(T); ok {
			all = append(all, q)
		}
	}
	return all
}

// heard runs a program in the notation of scripts, and returns the requests that its providers got.
func (w *world) heard(t *testing.T, dryRun bool, program func(context.Context, monitor.Monitor, urn.URN) error,
	dress ...func(*Options, *listener)) (*listener, *Result) {
	t.Helper()
	l := &listener{cloud: w.cloud}
	o, m := w.options(1, dryRun)
	o.Providers = l
	for _, f := range dress {
		f(&o, l)
	}
	result, err := Update(t.Context(), o, inStack(program))
	require.NoError(t, err)
	if m != nil {
		m.requireSound(t, w.state)
		w.state = result.Snapshot
	}
	return l, result
}

// inStack returns the program that registers the stack before it runs another one.
func inStack(program func(context.Context, monitor.Monitor, urn.URN) error) Program {
	return func(ctx context.Context, m monitor.Monitor) error {
		stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
		if err != nil {
			return err
		}
		return program(ctx, m, stack.URN)
	}
}

// registering returns a program that registers resources; type and name have defaults.
func registering(requests ...monitor.RegisterRequest) func(context.Context, monitor.Monitor, urn.URN) error {
	return func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		for _, r := range requests {
			if r.Type == "" {
				r.Type, r.Custom = "test:index:Res", true
			}
			if r.Name == "" {
				r.Name = "a"
			}
			if r.Parent == "" {
				r.Parent = stack
			}
			if !r.Inputs.Is(value.KindMap) {
				r.Inputs = value.EmptyMap()
			}
			if _, err := m.RegisterResource(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
}

func inputs(key, text string) value.Value {
	return value.MapOf(value.Entry{Key: key, Value: value.String(text)})
}

func (w *world) of(t *testing.T, name string) *state.Resource {
	t.Helper()
	for _, r := range w.state.Resources {
		if r.URN.Name() == name && !r.Delete {
			return r
		}
	}
	t.Fatalf("the state has no %s", name)
	return nil
}

func TestReadGivesItsPropertiesTwice(t *testing.T) { // E2.48
	l, _ := newWorld().heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		_, err := m.ReadResource(ctx, monitor.ReadRequest{Type: "test:index:Res", Name: "a", Parent: stack,
			ID: value.String("x"), State: inputs("v", "1")})
		return err
	})
	reads := questions[provider.ReadRequest](l)
	require.Len(t, reads, 1)
	require.Equal(t, `{"v": "1"}`, reads[0].Inputs.String())
	require.Equal(t, `{"v": "1"}`, reads[0].Outputs.String())
}

func TestInvoke(t *testing.T) { // E2.52
	for _, preview := range []bool{true, false} {
		var answer monitor.InvokeResponse
		l, result := newWorld().heard(t, preview, func(ctx context.Context, m monitor.Monitor, _ urn.URN) (err error) {
			answer, err = m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:find", Args: inputs("v", "1")})
			return err
		}, func(_ *Options, l *listener) { l.failing = []provider.Failure{{Property: "v", Reason: "not that"}} })
		require.Equal(t, []monitor.Failure{{Property: "v", Reason: "not that"}}, answer.Failures, "failures are no error")
		require.False(t, result.Failed)
		calls := questions[provider.InvokeRequest](l)
		require.Len(t, calls, 1)
		require.Equal(t, "test:index:find", calls[0].Token)
		require.Equal(t, `{"v": "1"}`, calls[0].Args.String())
		require.Equal(t, preview, calls[0].Preview)
	}
}

func TestInvokeOfUnknownConfiguration(t *testing.T) { // E1.11, E2.54
	var answer monitor.InvokeResponse
	l, result := newWorld().heard(t, true, func(ctx context.Context, m monitor.Monitor, _ urn.URN) error {
		p, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "pulumi:providers:test", Name: "p", Custom: true,
			Inputs: value.EmptyMap().With("region", value.Unknown(value.KindString))})
		if err != nil {
			return err
		}
		answer, err = m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:find", Args: inputs("v", "1"),
			Plugin: monitor.Plugin{Provider: urn.Reference{URN: p.URN, ID: UnknownID}.String()}})
		return err
	})
	require.False(t, result.Failed)
	require.Equal(t, monitor.InvokeResponse{Unknown: true}, answer)
	require.Empty(t, questions[provider.InvokeRequest](l))
}

func TestPackageThatWasNotRegistered(t *testing.T) { // E2.20
	var refused error
	newWorld().heard(t, false, func(ctx context.Context, m monitor.Monitor, _ urn.URN) error {
		_, refused = m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:find", Args: value.EmptyMap(),
			Plugin: monitor.Plugin{PackageRef: "none"}})
		return nil
	})
	require.ErrorContains(t, refused, "unknown provider package 'none'")
}

func TestProvidersHaveProcessesOfTheirOwn(t *testing.T) { // E3.9
	l, _ := newWorld().heard(t, false, registering(
		monitor.RegisterRequest{Type: "pulumi:providers:test", Name: "p", Custom: true, Inputs: value.EmptyMap()},
		monitor.RegisterRequest{Type: "pulumi:providers:test", Name: "q", Custom: true, Inputs: value.EmptyMap()}))
	require.Len(t, questions[provider.Package](l), 2)
}

func TestReferenceToADeniedProvider(t *testing.T) { // E1.15
	l, result := newWorld().heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		_, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: "a",
			Inputs: value.EmptyMap(),
			Plugin: monitor.Plugin{
				Provider: "urn:pulumi:denied::denied::denied$pulumi:providers:denied::test::denydefaultprovider"}})
		return err
	})
	require.True(t, result.Failed)
	require.Empty(t, questions[provider.CheckRequest](l))
}

// forgetful is a journal that fails.
type forgetful struct{}

func (forgetful) Append(_ context.Context, e journal.Entry) error {
	if e.Begin != nil {
		return errors.New("the disk is full")
	}
	return nil
}

func (forgetful) Held(context.Context) error { return nil }

func (f forgetful) Defer(ctx context.Context, e journal.Entry) error { return f.Append(ctx, e) }

// E5.11: a step does not begin if its beginning cannot be journaled.
func TestNothingIsDoneThatIsNotWritten(t *testing.T) {
	w := newWorld()
	o, _ := w.options(1, false)
	o.Journal = forgetful{}
	result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
		return registering(monitor.RegisterRequest{Inputs: inputs("v", "1")})(ctx, m, "")
	})
	require.True(t, err != nil || result.Failed)
	require.Empty(t, w.cloud.inventory())
}

// overtaken is a journal of a run that loses the stack after a number of calls.
type overtaken struct {
	*memory
	left atomic.Int64
}

func (o *overtaken) Held(context.Context) error {
	if o.left.Add(-1) < 0 {
		return errors.New("another run holds the stack")
	}
	return nil
}

// D14: once the stack is lost, no method of a resource is called and no component is constructed, because they may
// change something.
func TestNothingIsCalledOnceTheStackIsLost(t *testing.T) {
	for name, request := range map[string]func(context.Context, monitor.Monitor) error{
		"Call": func(ctx context.Context, m monitor.Monitor) error {
			_, err := m.Call(ctx, monitor.CallRequest{Token: "test:index:Res/method", Args: value.EmptyMap()})
			return err
		},
		"Construct": func(ctx context.Context, m monitor.Monitor) error {
			_, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Comp", Name: "c", Remote: true})
			return err
		},
	} {
		w := newWorld()
		o, _ := w.options(1, false)
		o.MonitorEndpoint = "nowhere"
		journaled := &overtaken{memory: &memory{}}
		o.Journal = journaled
		called := false
		w.cloud.log = func(format string, _ ...any) { called = called || strings.HasPrefix(format, name+" ") }
		result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
			journaled.left.Store(0)
			require.Error(t, request(ctx, m), name)
			return monitor.ErrReported
		})
		require.True(t, err != nil || result.Failed, name)
		require.False(t, called, name)
		require.Negative(t, journaled.left.Load(), "the journal was asked: %s", name)
	}
}

// D14: right before each create, update and delete the engine asks whether the run still holds the stack. Once it does
// not, nothing is changed, hooks for errors are not asked, and the steps have ended without a change.
func TestNothingIsDoneOnceTheStackIsLost(t *testing.T) {
	program := func(v string, names ...string) func(context.Context, monitor.Monitor, urn.URN) error {
		var requests []monitor.RegisterRequest
		for _, name := range names {
			requests = append(requests, monitor.RegisterRequest{Name: name, Inputs: inputs("v", v),
				Hooks: map[string][]string{"OnError": {"again"}}})
		}
		return func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
			err := m.(monitor.HookRegistrar).RegisterHook(ctx, monitor.Hook{Name: "again", OnError: true,
				Run: func(context.Context, value.Value) (bool, error) {
					t.Error("an error hook ran")
					return false, nil
				}})
			if err != nil {
				return err
			}
			return registering(requests...)(ctx, m, stack)
		}
	}
	for calls := range 6 {
		w := newWorld()
		w.heard(t, false, program("1", "a", "b", "c"))
		before := fmt.Sprint(w.cloud.objects)
		o, _ := w.options(1, false)
		journaled := &overtaken{memory: &memory{}}
		journaled.left.Store(int64(calls))
		o.Journal = journaled
		result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
			return program("2", "a", "b")(ctx, m, "")
		})
		lost := calls < 3
		require.Equal(t, lost, err != nil || result.Failed, "two updates and a deletion")
		pending := map[int64]bool{}
		var done []journal.Entry
		for _, e := range journaled.entries {
			if e.Begin != nil {
				pending[e.Step] = true
				continue
			}
			delete(pending, e.Step)
			if e.Step != 0 && len(e.Add)+len(e.Amend)+len(e.Remove) > 0 {
				done = append(done, e)
			}
		}
		require.Empty(t, pending)
		if lost {
			require.Len(t, done, calls)
		}
		require.Equal(t, calls == 0, before == fmt.Sprint(w.cloud.objects))
	}
}

// E1.19, E1.22, E4.25: the state has the checked inputs, and nothing that only concerns the request.
func TestStateHasCheckedInputs(t *testing.T) {
	w := newWorld()
	yes := true
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), DeleteBeforeReplace: &yes,
		Plugin:  monitor.Plugin{Version: "7.7.7"},
		Aliases: []monitor.Alias{{Name: "earlier"}}}), func(_ *Options, l *listener) { l.adding = "w" })
	require.Equal(t, `{"v": "1", "w": "added"}`, w.of(t, "a").Inputs.String())
	text, err := state.AppendResource(nil, w.of(t, "a"), state.Sealed(nil))
	require.NoError(t, err)
	for _, word := range []string{"deleteBeforeReplace", `"7.7.7"`, "earlier"} {
		require.NotContains(t, string(text), word)
	}
}

func TestIgnoreChangesIsToldToTheProvider(t *testing.T) { // E4.67
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	l, _ := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("w", "2"),
		IgnoreChanges: []string{"v", "x.y"}}))
	require.Equal(t, []string{"v", "x.y"}, questions[provider.DiffRequest](l)[0].IgnoreChanges)
	require.Equal(t, []string{"v", "x.y"}, questions[provider.UpdateRequest](l)[0].IgnoreChanges)
}

func TestImportReadsWithoutInputs(t *testing.T) { // E4.68, E7.59
	w := newWorld()
	w.cloud.objects["x"] = inputs("v", "as it was").With("out", value.String("o"))
	l, _ := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), ImportID: "x",
		CustomTimeouts: monitor.Timeouts{Read: "90s"}}))
	read := questions[provider.ReadRequest](l)[0]
	require.True(t, read.Inputs.IsNull() && read.Outputs.IsNull(), "nothing is known of it")
	require.Equal(t, 90.0, read.Timeout)
	require.Equal(t, `{"v": "as it was"}`, questions[provider.CheckRequest](l)[0].Olds.String(),
		"E4.68: what was imported is what was")
	require.Equal(t, `{"v": "as it was"}`, questions[provider.DiffRequest](l)[0].OldInputs.String())
	require.Equal(t, `{"v": "as it was"}`, questions[provider.UpdateRequest](l)[0].OldInputs.String())
}

func TestUnknownsAreForPreviews(t *testing.T) { // E4.24, E7.5
	w := newWorld()
	unknown := value.MapOf(value.Entry{Key: "v", Value: value.Unknown(value.KindString)})
	l, result := w.heard(t, true, registering(monitor.RegisterRequest{Inputs: unknown}))
	require.False(t, result.Failed)
	require.True(t, questions[provider.CheckRequest](l)[0].AllowUnknowns)

	l, result = w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	require.False(t, result.Failed)
	require.False(t, questions[provider.CheckRequest](l)[0].AllowUnknowns)

	l, _ = w.heard(t, true, registering(monitor.RegisterRequest{Inputs: unknown}))
	require.True(t, questions[provider.DiffRequest](l)[0].AllowUnknowns)
	require.True(t, questions[provider.UpdateRequest](l)[0].News.ContainsUnknown())
}

func TestAnUpdateWithoutKeys(t *testing.T) { // E4.48: the provider reports a change without keys
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	l, result := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}),
		func(_ *Options, l *listener) {
			l.diff = func(provider.DiffRequest) provider.DiffResponse {
				return provider.DiffResponse{Changes: provider.DiffSome}
			}
		})
	require.Equal(t, 1, result.Changes[OpUpdate])
	require.Len(t, questions[provider.UpdateRequest](l), 1)
}

// A program that names another version of a package refers to the same resources as before: where the engine compares the
// inputs (E4.46), and in components and triggers, an update that refreshes first changes nothing (F1.26).
func TestAnotherVersionInAReferenceChangesNothing(t *testing.T) {
	w := newWorld()
	update := func(version string) (*listener, *Result) {
		return w.heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
			first, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: "first",
				Parent: stack, Inputs: value.EmptyMap()})
			if err != nil {
				return err
			}
			ref := value.Resource(&value.ResourceRef{URN: first.URN, ID: first.ID, PackageVersion: version})
			peer := value.MapOf(value.Entry{Key: "peer", Value: value.List(ref.Secret())})
			return registering(monitor.RegisterRequest{Inputs: peer},
				monitor.RegisterRequest{Name: "triggered", ReplacementTrigger: ref},
				monitor.RegisterRequest{Type: "test:index:Component", Name: "component", Inputs: peer})(ctx, m, stack)
		}, func(o *Options, l *listener) {
			o.Refresh = true
			l.diff = func(provider.DiffRequest) provider.DiffResponse {
				return provider.DiffResponse{Changes: provider.DiffUnknown}
			}
		})
	}
	_, result := update("")
	require.False(t, result.Failed)
	require.Equal(t, 5, result.Changes[OpCreate], "with the stack")
	l, result := update("1.0.0")
	require.False(t, result.Failed)
	require.Empty(t, questions[provider.UpdateRequest](l))
	require.Empty(t, questions[provider.CreateRequest](l))
	require.Empty(t, questions[provider.DeleteRequest](l))
	require.False(t, result.HasChanges(), "%v", result.Changes)
}

func TestDetailsAbsentAndEmpty(t *testing.T) { // E4.51
	for name, details := range map[string]map[string]provider.PropertyDiff{"absent": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			v := plan.ProviderDiff(provider.DiffResponse{Changes: provider.DiffSome, Diffs: []string{"v"}, Detailed: details},
				value.EmptyMap(), value.EmptyMap(), nil)
			require.Equal(t, details == nil, v.Detailed == nil)
			steps := plan.Steps(plan.Situation{Old: resource("a"), Goal: resource("a"), Diff: v})
			require.Equal(t, details == nil, steps[0].Detailed == nil)
		})
	}
}

// E2.22, E3.27: the plugin options of a provider resource are in its state, but not in its outputs.
func TestStateOfProviders(t *testing.T) {
	w := newWorld()
	l, _ := w.heard(t, false, registering(monitor.RegisterRequest{Type: "pulumi:providers:test", Custom: true, Name: "x",
		Inputs: inputs("region", "here"),
		Plugin: monitor.Plugin{Version: "1.2.3", PluginDownloadURL: "https://plugins.test/",
			PluginChecksums: map[string][]byte{"linux-amd64": {0xab, 0xcd}}},
		EnvVarMappings: map[string]string{"NEW": "OLD"}}))
	x := w.of(t, "x")
	require.Equal(t, `{"__internal": {"envVarMappings": {"NEW": "OLD"}, "pluginChecksums": {"linux-amd64": "abcd"}, `+
		`"pluginDownloadURL": "https://plugins.test/"}, "region": "here", "version": "1.2.3"}`, x.Inputs.String())
	require.Equal(t, `{"region": "here", "version": "1.2.3"}`, x.Outputs.String())
	require.Equal(t, `{"region": "here", "version": "1.2.3"}`, questions[provider.ConfigureRequest](l)[0].Inputs.String(),
		"E9.27")
}

// E3.18, E9.28: a version that a provider drops is restored; a changed one is an error.
func TestVersionsOfProvidersAreKept(t *testing.T) {
	x := monitor.RegisterRequest{Type: "pulumi:providers:test", Custom: true, Name: "x", Inputs: inputs("region", "here"),
		Plugin: monitor.Plugin{Version: "1.2.3"}}
	w := newWorld()
	w.heard(t, false, registering(x), func(_ *Options, l *listener) { l.checked = inputs("region", "here") })
	version, _ := w.of(t, "x").Inputs.Lookup("version")
	require.Equal(t, `"1.2.3"`, version.String())

	var said []string
	_, result := newWorld().heard(t, false, registering(x), func(o *Options, l *listener) {
		l.checked = inputs("version", "9.9.9")
		o.Events = func(e Event) {
			if m, ok := e.(*Message); ok {
				said = append(said, m.Text)
			}
		}
	})
	require.True(t, result.Failed)
	require.Contains(t, strings.Join(said, "\n"), `attempted to change version from "1.2.3" to "9.9.9"`)
}

// E1.17: IDs of providers are random UUIDs, kept by updates and changed by replacements.
func TestIDsOfProviders(t *testing.T) {
	w := newWorld()
	id := func(key, text string) string {
		w.heard(t, false, registering(monitor.RegisterRequest{Type: "pulumi:providers:test", Custom: true, Name: "x",
			Inputs: inputs(key, text)}), func(o *Options, _ *listener) { o.NewID = nil })
		return w.of(t, "x").ID
	}
	first := id("v", "1")
	require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`), first)
	require.Equal(t, first, id("v", "2"), "updated in place")
	replaced := id("repl", "1")
	require.NotEqual(t, first, replaced, "replaced")
	require.Equal(t, replaced, id("repl", "1"), "unchanged")
}

// E3.11, E9.1: an unchanged provider is configured as it was, not as it was just checked.
func TestUnchangedProviderIsConfiguredAsItWas(t *testing.T) {
	w := newWorld()
	x := monitor.RegisterRequest{Type: "pulumi:providers:test", Custom: true, Name: "x", Inputs: inputs("region", "here")}
	w.heard(t, false, registering(x))
	l, result := w.heard(t, false, registering(x), func(_ *Options, l *listener) { l.checked = inputs("region", "there") })
	require.False(t, result.HasChanges())
	require.Equal(t, `{"region": "here"}`, questions[provider.ConfigureRequest](l)[0].Inputs.String())
	require.Equal(t, `{"region": "here"}`, w.of(t, "x").Inputs.String())
}

// E4.85: every step that writes a new state writes the trigger.
func TestTriggerIsStored(t *testing.T) {
	w := newWorld()
	for _, c := range []struct {
		what, trigger, v string
		op               Op
	}{
		{"create", "1", "1", OpCreate}, {"same", "1", "1", OpSame}, {"update", "1", "2", OpUpdate},
		{"replace", "2", "2", OpReplace},
	} {
		_, result := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", c.v),
			ReplacementTrigger: value.String(c.trigger)}))
		require.NotZero(t, result.Changes[c.op], c.what)
		require.Equal(t, value.String(c.trigger).String(), w.of(t, "a").ReplacementTrigger.String(), c.what)
	}
	w.heard(t, false, registering())
	w.cloud.objects["x"] = inputs("v", "1")
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), ImportID: "x",
		ReplacementTrigger: value.String("3")}))
	require.Equal(t, value.String("3").String(), w.of(t, "a").ReplacementTrigger.String(), "import")
}

// E4.18: an alias with another type keeps the resource, even if a component becomes a custom resource.
func TestAliasOfAnotherType(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Type: "test:index:Old", Custom: true, Name: "a",
		Inputs: inputs("v", "1")}, monitor.RegisterRequest{Type: "my:index:Comp", Name: "c"}))
	_, result := w.heard(t, false, registering(
		monitor.RegisterRequest{Inputs: inputs("v", "1"), Aliases: []monitor.Alias{{Type: "test:index:Old"}}},
		monitor.RegisterRequest{Name: "c", Aliases: []monitor.Alias{{Type: "my:index:Comp"}}}))
	require.False(t, result.Failed)
	require.Equal(t, "a-1", w.of(t, "a").ID, "it is the same object under another type")
	require.Equal(t, "test:index:Res", w.of(t, "a").Type)
	require.Equal(t, 1, result.Changes[OpReplace], "E3.35: a component that becomes a resource is replaced: %v",
		result.Changes)
	require.Zero(t, result.Changes[OpDelete])
}

// E4.20: only one alias is used; the resource of another alias is deleted.
func TestOtherAliasesAreLeftOver(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Name: "one"}, monitor.RegisterRequest{Name: "two"}))
	_, result := w.heard(t, false, registering(monitor.RegisterRequest{Name: "new",
		Aliases: []monitor.Alias{{Name: "one"}, {Name: "two"}}}))
	require.Equal(t, 1, result.Changes[OpDelete])
	require.Equal(t, []string{"one-1"}, w.cloud.inventory())
	require.Equal(t, "one-1", w.of(t, "new").ID)
}

func TestEveryDependencyCounts(t *testing.T) { // E1.47
	r := &state.Resource{URN: u("a"), Parent: u("parent"), Dependencies: []urn.URN{u("dependency")},
		DeletedWith: u("with"), ReplaceWith: []urn.URN{u("replace")},
		PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"v": {u("property")}}),
		Provider: urn.Reference{URN: urn.New("dev", "p", "", "pulumi:providers:test", "provider"),
			ID: "1"}.String()}
	var names []string
	r.AllDependencies(func(u urn.URN) { names = append(names, u.Name()) })
	require.ElementsMatch(t, []string{"parent", "dependency", "with", "replace", "property", "provider"}, names)
}

// E6.57: an output that becomes secret is written, but does not count as a change of the resource.
func TestSecrecyOfOutputs(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	o, m := w.options(1, false)
	result, err := Update(t.Context(), o, inStack(registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), AdditionalSecretOutputs: []string{"out"}})))
	require.NoError(t, err)
	require.False(t, result.HasChanges(), "E6.57: %v", result.Changes)
	require.NotEmpty(t, m.entries, "it is written before the operation ends")
	w.state = result.Snapshot
	out, _ := w.of(t, "a").Outputs.Lookup("out")
	require.True(t, out.IsSecret())
}

// E6.23, E7.7: a preview returns the state unchanged and has no journal.
func TestPreviewsWriteNothing(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	_, result := w.heard(t, true, registering(monitor.RegisterRequest{Inputs: inputs("v", "2")}))
	require.Equal(t, w.state, result.Snapshot)
	o, _ := w.options(1, true)
	o.Journal = &memory{}
	_, err := Update(t.Context(), o, registeringNothing)
	require.ErrorContains(t, err, "a preview must have none")
	o, _ = w.options(1, false)
	o.Journal = nil
	_, err = Update(t.Context(), o, registeringNothing)
	require.ErrorContains(t, err, "an operation needs a journal")
}

func registeringNothing(context.Context, monitor.Monitor) error { return nil }

// E9.49: if the update after an import fails, the imported resource stays.
func TestImportIsKeptWhenItsUpdateFails(t *testing.T) {
	w := newWorld()
	w.cloud.objects["x"] = inputs("v", "as it was")
	w.cloud.fails["update a"] = failure{kind: "plain", message: "no"}
	_, result := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), ImportID: "x"}))
	require.True(t, result.Failed)
	require.Equal(t, "x", w.of(t, "a").ID)
	require.Equal(t, `{"v": "as it was"}`, w.of(t, "a").Inputs.String())
}

// movedAway is a provider whose reads return another ID, and inputs only for imports.
type movedAway struct{ *intercepted }

func (w *world) movedAway() provider.Loader {
	return intercepting{w.cloud, func(i *intercepted) answering { return movedAway{i} }}
}

func (movedAway) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	if r.Inputs.IsNull() { // an import
		return provider.ReadResponse{ID: r.ID + "-moved", Inputs: inputs("v", "1"), Outputs: inputs("v", "1")}, nil
	}
	return provider.ReadResponse{ID: r.ID + "-moved", Outputs: inputs("v", "other")}, nil
}

// E1.16, E1.36: an imported resource may get another ID than the one of the import, and the state keeps both.
func TestImportUnderAnotherID(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1"), ImportID: "x"}),
		func(o *Options, l *listener) { o.Providers = w.movedAway() })
	require.Equal(t, "x-moved", w.of(t, "a").ID)
	require.Equal(t, "x", w.of(t, "a").ImportID)
}

func TestRefreshTakesWhatItIsTold(t *testing.T) {
	w := newWorld()
	w.heard(t, false, registering(monitor.RegisterRequest{Inputs: inputs("v", "1")}))
	o, m := w.options(1, false)
	o.Providers = w.movedAway()
	result, err := Refresh(t.Context(), o, nil)
	require.NoError(t, err)
	require.False(t, result.Failed)
	m.requireSound(t, w.state)
	w.state = result.Snapshot
	require.Equal(t, "a-1-moved", w.of(t, "a").ID, "E9.55: the ID that was found is kept")
	require.Equal(t, `{"v": "1"}`, w.of(t, "a").Inputs.String(), "E9.56: inputs that were not told stay")
	require.Equal(t, `{"v": "other"}`, w.of(t, "a").Outputs.String())
}

// E9.10: the program gets its answer only after the journal has the result.
func TestTheProgramIsAnsweredLast(t *testing.T) {
	w := newWorld()
	o, m := w.options(1, false)
	present := func(name string) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, e := range m.entries {
			for _, a := range e.Add {
				if a.Resource.URN.Name() == name && a.Resource.ID != "" {
					return true
				}
			}
		}
		return false
	}
	_, err := Update(t.Context(), o, inStack(func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		for _, name := range []string{"a", "b"} {
			require.False(t, present(name))
			if err := registering(monitor.RegisterRequest{Name: name})(ctx, m, stack); err != nil {
				return err
			}
			require.True(t, present(name))
		}
		return nil
	}))
	require.NoError(t, err)
}

// E6.15, E9.17: some differences of a same step are written at once.
func TestWhatIsWrittenOfASame(t *testing.T) {
	yes := true
	plain := monitor.RegisterRequest{Inputs: inputs("v", "1")}
	for name, c := range map[string]struct {
		edit    func(*monitor.RegisterRequest)
		written bool
	}{
		"nothing": {func(*monitor.RegisterRequest) {}, false},
		"source position": {func(r *monitor.RegisterRequest) {
			r.SourcePosition = &monitor.Position{Path: "/srv/a.yaml",
				Line: 9}
		}, false},
		"ignoreChanges":  {func(r *monitor.RegisterRequest) { r.IgnoreChanges = []string{"w"} }, false},
		"protect":        {func(r *monitor.RegisterRequest) { r.Protect = &yes }, true},
		"retainOnDelete": {func(r *monitor.RegisterRequest) { r.RetainOnDelete = &yes }, true},
		"timeouts":       {func(r *monitor.RegisterRequest) { r.CustomTimeouts.Create = "9s" }, true},
		"dependencies": {func(r *monitor.RegisterRequest) {
			r.Dependencies, r.PropertyDependencies = []urn.URN{urn.RootStack("dev", "p")},
				urn.DependenciesOf(map[string][]urn.URN{"v": {}})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.heard(t, false, registering(plain))
			o, m := w.options(1, false)
			r := plain
			c.edit(&r)
			result, err := Update(t.Context(), o, inStack(registering(r)))
			require.NoError(t, err)
			require.False(t, result.HasChanges())
			require.Equal(t, c.written, len(m.entries) > 0, "%+v", m.entries)
		})
	}
}

// E8.8, E9.82: secrets are hidden in the configuration of the first event, and in messages about inputs.
func TestSecretsAreNotTold(t *testing.T) {
	const secret = "hunter2"
	var told []string
	w := newWorld()
	bad := value.MapOf(value.Entry{Key: "bad", Value: value.String(secret).Secret()})
	_, result := w.heard(t, false, registering(monitor.RegisterRequest{Inputs: bad}), func(o *Options, _ *listener) {
		o.Config, o.ConfigSecretKeys = map[string]string{"p:key": secret, "p:open": "1"}, []string{"p:key"}
		o.Events = func(e Event) {
			switch e := e.(type) {
			case *Prelude:
				require.Equal(t, map[string]string{"p:key": "[secret]", "p:open": "1"}, e.Config)
			case *Message:
				told = append(told, e.Text)
			}
		}
	})
	require.True(t, result.Failed)
	require.Contains(t, strings.Join(told, "\n"), "property bad value {[secret]} has a problem")
	require.NotContains(t, strings.Join(told, "\n"), secret)
}

// E2.39: a provider gets the inputs of a component with their dependencies; children are recorded without them.
func TestConstructGetsOutputValues(t *testing.T) {
	w := newWorld()
	l, result := w.heard(t, false, func(ctx context.Context, m monitor.Monitor, stack urn.URN) error {
		a, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: "a",
			Parent: stack, Inputs: inputs("v", "1")})
		if err != nil {
			return err
		}
		v := value.String("s").Secret().DependingOn(a.URN)
		_, err = m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Comp", Remote: true, Name: "c",
			Parent: stack, Inputs: value.MapOf(value.Entry{Key: "v", Value: value.List(v)})})
		return err
	}, func(o *Options, l *listener) {
		o.Serve = func(d *Deployment) (string, error) {
			l.cloud.monitor = d
			return "127.0.0.1:1", nil
		}
	})
	require.False(t, result.Failed)
	asked := questions[provider.ConstructRequest](l)
	require.Len(t, asked, 1)
	item := asked[0].Inputs.Get("v").At(0)
	require.True(t, item.IsSecret())
	a := w.of(t, "a").URN
	require.Equal(t, []urn.URN{a}, item.Deps())
	require.Equal(t, []urn.URN{a}, asked[0].InputDependencies["v"])
	child := w.of(t, "c-child")
	require.Equal(t, []urn.URN{a}, child.PropertyDependencies.Map()["v"])
	require.Empty(t, child.Inputs.AllDeps())
}

// The providers that run code of a program get the whole configuration, with namespaces; other providers get the
// configuration of their package.
func TestConfigurationOfDynamicProviders(t *testing.T) {
	for pkg, want := range map[string]string{
		"pulumi-nodejs": `{"p:region": "here", "p:token": [secret], "test:size": "3"}`,
		"pulumi-python": `{"p:region": "here", "p:token": [secret], "test:size": "3"}`,
		"test":          `{"size": "3"}`,
	} {
		w := newWorld()
		l, result := w.heard(t, false, registering(monitor.RegisterRequest{Type: pkg + ":dynamic:Resource", Custom: true}),
			func(o *Options, _ *listener) {
				o.Config = map[string]string{"p:region": "here", "p:token": "t", "test:size": "3"}
				o.ConfigSecretKeys = []string{"p:token"}
			})
		require.False(t, result.Failed)
		asked := questions[provider.ConfigureRequest](l)
		require.Len(t, asked, 1)
		require.Equal(t, want, asked[0].Inputs.String(), pkg)
	}
}

// A default of the schema is sent for a new resource, and does not change an existing one without it, also for
// providers. A transform that sets the same input wins (L3.15).
func TestDefaultsOfTheSchema(t *testing.T) {
	w := newWorld()
	provider := monitor.RegisterRequest{Type: "pulumi:providers:test", Custom: true, Name: "p", Inputs: inputs("x", "1")}
	plain := monitor.RegisterRequest{Name: "a", Inputs: inputs("v", "1")}
	w.heard(t, false, registering(provider, plain))

	mode := []value.Path{value.PathOf("mode")}
	provider.Inputs, provider.Defaults = provider.Inputs.With("mode", value.String("fast")), mode
	defaulted := monitor.RegisterRequest{Name: "a", Inputs: plain.Inputs.With("mode", value.String("fast")),
		Defaults: mode}
	created := monitor.RegisterRequest{Name: "b", Inputs: defaulted.Inputs, Defaults: mode}
	for range 2 {
		_, result := w.heard(t, false, registering(provider, defaulted, created))
		require.False(t, result.Failed)
		require.False(t, w.of(t, "a").Inputs.Has("mode"))
		require.False(t, w.of(t, "p").Inputs.Has("mode"))
		require.True(t, w.of(t, "b").Inputs.Has("mode"))
		require.Zero(t, result.Changes[OpUpdate])
	}
	written := monitor.RegisterRequest{Name: "a", Inputs: defaulted.Inputs}
	_, result := w.heard(t, false, registering(provider, written, created))
	require.Equal(t, 1, result.Changes[OpUpdate], "the program says it itself")
	require.True(t, w.of(t, "a").Inputs.Has("mode"))
	_, result = w.heard(t, false, registering(provider, defaulted, created))
	require.Zero(t, result.Changes[OpUpdate], "it is recorded now")

	defaulted.Name, defaulted.Inputs = "c", plain.Inputs
	w.heard(t, false, registering(defaulted))
	defaulted.Inputs = plain.Inputs.With("mode", value.String("fast"))
	defaulted.Transforms = []monitor.Transform{func(_ context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest,
		error) {
		r.Inputs = r.Inputs.With("mode", value.String("slow"))
		return r, nil
	}}
	w.heard(t, false, registering(defaulted))
	require.Equal(t, value.String("slow"), w.of(t, "c").Inputs.Get("mode"))
}
