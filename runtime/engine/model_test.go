package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// model is a random program: declarations of which each may use earlier ones.
type model struct {
	names []string
	decls map[string]decl
}

// decl is one resource of a model.
type decl struct {
	component   bool
	alias       string
	parent      string
	uses        map[string]string // input to the resource whose out it takes
	texts       map[string]string
	deletedWith string
	before      *bool
}

var inputNames = []string{"v", "w", "repl", "dbr", "auto"}

// edit makes the next version of a program: some resources go, some change, some come, some get another name.
func (m model) edit(r *rand.Rand, next func() string) model {
	edited := model{decls: map[string]decl{}}
	renamed := map[string]string{}
	for _, name := range m.names {
		d := m.decls[name]
		if r.IntN(6) == 0 {
			continue
		}
		d.alias = ""
		if r.IntN(8) == 0 {
			d.alias = name
			renamed[name] = next()
			name = renamed[name]
		}
		if now, ok := renamed[d.parent]; ok {
			d.parent = now
		}
		if _, ok := edited.decls[d.parent]; !ok {
			d.parent = ""
		}
		if now, ok := renamed[d.deletedWith]; ok {
			d.deletedWith = now
		}
		if _, ok := edited.decls[d.deletedWith]; !ok {
			d.deletedWith = ""
		}
		uses, texts := map[string]string{}, map[string]string{}
		for key, of := range d.uses {
			if now, ok := renamed[of]; ok {
				of = now
			}
			if _, ok := edited.decls[of]; ok {
				uses[key] = of
			}
		}
		for key, text := range d.texts {
			if r.IntN(5) == 0 {
				text = strconv.Itoa(r.IntN(5))
			}
			texts[key] = text
		}
		d.uses, d.texts = uses, texts
		edited.add(name, d)
	}
	for range r.IntN(5) {
		edited.add(next(), edited.random(r))
	}
	return edited
}

func (m *model) add(name string, d decl) { m.names, m.decls[name] = append(m.names, name), d }

// random is a new declaration that may use what the program has.
func (m model) random(r *rand.Rand) decl {
	d := decl{uses: map[string]string{}, texts: map[string]string{}, component: r.IntN(6) == 0}
	pick := func() string {
		if len(m.names) == 0 || r.IntN(2) == 0 {
			return ""
		}
		return m.names[r.IntN(len(m.names))]
	}
	if parent := pick(); parent != "" && r.IntN(2) == 0 {
		d.parent = parent
	}
	if with := pick(); with != "" && r.IntN(5) == 0 && !m.decls[with].component {
		d.deletedWith = with
	}
	if r.IntN(5) == 0 {
		before := r.IntN(2) == 0
		d.before = &before
	}
	for _, key := range inputNames {
		switch of := pick(); {
		case r.IntN(3) > 0:
		case of != "" && !m.decls[of].component:
			d.uses[key] = of
		default:
			d.texts[key] = strconv.Itoa(r.IntN(5))
		}
	}
	return d
}

// run registers the program, each resource as soon as what it uses is there, concurrently if asked.
func (m model) run(ctx context.Context, mon monitor.Monitor, concurrent bool) error {
	stack, err := mon.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	if err != nil {
		return err
	}
	type slot struct {
		done     chan struct{}
		response monitor.RegisterResponse
		err      error
	}
	slots := map[string]*slot{}
	for _, name := range m.names {
		slots[name] = &slot{done: make(chan struct{})}
	}
	register := func(name string) {
		d, s := m.decls[name], slots[name]
		defer close(s.done)
		r := monitor.RegisterRequest{Type: "test:index:Res", Custom: true, Name: name, Parent: stack.URN, DeleteBeforeReplace: d.before,
			PropertyDependencies: map[string][]urn.URN{}}
		if d.component {
			r.Type, r.Custom = "my:index:Comp", false
		}
		if d.alias != "" {
			r.Aliases = []monitor.Alias{{Name: d.alias}}
		}
		inputs := map[string]value.Value{}
		for key, text := range d.texts {
			inputs[key] = value.String(text)
			r.PropertyDependencies[key] = nil
		}
		need := func(of string) (monitor.RegisterResponse, bool) {
			<-slots[of].done
			if s.err = slots[of].err; s.err != nil {
				return monitor.RegisterResponse{}, false
			}
			return slots[of].response, true
		}
		if d.parent != "" {
			p, ok := need(d.parent)
			if !ok {
				return
			}
			r.Parent = p.URN
		}
		if d.deletedWith != "" {
			p, ok := need(d.deletedWith)
			if !ok {
				return
			}
			r.DeletedWith = p.URN
		}
		for _, key := range inputNames {
			of, ok := d.uses[key]
			if !ok {
				continue
			}
			p, ok := need(of)
			if !ok {
				return
			}
			out, ok := p.Outputs.Lookup("out")
			if !ok {
				out = value.Unknown(value.KindString)
			}
			inputs[key] = out
			r.Dependencies = append(r.Dependencies, p.URN)
			r.PropertyDependencies[key] = []urn.URN{p.URN}
		}
		r.Inputs = value.Map(inputs)
		s.response, s.err = mon.RegisterResource(ctx, r)
	}
	var group sync.WaitGroup
	for _, name := range m.names {
		if concurrent {
			group.Go(func() { register(name) })
			continue
		}
		register(name)
	}
	group.Wait()
	for _, name := range m.names {
		if slots[name].err != nil {
			return slots[name].err
		}
	}
	return mon.RegisterOutputs(ctx, stack.URN, value.MapOf(value.Entry{Key: "n", Value: value.Int(len(m.names))}))
}

// TestModel runs chains of random programs with failing providers. After each operation the state verifies, and so does
// every prefix of its journal; once the providers are well, a second run of a program changes nothing and its preview
// agrees; at the end a destroy leaves nothing at the provider. YAMLHOST_MODEL_RUNS asks for more chains.
func TestModel(t *testing.T) {
	runs := 150
	if n, err := strconv.Atoi(os.Getenv("YAMLHOST_MODEL_RUNS")); err == nil {
		runs = n
	}
	for seed := range runs {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { chain(t, uint64(seed)) })
	}
}

func chain(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	w := newWorld()
	w.cloud.log = func(string, ...any) {}
	var events []string
	var guard sync.Mutex
	ids := map[urn.URN]string{} // of the present object of each resource
	operate := func(preview, keepGoing bool, do func(Options) (*Result, error)) *Result {
		o, m := w.options([]int{1, 4}[seed%2], preview)
		o.ContinueOnError = keepGoing
		events = nil
		o.Events = func(e Event) {
			guard.Lock()
			defer guard.Unlock()
			switch e := e.(type) {
			case *StepFailed:
				if !o.DryRun && e.Status == 1 {
					w.link(ids, e.Step.New)
				}
			case *StepFinished:
				if !o.DryRun && e.Step.Op != OpRefresh { // which changes nothing at the provider
					w.link(ids, e.Step.New)
				}
				events = append(events, fmt.Sprint(e.Op, " ", short(e.Step.URN)))
			case *Message:
				events = append(events, e.Text)
			}
		}
		result, err := do(o)
		require.NoError(t, err)
		if m != nil {
			m.requireSound(t, w.state)
		}
		require.NoError(t, result.Snapshot.Verify())
		require.Zero(t, w.cloud.open)
		w.state = result.Snapshot
		return result
	}
	number := 0
	next := func() string { number++; return fmt.Sprintf("n%d", number) }
	program := model{decls: map[string]decl{}}
	for range 5 {
		program = program.edit(r, next)
		run := func(o Options) (*Result, error) {
			return Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error { return program.run(ctx, m, seed%2 == 1) })
		}
		for range r.IntN(3) {
			op := []string{"create", "update", "delete"}[r.IntN(3)]
			kind := []string{"plain", "unclear", "partial"}[r.IntN(3)]
			if op == "delete" && kind == "partial" {
				kind = "plain"
			}
			if len(program.names) > 0 {
				w.cloud.fails[op+" "+program.names[r.IntN(len(program.names))]] = failure{kind: kind, message: "trouble"}
			}
		}
		if r.IntN(2) == 0 {
			operate(false, r.IntN(2) == 0, run)
		}
		w.cloud.fails = map[string]failure{}
		if r.IntN(4) == 0 {
			operate(false, false, func(o Options) (*Result, error) { return Refresh(t.Context(), o, nil) })
		}
		for range r.IntN(3) { // something less than everything; whatever it does, the state stays sound
			confined := func(o *Options) {
				var some []string
				for range 1 + r.IntN(2) {
					some = append(some, fmt.Sprintf("**::n%d", 1+r.IntN(number+1)))
				}
				switch r.IntN(4) {
				case 0, 1:
					o.Targets = some
				case 2:
					o.Excludes = some
				case 3:
					o.Replace = some
				}
				o.TargetDependents, o.ExcludeDependents = r.IntN(2) == 0, r.IntN(2) == 0
				o.Refresh, o.RunProgram = r.IntN(4) == 0, r.IntN(2) == 0
			}
			behind := func(ctx context.Context, m monitor.Monitor) error { return program.run(ctx, m, seed%2 == 1) }
			if r.IntN(2) == 0 {
				behind = nil
			}
			operation, keepGoing, preview := r.IntN(4), r.IntN(2) == 0, r.IntN(4) == 0
			operate(preview, keepGoing, func(o Options) (*Result, error) {
				confined(&o)
				switch operation {
				case 0:
					return Refresh(t.Context(), o, behind)
				case 1:
					return Destroy(t.Context(), o, behind)
				}
				return run(o)
			})
		}
		first := operate(false, false, run)
		require.False(t, first.Failed, strings.Join(events, "\n"))
		require.ElementsMatch(t, inventoryOf(first.Snapshot), w.cloud.inventory(), "the state knows what there is")
		second := operate(true, false, run)
		require.False(t, second.HasChanges(), "a preview of the same program again: %v\n%s", second.Changes, strings.Join(events, "\n"))
		second = operate(false, false, run)
		require.False(t, second.HasChanges(), "the same program again: %v\n%s", second.Changes, strings.Join(events, "\n"))
	}
	var behind Program
	if r.IntN(2) == 0 {
		behind = func(ctx context.Context, m monitor.Monitor) error { return program.run(ctx, m, seed%2 == 1) }
	}
	last := operate(false, false, func(o Options) (*Result, error) { return Destroy(t.Context(), o, behind) })
	require.False(t, last.Failed, strings.Join(events, "\n"))
	require.Empty(t, last.Snapshot.Resources)
	require.Empty(t, w.cloud.inventory())
}

// inventoryOf are the IDs of what a state manages.
func inventoryOf(s *state.Snapshot) []string {
	ids := []string{}
	for _, r := range s.Resources {
		if r.Custom && !r.IsProvider() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// link tells the cloud with which object a resource's object goes.
func (w *world) link(ids map[urn.URN]string, r *state.Resource) {
	if r == nil || !r.Custom || r.ID == "" {
		return
	}
	ids[r.URN] = r.ID
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	if delete(w.cloud.owner, r.ID); r.DeletedWith != "" {
		w.cloud.owner[r.ID] = ids[r.DeletedWith]
	}
}
