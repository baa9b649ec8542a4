package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// operation returns the events of an operation on a component with two children. The second child starts first.
func operation(planning bool) []engine.Event {
	stack := made(engine.OpCreate, "", urn.RootStackType, "p-dev", 1)
	app := made(engine.OpCreate, stack.URN, "components:index:App", "app", 4)
	first := made(engine.OpCreate, app.URN, "a:b:C", "app-first", 20)
	second := made(engine.OpCreate, app.URN, "a:b:C", "app-second", 30)
	events := []engine.Event{&engine.Prelude{}}
	for _, s := range []*engine.Step{stack, app, second, first} {
		events = append(events, &engine.StepStarted{Step: s, Planning: planning})
	}
	for _, s := range []*engine.Step{second, first} {
		events = append(events, &engine.StepFinished{Step: s, Op: s.Op, Planning: planning})
	}
	for _, s := range []*engine.Step{app, stack} {
		events = append(events, &engine.StepFinished{Step: s, Op: s.Op, Planning: planning, Outputs: true})
	}
	return append(events, &engine.Summary{Planning: planning, Result: "succeeded",
		Changes: map[engine.Op]int{engine.OpCreate: 4}}, &engine.Finished{})
}

func showing(o Options, events []engine.Event) (stdout, stderr string) {
	var out, errs bytes.Buffer
	o.Out, o.Err, o.Operation, o.Stack = &out, &errs, "Previewing update", "dev"
	v := New(o)
	for _, e := range events {
		v.Event(e)
	}
	v.Close()
	return out.String(), errs.String()
}

// The whole plan goes to standard output, in the order of the program and not in that of the events.
func TestPlanIsTheResult(t *testing.T) {
	t.Parallel()
	const want = "  +  p-dev         stack          create\n" +
		"  +    app         components:App create\n" +
		"  +      …-first   a:b:C          create\n" +
		"  +      …-second  a:b:C          create\n" +
		"\nResources: 4 to create\n"
	for name, o := range map[string]Options{"a log": {Plan: true}, "a terminal, and a file": {Plan: true,
		Interactive: true, Width: 40, Height: 20, Color: true}} {
		out, errs := showing(o, operation(true))
		require.Equal(t, want, out, name)
		require.Contains(t, errs, "Previewing update", name)
		last := errs[strings.LastIndex(errs, "\x1b[J")+1:] // behind the last frame, which is removed
		require.NotContains(t, last, "…-second", "%s: the plan is shown once", name)
		require.NotContains(t, out, "\x1b", name)
	}
	out, errs := showing(Options{Plan: true, Interactive: true, OutTerminal: true, Width: 80, Height: 20}, operation(true))
	require.Empty(t, out, "a terminal shows it once")
	require.Contains(t, errs, "…-second")
}

// On a terminal a long line is broken between words, and what follows is indented; nothing of it is lost.
func TestLongLinesAreIndented(t *testing.T) {
	t.Parallel()
	words := strings.TrimSpace(strings.Repeat("several words ", 30))
	for _, width := range []int{0, 20, 40, 80, 120} {
		for _, indent := range []int{2, 7, 11} {
			r := &report{o: Options{Width: width}}
			line := strings.Repeat(" ", indent-2) + "~ " + words
			lines := strings.Split(r.fold(line, indent), "\n")
			if width < 40 {
				require.Equal(t, []string{line}, lines, "without room nothing is broken")
				continue
			}
			require.Greater(t, len(lines), 2)
			for i, l := range lines {
				require.Less(t, widthOf(l), width)
				if i > 0 {
					require.Equal(t, indent, widthOf(l)-widthOf(strings.TrimLeft(l, " ")), "%q", l)
				}
			}
			require.Equal(t, strings.Fields(line), strings.Fields(strings.Join(lines, " ")))
			require.Equal(t, "short", r.fold("short", indent))
		}
	}
}

// The causes of a change, too, are broken between words, below the column of what happens.
func TestCausesFitTheTerminal(t *testing.T) {
	t.Parallel()
	at := change.Place{File: "Pulumi.yaml", Line: 12}
	told := &change.Told{URN: urn.New("dev", "demo", "", "test:index:Thing", "thing"), Op: engine.OpUpdate,
		Because: [][]change.Link{{
			{Kind: change.LinkProperty, Place: &at, Text: strings.Repeat("several words ", 12) + strings.Repeat("x", 80)},
			{Kind: change.LinkResource, Text: "thing: update"},
		}}}
	var whole, folded strings.Builder
	WriteTold(&whole, told, 0, false)
	WriteTold(&folded, told, 60, false)
	require.Equal(t, strings.Fields(whole.String()), strings.Fields(folded.String()))
	column := strings.Repeat(" ", len("  ")+len(told.Because[0][0].At())+len("  "))
	lines := strings.Split(folded.String(), "\n")
	require.Greater(t, len(lines), 5, folded.String())
	for _, line := range lines {
		require.True(t, widthOf(line) < 60 || line == column+strings.Repeat("x", 80), "%q", line)
	}
	require.Contains(t, folded.String(), "\n"+column+"several ")
}

// With Flat, rows have whole names, no indentation, and no components without changes above them.
func TestFlat(t *testing.T) {
	t.Parallel()
	out, _ := showing(Options{Plan: true, Detail: Detail{Flat: true}}, operation(true))
	require.Equal(t, []string{"p-dev", "app", "app-first", "app-second"}, secondColumn(out))
	events := operation(true)
	for _, e := range events {
		if s, ok := e.(*engine.StepFinished); ok && !s.Step.New.Custom {
			s.Op, s.Step.Op = engine.OpSame, engine.OpSame
		}
	}
	out, _ = showing(Options{Plan: true, Detail: Detail{Flat: true}}, events)
	require.NotContains(t, out, "components:App", "a component that stays is not a heading")
	_, errs := showing(Options{Detail: Detail{Flat: true}, Interactive: true, Width: 60, Height: 20}, operation(true))
	require.Contains(t, errs, "app-second")
	require.NotContains(t, errs, "…-second")
}

func secondColumn(text string) (names []string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "+" {
			names = append(names, fields[1])
		}
	}
	return names
}

// The counts of a past operation have the order and the words of its summary.
func TestDoneWords(t *testing.T) {
	t.Parallel()
	require.Empty(t, DoneWords(nil))
	require.Equal(t, "1 created, 2 updated, 3 unchanged, 4 refreshed, 5 strange",
		DoneWords(map[string]int{"same": 3, "update": 2, "create": 1, "delete": 0, "strange": 5, "refresh": 4}))
}

// A log has a line for every changed resource in the order of the events, and ends with the tree of the plan, in which
// the stack and components are. Without progress it has neither, and without changes no tree.
func TestLogEndsWithTheTree(t *testing.T) {
	t.Parallel()
	_, errs := showing(Options{}, operation(false))
	const lines = "\n  +  app-second               a:b:C                        created\n" +
		"  +  app-first                a:b:C                        created\n"
	const tree = "\n  +  p-dev         stack          created\n" +
		"  +    app         components:App created\n" +
		"  +      …-first   a:b:C          created\n" +
		"  +      …-second  a:b:C          created\n"
	require.Equal(t, "Previewing update of stack dev\n"+lines+tree+"\nResources: 4 created\n", errs)
	_, errs = showing(Options{Detail: Detail{SuppressProgress: true}}, operation(false))
	require.Equal(t, "\nResources: 4 created\n", errs)
	same := operation(false)
	for _, e := range same {
		switch e := e.(type) {
		case *engine.StepFinished:
			e.Op, e.Step.Op = engine.OpSame, engine.OpSame
		case *engine.Summary:
			e.Changes = map[engine.Op]int{engine.OpSame: 4}
		}
	}
	_, errs = showing(Options{}, same)
	require.Equal(t, "Previewing update of stack dev\n\nResources: 4 unchanged\n", errs)
	_, errs = showing(Options{Detail: Detail{ShowSames: true}}, same)
	require.Equal(t, 1, strings.Count(errs, "second"), errs)
}

// Each error is shown once, grouped by resource and followed by advice.
func TestErrorsOfAResourceAreTogether(t *testing.T) {
	t.Parallel()
	pet := made(engine.OpCreate, "", "a:b:C", "pet", 1)
	other := made(engine.OpCreate, "", "a:b:C", "other", 2)
	fault := func(s *engine.Step, text string) engine.Event {
		return &engine.Message{URN: s.URN, Severity: diag.Error, Code: diag.OperationFailed, Text: text}
	}
	events := []engine.Event{&engine.StepStarted{Step: pet}, &engine.StepStarted{Step: other}, fault(pet, "pet: one"),
		fault(other, "other: two"), fault(pet, "pet: three"), fault(pet, "pet: one\n"), &engine.StepFailed{Step: pet},
		&engine.StepFailed{Step: other}, &engine.Summary{Result: "failed", Changes: map[engine.Op]int{},
			Skipped: []urn.URN{urn.New("dev", "p", "", "", "later")}}, &engine.Finished{}}
	_, errs := showing(Options{Command: "up"}, events)
	require.Regexp(t, `(?s)pet: one\n.*pet: three\n.*other: two\n`, errs)
	require.Equal(t, 1, strings.Count(errs, "pet: one"))
	require.Equal(t, 1, strings.Count(errs, "`yamlhost explain Y305` says more"))
	require.Contains(t, errs, "Failed. Resources: 2 failed, 1 skipped\n")
	require.Contains(t, errs, "Next: correct the errors and run `yamlhost up` again; what is done stays.\n")
}

// At the end, no row is shown as running: a step of a plan that was refused counts as failed, and a step of a canceled
// operation as interrupted. What failed before or after its steps says so.
func TestRowsHaveEnded(t *testing.T) {
	t.Parallel()
	pet := made(engine.OpDelete, "", "a:b:C", "pet", 1)
	found := made(engine.OpImport, "", "a:b:C", "pet", 1)
	app := made(engine.OpCreate, "", "components:index:App", "app", 2)
	end := func(planning bool, result string) []engine.Event {
		return []engine.Event{&engine.Summary{Planning: planning, Result: result, Changes: map[engine.Op]int{}},
			&engine.Finished{}}
	}
	begun := func(s *engine.Step, planning bool) engine.Event {
		return &engine.StepStarted{Step: s, Planning: planning}
	}
	refusal := &engine.Message{URN: pet.URN, Severity: diag.Error, Code: diag.OperationFailed, Text: "it is protected"}
	for name, c := range map[string]struct {
		events []engine.Event
		want   string
	}{
		"a refusal in a plan": {append([]engine.Event{begun(pet, true), refusal, &engine.ResourceFailed{Step: pet}},
			end(true, "failed")...),
			`✗ +pet +a:b:C +delete failed
`},
		"rejected inputs": {append([]engine.Event{&engine.ResourceFailed{Step: made(engine.OpSame, "", "a:b:C", "pet", 1)}},
			end(false, "failed")...), `✗ +pet +a:b:C +failed
[^$]*Failed. Resources: 1 failed`},
		"an import before that": {append([]engine.Event{begun(found, false), &engine.StepFinished{Step: found, Op: found.Op},
			&engine.ResourceFailed{Step: made(engine.OpSame, "", "a:b:C", "pet", 1)}}, end(false, "failed")...),
			`✗ +pet +a:b:C +imported, then failed
`},
		"a resource of the program": {append([]engine.Event{&engine.ResourceFailed{Step: &engine.Step{Op: engine.OpSame,
			URN: urn.New("dev", "p", "", "", "pet")}}}, end(false, "failed")...), `✗ +pet +failed
`},
		"an update cut off": {append([]engine.Event{begun(pet, false)}, end(false, "canceled")...),
			`✗ +pet +a:b:C +stopped while deleting
`},
		"a component without outputs": {append([]engine.Event{begun(app, false)}, end(false, "succeeded")...),
			`\+ +app +components:App +created
`},
	} {
		_, errs := showing(Options{Interactive: true, Width: 100, Height: 30}, c.events)
		require.Regexp(t, c.want, errs, name)
	}
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command           string
		planning, changes bool
		result, want      string
	}{
		{"preview", true, true, "succeeded", "`yamlhost up` does this"}, {"run", true, true, "succeeded", "`yamlhost run` does"},
		{"preview", true, false, "succeeded", ""}, {"up", false, false, "succeeded", ""},
		{"up", false, true, "succeeded", "`yamlhost stack` shows"}, {"destroy", false, true, "succeeded", ""},
		{"refresh", false, true, "succeeded", "`yamlhost preview` shows"}, {"up", false, true, "interrupted", "goes on where"},
		{"destroy", false, true, "failed", "run `yamlhost destroy` again"}, {"preview", true, true, "failed", "nothing was changed"},
	} {
		got := nextStep(c.command, c.planning, c.changes, c.result)
		if c.want == "" {
			require.Empty(t, got, c)
			continue
		}
		require.Contains(t, got, c.want)
	}
}

// Changes of a dynamic provider's code are shown by file and line, although the state seals the code. Secrets in it are
// masked. A resource that changes only because of its provider's code shows that change.
func TestCodeOfDynamicProviders(t *testing.T) {
	t.Parallel()
	source := func(digest, code string) value.Value {
		return value.MapOf(value.Entry{Key: "code", Value: value.String(code).Secret()},
			value.Entry{Key: "digest", Value: value.String(digest)})
	}
	const old, new = "sha256:0123456789abcdef", "sha256:fedcba9876543210"
	bundle := func(body string) string { return "\"use strict\";\n// lib.ts\nvar lib = 1;\n// note.ts\n" + body }
	s := made(engine.OpUpdate, "", urn.ProviderType("dynamic"), "note.ts", 1)
	s.Old = viewtest.Resource(s.URN, source(old, bundle("one\ntwo\nkey = \"hunter2\"\n")))
	s.New.Inputs = source(new, bundle("one\n2\nkey = \"hunter2\"\n"))
	m := masker([]string{"hunter2"})
	require.Equal(t, []string{"~ code:", "    note.ts", "      one", "    - two", "    + 2", `      key = "[secret]"`,
		"~ digest: sha256:01234567 => sha256:fedcba98"}, changeLines(s, palette{}, m, Options{Detail: Detail{Diff: true}}))
	s.Old.Inputs, s.New.Inputs = source(old, `{"a.py":"x = 1\n","b.py":"y\n"}`), source(new, `{"a.py":"x = 2\n","b.py":"y\n"}`)
	require.Equal(t, []string{"~ code:", "    a.py", "    - x = 1", "    + x = 2",
		"~ digest: sha256:01234567 => sha256:fedcba98"}, changeLines(s, palette{}, m, Options{Detail: Detail{Diff: true}}))

	marked := func(code value.Value) value.Value { return value.MapOf(value.Entry{Key: codeMarker, Value: code}) }
	r := made(engine.OpUpdate, "", "dynamic:index:Note", "note", 1)
	for want, codes := range map[string][2]value.Value{
		"~ code of its provider: sha256:01234567 => sha256:fedcba98": {value.String(old), value.String(new)},
		"~ code of its provider: [secret] (changed)":                 {value.String("a").Secret(), value.String("b").Secret()},
		"~ code of its provider:|    - a|      b|    + c":            {value.String("a\nb\n"), value.String("b\nc\n")},
	} {
		r.Old, r.New.Inputs = viewtest.Resource(r.URN, marked(codes[0])), marked(codes[1])
		require.Equal(t, strings.Split(want, "|"), changeLines(r, palette{}, m, Options{}))
	}
	r.Old = viewtest.Resource(r.URN, marked(value.String(new)))
	r.New.Inputs = marked(value.String(new))
	require.Empty(t, changeLines(r, palette{}, m, Options{}))
}

// A plan in a log has no line for each step, but one for the steps that it has waited for long.
func TestPlanHasAHeartbeat(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	v := newPlain(Options{Out: &log, Err: &log, Operation: "Previewing update", Stack: "dev", Plan: true, Silent: true},
		masker(nil))
	slow := made(engine.OpCreate, "", "a:b:C", "slow", 1)
	v.Event(&engine.StepStarted{Step: slow, Planning: true})
	v.board.now = func() time.Time { return v.board.rows[slow.URN].started.Add(20 * time.Second) }
	v.heartbeat()
	require.Contains(t, log.String(), "     still creating slow 20s\n")
	v.Close()
}
