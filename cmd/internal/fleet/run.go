package fleet

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// A Command is work to do for each of several stacks.
type Command struct {
	Name   string // for example run
	Graph  *projects.Graph
	Limits Limits
	Jobs   *Progress // record of an earlier run of the command; nil if none is kept
	// Each works on one stack. It reports through its console and asks no questions.
	Each func(ctx context.Context, a *console.Console, m *projects.Member) error
}

// A result is the outcome of the work on one stack.
type result struct {
	code    int
	skipped string // reason why the stack was not started; empty if it was started
	line    string // summary of the outcome
	took    time.Duration
}

// notBegun is the reason given for stacks that an interrupt leaves out.
const notBegun = "not begun because of the interrupt"

// well reports whether dependants of the stack may run: changes and drift are regular results, not failures.
func (r result) well() bool {
	return r.code == console.CodeOK || r.code == console.CodeChanges || r.code == console.CodeDrift
}

// Run works on every stack after the stacks that it needs. If a stack fails, only its dependants are skipped. An
// interrupt lets running stacks finish and starts no more. The error has the exit code that all failed stacks share, or
// else the one of a failed operation.
func Run(ctx context.Context, a *console.Console, c Command) error {
	if a.World.Stores == nil {
		world := a.World
		world.Stores = console.NewOpenStores()
		a = console.In(world, a)
	}
	r := &runner{console: a, command: c, results: make([]result, len(c.Graph.Members)),
		ended: make(chan int, len(c.Graph.Members)), shown: map[int]bool{}}
	s := newSchedule(c.Graph, c.Limits)
	if err := r.pass(s); err != nil {
		return err
	}
	for {
		for ctx.Err() == nil {
			i, ok := s.start()
			if !ok {
				break
			}
			r.work.Go(func() { r.one(ctx, i); r.ended <- i })
		}
		if s.busy == 0 {
			break
		}
		i := <-r.ended
		for _, lost := range s.end(i, r.results[i].well()) {
			r.skip(lost, r.because(s, lost))
		}
		if r.results[i].well() && c.Jobs != nil {
			if err := c.Jobs.finish(c.Graph.Members[i]); err != nil {
				fmt.Fprintf(a.Streams.Err, "warning: --resume will not know that %s is done: %s\n", c.Graph.Members[i].Key(), err)
			}
		}
		r.tell(i)
	}
	r.work.Wait()
	for i, st := range s.stages {
		if st == waiting {
			r.skip(i, notBegun)
		}
	}
	return r.conclude()
}

// Preview is like Run, for previewing a command before asking for confirmation. It writes no reports.
func Preview(ctx context.Context, a *console.Console, c Command) error {
	reports := a.Reports
	defer func() { a.Reports = reports }()
	a.Reports.Set = report.Gather()
	return Run(ctx, a, c)
}

// A runner executes a command. One goroutine for each stack writes its element of results, before it sends the stack to
// ended.
type runner struct {
	console *console.Console
	command Command
	results []result
	ended   chan int
	work    sync.WaitGroup
	shown   map[int]bool // stacks whose line has been printed
}

// pass marks the stacks that an earlier run has finished.
func (r *runner) pass(s *schedule) error {
	if r.command.Jobs == nil {
		return nil
	}
	done, err := r.command.Jobs.begin(r.command.Graph)
	if err != nil {
		return err
	}
	for _, i := range done {
		s.pass(i)
		r.skip(i, "finished before the interruption")
	}
	return nil
}

// one works on one stack.
func (r *runner) one(ctx context.Context, i int) {
	defer r.console.Crashes.Guard()
	m := r.command.Graph.Members[i]
	began := r.console.Now()
	part := r.console.Reports.Part(i, m.Project.Name.Text, m.Stack, r.console.Short(m.Project.Path), began)
	log := &log{}
	child := console.Beside(r.console, log, log, part)
	code, text := console.CodeOf(child, r.command.Each(ctx, child, m))
	if text != "" {
		child.SayError(text)
	}
	now := r.console.Now()
	err := part.Finish(report.Exit{Code: code, Name: console.CodeName(code), Text: text}, now)
	if err != nil && code == console.CodeOK {
		code = console.CodeError
		child.SayError(err.Error())
	}
	r.results[i] = result{code: code, took: now.Sub(began), line: part.Record().Headline()}
	if code == console.CodeOK && part.Record().Quiet() {
		return // the stack's line is enough
	}
	r.print(log, fmt.Sprintf("%s: %s", m.Key(), r.outcome(i)), fmt.Sprintf("yamlhost_%d", i))
}

// A log collects the output of one stack.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// print shows the log of a stack as one block, which a CI system can fold.
func (r *runner) print(l *log, title, id string) {
	l.mu.Lock()
	text := bytes.TrimRight(l.text.Bytes(), "\n")
	l.mu.Unlock()
	if len(text) == 0 {
		return
	}
	r.console.Block(id, title, append(text, '\n', '\n'))
}

// skip records that a stack is not started, and why.
func (r *runner) skip(i int, why string) {
	m := r.command.Graph.Members[i]
	now := r.console.Now()
	part := r.console.Reports.Part(i, m.Project.Name.Text, m.Stack, r.console.Short(m.Project.Path), now)
	_ = part.Skip(why, now) // the whole report keeps the error
	r.results[i] = result{skipped: why, line: why}
	r.tell(i)
}

// because returns the reason for skipping a stack: it names the dependency that failed or was skipped.
func (r *runner) because(s *schedule, i int) string {
	for _, need := range s.needs[i] {
		if s.stages[need] == failed {
			return "skipped because " + r.command.Graph.Members[need].Key() + " failed"
		}
	}
	for _, need := range s.needs[i] {
		if s.stages[need] == skipped {
			return "skipped because " + r.command.Graph.Members[need].Key() + " was skipped"
		}
	}
	return "skipped"
}

// outcome summarizes the result of a stack in a few words.
func (r *runner) outcome(i int) string {
	res := r.results[i]
	switch {
	case res.skipped != "":
		return res.skipped
	case res.code != console.CodeOK:
		return fmt.Sprintf("%s (%s)", console.CodeName(res.code), res.line)
	}
	return res.line
}

// tell prints the line about a stack, which is part of the command's result.
func (r *runner) tell(i int) {
	a := r.console
	if a.Reports.TakesStdout() {
		return
	}
	r.shown[i] = true
	res := r.results[i]
	word := "done"
	switch {
	case res.skipped != "":
		word = "skipped"
	case res.code != console.CodeOK:
		word = "failed"
		if res.well() {
			word = console.CodeName(res.code)
		}
	}
	took := ""
	if t := view.Seconds(res.took); t != "" {
		took = " in " + t
	}
	fmt.Fprintf(a.Streams.Out, "[%d/%d] %-8s %s: %s%s\n", len(r.shown), len(r.results), word,
		r.command.Graph.Members[i].Key(), res.line, took)
}

// conclude returns the error of the whole command.
func (r *runner) conclude() error {
	codes := map[int]int{}
	var names, bad []string
	for i, res := range r.results {
		if res.skipped != "" || res.code == console.CodeOK {
			continue
		}
		codes[res.code]++
		names = append(names, r.command.Graph.Members[i].Key())
		if !res.well() {
			bad = append(bad, r.command.Graph.Members[i].Key())
		}
	}
	for _, code := range []int{console.CodeCancelled, console.CodeTimeout, console.CodeInterrupted} {
		if codes[code] > 0 {
			return console.WithCode(code, "%s: %s", console.CodeName(code), r.rest(bad))
		}
	}
	if r.command.Jobs != nil && len(names) == 0 && !r.interrupted() {
		r.command.Jobs.over()
	}
	hard := slices.DeleteFunc(slices.Sorted(maps.Keys(codes)), func(code int) bool {
		return code == console.CodeChanges || code == console.CodeDrift
	})
	switch {
	case len(hard) == 1:
		return console.WithCode(hard[0], "%s failed", r.rest(bad))
	case len(hard) > 1:
		return console.WithCode(console.CodeFailed, "%s failed", r.rest(bad))
	case codes[console.CodeChanges] > 0:
		return console.WithCode(console.CodeChanges, "no changes were expected, and changes were proposed for %s",
			r.rest(names))
	case codes[console.CodeDrift] > 0:
		return &console.ExitError{Code: console.CodeDrift}
	case r.interrupted():
		return r.console.Signals.Ended()
	}
	return nil
}

// interrupted reports whether some stack was not started because of an interrupt.
func (r *runner) interrupted() bool {
	return slices.ContainsFunc(r.results, func(res result) bool { return res.skipped == notBegun })
}

// rest returns the number of stacks in names, with the first few of the names.
func (r *runner) rest(names []string) string {
	const most = 5
	text := fmt.Sprintf("%d of %s: %s", len(names), diag.Count(len(r.results), "stack"),
		strings.Join(names[:min(len(names), most)], ", "))
	if len(names) > most {
		text += fmt.Sprintf(", and %d more", len(names)-most)
	}
	return text
}
