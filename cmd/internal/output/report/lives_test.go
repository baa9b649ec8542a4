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

// failed stands for a resource of which a report has nothing but its failure.
const failed = engine.Op("failed")

// journaled returns what a journal tells of each resource that an update changed, without default providers: an object
// that was incompletely made or changed counts as no change.
func journaled(base *state.Snapshot, entries []journal.Entry) map[string]engine.Op {
	now, begun := map[journal.ID]*state.Resource{}, map[int64]*state.Operation{}
	if base != nil {
		for i, r := range base.Resources {
			now[journal.ID(i+1)] = r
		}
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
		name := op.Resource.URN.Name()
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
			case was.PendingReplacement && op.Kind == state.Creating:
				replaces = true
				if was.URN.Name() == name {
					delete(told, name)
				}
			case was.PendingReplacement && told[was.URN.Name()] == lost: // the program does not have it
				told[was.URN.Name()] = engine.OpDelete
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
	provider.Provider
	provider.Configured
	made   int
	faults map[string]string // partial, or anything else
}

func (m *moody) Load(context.Context, provider.Package) (provider.Provider, error) { return m, nil }
func (m *moody) Close() error                                                      { return nil }
func (m *moody) Cancel(context.Context) error                                      { return nil }
func (m *moody) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "moody", Version: "1.0.0"}, nil
}

func (m *moody) CheckConfig(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	return provider.CheckResponse{Inputs: r.News}, nil
}

func (m *moody) DiffConfig(context.Context, provider.DiffRequest) (provider.DiffResponse, error) {
	return provider.DiffResponse{Changes: provider.DiffNone}, nil
}

func (m *moody) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return m, nil
}

func (m *moody) fault(op, name, id string, outputs value.Value) error {
	switch m.faults[op+" "+name] {
	case "":
		return nil
	case "partial":
		return &provider.Error{Outcome: provider.Partial, Message: "not whole", ID: id, Outputs: outputs,
			Reasons: []string{"not whole"}}
	}
	return &provider.Error{Message: "trouble"}
}

func (m *moody) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	return provider.CheckResponse{Inputs: r.News}, m.fault("check", r.Name, "", value.Null)
}

func (m *moody) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	answer := provider.DiffResponse{Changes: provider.DiffNone}
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

// thing is a resource of a generated program.
type thing struct {
	present bool
	values  map[string]int
	needs   []int
}

// nextVersion draws the next version of a program and the faults of its update.
func nextVersion(t *rapid.T, things []thing) (faults map[string]string) {
	faults = map[string]string{}
	for i := range things {
		n := &things[i]
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
		for need := range i {
			if things[need].present && rapid.IntRange(0, 2).Draw(t, "needs") == 0 {
				n.needs = append(n.needs, need)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "fault") == 0 {
			op := rapid.SampledFrom([]string{"create partial", "create plain", "create plain", "update partial",
				"update plain", "delete plain", "check plain"}).Draw(t, "fails")
			op, kind, _ := strings.Cut(op, " ")
			faults[fmt.Sprintf("%s n%d", op, i)] = kind
		}
	}
	return faults
}

// register registers the resources of a program, without those that need a failed one.
func register(ctx context.Context, m monitor.Monitor, things []thing) error {
	stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
	answers := make([]*monitor.RegisterResponse, len(things))
register:
	for i, n := range things {
		if !n.present {
			continue
		}
		inputs := map[string]value.Value{}
		for key, n := range n.values {
			inputs[key] = value.Int(n)
		}
		r := monitor.RegisterRequest{Type: "moody:index:Thing", Custom: true, Name: fmt.Sprintf("n%d", i),
			Parent: stack.URN, PropertyDependencies: map[string][]urn.URN{}}
		for _, need := range n.needs {
			if answers[need] == nil {
				err = monitor.ErrReported
				continue register
			}
			key := fmt.Sprintf("dbr%d", need) // so that it goes before what it needs
			inputs[key], _ = answers[need].Outputs.Lookup("out")
			r.Dependencies = append(r.Dependencies, answers[need].URN)
			r.PropertyDependencies[key] = []urn.URN{answers[need].URN}
		}
		r.Inputs = value.Map(inputs)
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
	"deleted": engine.OpDelete, "deleted and not created again": lost,
	"deleted, creating the replacement failed": lost,
	"replaced, deleting the original failed":   engine.OpReplace, "updated, deleting the original failed": engine.OpUpdate}

// headline reads the counts in a line such as "1 created, 2 replaced, 1 failed".
func headline(t require.TestingT, line string) map[engine.Op]int {
	counts := map[engine.Op]int{}
	for part := range strings.SplitSeq(line, ", ") {
		number, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		if op := words[what]; op != "" {
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
}

var (
	resourcesLine = regexp.MustCompile(`(?m)Resources: (.*?)( in [\d.]+s)?$`)
	boldLine      = regexp.MustCompile(`(?m)^\*\*(.*?)\*\*`)
	rowLine       = regexp.MustCompile("(?m)^\\| `?([^`|]*)`? \\| [^`|]*`([^`]*)` \\| [^|]* \\| \\**([^|*]*)\\** \\|$")
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
	all["terminal"] = told{counts: headline(t, resourcesLine.FindStringSubmatch(text.String())[1])}

	var document struct {
		Steps         []struct{ Op, URN string }
		ChangeSummary map[engine.Op]int
	}
	var b bytes.Buffer
	require.NoError(t, writeJSONDocument(&b, r))
	require.NoError(t, json.Unmarshal(b.Bytes(), &document))
	steps := map[string]engine.Op{}
	for _, s := range document.Steps {
		if op := engine.Op(s.Op); op != engine.OpSame {
			steps[urn.URN(s.URN).Name()] = op
		}
	}
	all["JSON"] = told{document.ChangeSummary, steps}

	var last struct {
		SummaryEvent struct{ ResourceChanges map[engine.Op]int }
	}
	for line := range strings.Lines(lines.String()) {
		if strings.Contains(line, "summaryEvent") {
			require.NoError(t, json.Unmarshal([]byte(line), &last))
		}
	}
	all["events"] = told{counts: last.SummaryEvent.ResourceChanges}

	b.Reset()
	require.NoError(t, WriteMarkdown(&b, r))
	rows := map[string]engine.Op{}
	for _, row := range rowLine.FindAllStringSubmatch(b.String(), -1) {
		rows[row[2]] = words[row[3]]
	}
	all["Markdown"] = told{headline(t, boldLine.FindStringSubmatch(b.String())[1]), rows}

	b.Reset()
	require.NoError(t, writeJUnit(&b, r))
	var suites junitSuites
	require.NoError(t, xml.Unmarshal(b.Bytes(), &suites))
	cases := map[string]engine.Op{}
	for _, c := range suites.Suites[0].Cases {
		_, said, _ := strings.Cut(strings.TrimSpace(strings.Split(c.Out, "\n")[0]), " ")
		cases[c.Name] = words[said]
	}
	all["JUnit"] = told{each: cases}

	b.Reset()
	require.NoError(t, WriteHTML(&b, r))
	var page struct{ Resources []struct{ N, W string } }
	data := pageData.FindSubmatch(b.Bytes())
	require.NotNil(t, data)
	require.NoError(t, json.Unmarshal(data[1], &page), "%s", data[1])
	pages := map[string]engine.Op{}
	for _, item := range page.Resources {
		pages[item.N] = words[item.W]
	}
	all["HTML"] = told{each: pages}

	list, err := runlog.List(runs)
	require.NoError(t, err)
	require.Len(t, list, 1)
	recorded, _, err := runlog.Read(runs, list[0].ID, 0)
	require.NoError(t, err)
	console, end := map[string]engine.Op{}, map[engine.Op]int{}
	for _, l := range recorded {
		switch l.Kind {
		case runlog.Done:
			if op := engine.Op(l.Op); words[string(op)+"d"] != "" {
				console[urn.URN(l.URN).Name()] = op
			}
		case runlog.Fail: // all that the console shows of it
			console[urn.URN(l.URN).Name()] = failed
		case runlog.End:
			for op, n := range l.Changes {
				end[engine.Op(op)] = n
			}
		}
	}
	all["console"] = told{end, console}
	return all
}

// E8.1: over random lives with faults, every report tells what the journal tells: an object that was deleted, and not
// made again, is called neither replaced nor skipped.
func TestReportsTellWhatTheJournalTells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		things := make([]thing, 5)
		cloud := &moody{}
		var base *state.Snapshot
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			cloud.faults = nextVersion(t, things)
			written := &entries{}
			var events []engine.Event
			result, err := engine.Update(context.Background(), engine.Options{Project: "p", Stack: "dev", Base: base,
				Providers: cloud, Journal: written, Parallel: 1, ContinueOnError: rapid.Bool().Draw(t, "go on"),
				Now: time.Now, Events: func(e engine.Event) { events = append(events, e) }},
				func(ctx context.Context, m monitor.Monitor) error { return register(ctx, m, things) })
			require.NoError(t, err)
			want := journaled(base, written.all)
			delete(want, "p-dev")
			delete(want, "default")
			counts := map[engine.Op]int{}
			for _, op := range want {
				counts[op]++
			}
			tell(t, counts, want, told{counts: result.Changes}, "history", base == nil)
			for kind, said := range reports(t, dir, events) {
				tell(t, counts, want, said, kind, base == nil)
			}
			cleared := *result.Snapshot
			cleared.Pending = nil
			base = &cleared
		}
	})
}

// tell compares a report with the journal. In the first update the stack is created too.
func tell(t require.TestingT, counts map[engine.Op]int, each map[string]engine.Op, said told, kind string, first bool) {
	merged := func(counts map[engine.Op]int) map[engine.Op]int { // most reports count what is lost as deleted
		all := map[engine.Op]int{}
		for op, n := range counts {
			if op == lost {
				op = engine.OpDelete
			}
			if op != engine.OpSame && n > 0 {
				all[op] += n
			}
		}
		return all
	}
	if said.counts != nil {
		want, got := maps.Clone(counts), maps.Clone(said.counts)
		if first {
			want[engine.OpCreate]++
		}
		if kind != "terminal" && kind != "Markdown" {
			want, got = merged(want), merged(got)
		}
		delete(got, engine.OpSame)
		require.Equal(t, want, got, kind)
	}
	if said.each != nil {
		got := maps.Clone(said.each)
		for name, op := range got {
			if op == "" || name == "p-dev" || name == "default" {
				delete(got, name)
			}
		}
		want := maps.Clone(each)
		if kind == "console" {
			for name, op := range want {
				if op == lost {
					want[name] = engine.OpDelete
				}
			}
		}
		for name, op := range got {
			if op == failed {
				delete(got, name)
				delete(want, name)
			}
		}
		require.Equal(t, want, got, kind)
	}
}
