package dynamic

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/dynamic/bundle"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// fixture is a provider from testdata. Its objects are files in the folder cloud.
type fixture struct {
	provider.Configured
	cloud string

	mu   sync.Mutex
	logs []LogLine // guarded by mu
}

func (f *fixture) log(line LogLine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs = append(f.logs, line)
}

func (f *fixture) lines() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, l := range f.logs {
		b.WriteString(l.Severity + " " + l.URN.Name() + " " + l.Text + "\n")
	}
	return b.String()
}

// start configures the types of one source with inputs as in a state.
func start(t *testing.T, source string, types map[string]value.Value) *fixture {
	t.Helper()
	for _, name := range []string{"node", "python3"} {
		if findProgram(name, filepath.SplitList(os.Getenv("PATH"))) == "" {
			t.Skipf("there is no %s on PATH", name)
		}
	}
	dir, err := filepath.Abs("testdata")
	require.NoError(t, err)
	b, err := bundle.Make(bundle.Options{Dir: dir, Source: source})
	require.NoError(t, err)
	f := &fixture{cloud: t.TempDir()}
	l := NewLoader(Options{Dir: f.cloud, Environ: os.Environ(), Path: filepath.SplitList(os.Getenv("PATH")), Project: "p",
		Stack:  "dev",
		Config: map[string]string{"p:cloud": f.cloud}, Log: f.log, Maps: func(string) *bundle.Map { return b.Map }})
	loaded, err := l.Load(t.Context(), provider.Package{Name: Package})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, loaded.Close()) })
	f.Configured, err = loaded.Configure(t.Context(), provider.ConfigureRequest{Inputs: value.Map(map[string]value.Value{
		"source": value.String(source), "language": value.String(string(b.Language)), "digest": value.String(b.Digest),
		"code": value.String(b.Code).Secret(), "types": value.Map(types),
	})})
	require.NoError(t, err)
	return f
}

func note(t *testing.T) *fixture {
	return start(t, "notes.ts", map[string]value.Value{"Note": value.EmptyMap(), "Plain": strs("export", "plain")})
}

func strs(pairs ...string) value.Value {
	m := value.EmptyMap()
	for i := 0; i < len(pairs); i += 2 {
		m = m.With(pairs[i], value.String(pairs[i+1]))
	}
	return m
}

func subject(typ, name string) provider.Subject {
	return provider.SubjectOf(urn.URN("urn:pulumi:dev::p::dynamic:index:" + typ + "::" + name))
}

func TestLife(t *testing.T) {
	f, ctx, s := note(t), t.Context(), subject("Note", "n")
	checked, err := f.Check(ctx, provider.CheckRequest{Subject: s, Olds: value.EmptyMap(),
		News: strs("name", "one").With("text", value.String("hush").Secret())})
	require.NoError(t, err)
	color, _ := checked.Inputs.Get("color").AsString()
	assert.Equal(t, "white", color, "the author's check fills in a default")
	assert.True(t, checked.Inputs.Get("text").IsSecret(), "what was secret stays so through the author's check")
	assert.True(t, strings.HasPrefix(mustString(t, checked.Inputs.Get("__provider")), "sha256:"))

	previewed, err := f.Create(ctx, provider.CreateRequest{Subject: s, Inputs: checked.Inputs, Preview: true})
	require.NoError(t, err)
	assert.Equal(t, 0, previewed.Outputs.Len())
	entries, err := os.ReadDir(f.cloud)
	require.NoError(t, err)
	assert.Empty(t, entries, "a preview does not run the author's create")

	made, err := f.Create(ctx, provider.CreateRequest{Subject: s, Inputs: checked.Inputs})
	require.NoError(t, err)
	assert.Equal(t, "one", made.ID)
	assert.Equal(t, "https://notes.test/one", mustString(t, made.Outputs.Get("url")))
	assert.True(t, made.Outputs.Get("text").IsSecret(), "an output named as a secret input is secret")
	assert.Contains(t, f.lines(), "info n making one")

	for _, c := range []struct {
		name    string
		news    value.Value
		changes provider.Changes
		replace bool
	}{
		{"same", strs("name", "one", "color", "white"), provider.DiffNone, false},
		{"color", strs("name", "one", "color", "red"), provider.DiffSome, false},
		{"name", strs("name", "two", "color", "white"), provider.DiffSome, true},
	} {
		diff, err := f.Diff(ctx, provider.DiffRequest{Subject: s, ID: "one", OldInputs: checked.Inputs,
			OldOutputs: made.Outputs, News: c.news.With("__provider", checked.Inputs.Get("__provider"))})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.changes, diff.Changes, c.name)
		assert.Equal(t, c.replace, diff.Replace(), c.name)
	}

	updated, err := f.Update(ctx, provider.UpdateRequest{Subject: s, ID: "one", OldInputs: checked.Inputs,
		OldOutputs: made.Outputs, News: strs("name", "one", "color", "red")})
	require.NoError(t, err)
	assert.Equal(t, "red", mustString(t, updated.Outputs.Get("color")))

	read, err := f.Read(ctx, provider.ReadRequest{Subject: s, ID: "one"})
	require.NoError(t, err)
	assert.Equal(t, "red", mustString(t, read.Inputs.Get("color")), "an import reads the inputs")
	assert.True(t, read.Inputs.Has("__provider"))

	require.NoError(t, f.Delete(ctx, provider.DeleteRequest{Subject: s, ID: "one", Outputs: updated.Outputs}))
	gone, err := f.Read(ctx, provider.ReadRequest{Subject: s, ID: "one", Inputs: checked.Inputs, Outputs: updated.Outputs})
	require.NoError(t, err)
	assert.Empty(t, gone.ID, "null from read says that the object is gone")
	gone, err = f.Read(ctx, provider.ReadRequest{Subject: s, ID: "nameless", Inputs: checked.Inputs, Outputs: updated.Outputs})
	require.NoError(t, err)
	assert.Empty(t, gone.ID, "and so does an answer without an ID")
}

func mustString(t *testing.T, v value.Value) string {
	t.Helper()
	s, ok := v.AsString()
	require.True(t, ok, "%v is not text", v)
	return s
}

// Each kind of failure of the author's code gives one clear error, while other calls continue.
func TestFailures(t *testing.T) {
	f, s := note(t), subject("Note", "n")
	checked, err := f.Check(t.Context(), provider.CheckRequest{Subject: s, Olds: value.EmptyMap(),
		News: strs("color", "pink")})
	require.NoError(t, err)
	assert.Equal(t, []provider.Failure{{Property: "color", Reason: "pink is not sold here"}}, checked.Failures)

	for _, c := range []struct {
		name, message string
		outcome       provider.Outcome
	}{
		{"boom", "notes.ts:16: the cloud is full", provider.NothingHappened},
		{"half", "not healthy", provider.Partial},
		{"exit", "the code called process.exit(3)", provider.NothingHappened},
		{"later", "notes.ts:21: behind your back", provider.NothingHappened},
		{"odd", "the answer of create cannot be used", provider.Unclear},
		{"nameless", "it returned no id", provider.Unclear},
		{"abort", "its process ended", provider.Unclear},
		{"loop", "create of n took longer than", provider.Unclear},
	} {
		request := provider.CreateRequest{Subject: s, Inputs: strs("name", c.name)}
		if c.name == "loop" {
			request.Timeout = 1
		}
		_, err := f.Create(t.Context(), request)
		var failed *provider.Error
		require.ErrorAs(t, err, &failed, c.name)
		assert.Contains(t, failed.Error(), c.message, c.name)
		assert.Equal(t, c.outcome, failed.Outcome, c.name)
		made, err := f.Create(t.Context(), provider.CreateRequest{Subject: s, Inputs: strs("name", "after-"+c.name)})
		require.NoError(t, err, "the provider goes on after %s", c.name)
		assert.Equal(t, "after-"+c.name, made.ID)
	}
}

// TestOneProcess creates many objects concurrently in one process.
func TestOneProcess(t *testing.T) {
	f := note(t)
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			name := "n" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
			made, err := f.Create(context.Background(), provider.CreateRequest{Subject: subject("Note", name),
				Inputs: strs("name", name)})
			assert.NoError(t, err)
			assert.Equal(t, name, made.ID)
		})
	}
	wait.Wait()
	c := f.Configured.(*configured)
	assert.Len(t, c.hosts, 1)
	entries, err := os.ReadDir(f.cloud)
	require.NoError(t, err)
	assert.Len(t, entries, 200)
}

func TestExportedByName(t *testing.T) {
	f := note(t)
	made, err := f.Create(t.Context(), provider.CreateRequest{Subject: subject("Plain", "p"), Inputs: strs("a", "b")})
	require.NoError(t, err)
	assert.Equal(t, "17", made.ID, "numbers are IDs too")
	_, err = f.Read(t.Context(), provider.ReadRequest{Subject: subject("Plain", "p"), ID: "17"})
	assert.ErrorContains(t, err, "notes.ts has no method read, so Plain 17 cannot be imported or read")
}

func TestPython(t *testing.T) {
	f := start(t, "draws.py", map[string]value.Value{"Random": value.EmptyMap()})
	s := subject("Random", "r")
	made, err := f.Create(t.Context(), provider.CreateRequest{Subject: s, Inputs: strs("size", "small")})
	require.NoError(t, err)
	assert.Len(t, made.ID, 32, "bytes as ID are text")
	assert.Equal(t, "small", mustString(t, made.Outputs.Get("size")))
	assert.Contains(t, f.lines(), "info r drawing small")
	for size, want := range map[string]string{
		"boom": "draws.py:13: ValueError: no such size",
		"key":  "KeyError: 'name'",
		"exit": "the code called sys.exit(4)",
		"gone": "its process ended",
	} {
		_, err := f.Create(t.Context(), provider.CreateRequest{Subject: s, Inputs: strs("size", size)})
		assert.ErrorContains(t, err, want)
	}
	_, err = f.Create(t.Context(), provider.CreateRequest{Subject: s, Inputs: strs("size", "last")})
	assert.NoError(t, err)
	gone, err := f.Read(t.Context(), provider.ReadRequest{Subject: s, ID: made.ID, Inputs: value.EmptyMap(), Outputs: made.Outputs})
	require.NoError(t, err)
	assert.Empty(t, gone.ID, "ReadResult without an ID says that the object is gone")
}

// configure returns a provider of one type T with the given code, on a machine without interpreters.
func configure(t *testing.T, code, digest string, policy CodeChange) (provider.Configured, provider.Provider) {
	t.Helper()
	p, err := NewLoader(Options{Dir: t.TempDir()}).Load(t.Context(), provider.Package{Name: Package})
	require.NoError(t, err)
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: strs("source", "t.ts", "language", "node",
		"digest", digest, "code", code).
		With("types", value.Map(map[string]value.Value{"T": strs("onCodeChange", string(policy))}))})
	require.NoError(t, err)
	return c, p
}

func TestInterpreterIsMissing(t *testing.T) {
	c, p := configure(t, "exports.create = () => 0", "sha256:0", ByDiff)
	_, err := c.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Inputs: value.EmptyMap()})
	assert.EqualError(t, err, "t.ts needs Node.js 18 or newer, and there is no node on PATH: install it; nothing was done")
	_, err = c.Create(t.Context(), provider.CreateRequest{Subject: subject("T", "t"), Inputs: value.EmptyMap(),
		Preview: true})
	assert.NoError(t, err, "a preview of code that has no check starts nothing")
	require.NoError(t, p.Close())
}

func TestCodeChange(t *testing.T) {
	for _, c := range []struct {
		policy  CodeChange
		changes provider.Changes
		replace bool
	}{{ByDiff, provider.DiffSome, false}, {Ignore, provider.DiffNone, false}, {Update, provider.DiffSome, false},
		{Replace, provider.DiffSome, true}} {
		configured, p := configure(t, "exports.create = 0", "sha256:new", c.policy)
		old := strs("a", "1", "__provider", "sha256:old")
		checked, err := configured.Check(t.Context(), provider.CheckRequest{Subject: subject("T", "t"), Olds: old,
			News: strs("a", "1")})
		require.NoError(t, err)
		diff, err := configured.Diff(t.Context(), provider.DiffRequest{Subject: subject("T", "t"), OldInputs: old,
			News: checked.Inputs})
		require.NoError(t, err)
		assert.Equal(t, c.changes, diff.Changes, "%q", c.policy)
		assert.Equal(t, c.replace, diff.Replace(), "%q", c.policy)
		require.NoError(t, p.Close())
	}
}

func TestEnvironment(t *testing.T) {
	ours := []string{"PATH=/bin", "TOKEN=t", "PULUMI_CONFIG_PASSPHRASE=x", "OTHER=o"}
	assert.Equal(t, []string{"PATH=/bin"}, environment(ours, nil))
	assert.Equal(t, []string{"PATH=/bin", "TOKEN=t"}, environment(ours, []string{"TOKEN"}))
	assert.Equal(t, []string{"PATH=/bin", "TOKEN=t", "OTHER=o"}, environment(ours, []string{"all"}))
}
