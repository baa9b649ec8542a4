package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// scene is a prior state, a goal and the answers of providers, with the expected steps (want) and requests (asked).
type scene struct {
	prior   []*state.Resource // the first one is the prior state of the goal's resource
	fresh   bool              // the goal's resource is new and not the first of prior
	goal    *state.Resource
	inputs  value.Value           // the program's inputs
	checked value.Value           // the result of a check; null for unchanged inputs
	answer  provider.DiffResponse // the diff of the goal's resource
	forces  []string              // names of dependants that unknown inputs replace
	around  Surroundings
	before  *bool // deleteBeforeReplace of the program
	fixed   bool  // the automatic name is always the same
	deleted *Dependent

	importing, imported, dryRun, unprotected bool
	// fated are the names of dependants that the operation replaces in any case.
	fated []string

	want, asked, refused string
}

func (c scene) run(t *testing.T) {
	t.Helper()
	steps, asked, refused := c.decide(t)
	require.Equal(t, c.refused != "", len(refused) > 0, "%q", refused)
	for _, text := range refused {
		require.Contains(t, text, c.refused)
	}
	require.Equal(t, c.want, printed(steps))
	if c.asked != "" {
		require.Equal(t, c.asked, cmp.Or(strings.Join(asked, ", "), "nothing"))
	}
}

// decide plays the scene with the planner's own loops. It returns the steps, what the providers were asked, and the
// reasons for a refusal.
func (c scene) decide(t *testing.T) (steps []Step, asked, refused []string) {
	t.Helper()
	s := Situation{Goal: c.goal, Deleted: c.deleted, Imported: c.imported, Importing: c.importing}
	if !c.fresh {
		s.Old = c.prior[0]
	}
	if !c.importing {
		x, err := Examine(Facts{Old: s.Old, Goal: c.goal, Wanted: c.inputs, Deleted: c.deleted != nil,
			Provided: c.goal.Custom, DryRun: c.dryRun, Around: c.around})
		if err != nil {
			return nil, nil, []string{err.Error()}
		}
		require.NoError(t, x.Ask(&answers{scene: c, asked: &asked}))
		s.Diff = x.Diff
	}
	steps, err := Decide(s, Replacing{DryRun: c.dryRun, Unprotected: c.unprotected, FixedName: c.fixed, Wanted: c.before,
		Obstacle: func(o Obstacle) { refused = append(refused, o.Text) },
		Dependents: func() ([]Dependent, error) {
			return NewCascade(c.prior[0], c.candidates(), c.unprotected).Ask(func(q *Question) (*provider.DiffResponse, error) {
				asked = append(asked, fmt.Sprintf("dependent %s %v", q.Resource.URN.Name(), q.Inputs))
				if slices.Contains(c.forces, q.Resource.URN.Name()) {
					return &provider.DiffResponse{Changes: provider.DiffSome, Replaces: []string{"x"}}, nil
				}
				return &provider.DiffResponse{}, nil
			})
		}})
	if protected, ok := errors.AsType[*ProtectedError](err); ok {
		return nil, asked, append(refused, protected.Error())
	}
	if !errors.Is(err, ErrRefused) {
		require.NoError(t, err)
	}
	return steps, asked, refused
}

// candidates returns the resources behind the first one.
func (c scene) candidates() (all []Candidate) {
	for _, r := range c.prior[1:] {
		candidate := Candidate{Resource: r}
		if slices.Contains(c.fated, r.URN.Name()) {
			candidate.Forced = Diff{Change: true, Replace: true, Keys: []string{"id"}}
		}
		all = append(all, candidate)
	}
	return all
}

// answers is the provider of a scene.
type answers struct {
	scene
	asked *[]string
}

func (a *answers) Check(x *Examination, q *Check) error {
	*a.asked = append(*a.asked, fmt.Sprintf("check %v %v", q.Olds, q.News))
	x.Checked(a.checked)
	return nil
}

func (a *answers) Compare(x *Examination, q *Compare) error {
	*a.asked = append(*a.asked, fmt.Sprintf("compare %v", q.News))
	x.Compared(a.answer)
	return nil
}

func (a *answers) CompareProvider(x *Examination, _ *CompareProvider) error {
	*a.asked = append(*a.asked, "compare providers")
	x.ProviderCompared(true)
	return nil
}

// printed returns the text of steps for a table.
func printed(steps []Step) string {
	var all []string
	for _, s := range steps {
		text := string(s.Op) + " " + s.URN.Name()
		if len(s.Keys) > 0 {
			text += " for " + strings.Join(s.Keys, "+")
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func inputs(pairs ...string) func(*state.Resource) {
	return func(r *state.Resource) { r.Inputs = texts(pairs...) }
}

func texts(pairs ...string) value.Value {
	v := value.EmptyMap()
	for i := 0; i < len(pairs); i += 2 {
		v = v.With(pairs[i], value.String(pairs[i+1]))
	}
	return v
}

func with(edit func(*state.Resource)) func(*state.Resource) { return edit }

func uses(names ...string) func(*state.Resource) {
	return func(r *state.Resource) {
		r.Inputs = texts("x", "1")
		on(names...)(r)
		r.PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"x": r.Dependencies})
	}
}

func prior(edit ...func(*state.Resource)) []*state.Resource {
	return []*state.Resource{resource("a", append([]func(*state.Resource){inputs("v", "1")}, edit...)...)}
}

var (
	some          = provider.DiffResponse{Changes: provider.DiffSome, Diffs: []string{"v"}}
	none          = provider.DiffResponse{Changes: provider.DiffNone}
	replaces      = provider.DiffResponse{Changes: provider.DiffSome, Diffs: []string{"v"}, Replaces: []string{"v"}}
	first         = provider.DiffResponse{Changes: provider.DiffSome, Replaces: []string{"v"}, DeleteBeforeReplace: true}
	yes, no       = true, false
	pending       = with(func(r *state.Resource) { r.PendingReplacement = true })
	external      = with(func(r *state.Resource) { r.External = true })
	protected     = with(func(r *state.Resource) { r.Protect = true })
	broken        = with(func(r *state.Resource) { r.InitErrors = []string{"trouble"} })
	component     = with(func(r *state.Resource) { r.Custom, r.ID = false, "" })
	pendingDelete = with(func(r *state.Resource) { r.Delete = true })
	tainted       = with(func(r *state.Resource) { r.Taint = true })
)

func triggeredBy(text string) func(*state.Resource) {
	return func(r *state.Resource) { r.ReplacementTrigger = value.String(text) }
}
func imports(id string) func(*state.Resource) {
	return func(r *state.Resource) { r.ImportID = id }
}
func goes(provider string) func(*state.Resource) {
	return func(r *state.Resource) { r.DeletedWith = u(provider) }
}
func along(provider string) func(*state.Resource) {
	return func(r *state.Resource) { r.ReplaceWith = []urn.URN{u(provider)} }
}
func ignores(paths ...string) func(*state.Resource) {
	return func(r *state.Resource) { r.IgnoreChanges = paths }
}
func by(name string) func(*state.Resource) {
	return func(r *state.Resource) { r.Provider = reference(name) }
}
func reference(name string) string {
	return urn.Reference{URN: urn.New("dev", "p", "", "pulumi:providers:test", name), ID: name}.String()
}

const (
	replacedFirst = "create-replacement a for v, replace a for v"
	deletedFirst  = "delete-replaced a for v, replace a for v, create-replacement a for v"
)

// registrations holds the rules about the steps of one registration, with scenes that show them.
var registrations = map[string][]scene{
	"E4.21": {
		{fresh: true, goal: resource("a"), inputs: texts("v", "1"), asked: `check {} {"v": "1"}`, want: "create a"},
		{prior: prior(external), goal: resource("a"), inputs: texts("v", "2"), asked: `check {} {"v": "2"}`,
			want: "create-replacement a, replace a"},
		{prior: prior(), deleted: &Dependent{Keys: []string{"x"}}, goal: resource("a"), inputs: texts("v", "2"),
			asked: `check {} {"v": "2"}`, want: "replace a, create-replacement a for x"},
		{prior: prior(), around: Surroundings{Named: true}, goal: resource("a"), inputs: texts("v", "2"),
			asked: `check {} {"v": "2"}`, want: "create-replacement a for id, replace a for id"},
		{prior: prior(), goal: resource("a", ignores("v")), inputs: texts("v", "2"), answer: none, want: "same a",
			asked: `check {"v": "1"} {"v": "1"}, compare {"v": "1"}`},
		{prior: prior(), goal: resource("a", ignores("v")), inputs: texts("v", "2"), answer: replaces, want: replacedFirst,
			asked: `check {"v": "1"} {"v": "1"}, compare {"v": "1"}, check {} {"v": "2"}`},
	},
	"E4.23": {{prior: prior(component), goal: resource("a", component), inputs: texts("v", "1"), want: "same a",
		asked: "nothing"}},
	"E4.25": {{prior: prior(), goal: resource("a"), inputs: texts("v", "1"), checked: texts("v", "1", "w", "0"),
		answer: none, want: "same a", asked: `check {"v": "1"} {"v": "1"}, compare {"v": "1", "w": "0"}`}},
	"E4.28": {{fresh: true, goal: resource("a"), want: "create a"}},
	"E4.30": {{prior: prior(), deleted: &Dependent{Keys: []string{"x"}}, goal: resource("a"),
		want: "replace a, create-replacement a for x"}},
	"E4.31": {{prior: prior(external), goal: resource("a"), want: "create-replacement a, replace a"}},
	"E4.33": {{prior: prior(), goal: resource("a"), answer: none, want: "same a"}},
	"E4.34": {{prior: prior(broken), goal: resource("a"), answer: none, want: "update a"}},
	"E4.35": {{prior: prior(), goal: resource("a"), answer: some, want: "update a"}},
	"E4.36": {{prior: prior(), goal: resource("a"), answer: replaces, want: replacedFirst}},
	"E4.37": {{prior: prior(), imported: true, goal: resource("a"), answer: none, want: ""},
		{prior: prior(broken), imported: true, goal: resource("a"), answer: none, want: ""}},
	"E4.38": {{prior: prior(triggeredBy("1")), goal: resource("a", triggeredBy("2")),
		want:  "create-replacement a, replace a",
		asked: "check {\"v\": \"1\"} null, check {} null"}},
	"E4.39": {{prior: prior(tainted), goal: resource("a"), inputs: texts(),
		want: "create-replacement a for id, replace a for id", asked: "check {} {}"}},
	"E4.40": {{prior: prior(), around: Surroundings{Replaced: []urn.URN{u("b")}}, goal: resource("a", along("b")),
		want: "create-replacement a for replaceWith, replace a for replaceWith"}},
	"E4.41": {{prior: prior(), around: Surroundings{Replaced: []urn.URN{u("b")}}, goal: resource("a", goes("b")),
		want: "create-replacement a for deletedWith, replace a for deletedWith"},
		{prior: prior(goes("b")), around: Surroundings{OwnerLeft: true}, goal: resource("a", goes("b")),
			want: "create-replacement a for deletedWith, replace a for deletedWith"}},
	"E4.42": {{prior: prior(by("p")), goal: resource("a"),
		want: "create-replacement a for provider, replace a for provider"}},
	"E4.44": {{prior: prior(component), goal: resource("a", component), inputs: texts("v", "2"), want: "update a"}},
	"E4.45": {{prior: prior(), goal: resource("a"), inputs: texts("v", "2"), answer: some, want: "update a",
		asked: `check {"v": "1"} {"v": "2"}, compare {"v": "2"}`}},
	"E4.46": {{prior: prior(), goal: resource("a"), inputs: texts("v", "2"), want: "update a"},
		{prior: prior(), goal: resource("a"), inputs: texts("v", "1"), want: "same a"}},
	"E4.47": {{prior: prior(), goal: resource("a"), answer: provider.DiffResponse{Changes: provider.DiffSome,
		Detailed: map[string]provider.PropertyDiff{"v.w": {Kind: provider.DiffUpdateReplace}}}, want: replacedFirst}},
	"E4.48": {{prior: prior(), goal: resource("a"), inputs: texts("v", "1"),
		answer: provider.DiffResponse{Changes: provider.DiffSome}, want: "update a"}},
	"E4.49": {{prior: prior(), goal: resource("a"), answer: provider.DiffResponse{Changes: provider.DiffUnavailable},
		want: "update a"}},
	"E4.52": {{prior: prior(), goal: resource("a"), answer: first, want: deletedFirst},
		{prior: prior(), goal: resource("a"), answer: first, before: &no, want: replacedFirst},
		{prior: prior(), goal: resource("a"), answer: replaces, before: &yes, want: deletedFirst}},
	"E4.53": {{prior: prior(imports("i")), goal: resource("a", imports("i")), answer: replaces,
		refused: "may not be replaced"},
		{prior: prior(imports("i")), goal: resource("a", imports("i")), answer: replaces, dryRun: true,
			refused: "may not be replaced", want: replacedFirst}},
	"E4.54": {{prior: prior(), goal: resource("a"), answer: replaces, want: replacedFirst}},
	"E4.55": {{prior: append(prior(), resource("b", uses("a")), resource("c", uses("b"))), forces: []string{"b", "c"},
		goal: resource("a"), answer: first, want: "delete-replaced c for x, delete-replaced b for x, " + deletedFirst}},
	"E4.56": {{prior: prior(pending), goal: resource("a"), answer: none, want: "replace a, create-replacement a"}},
	"E4.58": {
		{prior: append(prior(), resource("b", uses("a")), resource("c", uses("b")), resource("d", on("a")),
			resource("e", uses("a"))),
			forces: []string{"e"}, goal: resource("a"), answer: first, want: "delete-replaced e for x, " + deletedFirst,
			asked: `check {"v": "1"} null, compare null, check {} null, dependent b {"x": [unknown]}, dependent e {"x": [unknown]}`},
		{prior: append(prior(), resource("b", uses("a")), resource("c", on("a"))), fated: []string{"b", "c"},
			goal: resource("a"), answer: first, want: "delete-replaced b for id, " + deletedFirst},
		{prior: append(prior(), resource("b", uses("a"), component), resource("c", uses("a"), external)), goal: resource("a"),
			answer: first, want: deletedFirst},
	},
	"E4.59": {{prior: append(prior(), resource("b", along("a")), resource("c", goes("a"))), goal: resource("a"),
		answer: first, want: "delete-replaced c for deletedWith, delete-replaced b for replaceWith, " + deletedFirst}},
	"E4.61": {{prior: append(prior(), resource("b", goes("a"), protected)), goal: resource("a"), answer: first,
		refused: "as part of replacing"}},
	"E4.62": {{prior: append(prior(), resource("b", goes("a"), pendingDelete), resource("c", goes("a"), pending)),
		goal: resource("a"), answer: first, want: "delete b for deletedWith, " + deletedFirst}},
	"E4.64": {{prior: prior(pending), goal: resource("a"), inputs: texts("v", "1"), answer: none,
		want: "replace a, create-replacement a"}},
	"E4.65": {{prior: prior(), goal: resource("a", ignores("w.x")), inputs: texts("v", "1").With("w", texts("x", "n")),
		want: "update a", asked: `check {"v": "1"} {"v": "1", "w": {}}, compare {"v": "1", "w": {}}`}},
	"E4.66": {{fresh: true, goal: resource("a", ignores("v")), inputs: texts("v", "2"), want: "create a",
		asked: `check {} {"v": "2"}`}},
	"E4.68": {{prior: prior(), imported: true, goal: resource("a"), inputs: texts("v", "2"), answer: some,
		want: "update a", asked: `check {"v": "1"} {"v": "2"}, compare {"v": "2"}`}},
	"E4.69": {{prior: prior(), goal: resource("a", with(func(r *state.Resource) { r.ReplaceOnChanges = []string{"v"} })),
		answer: some, want: replacedFirst},
		{prior: prior(broken), goal: resource("a", with(func(r *state.Resource) { r.ReplaceOnChanges = []string{"*"} })),
			answer: none, want: "create-replacement a for #initerror, replace a for #initerror"}},
	"E4.73": {{prior: prior(protected), goal: resource("a", protected), answer: replaces, refused: "it is protected"},
		{prior: prior(protected), goal: resource("a", protected), answer: replaces, dryRun: true, refused: "it is protected",
			want: replacedFirst}},
	"E4.74": {{prior: prior(protected), goal: resource("a"), answer: replaces, want: replacedFirst}},
	"E4.75": {{prior: prior(), goal: resource("a", protected), answer: replaces, want: replacedFirst}},
	"E4.77": {{prior: prior(protected), goal: resource("a", protected), answer: replaces, unprotected: true,
		want: replacedFirst}},
	"E4.84": {{prior: prior(), goal: resource("a", triggeredBy("1")), answer: none, want: "same a"},
		{prior: prior(triggeredBy("1")), goal: resource("a"), answer: none, want: "same a"},
		{prior: prior(triggeredBy("1")), goal: resource("a",
			with(func(r *state.Resource) { r.ReplacementTrigger = value.Unknown(value.KindString) })),
			refused: "replacement trigger contains unknowns for " + string(u("a"))}},
	"E4.87": {{fresh: true, importing: true, goal: resource("a"), want: "import a"},
		{prior: prior(), importing: true, goal: resource("a"), want: "import-replacement a, replace a"}},
	"E4.88": {{prior: prior(imports("i")), imported: true, goal: resource("a"), inputs: texts("v", "2"), answer: some,
		want: "update a"}},
	"E4.127": {{prior: prior(), fixed: true, goal: resource("a"), answer: replaces, want: deletedFirst}},
}

// endScene is the situation at the end of a program with the expected deletions; layers is their order.
type endScene struct {
	prior   []*PriorFact
	current []CurrentFact
	scope   ScopeOptions
	failed  []*state.Resource // deletions that fail
	want    string            // steps in layers, which are separated by bars; alphabetical within
	stays   string            // resources that are neither registered nor in scope
	unnamed string
}

func left(resources ...*state.Resource) (facts []*PriorFact) {
	for _, r := range resources {
		facts = append(facts, &PriorFact{Resource: r, Now: r, PendingDelete: r.Delete})
	}
	return facts
}

// gone returns a prior resource that a registration has replaced; kept returns that registration.
func gone(r *state.Resource) *PriorFact  { return &PriorFact{Resource: r, Claimed: true} }
func kept(r *state.Resource) CurrentFact { return CurrentFact{URN: r.URN, State: r, Old: r} }

func claimed(f *PriorFact) *PriorFact { f.Claimed = true; return f }

func (c endScene) run(t *testing.T) {
	t.Helper()
	for _, f := range c.prior {
		c.scope.Base = append(c.scope.Base, f.Resource)
	}
	scope, err := NewScope(c.scope)
	require.NoError(t, err)
	end := PlanEnding(Inventory{Prior: c.prior, Current: c.current}, scope)
	for _, r := range c.failed {
		end.Keep.Add(r)
	}
	var layers []string
	var deleted []*state.Resource
	for _, s := range end.Steps {
		deleted = append(deleted, s.Old)
	}
	for _, layer := range Layers(deleted) {
		var steps []string
		for _, i := range layer {
			if !end.Keep.Kept[deleted[i].URN] || len(c.failed) == 0 {
				steps = append(steps, printed(end.Steps[i:i+1]))
			}
		}
		slices.Sort(steps)
		if len(steps) > 0 {
			layers = append(layers, strings.Join(steps, ", "))
		}
	}
	require.Equal(t, c.want, strings.Join(layers, " | "))
	names := func(resources []*state.Resource) string {
		var all []string
		for _, r := range resources {
			all = append(all, r.URN.Name())
		}
		return strings.Join(all, " ")
	}
	require.Equal(t, c.stays, names(end.Untouched))
	require.Equal(t, c.unnamed, names(end.Unnamed))
}

func inside(parent string) func(*state.Resource) {
	return func(r *state.Resource) { r.Parent = u(parent) }
}

func at(minute int) func(*state.Resource) {
	when := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)
	return func(r *state.Resource) { r.Created = &when }
}

// endings holds the rules about the choice and the order of deletions.
var endings = map[string][]endScene{
	"E4.60": {{prior: []*PriorFact{{Resource: resource("a"), Now: resource("a", pending)}},
		want: "remove-pending-replace a"}},
	"E4.78": {{prior: left(resource("a"), resource("b", on("a"), protected), resource("c")),
		scope: ScopeOptions{ExcludeProtected: true},
		want:  "delete c", stays: "a b"}},
	"E4.80": { // a replaced owner stays while a resource that is deletedWith it is older than its successor
		{prior: []*PriorFact{claimed(left(resource("a", at(1), pendingDelete))[0]), gone(resource("b", goes("a"), at(2)))},
			current: []CurrentFact{{URN: u("a"), State: resource("a", at(3))}, kept(resource("b", goes("a"), at(2)))}},
		{prior: []*PriorFact{claimed(left(resource("a", at(1), pendingDelete))[0]), gone(resource("b", goes("a"), at(2)))},
			current: []CurrentFact{{URN: u("a"), State: resource("a", at(3))}, kept(resource("b", goes("a"), at(4)))},
			want:    "delete-replaced a"},
	},
	"E4.83": {{prior: left(resource("a"), resource("b", goes("a")), resource("c", along("a")), resource("d")),
		scope: ScopeOptions{Targets: []string{string(u("a"))}, TargetDependents: true}, want: "delete b, delete c | delete a",
		stays: "d"}},
	"E4.93": {{prior: left(resource("a", external)), want: "discard a"}},
	"E4.95": {{prior: left(resource("a", pendingDelete), resource("b", pendingDelete, external)),
		want: "delete-replaced a, discard-replaced b"}},
	"E4.96": {{prior: left(resource("a", pendingDelete), resource("a", pendingDelete), resource("a", pendingDelete)),
		want: "delete-replaced a, delete-replaced a, delete-replaced a"}},
	"E4.105": {{prior: left(resource("a"), resource("b", on("a")), resource("c", inside("a")), resource("d")),
		scope: ScopeOptions{Targets: []string{string(u("a"))}}, want: "delete b, delete c | delete a", stays: "d",
		unnamed: "b c"}},
	"E4.106": {{prior: left(resource("a"), resource("b", on("a")), resource("c", on("b"))),
		scope: ScopeOptions{Excludes: []string{string(u("b"))}},
		want:  "delete c", stays: "a b"},
		{prior: left(resource("p", component), resource("q", inside("p")), resource("b", on("p")), resource("c")),
			scope: ScopeOptions{Excludes: []string{string(u("b"))}}, want: "delete c", stays: "p q b"}},
	"E4.109": {{prior: left(resource("a"), resource("b")), scope: ScopeOptions{Targets: []string{string(u("a"))}},
		want: "delete a", stays: "b"}},
	"E4.118": {{prior: append(left(resource("a"), resource("b", external), resource("c", pending),
		resource("d", pendingDelete),
		resource("v", with(func(r *state.Resource) { r.ViewOf = u("a") }))), claimed(left(resource("e"))[0])),
		want: "delete a, delete-replaced d, discard b, remove-pending-replace c"}},
	"E4.120": {{prior: left(resource("a"), resource("c", component), resource("in", inside("c"), on("a")),
		resource("after", on("c")), resource("b", on("a"))),
		want: "delete after | delete b, delete in | delete a, delete c"},
		{prior: left(resource("goes", goes("owner")), resource("owner", pendingDelete)),
			want: "delete goes | delete-replaced owner"}},
	"E4.121": {{prior: left(resource("a"), resource("alone"), resource("b", on("a"))),
		want: "delete b | delete a, delete alone"}},
	"E4.122": {{prior: left(resource("a"), resource("b", on("a")), resource("c", on("b")), resource("d")),
		failed: []*state.Resource{resource("c", on("b"))},
		want:   "delete c | delete d"}},
}

// others holds the rules about choosing steps that have tests of their own.
var others = map[string]func(t *testing.T){
	"E4.13": func(t *testing.T) {
		l := Lineage{Stack: "dev", Project: "p", Former: func(urn.URN) urn.URN { return "" }}
		require.Equal(t, []urn.URN{u("a"), u("x")}, l.Candidates(u("a"), "", []monitor.Alias{{Name: "x"}, {Name: "a"}}))
	},
	"E4.14": func(t *testing.T) {
		parent, former := urn.New("dev", "p", "", "my:c:C", "new"), urn.New("dev", "p", "", "my:c:C", "old")
		l := Lineage{Stack: "dev", Project: "p", Former: func(urn.URN) urn.URN { return former }}
		own := urn.New("dev", "p", parent, "t:i:R", "new-child")
		require.Equal(t, []urn.URN{own, urn.New("dev", "p", former, "t:i:R", "old-child")}, l.Candidates(own, parent, nil))
	},
	"E4.17": func(t *testing.T) {
		g := &Goal{RegisterRequest: monitor.RegisterRequest{Type: "test:index:Res", Name: "b",
			Aliases: []monitor.Alias{{Name: "a"}, {Name: "c"}}}}
		require.Equal(t, []urn.URN{u("a")}, g.NewState(u("b"), resource("a")).Aliases)
		require.Empty(t, g.NewState(u("b"), resource("b")).Aliases)
	},
	"E4.19": func(t *testing.T) {
		was, now := urn.New("dev", "p", "", "pulumi:providers:test", "was"), urn.New("dev", "p", "", "pulumi:providers:test",
			"now")
		ref := func(u urn.URN) func(*state.Resource) {
			return func(r *state.Resource) { r.Provider = urn.Reference{URN: u, ID: "i"}.String() }
		}
		ask := func(former urn.URN) Request {
			x, err := Examine(Facts{Old: resource("a", ref(was)), Goal: resource("a", ref(now)), Provided: true,
				OldProvider: &state.Resource{URN: was}, FormerProvider: former})
			require.NoError(t, err)
			x.Next()
			x.Checked(value.Null)
			return x.Next()
		}
		require.IsType(t, &Compare{}, ask(was))
		require.IsType(t, &CompareProvider{}, ask(""))
	},
	"E4.51": func(t *testing.T) {
		for _, detailed := range []map[string]provider.PropertyDiff{nil, {}} {
			d := ProviderDiff(provider.DiffResponse{Changes: provider.DiffSome, Detailed: detailed}, value.EmptyMap(),
				value.EmptyMap(), nil)
			require.Equal(t, detailed == nil, Steps(Situation{Old: resource("a"), Goal: resource("a"),
				Diff: d})[0].Detailed == nil)
		}
	},
	"E4.86": func(t *testing.T) {
		require.True(t, WantsImport(nil, resource("a", imports("i"))))
		require.True(t, WantsImport(resource("a", external), resource("a", imports("a"))))
		require.True(t, WantsImport(resource("a"), resource("a", imports("i"))))
		require.False(t, WantsImport(resource("i"), resource("i", imports("i"))), "it has that ID")
		require.False(t, WantsImport(nil, resource("a")))
		require.False(t, WantsImport(nil, resource("a", imports("i"), component)))
	},
	"E4.92": func(t *testing.T) {
		require.Equal(t, "read a", printed(ReadSteps(nil, resource("a"))))
		require.Equal(t, "read a", printed(ReadSteps(resource("a", external,
			with(func(r *state.Resource) { r.ID = "other" })), resource("a"))))
		require.Equal(t, "read a", printed(ReadSteps(resource("a"), resource("a"))))
		require.Equal(t, "read-replacement a, replace a",
			printed(ReadSteps(resource("a", with(func(r *state.Resource) { r.ID = "other" })), resource("a"))))
	},
	"E4.98": func(t *testing.T) {
		p, err := NewPatterns([]string{"urn:pulumi:dev::p::*::a*", "**::deep"}, nil)
		require.NoError(t, err)
		require.False(t, p.Match(u("a")), "one * stops at a colon")
		require.True(t, p.Match(u("deep")))
		_, err = NewPatterns([]string{"urn:nonsense"}, nil)
		require.Error(t, err)
	},
	"E4.99": func(t *testing.T) {
		admits(t, ScopeOptions{Targets: []string{string(u("a"))}, TargetDependents: true}, "a b c")
	},
	"E4.100": func(t *testing.T) {
		scope, err := NewScope(ScopeOptions{Targets: []string{string(u("a"))}})
		require.NoError(t, err)
		require.True(t, scope.Admits(&state.Resource{URN: "urn:pulumi:dev::p::pulumi:providers:x::y",
			Type: "pulumi:providers:x", Custom: true}))
		require.True(t, scope.Admits(&state.Resource{URN: urn.RootStack("dev", "p"), Type: urn.RootStackType},
			urn.RootStack("dev", "p")))
	},
	"E4.102": func(t *testing.T) {
		scope, err := NewScope(ScopeOptions{Targets: []string{string(u("b"))}})
		require.NoError(t, err)
		scope.Skip(u("a"))
		require.Equal(t, []urn.URN{u("a")}, scope.Missing(resource("b", on("a"))))
		require.Empty(t, scope.Missing(resource("b")))
	},
	"E4.103": func(t *testing.T) {
		p, err := NewPatterns([]string{string(u("a")), string(u("b")), "**::c"}, nil)
		require.NoError(t, err)
		require.Equal(t, []urn.URN{u("b")}, p.Missing(func(x urn.URN) bool { return x == u("a") }))
	},
	"E4.104": func(t *testing.T) { admits(t, ScopeOptions{Replace: []string{string(u("a"))}}, "a b c d") },
	"E4.107": func(t *testing.T) {
		admits(t, ScopeOptions{Targets: []string{string(u("a"))}, Excludes: []string{string(u("a"))}}, "a")
	},
	"E4.110": func(t *testing.T) {
		require.True(t, func() bool { s := Unchanged(resource("a"), resource("a")); return s.Verbatim }())
	},
}

// admits checks which of a, b that uses a, c that uses b, and d are in scope.
func admits(t *testing.T, o ScopeOptions, want string) {
	t.Helper()
	scope, err := NewScope(o)
	require.NoError(t, err)
	var names []string
	for _, r := range []*state.Resource{resource("a"), resource("b", on("a")), resource("c", on("b")), resource("d")} {
		if scope.Admits(r, r.URN) {
			names = append(names, r.URN.Name())
		}
	}
	require.Equal(t, want, strings.Join(names, " "))
}

// elsewhere holds the rules of E4 that do not choose or order steps, by the part that implements them.
var elsewhere = map[string]string{
	"the table of resources": "E4.1 E4.2 E4.4 E4.15 E4.18 E4.20 E4.94 E4.108 E4.119",
	"goals":                  "E4.5 E4.81 E4.85 E4.91",
	"the registration's way": "E4.6 E4.7 E4.9 E4.10 E4.11 E4.12 E4.22 E4.29 E4.32 E4.50 E4.72 E4.89 E4.101 E4.112 " +
		"E4.123 E4.125",
	"providers":             "E4.3 E4.8 E4.24 E4.26 E4.27 E4.43 E4.67 E4.111 E4.124 E4.126 E4.128",
	"taking steps":          "E4.16 E4.57 E4.63 E4.70 E4.71 E4.76 E4.79 E4.82 E4.90 E4.97 E4.113",
	"views":                 "E4.114 E4.115 E4.116 E4.117",
	"the end of operations": "E4.129 E4.130 E4.131",
}

func TestRulesOfPlanning(t *testing.T) {
	for rule, scenes := range registrations {
		for i, c := range scenes {
			t.Run(fmt.Sprintf("%s %d", rule, i+1), c.run)
		}
	}
	for rule, scenes := range endings {
		for i, c := range scenes {
			t.Run(fmt.Sprintf("%s %d", rule, i+1), c.run)
		}
	}
	for rule, check := range others {
		t.Run(rule, check)
	}
}

// Each rule of E4 is in exactly one of the tables above.
func TestEveryRuleOfPlanningIsListed(t *testing.T) {
	listed := map[string]string{}
	list := func(rule, where string) {
		require.Empty(t, listed[rule], "%s is listed twice: %s and %s", rule, listed[rule], where)
		listed[rule] = where
	}
	for rule := range registrations {
		list(rule, "registrations")
	}
	for rule := range endings {
		list(rule, "endings")
	}
	for rule := range others {
		list(rule, "others")
	}
	for who, rules := range elsewhere {
		for rule := range strings.FieldsSeq(rules) {
			list(rule, who)
		}
	}
	text := testfile.Text(t, "../../../../docs/spec/engine.md")
	anchors := regexp.MustCompile(`<a id="(E4\.\d+)">`).FindAllStringSubmatch(text, -1)
	require.Greater(t, len(anchors), 100)
	for _, m := range anchors {
		require.NotEmpty(t, listed[m[1]], "%s is neither shown by a scene nor listed as somebody else's", m[1])
		delete(listed, m[1])
	}
	require.Empty(t, slices.Sorted(maps.Keys(listed)), "these are no rules")
}
