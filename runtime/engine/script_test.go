package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

var update = flag.Bool("update", false, "rewrite the golden sections of testdata")

// TestScripts runs the scenarios of testdata. A scenario is a txtar archive; each section is a command with its input,
// and is followed by a section "out" with the expected events. Commands:
//
//	up, preview    run the program of the section; words behind it are options, see command
//	import         import existing objects; see importsOf
//	refresh, destroy   with the word program, they run the program of the section; with preview, they only plan
//	cloud          events at the provider: fail|unclear|partial|crash OPERATION NAME [TIMES], heal, lose ID,
//	               set ID KEY VALUE
//
// A program has a resource on each line: KIND NAME with inputs key=value and options @option=value; see statement.
func TestScripts(t *testing.T) {
	files := testfile.Match(t, "testdata/*.txtar")
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			w := newWorld()
			var got txtar.Archive
			got.Comment = archive.Comment
			for _, section := range archive.Files {
				if section.Name == "out" {
					continue
				}
				out := w.command(t, section.Name, string(section.Data))
				got.Files = append(got.Files, section, txtar.File{Name: "out", Data: []byte(out)})
			}
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(&got), 0o644))
				return
			}
			require.Equal(t, string(txtar.Format(archive)), string(txtar.Format(&got)), "run with -update to accept")
		})
	}
}

// world is a cloud and the state of one stack, with a log of the events.
type world struct {
	cloud *cloud
	state *state.Snapshot
	plan  *UpdatePlan // of the last preview with the word plan
	now   time.Time
	ids   int
	lines []string
	mu    sync.Mutex
}

func newWorld() *world {
	w := &world{cloud: newCloud(), now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)}
	w.cloud.log = w.printf
	return w
}

func (w *world) printf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// memory is a journal in memory, which checks that every prefix replays to a valid state.
type memory struct {
	mu      sync.Mutex
	entries []journal.Entry
}

func (m *memory) Append(_ context.Context, e journal.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
	return nil
}

func (m *memory) Held(context.Context) error { return nil }

func (m *memory) Defer(ctx context.Context, e journal.Entry) error { return m.Append(ctx, e) }

// requireSound checks that each prefix of the journal replays to a state that verifies.
func (m *memory) requireSound(t require.TestingT, base *state.Snapshot) {
	for i := range m.entries {
		s, err := journal.Replay(base, m.entries[:i+1])
		require.NoError(t, err, "prefix %d", i+1)
		require.NoError(t, s.Verify(), "prefix %d", i+1)
	}
}

func (w *world) options(parallel int, dryRun bool) (Options, *memory) {
	o := Options{Project: "p", Stack: "dev", Organization: "organization", RootDir: "/srv", ProgramDir: "/srv",
		Config: map[string]string{"test:region": "here"}, Base: w.state, Providers: w.cloud, DryRun: dryRun, RecordPlan: true,
		Parallel: parallel,
		Seed:     func() []byte { return make([]byte, 32) },
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.now = w.now.Add(time.Second)
			return w.now
		},
		NewID: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return fmt.Sprintf("id%d", w.ids)
		},
		StackOutputs: func(_ context.Context, name string) (value.Value, error) {
			return value.MapOf(value.Entry{Key: "of", Value: value.String(name)},
				value.Entry{Key: "key", Value: value.String("k").Secret()}), nil
		}}
	o.StackResources = func(_ context.Context, name string) (value.Value, error) {
		return value.MapOf(value.Entry{Key: "urn:pulumi:other::p::t:i:R::r", Value: value.MapOf(
			value.Entry{Key: "type", Value: value.String("t:i:R")}, value.Entry{Key: "outputs", Value: value.EmptyMap()})}), nil
	}
	if dryRun {
		return o, nil
	}
	m := &memory{}
	o.Journal = m
	return o, m
}

func (w *world) command(t *testing.T, command, input string) string {
	w.lines = nil
	words := strings.Fields(command)
	if words[0] == "cloud" {
		w.upheaval(t, input)
		return "cloud: " + strings.Join(w.cloud.inventory(), " ") + "\n"
	}
	dry := words[0] == "preview" || slices.Contains(words, "preview")
	o, m := w.options(1, dry)
	o.Events = w.event
	o.Serve = func(d *Deployment) (string, error) {
		w.cloud.monitor = d
		return "127.0.0.1:1", nil
	}
	program := func(ctx context.Context, m monitor.Monitor) error {
		return runScript(context.WithValue(ctx, logKey{}, w.printf), m, input)
	}
	var behind Program // of a refresh or destroy, with the word program
	for _, word := range words[1:] {
		switch key, text, _ := strings.Cut(word, "="); key {
		case "continue":
			o.ContinueOnError = true
		case "refresh":
			o.Refresh = true
		case "norbu":
			o.SkipRefreshBefore = true
		case "program":
			o.RunProgram, behind = true, program
		case "target":
			o.Targets = append(o.Targets, long(text))
		case "dependents":
			o.TargetDependents, o.ExcludeDependents = true, true
		case "exclude":
			o.Excludes = append(o.Excludes, long(text))
		case "exclude-protected":
			o.ExcludeProtected = true
		case "ignore-protect":
			o.IgnoreProtect = true
		case "replace":
			o.Replace = append(o.Replace, long(text))
		case "config":
			name, value, _ := strings.Cut(text, ":")
			o.Config["test:"+name] = value
		case "naming":
			o.Config[plan.NamingSetting] = text
		case "retry":
			o.Retry = append(o.Retry, urn.URN(long(text)))
		case "deny":
			o.Config[providers.DenySetting] = fmt.Sprintf("[%q]", text)
		case "unreachable":
			o.Serve = nil
		case "preview":
		case "plan":
			if !dry {
				o.Plan = w.plan
			}
		case "bound":
			o.Plan = w.plan
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	var result *Result
	var err error
	switch words[0] {
	case "up", "preview":
		result, err = Update(t.Context(), o, program)
	case "refresh":
		result, err = Refresh(t.Context(), o, behind)
	case "import":
		result, err = ImportResources(t.Context(), o, importsOf(t, input))
	case "destroy":
		result, err = Destroy(t.Context(), o, behind)
	default:
		t.Fatalf("unknown command %q", command)
	}
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	require.Zero(t, w.cloud.open, "every provider must be closed")
	if m != nil {
		m.requireSound(t, w.state)
	}
	w.state = result.Snapshot
	if dry && slices.Contains(words, "plan") {
		w.plan = result.Plan
	}
	if !dry {
		w.printState()
	}
	return strings.Join(w.lines, "\n") + "\n"
}

// importsOf parses the imports of a section: a line is TYPE NAME ID with options parent=NAME, open, provider=REFERENCE,
// out:KEY=VALUE and in:KEY=VALUE; the type is Res or comp.
func importsOf(t *testing.T, input string) []Import {
	var imports []Import
	urns := map[string]urn.URN{}
	for line := range strings.SplitSeq(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		i := Import{Type: "test:index:" + words[0], Name: words[1], Protect: true}
		switch words[0] {
		case "comp":
			i.Type, i.Component = "my:index:Comp", true
		case "remote":
			i.Type, i.Component, i.Remote = "test:index:Comp", true, true
		case "provider":
			i.Type = "pulumi:providers:test"
		case "made":
			i.Type, i.ID = "made:index:Res", words[2]
			i.Package = monitor.Package{Name: "test", Version: "1.0.0",
				Parameterization: &monitor.Parameterization{Name: "made", Version: "2.0.0", Value: []byte("parameters")}}
		default:
			i.ID = words[2]
		}
		for _, word := range words[2:] {
			key, text, _ := strings.Cut(word, "=")
			kind, name, _ := strings.Cut(key, ":")
			switch {
			case kind == "open":
				i.Protect = false
			case kind == "extension":
				i.Package = monitor.Package{Name: "test", Extension: true,
					Parameterization: &monitor.Parameterization{Name: "extra", Version: "2.0.0", Value: []byte(text)}}
				i.Type = "extra:index:Res"
			case kind == "parent" && urns[text] != "":
				i.Parent = urns[text]
			case kind == "parent":
				i.Parent = urn.URN(long(text))
			case kind == "provider" && urns[text] != "":
				i.ProviderURN = urns[text]
			case kind == "provider":
				i.Provider = long(text)
			case kind == "in":
				v := value.String(strings.TrimPrefix(text, "secret!"))
				if strings.HasPrefix(text, "secret!") {
					v = v.Secret()
				}
				i.Inputs = i.Inputs.MapOrEmpty().With(name, v)
			case kind == "out":
				i.Outputs = i.Outputs.MapOrEmpty().With(name, value.String(text))
			}
		}
		urns[i.Name] = i.urn(&Options{Project: "p", Stack: "dev"})
		imports = append(imports, i)
	}
	return imports
}

func (w *world) upheaval(t *testing.T, input string) {
	for line := range strings.SplitSeq(strings.TrimSpace(input), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		switch f[0] {
		case "fail", "unclear", "partial", "crash":
			kind := f[0]
			if kind == "fail" {
				kind = "plain"
			}
			times := 0
			if len(f) > 3 {
				times = len(f[3]) // "||" means twice
			}
			w.cloud.fails[f[1]+" "+f[2]] = failure{kind: kind, message: "trouble with " + f[2], times: times}
		case "heal":
			w.cloud.fails = map[string]failure{}
		case "lose":
			delete(w.cloud.objects, f[1])
		case "set":
			w.cloud.objects[f[1]] = w.cloud.objects[f[1]].With(f[2], value.String(f[3]))
		case "have":
			w.cloud.objects[f[1]] = value.MapOf(value.Entry{Key: f[2], Value: value.String(f[3])})
		case "taint", "legacy", "pending", "hook":
			w.meddle(f)
		default:
			t.Fatalf("unknown upheaval %q", line)
		}
	}
}

// meddle changes the state outside of any operation: taint NAME, legacy (a state without providers), pending NAME (a
// creation with unknown outcome), hook NAME.
func (w *world) meddle(f []string) {
	next := *w.state
	next.Resources = nil
	for _, r := range w.state.Resources {
		c := r.Clone()
		named := len(f) > 1 && r.URN.Name() == f[1]
		switch {
		case f[0] == "taint" && named:
			c.Taint = true
		case f[0] == "hook" && named:
			c.ResourceHooks = map[string][]string{"BeforeDelete": {"h"}}
		case f[0] == "legacy" && r.IsProvider():
			continue
		case f[0] == "legacy":
			c.Provider = ""
		case f[0] == "pending" && named:
			c.ID, c.Outputs = "", value.EmptyMap()
			next.Pending = append(next.Pending, state.Operation{Resource: c, Kind: state.Creating})
			continue
		}
		next.Resources = append(next.Resources, c)
	}
	w.state = &next
}

// event records the events that users see; default providers are left out, as in the display.
func (w *world) event(e Event) {
	switch e := e.(type) {
	case *StepFinished:
		if e.Internal {
			return
		}
		what := "done "
		if e.Outputs {
			what = "outputs"
		}
		text := fmt.Sprintf("= %s %s %s", what, e.Op, short(e.Step.URN))
		if len(e.Step.Keys) > 0 {
			text += " keys=" + strings.Join(e.Step.Keys, ",")
		}
		if len(e.Step.Diffs) > 0 {
			text += " diffs=" + strings.Join(e.Step.Diffs, ",")
		}
		if e.Outputs && e.Step.New != nil {
			text += " " + e.Step.New.Outputs.String()
		}
		w.printf("%s", text)
	case *StepFailed:
		w.printf("= failed %s %s status=%d", e.Step.Op, short(e.Step.URN), e.Status)
	case *Message:
		about := ""
		if e.URN != "" {
			about = " " + short(e.URN)
		}
		if e.Severity == diag.Error && e.Property != "" {
			about += " at " + e.Property
		}
		w.printf("! %s%s: %s", e.Severity, about, strings.ReplaceAll(e.Text, "urn:pulumi:dev::p::", ""))
	case *Summary:
		var counts []string
		for op, n := range e.Changes {
			counts = append(counts, fmt.Sprintf("%s:%d", op, n))
		}
		sort.Strings(counts)
		corrupt := ""
		if e.MaybeCorrupt {
			corrupt = " maybe corrupt"
		}
		w.printf("= %s %s%s", e.Result, strings.Join(counts, " "), corrupt)
	}
}

// long is the inverse of short, also for patterns.
func long(text string) string {
	if strings.HasPrefix(text, "*") || strings.HasPrefix(text, "urn:") {
		return text
	}
	return "urn:pulumi:dev::p::" + text
}

func short(u urn.URN) string { return strings.TrimPrefix(string(u), "urn:pulumi:dev::p::") }

func (w *world) printState() {
	w.printf("state:")
	for _, r := range w.state.Resources {
		text := "  " + short(r.URN)
		if r.ID != "" {
			text += " [" + r.ID + "]"
		}
		if r.Inputs.Len() > 0 {
			text += " " + r.Inputs.String()
		}
		if out, ok := r.Outputs.Lookup("out"); ok {
			text += " out=" + out.String()
		}
		if !r.Custom && r.Outputs.Len() > 0 {
			text += " outputs=" + r.Outputs.String()
		}
		flag := func(enabled bool, name string) {
			if enabled {
				text += " " + name
			}
		}
		flag(r.Delete, "DELETE")
		flag(r.PendingReplacement, "PENDING-REPLACEMENT")
		flag(r.ViewOf != "", "view-of="+r.ViewOf.Name())
		flag(r.External, "external")
		flag(r.Protect, "protect")
		flag(len(r.InitErrors) > 0, "init-errors")
		flag(r.Taint, "taint")
		flag(r.ExtensionRef != "", "extension="+r.ExtensionRef[:min(6, len(r.ExtensionRef))])
		flag(r.RefreshBeforeUpdate, "refresh-before-update")
		flag(r.ImportID != "", "import="+r.ImportID)
		if r.Parent != "" {
			text += " parent=" + r.Parent.Name()
		}
		if len(r.Dependencies) > 0 {
			text += " deps="
			for i, dep := range r.Dependencies {
				if i > 0 {
					text += ","
				}
				text += dep.Name()
			}
		}
		w.printf("%s", text)
	}
	if len(w.state.Extensions) > 0 {
		w.printf("  extensions: %s", w.state.Extensions)
	}
	for _, op := range w.state.Pending {
		w.printf("  pending: %s %s", op.Kind, short(op.Resource.URN))
	}
	w.printf("cloud: %s", strings.Join(w.cloud.inventory(), " "))
}

// known is a registered resource of a script.
type known struct {
	urn     urn.URN
	id      value.Value
	outputs value.Value
	known   bool

	transform monitor.Transform // of a transform
}

func (k known) reference() string {
	id, ok := k.id.AsString()
	if !ok {
		id = UnknownID
	}
	return urn.Reference{URN: k.urn, ID: id}.String()
}

// runScript runs a program: first the stack, then each line, then the stack's outputs.
func runScript(ctx context.Context, m monitor.Monitor, program string) error {
	stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	if err != nil {
		return err
	}
	names := map[string]known{}
	for n, line := range strings.Split(program, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		_, err := statement(ctx, m, stack.URN, names, line, n+1)
		if err != nil {
			return err
		}
	}
	return nil
}

// logKey is the context key of the function that writes into the script.
type logKey struct{}

// scriptHook returns a hook that records its arguments.
func scriptHook(ctx context.Context, name string, words []string) monitor.Hook {
	h := monitor.Hook{Name: name}
	failure := ""
	for _, word := range words {
		switch key, text, _ := strings.Cut(word, "="); key {
		case "dry":
			h.OnDryRun = true
		case "ignore":
			h.IgnoreErrors = true
		case "error":
			h.OnError = true
		case "fail":
			failure = text
		}
	}
	h.Run = func(_ context.Context, args value.Value) (bool, error) {
		ctx.Value(logKey{}).(func(string, ...any))("hook %s %v", name, args.Without("urn").Without("type"))
		if failure != "" {
			return false, errors.New(failure)
		}
		return h.OnError, nil
	}
	return h
}

// statement runs one line of a program:
//
//	res NAME …        a resource, of type test:index:Res
//	provider NAME …   an explicit provider
//	comp NAME         a component          get NAME id=ID        a read
//	invoke NAME …     a function call      outputs NAME|stack …  registration of outputs
//	error TEXT        the program fails
//	hook NAME …       a hook, with any of dry (in previews too), ignore, error (an error hook), fail=TEXT
//	transform stack|invoke|NAME …  a transform; see scriptTransform. A resource has those of its own with @transforms=NAME,NAME
//
// Values are texts, ${name.property} refers to another resource, secret: marks a secret.
func statement(ctx context.Context, m monitor.Monitor, stack urn.URN, names map[string]known, line string,
	n int) (monitor.Result, error) {
	words := strings.Fields(line)
	if words[0] == "error" {
		return 0, errors.New(strings.Join(words[1:], " "))
	}
	kind, name := words[0], words[1]
	if kind == "hook" {
		return 0, m.(monitor.HookRegistrar).RegisterHook(ctx, scriptHook(ctx, name, words[2:]))
	}
	if kind == "transform" {
		return 0, registerScriptTransform(ctx, m, names, name, words[2:])
	}
	byInput := map[string][]urn.URN{}
	r := monitor.RegisterRequest{Name: name, Parent: stack,
		SourcePosition: &monitor.Position{Path: "/srv/Pulumi.yaml", Line: n, Column: 1}}
	inputs := map[string]value.Value{}
	list := func(text string) (urns []urn.URN) {
		for part := range strings.SplitSeq(text, ",") {
			urns = append(urns, names[part].urn)
		}
		return urns
	}
	yes := func(text string) *bool { b := text != "false"; return &b }
	for _, word := range words[2:] {
		key, text, _ := strings.Cut(word, "=")
		switch key {
		case "@parent":
			if r.Parent = names[text].urn; r.Parent == "" {
				r.Parent = urn.URN(long(text))
			}
		case "@deps":
			r.Dependencies = append(r.Dependencies, list(text)...)
		case "@protect":
			r.Protect = yes(text)
		case "@retain":
			r.RetainOnDelete = yes(text)
		case "@dbr":
			r.DeleteBeforeReplace = yes(text)
		case "@deletedWith":
			r.DeletedWith = names[text].urn
		case "@replaceWith":
			r.ReplaceWith = list(text)
		case "@ignore":
			r.IgnoreChanges = strings.Split(text, ",")
		case "@replaceOn":
			r.ReplaceOnChanges = strings.Split(text, ",")
		case "@secret":
			r.AdditionalSecretOutputs = strings.Split(text, ",")
		case "@alias":
			r.Aliases = append(r.Aliases, monitor.Alias{Name: text})
		case "@aliasNoParent":
			r.Aliases = append(r.Aliases, monitor.Alias{NoParent: true})
		case "@import":
			r.ImportID = text
		case "@provider":
			r.Provider = names[text].reference()
		case "@trigger":
			r.ReplacementTrigger = value.String(text)
		case "@version":
			r.Version = text
		case "@hook":
			// @hook=BeforeCreate:one,two
			moment, bound, _ := strings.Cut(text, ":")
			if r.Hooks == nil {
				r.Hooks = map[string][]string{}
			}
			r.Hooks[moment] = strings.Split(bound, ",")
		case "@transforms":
			for part := range strings.SplitSeq(text, ",") {
				r.Transforms = append(r.Transforms, names[part].transform)
			}
		case "@package":
			r.PackageRef = names[text].id.String()
			if ref, ok := names[text].id.AsString(); ok {
				r.PackageRef = ref
			}
		case "@timeout":
			r.CustomTimeouts = monitor.Timeouts{Create: text, Update: text, Delete: text}
		default:
			v := value.String(strings.TrimPrefix(text, "secret:"))
			if inner, ok := strings.CutPrefix(text, "${"); ok {
				owner, property, _ := strings.Cut(strings.TrimSuffix(inner, "}"), ".")
				k := names[owner]
				if property == "urn" {
					v = value.String(string(k.urn))
				} else if property == "id" {
					v = k.id
				} else if out, ok := k.outputs.Lookup(property); ok {
					v = out
				} else if !k.known {
					v = value.Unknown(value.KindAny)
				} else {
					v = value.Null
				}
				r.Dependencies = append(r.Dependencies, k.urn)
				byInput[key] = []urn.URN{k.urn}
			}
			if file, ok := strings.CutPrefix(text, "asset:"); ok {
				v = value.NewAsset(&value.Asset{Text: file})
			}
			if strings.HasPrefix(text, "secret:") {
				v = v.Secret()
			}
			inputs[key] = v
		}
	}
	r.Inputs = value.Map(inputs)
	for key := range inputs {
		if byInput[key] == nil {
			byInput[key] = []urn.URN{}
		}
	}
	r.PropertyDependencies = urn.DependenciesOf(byInput)
	switch kind {
	case "res":
		r.Type, r.Custom = "test:index:Res", true
	case "other":
		r.Type, r.Custom = "other:index:Res", true
	case "gone":
		r.Type, r.Custom = "missing:index:Res", true
	case "provider":
		r.Type, r.Custom = "pulumi:providers:test", true
	case "stash":
		r.Type, r.Custom = "pulumi:index:Stash", true
	case "comp":
		r.Type = "my:index:Comp"
	case "remote":
		r.Type, r.Remote = "test:index:Comp", true
	case "made": // of a parameterized package
		r.Type, r.Custom = "made:index:Res", true
	case "package":
		parameters, _ := inputs["value"].AsString()
		ref, err := m.RegisterPackage(ctx, monitor.Package{Name: "test", Version: "1.0.0",
			Parameterization: &monitor.Parameterization{Name: "made", Version: "2.0.0", Value: []byte(parameters)}})
		names[name] = known{id: value.String(ref)}
		return 0, err
	case "extra": // of an extension of the package test
		r.Type, r.Custom = "extra:index:Res", true
	case "extraremote":
		r.Type, r.Remote = "extra:index:Comp", true
	case "extension":
		text, _ := inputs["value"].AsString()
		ref, err := m.RegisterPackage(ctx, monitor.Package{Name: "test", Extension: true,
			Parameterization: &monitor.Parameterization{Name: "extra", Version: "2.0.0", Value: []byte(text)}})
		names[name] = known{id: value.String(ref)}
		return 0, err
	case "reference":
		r.Type, r.Custom = "pulumi:pulumi:StackReference", true
	case "builtin":
		answer, err := m.Invoke(ctx, monitor.InvokeRequest{Token: "pulumi:pulumi:" + name, Args: r.Inputs})
		names[name] = known{outputs: answer.Result, known: !answer.Unknown}
		return 0, err
	case "call":
		args := r.Inputs.With("__self__", value.Resource(&value.ResourceRef{URN: names[name].urn, ID: names[name].id}))
		answer, err := m.Call(ctx, monitor.CallRequest{Token: "test:index:Res/method", Args: args,
			Plugin: monitor.Plugin{Provider: r.Provider}})
		names["result"] = known{outputs: answer.Result, known: true}
		return 0, err
	case "ref", "get":
		typ, id := "test:index:Res", inputs["id"]
		state := r.Inputs.Without("id")
		if kind == "ref" {
			typ, id, state = "pulumi:pulumi:StackReference", value.String(name),
				value.MapOf(value.Entry{Key: "name", Value: value.String(name)})
		}
		answer, err := m.ReadResource(ctx, monitor.ReadRequest{Type: typ, Name: name, Parent: stack, ID: id, State: state,
			Dependencies: r.Dependencies, Plugin: monitor.Plugin{Provider: r.Provider}})
		names[name] = known{urn: answer.URN, id: answer.ID, outputs: answer.Outputs, known: answer.Known}
		return 0, err
	case "invoke":
		answer, err := m.Invoke(ctx, monitor.InvokeRequest{Token: "test:index:" + name, Args: r.Inputs,
			DependsOn: r.Dependencies, Plugin: monitor.Plugin{PackageRef: r.PackageRef}})
		names[name] = known{outputs: answer.Result, known: !answer.Unknown}
		return 0, err
	case "outputs":
		u := stack
		if name != "stack" {
			u = names[name].urn
		}
		return 0, m.RegisterOutputs(ctx, u, r.Inputs)
	default:
		return 0, fmt.Errorf("unknown statement %q", line)
	}
	answer, err := m.RegisterResource(ctx, r)
	names[name] = known{urn: answer.URN, id: answer.ID, outputs: answer.Outputs, known: answer.Known}
	return answer.Result, err
}
