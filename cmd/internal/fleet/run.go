package fleet

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Command is the work to do for each of several stacks.
type Command struct {
	Name   string // such as run
	Graph  *projects.Graph
	Limits Limits
	Jobs   *Progress // what an earlier run of the same command finished; nil where nothing is kept
	// Each works on one stack. It shows and reports through its console, and asks nothing.
	Each func(ctx context.Context, a *console.Console, m *projects.Member) error
}

// result is how the work on one stack has ended.
type result struct {
	code    int
	skipped string // why it was not begun; empty for one that was
	line    string // what came of it
	took    time.Duration
}

// notBegun is why an interrupt leaves a stack out.
const notBegun = "not begun because of the interrupt"

// well reports whether what needs the stack may go on: changes and drift are answers, not failures.
func (r result) well() bool {
	return r.code == console.CodeOK || r.code == console.CodeChanges || r.code == console.CodeDrift
}

// Run works on every stack, each behind those that it needs. A failure skips what needs the stack and nothing else;
// an interrupt lets running stacks finish and begins no more. The error has the exit code that all failed stacks
// share, or else the code of a failed operation.
func Run(ctx context.Context, a *console.Console, c Command) error {
	r := &runner{console: a, command: c, results: make([]result, len(c.Graph.Members)),
		ended: make(chan int, len(c.Graph.Members)), shown: map[int]bool{}}
	if a.World.Stores == nil {
		a.World.Stores = console.NewOpenStores()
	}
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

// Preview is Run for a look at what a command would do, before anybody is asked. It reports nothing.
func Preview(ctx context.Context, a *console.Console, c Command) error {
	reports := a.Reports
	defer func() { a.Reports = reports }()
	a.Reports.Set = report.Gather()
	return Run(ctx, a, c)
}

// runner carries a command out. Its results are written by one goroutine each, before the stack is sent to ended.
type runner struct {
	console *console.Console
	command Command
	results []result
	ended   chan int
	work    sync.WaitGroup
	shown   map[int]bool // stacks that have been told of
}

// pass leaves out what an earlier run has finished.
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
	code, text := console.CodeOf(r.command.Each(ctx, child, m))
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
		return // its line says everything
	}
	r.print(log, fmt.Sprintf("%s: %s", m.Key(), r.outcome(i)), fmt.Sprintf("yamlhost_%d", i))
}

// log collects the output of one stack.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// print shows the log of a stack as one block; a CI system folds it.
func (r *runner) print(l *log, title, id string) {
	l.mu.Lock()
	text := bytes.TrimRight(l.text.Bytes(), "\n")
	l.mu.Unlock()
	if len(text) == 0 {
		return
	}
	r.console.Block(id, title, append(text, '\n', '\n'))
}

// skip takes note of a stack that is not begun.
func (r *runner) skip(i int, why string) {
	m := r.command.Graph.Members[i]
	now := r.console.Now()
	part := r.console.Reports.Part(i, m.Project.Name.Text, m.Stack, r.console.Short(m.Project.Path), now)
	_ = part.Skip(why, now) // a fault of a report is kept by the whole one
	r.results[i] = result{skipped: why, line: why}
	r.tell(i)
}

// because names the stack whose failure keeps another one from being begun.
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

// outcome describes in a few words what came of a stack.
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

// tell writes the line of a stack, which is the result of the command.
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

// conclude is the error of the whole command.
func (r *runner) conclude() error {
	codes := map[int]int{}
	var names, bad []string
	for i, res := range r.results {
		switch {
		case res.skipped == "" && res.code != console.CodeOK:
			codes[res.code]++
			names = append(names, r.command.Graph.Members[i].Key())
			if !res.well() {
				bad = append(bad, r.command.Graph.Members[i].Key())
			}
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

// interrupted reports whether a stack was not begun for that reason.
func (r *runner) interrupted() bool {
	return slices.ContainsFunc(r.results, func(res result) bool { return res.skipped == notBegun })
}

// rest counts stacks and names the first few of them.
func (r *runner) rest(names []string) string {
	const most = 5
	text := fmt.Sprintf("%d of %s: ", len(names), diag.Count(len(r.results), "stack"))
	for i, name := range names {
		if i == most {
			return text + fmt.Sprintf(", and %d more", len(names)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}
