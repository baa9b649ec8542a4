package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// streamed is a report that is written during the command.
type streamed interface {
	// phase begins an operation; event gets its events, and done ends it.
	phase(o view.Options, m *mask.Masker) (event func(engine.Event), done func() error)
	// find reports findings outside of operations.
	find(ds diag.Diagnostics) error
	// finish ends the report.
	finish(r *Record) error
}

// output is one report with its destination.
type output struct {
	spec   Spec
	kind   kind
	out    io.Writer
	file   io.Closer // nil for standard output
	stream streamed  // nil for a report that is written at the end
}

// Set holds the reports of one command. Its methods are safe for concurrent use; they do nothing on a nil Set.
type Set struct {
	mu          sync.Mutex // guards the fields below
	outputs     []*output
	record      Record
	outline     *view.Outline // of the last operation
	mask        *mask.Masker
	ended       bool
	failed      error // the first error of a report
	parent      *Set  // of the command, where this is a part of it; nil otherwise. Not changed
	resultsOnly bool  // see Options; not changed
}

// Options describe the command and its reports.
type Options struct {
	Specs   []Spec
	Stdout  io.Writer
	Path    func(string) string // makes a user's path absolute
	Subject Subject
	Origin  Origin
	Began   time.Time
	Always  bool // also without specs, because the record is read
	// ResultsOnly reports whether without specs only the results of resources are read from the record.
	ResultsOnly bool
}

// Open opens every report before the command begins. The error names the report that cannot be written; then no file
// stays open. Without specs it returns a nil Set.
func Open(o Options) (*Set, error) {
	if len(o.Specs) == 0 && !o.Always {
		return nil, nil
	}
	s := &Set{record: Record{Subject: o.Subject, Began: o.Began, Origin: o.Origin}, mask: mask.New(),
		resultsOnly: o.ResultsOnly && len(o.Specs) == 0}
	taken := map[string]string{}
	for _, spec := range o.Specs {
		k, err := findKind(spec.Kind)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		out := &output{spec: spec, kind: k, out: o.Stdout}
		target := spec.File
		if spec.File != "-" && !strings.HasPrefix(spec.File, listenerScheme) {
			target = o.Path(spec.File)
		}
		if other, twice := taken[target]; twice {
			return nil, errors.Join(fmt.Errorf("two reports go to %s: %s and %s", spec.File, other, spec.Kind), s.close())
		}
		taken[target] = spec.Kind
		if spec.File != "-" {
			dst, err := create(target)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("the report %s cannot be written to %s: %w", spec.Kind, spec.File, osfile.PlainError(err)),
					s.close())
			}
			out.out, out.file = dst, dst
		}
		if k.stream != nil {
			out.stream = k.stream(out.out)
		}
		s.outputs = append(s.outputs, out)
	}
	return s, nil
}

// create opens a file for writing, with the folders above it, or the stream to a listener. A new file is readable
// for the user alone, since outputs are in it.
func create(path string) (io.WriteCloser, error) {
	if strings.HasPrefix(path, listenerScheme) {
		return newListener(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (s *Set) close() error {
	var err error
	for _, out := range s.outputs {
		if out.file != nil {
			err = errors.Join(err, out.file.Close())
		}
	}
	return err
}

// TakesStdout reports whether a report goes to standard output, so that nothing else may.
func (s *Set) TakesStdout() bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.outputs, func(out *output) bool { return out.spec.File == "-" })
}

// SetSubject sets the stack and program of the command, once they are known.
func (s *Set) SetSubject(project, stack, program string) {
	s.note(func(r *Record) {
		r.Project, r.Stack, r.Program = project, stack, cmp.Or(program, r.Program)
	})
}

// note changes the record.
func (s *Set) note(change func(r *Record)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.record)
}

// Cases adds the results of tests.
func (s *Set) Cases(cases []Case) {
	s.note(func(r *Record) { r.Cases = append(r.Cases, cases...) })
}

// Remark adds a sentence of the command about its result.
func (s *Set) Remark(text string) {
	s.note(func(r *Record) { r.Remarks = append(r.Remarks, text) })
}

// Phase begins an operation of the command, such as its preview. event gets each event and done ends the phase. m
// hides the known secrets, also ones that it learns later. known are earlier findings; JSON reports show them as part
// of the operation.
func (s *Set) Phase(o view.Options, m *mask.Masker, known []*engine.Message) (event func(engine.Event),
	done func()) {
	if s == nil {
		return func(engine.Event) {}, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mask = m
	o.Color, o.ShowSecrets, o.Width = false, false, 0
	outline := view.NewOutline(o, m)
	s.outline = outline
	listeners := []func(engine.Event){outline.Event}
	var ends []func() error
	for _, out := range s.outputs {
		switch {
		case out.stream != nil:
			take, end := out.stream.phase(o, m)
			if out.kind.prelude {
				take = AfterPrelude(take, known)
			}
			listeners, ends = append(listeners, take), append(ends, end)
		case out.kind.digest:
			s.record.digest = NewDigest(o, m)
			listeners = append(listeners, AfterPrelude(s.record.digest.Event, known))
		}
	}
	event = func(e engine.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended {
			return
		}
		for _, listen := range listeners {
			listen(e)
		}
	}
	return event, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, end := range ends {
			s.fault(end())
		}
	}
}

// AfterPrelude returns a listener that passes messages directly after the first event.
func AfterPrelude(listen func(engine.Event), messages []*engine.Message) func(engine.Event) {
	return func(e engine.Event) {
		listen(e)
		if _, first := e.(*engine.Prelude); first {
			for _, m := range messages {
				listen(m)
			}
		}
	}
}

// Find adds findings outside of operations.
func (s *Set) Find(ds diag.Diagnostics) {
	if s == nil || len(ds) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	for _, d := range ds.Sorted() {
		s.record.add(view.Finding{Diagnostic: d})
	}
	for _, out := range s.outputs {
		if out.stream != nil {
			s.fault(out.stream.find(ds))
		}
	}
}

// fault keeps the first error of a report. The caller holds mu.
func (s *Set) fault(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// Finish writes the reports that are written at the end, and closes all. Only the first call has an effect; in a crash
// or after a second interrupt the reports are incomplete. The error names the first report that could not be written.
func (s *Set) Finish(exit Exit, now time.Time) error {
	if s == nil {
		return nil
	}
	err := s.end(exit, now)
	if s.parent != nil {
		s.parent.join(s.Record(), err)
	}
	return err
}

// end is Finish for the set alone.
func (s *Set) end(exit Exit, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	s.ended = true
	s.record.gather()
	s.record.Exit, s.record.Took = exit, max(0, now.Sub(s.record.Began))
	s.record.finish(s.outline, s.mask, s.resultsOnly)
	s.outline = nil
	for _, out := range s.outputs {
		var err error
		if out.stream != nil {
			err = out.stream.finish(&s.record)
		} else {
			err = out.kind.write(out.out, &s.record)
		}
		if out.file != nil {
			err = errors.Join(err, out.file.Close())
		}
		if err != nil {
			s.fault(fmt.Errorf("the report %s could not be written to %s: %w", out.spec.Kind, out.spec.File, osfile.PlainError(err)))
		}
	}
	return s.failed
}

// Record returns the record so far, for other reports of the run. It is complete after Finish.
func (s *Set) Record() *Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &s.record
}

// kind is a form of report. Exactly one of its members write and stream is set.
type kind struct {
	name, summary string
	// write writes a whole report at the end.
	write func(w io.Writer, r *Record) error
	// stream creates a report that is written during the command.
	stream  func(w io.Writer) streamed
	prelude bool // its stream has what was found before the phase
	digest  bool // it is made from the digest of the record
}

// kinds are all kinds, in the order of the help.
var kinds = []kind{
	{name: "text", summary: "the text of a terminal, for logs", stream: newText},
	{name: "json", summary: "one document", write: writeJSONDocument, digest: true},
	{name: "events", summary: "a line of JSON for each event", stream: newEvents, prelude: true},
	{name: "markdown", summary: "a summary for a pull request", write: WriteMarkdown},
	{name: "junit", summary: "a test for each resource", write: writeJUnit},
	{name: "sarif", summary: "findings for code scanning", write: writeSARIF},
	{name: "github", summary: "annotations of a pull request", write: writeGitHub},
	{name: "gitlab", summary: "findings as GitLab's code quality", write: writeGitLab},
	{name: "html", summary: "one page with rows that open, filters and the drawing", write: WriteHTML},
}

// Kinds returns the names of all kinds.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// KindHelp lists the kinds with their descriptions.
func KindHelp() string {
	var parts []string
	for _, k := range kinds {
		parts = append(parts, k.name+" ("+k.summary+")")
	}
	return strings.Join(parts, ", ")
}

// findKind finds a kind by its name.
func findKind(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("there is no report of the kind %q%s\nThe kinds are %s.", name,
		diag.DidYouMean(name, Kinds()), strings.Join(Kinds(), ", "))
}

// Spec is one --out: a kind and its file.
type Spec struct {
	Kind string
	File string // "-" for standard output
}

// ParseSpec reads KIND=FILE.
func ParseSpec(text string) (Spec, error) {
	name, file, found := strings.Cut(text, "=")
	if !found || file == "" {
		return Spec{}, fmt.Errorf("--out takes KIND=FILE, such as junit=results.xml, not %q", text)
	}
	if _, err := findKind(name); err != nil {
		return Spec{}, err
	}
	return Spec{Kind: name, File: file}, nil
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[diag.Document]("findings", "what the checker found", "`check --format json`, `--out json`"),
	contract.Of[digestJSON]("operation", "a plan, or what an operation has done",
		"`preview --json`, `run --plan-only --json`, `drift --json`, `--out json`"),
	contract.Of[envelope]("event", "an event of an operation", "`up --json` and the like, `--event-log`, `--out events`").
		EachLine(),
	contract.Of[partsJSON]("operations", "what a command about many stacks has done",
		"`preview --json` and `--out json` of commands about many stacks"),
}
