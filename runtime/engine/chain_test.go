package engine

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

var (
	chains    = flag.Int("chains", 300, "how many chains of random programs TestModel runs")
	firstSeed = flag.Uint64("seed", 0, "the seed of the first chain; the others follow")
)

// othersObject is the ID of an object that is managed elsewhere.
const othersObject = "elsewhere"

// TestModel runs chains of one to eight random programs, each an edit of the previous one, with failing providers,
// interrupts, and operations on parts of a stack in between. check holds the invariants after each operation. In
// addition, once the providers work, an update succeeds, a second update changes nothing and its preview agrees, and a
// final destroy leaves no object at the provider.
//
// `make model CHAINS=10000` runs more chains; -seed N -chains 1 repeats one.
func TestModel(t *testing.T) {
	t.Logf("seeds %d to %d", *firstSeed, *firstSeed+uint64(*chains)-1)
	seen := &sightings{counts: map[string]int{}}
	t.Run("chains", func(t *testing.T) {
		for i := range uint64(*chains) {
			seed := *firstSeed + i
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				c := newChain(t, seed, seen)
				defer func() {
					if t.Failed() {
						t.Logf("again with: go test ./runtime/engine -run TestModel -seed %d -chains 1\n%v\n%s\n%s", seed, c.program,
							c.recorded, strings.Join(c.trail, "\n"))
					}
				}()
				c.run()
			})
		}
	})
	for _, what := range slices.Sorted(maps.Keys(seen.counts)) {
		t.Logf("%9d %s", seen.counts[what], what)
	}
	if *chains < 100 || t.Failed() {
		return
	}
	for _, what := range []string{"preview", "update", "refresh", "refresh program", "destroy", "destroy program",
		"import command",
		"targets", "excludes", "replace", "continue on error", "refresh first", "refresh first, program", "interrupted",
		"failed",
		"planned", "drift", "lost", "tainted", "refused: protected", "same", "create", "update of one", "delete",
		"create-replacement", "delete-replaced",
		"remove-pending-replace", "read", "discard", "import", "import-replacement", "renamed", "moved", "retained",
		"gone with another",
		"replaced provider", "deleteBeforeReplace", "left behind"} {
		require.NotZero(t, seen.counts[what], "no chain has come across: %s", what)
	}
}

// recordedText returns the state before the failed operation, for messages.
func (c *chain) recordedText() string {
	text := "the state before:\n"
	if c.state == nil {
		return text
	}
	for _, r := range c.state.Resources {
		text += fmt.Sprintf("  %s [%s]", short(r.URN), r.ID)
		for what, set := range map[string]bool{"DELETE": r.Delete, "PENDING-REPLACEMENT": r.PendingReplacement,
			"external": r.External,
			"protect":  r.Protect, "retain": r.RetainOnDelete, "taint": r.Taint, "init-errors": len(r.InitErrors) > 0} {
			if set {
				text += " " + what
			}
		}
		if r.DeletedWith != "" {
			text += " deletedWith=" + short(r.DeletedWith)
		}
		text += fmt.Sprintf(" provider=%s import=%s\n", short(urn.URN(r.Provider)), r.ImportID)
	}
	return text
}

// sightings counts the situations in chains, so that a situation that no longer occurs is noticed.
type sightings struct {
	mu     sync.Mutex
	counts map[string]int
}

func (s *sightings) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// chain is the history of one stack.
type chain struct {
	*world
	t       *testing.T
	r       *rand.Rand
	seen    *sightings
	program model
	number  int  // number of names used so far
	crashes bool // plugins crash in this version of the program
	workers int  // number of concurrent registrations of the program

	guard    sync.Mutex         // guards the fields that events change
	ids      map[urn.URN]string // ID of the current object of each resource
	kept     map[string]bool    // objects that left the state without being deleted
	lost     map[string]bool    // objects that are gone and still in the state
	gone     map[string]urn.URN // objects that this operation deleted together with another resource
	loose    map[string]bool    // objects to import that no resource has yet
	said     []string           // errors of this operation
	warned   []string           // warnings of this operation
	recorded string             // the state before the last operation
	trail    []string           // log of the chain, for the message of a failure
}

func newChain(t *testing.T, seed uint64, seen *sightings) *chain {
	c := &chain{world: newWorld(), t: t, r: rand.New(rand.NewPCG(seed, 2)), seen: seen,
		program: model{decls: map[string]decl{}},
		workers: []int{1, 4}[seed%2], ids: map[urn.URN]string{}, kept: map[string]bool{}, lost: map[string]bool{},
		loose: map[string]bool{}}
	c.cloud.log = func(string, ...any) {}
	c.cloud.objects[othersObject] = value.MapOf(value.Entry{Key: "out", Value: value.String("of elsewhere")})
	return c
}

func (c *chain) next() string { c.number++; return fmt.Sprintf("n%d", c.number) }

func (c *chain) one(n int) bool { return c.r.IntN(n) == 0 }

// run runs the operations of the chain.
func (c *chain) run() {
	for range 1 + c.r.IntN(8) {
		before := c.program.zone
		// Otherwise imports would be replaced, which is refused.
		if c.program = c.program.edit(c.r, c.next); c.program.zone == before {
			c.wish()
		}
		c.trail = append(c.trail, "--- a new version")
		for range c.r.IntN(4) {
			c.disturb()
			c.trouble()
			c.something()
			c.cloud.fails = map[string]failure{}
		}
		c.converge()
	}
	var behind Program
	if c.one(2) {
		behind = c.updates()
	}
	last := c.operate("destroy", func(o *Options) { o.IgnoreProtect = true },
		func(ctx context.Context, o Options) (*Result, error) { return Destroy(ctx, o, behind) })
	require.False(c.t, last.Failed, "a destroy without trouble")
	require.Empty(c.t, last.Snapshot.Resources)
	require.Empty(c.t, last.Snapshot.Pending)
	for _, id := range c.cloud.inventory() {
		require.True(c.t, c.kept[id] || c.loose[id] || id == othersObject, "%s is left after a destroy", id)
	}
}

// updates returns the current program.
func (c *chain) updates() Program {
	p, concurrent := c.program, c.workers > 1
	return func(ctx context.Context, m monitor.Monitor) error { return p.run(ctx, m, concurrent) }
}

// wish marks a random resource of the program as imported.
func (c *chain) wish() {
	names := c.program.importable()
	if len(names) == 0 || !c.one(3) {
		return
	}
	name := names[c.r.IntN(len(names))]
	d := c.program.decls[name]
	d.importID = "found-" + c.next()
	c.program.decls[name] = d
	c.offer()
}

// offer creates the objects that the program imports.
func (c *chain) offer() {
	for name, d := range c.program.decls {
		if d.importID == "" {
			continue
		}
		if _, ok := c.cloud.objects[d.importID]; ok {
			continue
		}
		object := value.EmptyMap().With("out", value.String("out of "+d.importID))
		for key, text := range d.texts {
			if key == "v" && len(name)%2 == 0 {
				text += " as it was"
			}
			object = object.With(key, value.String(text))
		}
		c.cloud.objects[d.importID] = object
		delete(c.lost, d.importID)
		c.loose[d.importID] = true
	}
}

// disturb changes something at the provider or in the state outside of any operation.
func (c *chain) disturb() {
	if c.state == nil || !c.one(4) {
		return
	}
	var managed []*state.Resource
	for _, r := range c.state.Resources {
		if r.Custom && !r.External && !r.IsProvider() && !r.PendingReplacement && r.ImportID == "" {
			managed = append(managed, r)
		}
	}
	if len(managed) == 0 {
		return
	}
	r := managed[c.r.IntN(len(managed))]
	object, ok := c.cloud.objects[r.ID]
	switch c.r.IntN(3) {
	case 0:
		if !ok {
			return
		}
		c.note("drift", r.ID)
		c.cloud.objects[r.ID] = object.With(inputNames[c.r.IntN(len(inputNames))], value.String("drifted"))
	case 1:
		c.note("lost", r.ID)
		before := c.cloud.inventory()
		c.cloud.remove(r.ID)
		for _, id := range before {
			if _, ok := c.cloud.objects[id]; !ok {
				c.lost[id] = true
			}
		}
	case 2:
		imported := func(o *state.Resource) bool { return o.URN.Name() == r.URN.Name() && o.ImportID != "" }
		if !r.Delete && !slices.ContainsFunc(c.state.Resources, imported) { // or the import fails (E4.53)
			c.note("tainted", r.URN.Name())
			c.meddle([]string{"taint", r.URN.Name()})
		}
	}
}

func (c *chain) note(what, about string) {
	c.seen.note(what)
	c.trail = append(c.trail, what+" "+about)
}

// trouble makes calls fail.
func (c *chain) trouble() {
	for range c.r.IntN(3) {
		op := []string{"create", "update", "delete", "check", "diff", "read", "configure"}[c.r.IntN(7)]
		kind := []string{"plain", "unclear", "partial", "crash"}[c.r.IntN(4)]
		if kind == "partial" && op != "create" && op != "update" && op != "read" {
			kind = "plain"
		}
		c.crashes = c.crashes || kind == "crash"
		f := failure{kind: kind, message: "trouble"}
		if c.one(3) {
			f.times = 1
		}
		if len(c.program.names) > 0 {
			name := c.program.names[c.r.IntN(len(c.program.names))]
			c.cloud.fails[op+" "+name] = f
			c.trail = append(c.trail, fmt.Sprintf("from now on %s of %s fails, %s", op, name, kind))
		}
	}
}

// something runs an operation that may fail: it may be confined to a part of the stack, interrupted, or hit trouble.
func (c *chain) something() {
	var behind Program
	if c.one(2) {
		behind = c.updates()
	}
	dress := func(o *Options) {
		var some []string
		for range 1 + c.r.IntN(2) {
			some = append(some, c.somebody())
		}
		switch c.r.IntN(6) {
		case 0:
			o.Targets = some
			c.note("targets", strings.Join(some, " "))
		case 1:
			o.Excludes = some
			c.note("excludes", strings.Join(some, " "))
		case 2:
			o.Replace = some
			c.note("replace", strings.Join(some, " "))
		}
		o.TargetDependents, o.ExcludeDependents, o.ExcludeProtected = c.one(2), c.one(2), c.one(6)
		o.Refresh, o.RunProgram, o.IgnoreProtect = c.one(4), c.one(2), c.one(3)
		if o.ContinueOnError = c.one(2); o.ContinueOnError {
			c.note("continue on error", "")
		}
		if o.DryRun = c.one(5); o.DryRun {
			o.Journal = nil
		}
	}
	switch c.r.IntN(8) {
	case 0:
		what := "refresh"
		if behind != nil {
			what = "refresh program"
		}
		c.operate(what, dress, func(ctx context.Context, o Options) (*Result, error) { return Refresh(ctx, o, behind) })
	case 1:
		what := "destroy"
		if behind != nil {
			what = "destroy program"
		}
		c.operate(what, dress, func(ctx context.Context, o Options) (*Result, error) { return Destroy(ctx, o, behind) })
	case 2:
		c.importSomething()
	default:
		program := c.updates()
		c.operate("update", func(o *Options) {
			if dress(o); o.Refresh {
				c.seen.note(map[bool]string{false: "refresh first", true: "refresh first, program"}[o.RunProgram])
			}
		}, func(ctx context.Context, o Options) (*Result, error) { return Update(ctx, o, program) })
	}
}

// somebody returns a target: the URN of a resource if the state has it, otherwise a pattern.
func (c *chain) somebody() string {
	if c.state != nil && len(c.state.Resources) > 0 && c.one(2) {
		return string(c.state.Resources[c.r.IntN(len(c.state.Resources))].URN)
	}
	return fmt.Sprintf("**::n%d", 1+c.r.IntN(c.number+1))
}

// importSomething imports a new object with ImportResources, and mostly has the program declare it.
func (c *chain) importSomething() {
	name := c.next()
	id := "found-" + name
	d := decl{form: plain, texts: map[string]string{"v": "1", "repl": "1"}, protect: c.one(2)}
	c.cloud.objects[id] = value.MapOf(value.Entry{Key: "v", Value: value.String("1")},
		value.Entry{Key: "repl", Value: value.String("1")})
	c.loose[id] = true
	if !c.one(3) {
		c.program.add(name, d)
	}
	c.operate("import command", func(o *Options) {
		if o.DryRun = c.one(5); o.DryRun {
			o.Journal = nil
		}
	}, func(ctx context.Context, o Options) (*Result, error) {
		return ImportResources(ctx, o, []Import{{Type: "test:index:Res", Name: name, ID: id, Protect: d.protect}})
	})
}

// converge updates the stack without trouble, and then again, which must change nothing.
func (c *chain) converge() {
	c.offer()
	c.clearPending()
	program := c.updates()
	if len(c.lost) > 0 {
		c.operate("refresh", nil, func(ctx context.Context, o Options) (*Result, error) { return Refresh(ctx, o, nil) })
		require.Empty(c.t, c.lost, "a refresh without trouble misses what is gone")
		c.offer()
	}
	if c.one(2) {
		cautious := c.operate("update", nil, func(ctx context.Context, o Options) (*Result,
			error) {
			return Update(ctx, o, program)
		})
		if cautious.Failed {
			require.True(c.t, slices.ContainsFunc(c.said, func(text string) bool { return strings.Contains(text, "protected") }),
				"nothing is in the way")
			c.seen.note("refused: protected")
		}
	}
	regardless := func(o *Options) { o.IgnoreProtect = true }
	update := func(ctx context.Context, o Options) (*Result, error) { return Update(ctx, o, program) }
	var bound *UpdatePlan
	if c.one(3) {
		c.seen.note("planned")
		c.cloud.guessed = false
		planned := c.operate("update", func(o *Options) { o.IgnoreProtect, o.DryRun, o.Journal = true, true, nil }, update)
		require.False(c.t, planned.Failed, "nothing is in the way of a preview")
		bound = planned.Plan
	}
	guessed := c.cloud.guessed || slices.ContainsFunc(c.warned,
		func(text string) bool { return strings.Contains(text, "not known during preview") })
	for _, d := range c.program.decls { // while its configuration is unknown, a provider is not asked for a diff
		guessed = guessed || d.form == provides && len(d.uses) > 0
	}
	first := c.operate("update", func(o *Options) { o.IgnoreProtect, o.Plan = true, bound }, update)
	// The preview had unknown values, or the result depends on the order of two concurrent registrations.
	if first.Failed && bound != nil && (guessed || c.workers > 1) {
		require.True(c.t, slices.ContainsFunc(c.said, func(text string) bool {
			return strings.Contains(text, "not as planned: ")
		}), "%v", c.said)
		c.seen.note("refused: plan")
		first = c.operate("update", regardless, update)
	}
	require.False(c.t, first.Failed, "nothing is in the way")
	require.Empty(c.t, c.stray(), "the state knows what there is")
	second := c.operate("update", func(o *Options) { o.IgnoreProtect, o.DryRun, o.Journal = true, true, nil }, update)
	require.False(c.t, second.Failed || second.HasChanges(), "a preview of the same program again: %v", second.Changes)
	second = c.operate("update", regardless, update)
	require.False(c.t, second.Failed || second.HasChanges(), "the same program again: %v", second.Changes)
	for name, d := range c.program.decls {
		if d.alias != nil {
			c.seen.note("renamed")
			if d.alias.parent != d.parent {
				c.seen.note("moved")
			}
		}
		if d.form == plain {
			require.NotEmpty(c.t, c.find(name), "the state has %s", name)
		}
	}
}

// has reports whether the state has a resource.
func (c *chain) has(u urn.URN) bool {
	return slices.ContainsFunc(c.state.Resources, func(r *state.Resource) bool { return r.URN == u })
}

// clearPending removes the pending operations, as a user may do for resources whose plugin crashed during creation.
func (c *chain) clearPending() {
	if c.crashes = false; c.state != nil && len(c.state.Pending) > 0 {
		c.note("pending operations", "")
		cleared := *c.state
		cleared.Pending = nil
		c.state = &cleared
	}
}

func (c *chain) find(name string) *state.Resource {
	for _, r := range c.state.Resources {
		if r.URN.Name() == name && !r.Delete {
			return r
		}
	}
	return nil
}

// operate runs an operation, possibly changed and interrupted by dress, and checks the invariants afterwards.
func (c *chain) operate(what string, dress func(*Options), do func(context.Context, Options) (*Result, error)) *Result {
	o, m := c.options(c.workers, false)
	o.Config = map[string]string{"test:region": c.program.region, "test:replzone": c.program.zone}
	c.trail = append(c.trail, "# "+what)
	if dress != nil {
		dress(&o)
	}
	if o.DryRun {
		c.seen.note("preview")
	} else {
		c.seen.note(what)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	if o.ContinueOnError || o.Targets != nil { // only operations that need not succeed are interrupted
		if c.one(5) {
			c.interruptAfter(c.r.IntN(20), cancel)
		}
	}
	before := maps.Clone(c.cloud.objects)
	c.recorded = c.recordedText()
	c.said, c.warned, c.gone = nil, nil, map[string]urn.URN{}
	o.Events = func(e Event) { c.hear(&o, e) }
	result, err := do(ctx, o)
	c.cloud.log = func(string, ...any) {}
	require.NoError(c.t, err)
	if result.Canceled {
		c.seen.note("interrupted")
	} else if result.Failed {
		c.seen.note("failed")
	}
	c.check(&o, m, before, result)
	return result
}

// interruptAfter cancels an operation at its n-th provider call.
func (c *chain) interruptAfter(n int, cancel func()) {
	c.cloud.log = func(string, ...any) {
		c.guard.Lock()
		defer c.guard.Unlock()
		if n--; n == 0 {
			c.trail = append(c.trail, "interrupted")
			cancel()
		}
	}
}

// hear records an event.
func (c *chain) hear(o *Options, e Event) {
	c.guard.Lock()
	defer c.guard.Unlock()
	switch e := e.(type) {
	case *StepFailed:
		c.trail = append(c.trail, fmt.Sprint("failed ", e.Step.Op, " ", short(e.Step.URN)))
		if !o.DryRun && e.Status == 1 {
			c.link(c.ids, e.Step.New)
		}
	case *StepFinished:
		c.trail = append(c.trail, fmt.Sprint(e.Step.Op, " ", e.Op, " ", short(e.Step.URN), " ", e.Step.Keys))
		c.witness(e.Step, e.Op)
		if o.DryRun || e.Outputs || e.Step.Op == OpRefresh { // these change nothing at the provider
			return
		}
		if old := e.Step.Old; old != nil && (e.Step.Op == OpDelete || e.Step.Op == OpDeleteReplaced) && old.Custom &&
			!old.External {
			require.False(c.t, e.Step.Op == OpDelete && old.Protect && !o.IgnoreProtect, "%s is protected and was deleted",
				old.URN)
			switch {
			case old.RetainOnDelete:
				c.seen.note("retained")
				c.kept[old.ID] = true
			case old.DeletedWith != "":
				c.gone[old.ID] = old.DeletedWith
			}
		}
		if e.Step.New != nil {
			delete(c.loose, e.Step.New.ID)
		}
		c.link(c.ids, e.Step.New)
	case *Message:
		c.trail = append(c.trail, fmt.Sprint(e.Severity, " ", e.Text))
		if e.Severity == diag.Warning {
			c.warned = append(c.warned, e.Text)
		}
		if e.Severity == diag.Error {
			c.said = append(c.said, e.Text)
		}
	}
}

// witness counts the situations that a step shows.
func (c *chain) witness(s *Step, op Op) {
	switch {
	case s.Op == OpUpdate:
		c.seen.note("update of one")
	case s.Op != OpRefresh:
		c.seen.note(string(s.Op))
	case op == OpDelete:
		c.seen.note("refresh: gone")
	}
	if s.Op == OpReplace && s.New != nil && s.New.IsProvider() {
		c.seen.note("replaced provider")
	}
	if s.Op == OpDeleteReplaced && s.Old != nil && !s.Old.Delete {
		c.seen.note("deleteBeforeReplace")
	}
}

// check checks the invariants after an operation.
func (c *chain) check(o *Options, m *memory, before map[string]value.Value, result *Result) {
	t := c.t
	require.Zero(t, c.cloud.open, "every provider must be closed")
	if o.DryRun {
		require.Equal(t, fmt.Sprint(before), fmt.Sprint(c.cloud.objects), "a preview changes nothing")
		return
	}
	m.requireSound(t, c.state)
	require.NoError(t, result.Snapshot.Verify()) // E1.50: each resource follows its dependencies
	c.state = result.Snapshot
	for _, op := range c.state.Pending { // a plugin crashed during the call, so the outcome is unknown
		require.True(t, c.crashes && op.Kind == state.Creating || result.Failed, "%s of %s is still under way", op.Kind,
			op.Resource.URN)
	}
	if !result.Canceled {
		require.Equal(t, result.Failed, len(c.said) > 0, "a failure says why, and only a failure: %v", c.said)
	}
	managed := managedBy(c.state)
	for more := true; more; { // objects that were left to the deletion of their owner, which was not deleted
		more = false
		for id, owner := range c.gone {
			_, there := c.cloud.objects[id]
			_, owned := c.cloud.objects[c.cloud.owner[id]]
			stayed := (result.Failed || result.Canceled) && (owned || c.has(owner))
			switch {
			case !there:
				c.seen.note("gone with another")
				delete(c.gone, id)
			case c.kept[id]:
			case stayed || c.kept[c.cloud.owner[id]]:
				c.seen.note("left behind")
				c.kept[id], more = true, true
			}
		}
	}
	for id := range c.lost {
		if !managed[id] {
			delete(c.lost, id)
		}
	}
	if o.Targets != nil || o.Excludes != nil || o.ExcludeProtected || result.Failed || result.Canceled {
		// A resource must be replaced together with its owner; if the operation did not get that far, the old resource stays.
		for _, r := range c.state.Resources {
			_, there := c.cloud.objects[r.ID]
			require.False(t, managed[r.ID] && !there && r.DeletedWith != "" && !c.lost[r.ID],
				"%s is gone behind the back of the state", r.ID)
		}
	}
	for id := range managed {
		_, there := c.cloud.objects[id]
		require.True(t, there || c.lost[id], "the state has %s, which does not exist", id)
	}
	require.Empty(t, c.stray(), "exists, and the state has lost track of it")
	_, there := c.cloud.objects[othersObject]
	require.True(t, there, "what is managed elsewhere is deleted by nobody")
}

// stray returns the objects that no state manages.
func (c *chain) stray() (ids []string) {
	managed := managedBy(c.state)
	for _, id := range c.cloud.inventory() {
		if !managed[id] && !c.kept[id] && !c.loose[id] && id != othersObject {
			ids = append(ids, id)
		}
	}
	return ids
}

// managedBy returns the IDs of the objects that a state manages.
func managedBy(s *state.Snapshot) map[string]bool {
	ids := map[string]bool{}
	if s == nil {
		return ids
	}
	for _, r := range s.Resources {
		if r.Custom && !r.IsProvider() && !r.External && !r.PendingReplacement {
			ids[r.ID] = true
		}
	}
	return ids
}

// link records in the cloud to which object of its owner a resource's object belongs: the object that the owner had
// when the program first declared the relation.
func (w *world) link(ids map[urn.URN]string, r *state.Resource) {
	if r == nil || !r.Custom || r.ID == "" {
		return
	}
	ids[r.URN] = r.ID
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	_, owned := w.cloud.objects[w.cloud.owner[r.ID]]
	if said := w.cloud.with[r.ID]; said == r.DeletedWith && said != "" && owned {
		return
	}
	if delete(w.cloud.owner, r.ID); r.DeletedWith != "" {
		w.cloud.owner[r.ID] = ids[r.DeletedWith]
	}
	w.cloud.with[r.ID] = r.DeletedWith
}
