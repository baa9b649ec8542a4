package operation

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// driftOperation reads every resource and compares it with the state and with the program. It is never applied.
var driftOperation = Operation{Kind: previewOperation.Kind, Planning: "Looking for drift", program: true,
	run: engine.Update}

// difference is one difference between a resource and its desired state.
type difference struct {
	urn   urn.URN
	what  string   // from the state or from the program, in words
	paths []string // of the properties; empty for the whole resource
}

// driftCollector gathers differences from events. It is used by one goroutine at a time.
type driftCollector struct {
	changes  *change.Book
	found    []difference
	computed []difference // in computed properties, which is no drift
	errors   []string
}

func (c *driftCollector) event(e engine.Event) {
	switch e := e.(type) {
	case *engine.StepFinished:
		if e.Internal || e.Outputs {
			return
		}
		s := e.Step
		switch {
		case s.Op == engine.OpRefresh && s.New == nil:
			c.found = append(c.found, difference{urn: s.URN, what: "does not exist any more"})
		case s.Op == engine.OpRefresh:
			paths, computed := c.changes.Of(s).Paths()
			if len(paths) > 0 {
				c.found = append(c.found, difference{s.URN, "differs from the state", paths})
			}
			if len(computed) > 0 {
				c.computed = append(c.computed, difference{s.URN, "has changed", computed})
			}
		case s.Op == engine.OpSame || s.Op == engine.OpRead || !s.Logical() || s.URN.Type() == urn.RootStackType:
		case s.Op == engine.OpCreate && c.gone(s.URN): // the program would create it again
		default:
			what := cmp.Or(map[engine.Op]string{engine.OpCreate: "is in the program and does not exist",
				engine.OpDelete: "exists and is not in the program"}[s.Op], "differs from the program")
			var paths []string
			if s.Op == engine.OpUpdate || s.Op == engine.OpReplace {
				paths, _ = c.changes.Of(s).Paths()
			}
			c.found = append(c.found, difference{s.URN, what, paths})
		}
	case *engine.Message:
		if e.Severity == diag.Error && !e.Debug {
			c.errors = append(c.errors, e.Text)
		}
	}
}

func (c *driftCollector) gone(u urn.URN) bool {
	return slices.ContainsFunc(c.found, func(d difference) bool { return d.urn == u && len(d.paths) == 0 })
}

// ignored removes the differences that match a rule. told has a line with the rule's reason for each removed property
// or resource.
func ignored(found []difference, rules []project.DriftRule) (left []difference, told []string) {
	for _, d := range found {
		matching := func(path string) *project.DriftRule {
			for i := range rules {
				r := &rules[i]
				if matches(r.Type, d.urn.Type()) && matches(r.URN, string(d.urn)) &&
					(r.Property == "" || path != "" && matches(r.Property, path)) {
					return r
				}
			}
			return nil
		}
		var kept []string
		for _, path := range d.paths {
			if r := matching(path); r != nil {
				told = append(told, fmt.Sprintf("Ignored: %s of %s %s (%s)", path, d.urn.Name(), d.what, r.Reason))
			} else {
				kept = append(kept, path)
			}
		}
		if r := matching(""); r != nil && len(d.paths) == 0 {
			told = append(told, fmt.Sprintf("Ignored: %s %s (%s)", d.urn.Name(), d.what, r.Reason))
		} else if len(kept) > 0 || len(d.paths) == 0 {
			left = append(left, difference{d.urn, d.what, kept})
		}
	}
	return left, told
}

// matches reports whether a glob matches a whole text; an empty one does.
func matches(glob, text string) bool {
	if glob == "" {
		return true
	}
	pattern := strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^:.]*`).Replace(regexp.QuoteMeta(glob))
	found, err := regexp.MatchString(`^(?s:`+pattern+`)$`, text)
	return err == nil && found
}

// Texts of errors of a provider that cannot be used.
const (
	deniedWords = `(?i)credential|unauthori[sz]ed|authenticat|access ?denied|permission denied|forbidden|` +
		`expired token|\b40[13]\b`
	unreachableWords = `(?i)no such host|connection (refused|reset)|dial tcp|i/o timeout|deadline exceeded|` +
		`unreachable|\bunavailable\b|no provider plugin`
)

// failureCode returns the exit code if looking for drift failed, so that the result is unknown.
func failureCode(texts []string) int {
	denied, unreachable := regexp.MustCompile(deniedWords), regexp.MustCompile(unreachableWords)
	for _, text := range texts {
		switch {
		case denied.MatchString(text):
			return console.CodeDenied
		case unreachable.MatchString(text):
			return console.CodeUnreachable
		}
	}
	return console.CodeFailed
}

// Drift reports what exists and differs from the state or from the program. Nothing is changed.
func Drift(ctx context.Context, a *console.Console, o *Options) error {
	o.Refresh = "true"
	p, err := prepare(ctx, a, o, driftOperation, chosen(a, o))
	if err != nil {
		return err
	}
	defer p.Close()
	a = p.Console
	loaded, err := p.Stack.Backend.Load(ctx, p.Stack.Ref, p.StackSecrets.Opener)
	if err != nil {
		return console.ExplainSecret(err, p.Stack.Ref.Stack)
	}
	if len(loaded.Held) > 0 {
		return &backend.LockedError{Ref: p.Stack.Ref, Locks: loaded.Held}
	}
	if n := len(loaded.Snapshot.Pending); n > 0 {
		return console.WithCode(console.CodePending,
			"%s of an earlier run is pending, so drift cannot be determined; run `yamlhost refresh` first",
			diag.Count(n, "operation"))
	}
	c := &driftCollector{changes: &p.display.changes}
	planned, err := p.preview(ctx, planning{listen: c.event, loaded: loaded})
	result := planned.result
	switch {
	case err != nil:
		return &console.ExitError{Code: failureCode([]string{err.Error()}), Cause: err}
	case result.Terminated || result.Canceled:
		return exitError(a, o.ExpectNoChanges, "drift", result, err)
	case result.Failed && len(c.found) == 0:
		return &console.ExitError{Code: failureCode(c.errors)}
	}
	left, told := ignored(c.found, p.Workspace.Project.DriftRules)
	if len(left) > 0 || !result.Failed {
		told = append(told, driftLines(left)...)
	}
	if result.Failed {
		told = append(told, "Not everything could be compared with the program; the errors above say why.")
	}
	for _, text := range append(told, computedLines(c.computed, o.ShowComputed)...) {
		a.Reports.Remark(text)
		if !o.Json {
			fmt.Fprintln(a.Streams.Err, text)
		}
	}
	if len(left) > 0 && o.ExitCode {
		return &console.ExitError{Code: console.CodeDrift}
	}
	if result.Failed {
		return &console.ExitError{Code: failureCode(c.errors)}
	}
	return nil
}

// driftLines describes the remaining differences.
func driftLines(left []difference) []string {
	if len(left) == 0 {
		return []string{"There is no drift."}
	}
	lines := make([]string, 0, len(left)+1)
	for _, d := range left {
		line := fmt.Sprintf("Drift: %s %s", d.urn.Name(), d.what)
		if len(d.paths) > 0 {
			line += " in " + strings.Join(d.paths, ", ")
		}
		lines = append(lines, line)
	}
	return lines
}

// computedLines describes computed properties: by number, or by name.
func computedLines(computed []difference, named bool) (lines []string) {
	n := 0
	for _, d := range computed {
		n += len(d.paths)
		if named {
			lines = append(lines, fmt.Sprintf("Computed: %s %s in %s", d.urn.Name(), d.what, strings.Join(d.paths, ", ")))
		}
	}
	if n > 0 && !named {
		lines = append(lines, view.ComputedNote(n, len(computed)))
	}
	return lines
}
