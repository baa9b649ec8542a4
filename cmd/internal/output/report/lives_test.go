package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// lost stands for a resource whose object was deleted for a replacement that was not made.
const lost = engine.OpDeleteReplaced

// Other words of reports: for a resource of which a report has nothing but its failure, for one that only got another
// name, and for one that a refresh did not find.
const (
	failed = engine.Op("failed")
	moved  = engine.Op("move")
	gone   = engine.Op("gone")
)

// left stands for a resource that is out of the operation's scope, needed for one that such a resource needs.
const (
	left   = engine.Op("left")
	needed = engine.Op("needed")
)

// thingOf returns the name that a resource had first.
func thingOf(u urn.URN) string {
	name, _, _ := strings.Cut(u.Name(), "_")
	return name
}

// journaled returns what a journal records about each resource that an operation changed, without default providers: an
// object that was incompletely made or changed counts as no change.
func journaled(t require.TestingT, base *state.Snapshot, entries []journal.Entry, kind string) map[string]engine.Op {
	told, refresh := map[string]engine.Op{}, kind == "refresh"
	if !refresh {
		told = called(base, entries)
	}
	after, err := journal.Replay(base, entries)
	require.NoError(t, err)
	now := map[string]*state.Resource{}
	for _, r := range after.Resources {
		if !r.Delete {
			now[thingOf(r.URN)] = r
		}
	}
	for _, was := range base.Resources {
		switch name := thingOf(was.URN); {
		case was.Delete || !was.Custom || was.IsProvider():
		case refresh && now[name] == nil:
			told[name] = gone
		case now[name] == nil || told[name] != "":
		case refresh && !value.Equal(was.Inputs, now[name].Inputs):
			told[name] = engine.OpUpdate
		case kind != "destroy" && was.URN != now[name].URN && was.ID == now[name].ID &&
			(refresh || len(now[name].InitErrors) == 0):
			told[name] = moved
		}
	}
	return told
}

// remainders adds what a refresh found of the old objects of replacements, which reports count too.
func remainders(base, after *state.Snapshot, counts map[engine.Op]int) {
	for _, was := range base.Resources {
		if !was.Delete || was.IsProvider() {
			continue
		}
		n := slices.IndexFunc(after.Resources, func(r *state.Resource) bool { return r.Delete && r.ID == was.ID })
		switch {
		case n < 0:
			counts[gone]++
		case !value.Equal(was.Inputs, after.Resources[n].Inputs):
			counts[engine.OpUpdate]++
		}
	}
}

// withoutRemainders takes from what reports tell of a refresh the rows of resources of which only the old object of a
// replacement remains.
func withoutRemainders(base *state.Snapshot, all map[string]told) {
	remains := map[string]bool{}
	for _, r := range base.Resources {
		if name := thingOf(r.URN); r.Delete && !slices.ContainsFunc(base.Resources, func(o *state.Resource) bool {
			return thingOf(o.URN) == name && !o.Delete
		}) {
			remains[name] = true
		}
	}
	for _, said := range all {
		maps.DeleteFunc(said.each, func(name string, _ engine.Op) bool { return remains[name] })
	}
}

// called returns what a journal records about the resources for which an operation called a provider.
func called(base *state.Snapshot, entries []journal.Entry) map[string]engine.Op {
	now, begun := map[journal.ID]*state.Resource{}, map[int64]*state.Operation{}
	for i, r := range base.Resources {
		now[journal.ID(i+1)] = r
	}
	told := map[string]engine.Op{}
	for _, e := range entries {
		if e.Begin != nil {
			begun[e.Step] = e.Begin
			continue
		}
		op := begun[e.Step]
		if op == nil {
			op = &state.Operation{Resource: &state.Resource{}}
		}
		name := thingOf(op.Resource.URN)
		var added *state.Resource
		replaces := false
		add := func(a journal.Amended) {
			now[a.ID] = a.Resource
			if a.Resource.URN == op.Resource.URN {
				added = a.Resource
			}
		}
		for _, a := range e.Amend {
			switch was := now[a.ID]; {
			case a.Resource.Delete && !was.Delete:
				replaces, now[a.ID] = true, a.Resource
			case a.Resource.PendingReplacement && !was.PendingReplacement:
				told[name], now[a.ID] = lost, a.Resource
			default:
				add(a)
			}
		}
		for _, id := range e.Remove {
			was := now[id]
			switch {
			case was.PendingReplacement && op.Kind == state.Creating && thingOf(was.URN) == name:
				replaces = true
				delete(told, name)
			case was.PendingReplacement && slices.ContainsFunc(e.Add, func(a journal.Amended) bool {
				return a.Resource.URN == was.URN && a.Resource.PendingReplacement
			}): // it only gets another place in the state
			case was.PendingReplacement && told[thingOf(was.URN)] == lost: // the program does not have it
				told[thingOf(was.URN)] = engine.OpDelete
			case op.Kind == state.Deleting && !was.Delete && !was.PendingReplacement && was.URN == op.Resource.URN:
				told[name] = engine.OpDelete
			}
			delete(now, id)
		}
		for _, a := range e.Add {
			add(a)
		}
		switch {
		case op.Resource.URN.IsDefaultProvider() || added == nil || len(added.InitErrors) > 0:
		case op.Kind == state.Creating && replaces:
			told[name] = engine.OpReplace
		case op.Kind == state.Creating:
			told[name] = engine.OpCreate
		case op.Kind == state.Updating:
			told[name] = engine.OpUpdate
		}
	}
	return told
}

// entries is a journal in memory.
type entries struct {
	mu  sync.Mutex
	all []journal.Entry
}

func (m *entries) Append(_ context.Context, e journal.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, e)
	return nil
}

func (m *entries) Defer(ctx context.Context, e journal.Entry) error { return m.Append(ctx, e) }
func (m *entries) Held(context.Context) error                       { return nil }

// moody is a provider whose objects are replaced for a change of "repl", and deleted first for one of "dbr…". The fault
// of a call is that for its operation and the resource's name.
type moody struct {
	provider.Plain
	made   int
	faults map[string]string // partial, or anything else
	adrift map[string]int    // how often the object with an ID changed outside of the program
	lost   map[string]bool   // objects that no longer exist
	unread map[string]bool   // the resources whose latest read failed
	failed map[string]bool   // the resources of which a call has failed
}

func (m *moody) Load(context.Context, provider.Package) (provider.Provider, error) { return m, nil }
func (m *moody) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "moody", Version: "1.0.0"}, nil
}

func (m *moody) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return m, nil
}

func (m *moody) fault(op, name, id string, outputs value.Value) error {
	switch m.faults[op+" "+name] {
	case "":
		return nil
	}
	m.failed[thingOf(urn.URN("::::::"+name))] = true
	switch m.faults[op+" "+name] {
	case "partial":
		return &provider.Error{Outcome: provider.Partial, Message: "not whole", ID: id, Outputs: outputs,
			Reasons: []string{"not whole"}}
	}
	return &provider.Error{Message: "trouble"}
}

func (m *moody) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	answer := provider.CheckResponse{Inputs: r.News}
	err := m.fault("check", r.Name, "", value.Null)
	if err != nil && m.faults["check "+r.Name] == "refused" {
		answer.Failures, err = []provider.Failure{{Property: "v", Reason: "not nice"}}, nil
	}
	return answer, err
}

func (m *moody) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	answer := provider.DiffResponse{Changes: provider.DiffNone}
	if m.faults["diff "+r.Name] != "" { // may be asked for a resource that needs this one, which then fails
		m.unread[thingOf(urn.URN("::::::"+r.Name))] = true // a refresh compares what it reads
		return answer, &provider.Error{Message: "trouble"}
	}
	for _, c := range value.Changes(r.OldInputs, r.News) {
		key := c.Path[0].Key
		answer.Changes, answer.Diffs = provider.DiffSome, append(answer.Diffs, key)
		if first := strings.HasPrefix(key, "dbr"); first || key == "repl" {
			answer.Replaces = append(answer.Replaces, key)
			answer.DeleteBeforeReplace = answer.DeleteBeforeReplace || first
		}
	}
	return answer, nil
}

func (m *moody) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	m.made++
	id := fmt.Sprintf("%s-%d", r.Name, m.made)
	outputs := r.Inputs.With("out", value.String(id))
	return provider.CreateResponse{ID: id, Outputs: outputs}, m.fault("create", r.Name, id, outputs)
}

func (m *moody) Update(_ context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	outputs := r.News.With("out", value.String(r.ID))
	return provider.UpdateResponse{Outputs: outputs}, m.fault("update", r.Name, r.ID, outputs)
}

func (m *moody) Delete(_ context.Context, r provider.DeleteRequest) error {
	return m.fault("delete", r.Name, "", value.Null)
}

func (m *moody) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	answer := provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs}
	switch {
	case m.lost[r.ID]:
		answer = provider.ReadResponse{}
	case m.adrift[r.ID] > 0:
		drift := value.Int(100 + m.adrift[r.ID])
		answer.Inputs, answer.Outputs = r.Inputs.With("v", drift), r.Outputs.With("v", drift)
	}
	err := m.fault("read", r.Name, "", value.Null)
	m.unread[thingOf(urn.URN("::::::"+r.Name))] = err != nil
	return answer, err
}

// change draws what happens to the objects of a state outside of the program.
func (m *moody) change(t *rapid.T, base *state.Snapshot) {
	for _, r := range base.Resources {
		if !r.Custom || r.IsProvider() {
			continue
		}
		switch rapid.IntRange(0, 5).Draw(t, "outside") {
		case 0:
			m.lost[r.ID] = true
		case 1:
			m.adrift[r.ID]++
		}
	}
}

// thing is a resource of a generated program.
type thing struct {
	name    string // n and its number, with _ and a number once it was renamed
	former  []string
	present bool
	values  map[string]int
	needs   []int
	asked   bool // registered by the latest run of a program
}

// nextVersion draws the next version of a program and the faults of its update.
func nextVersion(t *rapid.T, things []thing) (faults map[string]string) {
	faults = map[string]string{}
	for i := range things {
		n := &things[i]
		if n.name == "" {
			n.name = fmt.Sprintf("n%d", i)
		}
		n.needs = nil
		if n.present = rapid.IntRange(0, 4).Draw(t, "present") > 0; !n.present {
			n.values = nil
			continue
		}
		if n.values == nil {
			n.values = map[string]int{"v": 1, "repl": 1, "dbr": 1}
		}
		if key := rapid.SampledFrom([]string{"", "v", "repl", "dbr", "dbr"}).Draw(t, "changed"); key != "" {
			n.values[key]++
		}
		if rapid.IntRange(0, 5).Draw(t, "renamed") == 0 {
			n.former = append(n.former, n.name)
			n.name = fmt.Sprintf("n%d_%d", i, len(n.former))
		}
		for need := range i {
			if things[need].present && rapid.IntRange(0, 2).Draw(t, "needs") == 0 {
				n.needs = append(n.needs, need)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "fault") == 0 {
			op := rapid.SampledFrom([]string{"create partial", "create plain", "create plain", "update partial",
				"update plain", "delete plain", "check plain", "check refused", "diff plain", "read plain"}).Draw(t, "fails")
			op, kind, _ := strings.Cut(op, " ")
			for _, name := range append(n.former, n.name) {
				faults[op+" "+name] = kind
			}
		}
	}
	return faults
}

// register registers the resources of a program, without those that need a failed one.
func register(ctx context.Context, m monitor.Monitor, things []thing) error {
	stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	answers := make([]*monitor.RegisterResponse, len(things))
	for i := range things {
		things[i].asked = false
	}
register:
	for i, n := range things {
		if !n.present {
			continue
		}
		inputs := map[string]value.Value{}
		for key, n := range n.values {
			inputs[key] = value.Int(n)
		}
		r := monitor.RegisterRequest{Type: "moody:index:Thing", Custom: true, Name: n.name, Parent: stack.URN}
		byInput := map[string][]urn.URN{}
		for _, name := range n.former {
			r.Aliases = append(r.Aliases, monitor.Alias{Name: name})
		}
		for _, need := range n.needs {
			if answers[need] == nil {
				err = monitor.ErrReported
				continue register
			}
			key := fmt.Sprintf("dbr%d", need) // so that it goes before what it needs
			inputs[key], _ = answers[need].Outputs.Lookup("out")
			r.Dependencies = append(r.Dependencies, answers[need].URN)
			byInput[key] = []urn.URN{answers[need].URN}
		}
		r.PropertyDependencies = urn.DependenciesOf(byInput)
		r.Inputs, things[i].asked = value.Map(inputs), true
		answer, fault := m.RegisterResource(ctx, r)
		if fault != nil || answer.Result != monitor.Succeeded {
			err = monitor.ErrReported
			continue
		}
		answers[i] = &answer
	}
	return err
}

// words are those of reports for what was done, as far as this test needs them.
var words = map[string]engine.Op{"created": engine.OpCreate, "updated": engine.OpUpdate, "replaced": engine.OpReplace,
	"deleted": engine.OpDelete, "moved": moved, "gone": gone, "is gone": gone, "unchanged": engine.OpSame, "failed": failed,
	"not targeted": left, "excluded": left, "needed by what is excluded": needed, "deleted and not created again": lost,
	"deleted, creating the replacement failed": lost,
	"replaced, deleting the original failed":   engine.OpReplace, "updated, deleting the original failed": engine.OpUpdate,
	"moved, deleting the original failed": moved}

// wordsOf returns the operation for the words of a report, which may have the former name of a resource.
func wordsOf(said string) engine.Op {
	said, _, _ = strings.Cut(said, ", was ")
	return words[said]
}

// note takes the words of a report about a resource; what remained of it under another name has a row of its own.
func note(each map[string]engine.Op, u urn.URN, said string) {
	if op := wordsOf(said); op != "" {
		each[thingOf(u)] = op
	}
}

// headline reads the counts in a line such as "1 created, 2 replaced, 1 failed".
func headline(t require.TestingT, line string) map[engine.Op]int {
	counts := map[engine.Op]int{}
	for part := range strings.SplitSeq(line, ", ") {
		number, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		if op := wordsOf(what); op != "" {
			n, err := strconv.Atoi(number)
			require.NoError(t, err, line)
			counts[op] += n
		}
	}
	return counts
}

// told is what a report has as done, in all and to each resource; nil for a report without it.
type told struct {
	counts map[engine.Op]int
	each   map[string]engine.Op
	failed failures
	text   string // of a terminal
}

var (
	resourcesLine = regexp.MustCompile(`(?m)Resources: (.*?)( in [\d.]+s)?$`)
	boldLine      = regexp.MustCompile(`(?m)^\*\*(.*?)\*\*`)
	rowLine       = regexp.MustCompile("(?m)^\\| `?([^`|]*)`? \\| [^`|]*`([^`]*)` \\| [^|]* \\| \\**([^|*]*)\\** \\|$")
	failedLine    = regexp.MustCompile(`(?m)^  ✗ +(\S+) .*failed`)
	failedRow     = regexp.MustCompile("(?m)^\\|[^|]*\\| [^|`]*`([^`]*)` \\|[^|]*\\| [^|]*failed[^|]*\\|$")
	pageData      = regexp.MustCompile(`<script type="application/json" id="data">(.*)</script>`)
)

// reports returns what every report tells of an operation with the given events.
func reports(t require.TestingT, dir string, events []engine.Event) map[string]told {
	m := mask.New()
	var text, lines bytes.Buffer
	o := view.Options{Command: "up", Operation: "Updating", Stack: "dev", Out: &text, Err: &text}
	plain, outline, digest, stream := view.New(o), view.NewOutline(o, m), NewDigest(o, m), NewLines(&lines, o, m)
	runs, err := os.MkdirTemp(dir, "")
	require.NoError(t, err)
	recorder := runlog.Begin(runs, runlog.Head{Command: "up", PID: 1}, m, nil)
	for _, e := range events {
		plain.Event(e)
		outline.Event(e)
		digest.Event(e)
		stream.Event(e)
		recorder.Event(e)
	}
	recorder.Close()
	r := &Record{Subject: Subject{Command: "up"}, digest: digest}
	r.finish(outline, m, false)
	all := map[string]told{}
	all["terminal"] = told{counts: headline(t, resourcesLine.FindStringSubmatch(text.String())[1]),
		failed: failures{}.in(failedLine, text.String()), text: text.String()}

	var document struct {
		Steps         []struct{ Op, URN string }
		ChangeSummary map[engine.Op]int
		Diagnostics   []struct{ URN, Severity, Message string }
	}
	var b bytes.Buffer
	require.NoError(t, writeJSONDocument(&b, r))
	require.NoError(t, json.Unmarshal(b.Bytes(), &document))
	steps := map[string]engine.Op{}
	for _, s := range document.Steps {
		if op := engine.Op(s.Op); op != engine.OpSame {
			steps[thingOf(urn.URN(s.URN))] = op
		}
	}
	wrong := failures{}
	for _, d := range document.Diagnostics {
		wrong.error(urn.URN(d.URN), d.Severity, d.Message)
	}
	all["JSON"] = told{document.ChangeSummary, steps, wrong, ""}

	var last struct {
		SummaryEvent    struct{ ResourceChanges map[engine.Op]int }
		DiagnosticEvent struct{ URN, Severity, Message string }
	}
	wrong = failures{}
	for line := range strings.Lines(lines.String()) {
		if strings.Contains(line, "summaryEvent") || strings.Contains(line, "diagnosticEvent") {
			require.NoError(t, json.Unmarshal([]byte(line), &last))
			d := last.DiagnosticEvent
			wrong.error(urn.URN(d.URN), d.Severity, d.Message)
		}
	}
	all["events"] = told{counts: last.SummaryEvent.ResourceChanges, failed: wrong}

	b.Reset()
	require.NoError(t, WriteMarkdown(&b, r))
	rows := map[string]engine.Op{}
	for _, row := range rowLine.FindAllStringSubmatch(b.String(), -1) {
		note(rows, urn.URN("::::::"+row[2]), row[3])
	}
	all["Markdown"] = told{headline(t, boldLine.FindStringSubmatch(b.String())[1]), rows,
		failures{}.in(failedRow, b.String()), ""}

	b.Reset()
	require.NoError(t, writeJUnit(&b, r))
	var suites junitSuites
	require.NoError(t, xml.Unmarshal(b.Bytes(), &suites))
	cases := map[string]engine.Op{}
	wrong = failures{}
	for _, c := range suites.Suites[0].Cases {
		said := strings.TrimSpace(strings.Split(c.Out, "\n")[0])
		if sign, rest, _ := strings.Cut(said, " "); strings.Trim(sign, "+-~>✗") == "" {
			said = rest
		}
		note(cases, urn.URN("::::::"+c.Name), said)
		for _, f := range c.Failures {
			wrong.error(urn.URN("::::::"+c.Name), "error", f.Message)
		}
	}
	all["JUnit"] = told{each: cases, failed: wrong}

	b.Reset()
	require.NoError(t, WriteHTML(&b, r))
	var page struct{ Resources []struct{ N, W string } }
	data := pageData.FindSubmatch(b.Bytes())
	require.NotNil(t, data)
	require.NoError(t, json.Unmarshal(data[1], &page), "%s", data[1])
	pages := map[string]engine.Op{}
	wrong = failures{}
	for _, item := range page.Resources {
		note(pages, urn.URN("::::::"+item.N), item.W)
		wrong.note(urn.URN("::::::"+item.N), strings.Contains(item.W, "failed"))
	}
	all["HTML"] = told{each: pages, failed: wrong}

	list, err := runlog.List(runs)
	require.NoError(t, err)
	require.Len(t, list, 1)
	recorded, _, err := runlog.Read(runs, list[0].ID, 0)
	require.NoError(t, err)
	console, end := map[string]engine.Op{}, map[engine.Op]int{}
	wrong = failures{}
	for _, l := range recorded {
		switch l.Kind {
		case runlog.Done:
			if op := engine.Op(l.Op); words[string(op)+"d"] != "" {
				console[thingOf(urn.URN(l.URN))] = op
			}
		case runlog.Fail: // all that the console shows of it
			console[thingOf(urn.URN(l.URN))] = failed
			wrong.note(urn.URN(l.URN), true)
		case runlog.End:
			for op, n := range l.Changes {
				end[engine.Op(op)] = n
			}
		}
	}
	all["console"] = told{end, console, wrong, ""}
	return all
}

// failures are the resources that a report calls failed.
type failures map[string]bool

func (f failures) note(u urn.URN, failed bool) {
	if failed && u != "" {
		f[thingOf(u)] = true
	}
}

// error notes the resource of an error, unless that refuses the operation before it begins with the resource.
func (f failures) error(u urn.URN, severity, text string) {
	f.note(u, severity == "error" && !strings.Contains(text, "will be destroyed but was not specified"))
}

// in adds the resources of which a text has a line that matches.
func (f failures) in(line *regexp.Regexp, text string) failures {
	for _, found := range line.FindAllStringSubmatch(text, -1) {
		f.note(urn.URN("::::::"+found[1]), true)
	}
	return f
}

// E8.1: over random lives with faults, every report tells what the journal tells: an object that was deleted, and not
// made again, is called neither replaced nor skipped, one that is out of scope or does not exist is not called
// unchanged, and one that only gets another name is called moved.
func TestReportsTellWhatTheJournalTells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		things := make([]thing, 5)
		cloud := &moody{adrift: map[string]int{}, lost: map[string]bool{}, unread: map[string]bool{},
			failed: map[string]bool{}}
		base := &state.Snapshot{}
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			written := &entries{}
			var events []engine.Event
			o := engine.Options{Project: "p", Stack: "dev", Base: base, Providers: cloud, Journal: written, Parallel: 1,
				ContinueOnError: rapid.Bool().Draw(t, "go on"), Now: time.Now,
				Events: func(e engine.Event) { events = append(events, e) }}
			kind := rapid.SampledFrom([]string{"up", "up", "up", "refresh", "destroy"}).Draw(t, "operation")
			program := func(ctx context.Context, m monitor.Monitor) error { return register(ctx, m, things) }
			if kind == "up" || things[0].name == "" {
				kind = "up"
				cloud.faults = nextVersion(t, things)
			} else {
				nextVersion(t, slices.Clone(things)) // only its faults
				if rapid.Bool().Draw(t, "without the program") {
					program = nil
				}
			}
			restrict(t, &o, things)
			cloud.change(t, base)
			clear(cloud.failed)
			if kind == "up" {
				plan, planned := o, []engine.Event{}
				plan.DryRun, plan.Journal = true, nil
				plan.Events = func(e engine.Event) { planned = append(planned, e) }
				_, err := engine.Update(context.Background(), plan, program)
				require.NoError(t, err)
				if len(o.Targets)+len(o.Excludes) == 0 { // a plan goes on with what needs a resource out of scope
					failedIn(t, reports(t, dir, planned), planned, cloud, "preview")
				}
			}
			clear(cloud.unread)
			clear(cloud.failed)
			run := map[string]func(context.Context, engine.Options, engine.Program) (*engine.Result, error){
				"up": engine.Update, "refresh": engine.Refresh, "destroy": engine.Destroy}[kind]
			result, err := run(context.Background(), o, program)
			require.NoError(t, err)
			want := journaled(t, base, written.all, kind)
			delete(want, "p-dev")
			delete(want, "default")
			counts := map[engine.Op]int{}
			for _, op := range want {
				counts[op]++
			}
			if kind == "refresh" {
				for name := range want { // reports have nothing but the failure of a read
					if want[name] == moved && cloud.unread[name] {
						delete(want, name)
						counts[moved]--
					}
				}
				remainders(base, result.Snapshot, counts)
			}
			rows := maps.Clone(counts) // which have the stack only if it is done
			switch before, after := len(base.Resources) > 0, len(result.Snapshot.Resources) > 0; {
			case after && !before:
				counts[engine.OpCreate]++ // the stack
			case before && !after:
				counts[engine.OpDelete]++
			}
			tell(t, counts, want, told{counts: result.Changes}, "history", kind)
			all := reports(t, dir, events)
			failedIn(t, all, events, cloud, kind)
			if len(all["terminal"].failed) == 0 {
				rows = counts
			}
			if kind == "refresh" {
				withoutRemainders(base, all)
			}
			for _, report := range slices.Sorted(maps.Keys(all)) {
				if forPeople(report) {
					tell(t, rows, want, all[report], report, kind)
				} else {
					tell(t, counts, want, all[report], report, kind)
				}
				inScope(t, all[report], &o, things, report)
			}
			if kind == "destroy" && !result.Failed {
				for _, r := range result.Snapshot.Resources {
					if r.Custom && !r.IsProvider() && !r.Delete && !r.PendingReplacement {
						require.Contains(t, []engine.Op{left, needed}, all["HTML"].each[thingOf(r.URN)], "%s stays", r.URN)
					}
				}
			}
			cleared := *result.Snapshot
			cleared.Pending = nil
			base = &cleared
		}
	})
}

// failedIn fails unless every report calls those resources failed of which the engine has an error, in its list and in
// number. They include those of which a call has failed.
func failedIn(t require.TestingT, all map[string]told, events []engine.Event, cloud *moody, kind string) {
	wrong, names := failures{}, map[urn.URN]bool{}
	for _, e := range events {
		if m, ok := e.(*engine.Message); ok {
			wrong.error(m.URN, m.Severity.String(), m.Text)
			names[m.URN] = true
		}
	}
	require.Subset(t, wrong, cloud.failed)
	for report, said := range all {
		require.Equal(t, wrong, said.failed, "failed in %s of %s\n%s", report, kind, all["terminal"].text)
	}
	for _, report := range []string{"terminal", "Markdown"} {
		// What remained of a thing under another name has a row of its own.
		n := all[report].counts[failed]
		require.True(t, len(wrong) <= n && n <= len(names), "%d failed in %s of %s\n%s", n, report, kind,
			all["terminal"].text)
	}
}

// restrict draws the scope of an operation.
func restrict(t *rapid.T, o *engine.Options, things []thing) {
	switch rapid.IntRange(0, 3).Draw(t, "scope") {
	case 0:
		for _, n := range things {
			if n.present && rapid.Bool().Draw(t, "targeted") {
				o.Targets = append(o.Targets, "**::"+n.name)
			}
		}
	case 1:
		for _, n := range things {
			if n.present && rapid.Bool().Draw(t, "excluded") {
				o.Excludes = append(o.Excludes, "**::"+n.name)
			}
		}
	}
}

// inScope fails if a report calls a resource in scope left out, or one out of scope unchanged. A new name is not known
// until the program registers it.
func inScope(t require.TestingT, said told, o *engine.Options, things []thing, report string) {
	asked := map[string]bool{}
	for i := range things {
		asked[fmt.Sprintf("n%d", i)] = things[i].asked || len(things[i].former) == 0
	}
	named := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(glob string) bool { return thingOf(urn.URN("::::"+glob)) == name })
	}
	for name, op := range said.each {
		in := len(o.Targets) == 0 || named(o.Targets, name)
		if named(o.Excludes, name) {
			in = false
		}
		if name != "p-dev" && (op == left && in && asked[name] ||
			op == needed && named(o.Excludes, name) || op == engine.OpSame && !in && asked[name]) {
			require.Fail(t, report+": "+name, "%s, with targets %v and excludes %v", op, o.Targets, o.Excludes)
		}
	}
}

// forPeople reports whether a report has words of its own, instead of the operations of Pulumi.
func forPeople(report string) bool {
	return report != "JSON" && report != "events" && report != "history" && report != "console"
}

// tell compares a report of an operation of some kind with the journal.
func tell(t require.TestingT, counts map[engine.Op]int, each map[string]engine.Op, said told, report, kind string) {
	as := func(op engine.Op) engine.Op { // as most reports have it
		switch op {
		case lost, gone:
			return engine.OpDelete
		case moved, left, needed:
			return engine.OpSame
		}
		return op
	}
	merged := func(counts map[engine.Op]int) map[engine.Op]int {
		all := map[engine.Op]int{}
		for op, n := range counts {
			if !forPeople(report) {
				op = as(op)
			}
			if op != engine.OpSame && op != left && op != needed && op != failed && n > 0 {
				all[op] += n
			}
		}
		return all
	}
	if said.counts != nil {
		require.Equal(t, merged(counts), merged(said.counts), "%s of %s", report, kind)
	}
	if said.each == nil || kind == "refresh" && report == "JSON" { // what a refresh finds is no step there
		return
	}
	got, want := map[string]engine.Op{}, maps.Clone(each)
	for name, op := range said.each {
		if op != "" && op != engine.OpSame && op != left && op != needed && name != "p-dev" && name != "default" {
			got[name] = op
		}
	}
	for name, op := range want {
		if !forPeople(report) && (op != lost || report == "console") {
			op = as(op)
			want[name] = op
		}
		if op == engine.OpSame {
			delete(want, name)
		}
	}
	for name, op := range got {
		if op == failed {
			delete(got, name)
			delete(want, name)
		}
	}
	require.Equal(t, want, got, "%s of %s", report, kind)
}
