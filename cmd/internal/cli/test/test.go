package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/suite"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	filewatch "github.com/yamlhost/yamlhost/internal/watch"
	"github.com/yamlhost/yamlhost/workspace"
)

// options are the arguments and flags of the command.
type options struct {
	targets  []string
	run      string
	embedded bool
	coverage bool
	update   bool
	watch    bool
	reports  console.ReportFlags
}

// NewTest returns the command test.
func NewTest(a *console.Console) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "test [DIR or FILE]...",
		Short: "Run the tests of programs",
		Long: "test runs the cases of all files *.test.yaml below the directories. Each case runs the program against the " +
			"engine over a state in memory, with mocks for providers, and compares what comes of it with what the case " +
			"expects. It needs no stack, no plugin and no network. It ends with exit code 14 if a case fails.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.targets = args; len(args) == 0 {
				o.targets = []string{"."}
			}
			return test(cmd.Context(), a, o)
		},
	}
	cmd.Flags().StringVar(&o.run, "run", "", "run only the cases whose names match this regular expression")
	cmd.Flags().BoolVar(&o.embedded, "embedded", false,
		"run every case with the built-in providers instead of mocks: commands run, and everything is destroyed afterwards")
	cmd.Flags().BoolVar(&o.coverage, "coverage", false, "name the resources, branches of conditions and calls of functions that no case reaches")
	cmd.Flags().BoolVar(&o.update, "update", false, "write the snapshots anew instead of comparing them")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "run the tests again whenever a file changes, until an interrupt")
	o.reports.Register(cmd)
	// Each of these writes files, and would start the next run with its own change.
	for _, other := range []string{"update", "out", "event-log"} {
		cmd.MarkFlagsMutuallyExclusive("watch", other)
	}
	return cmd
}

// test runs tests and reports failures, once or after each change.
func test(ctx context.Context, a *console.Console, o *options) error {
	// An empty expression matches every name.
	chosen, err := regexp.Compile(o.run)
	if err != nil {
		return console.WithCode(console.CodeBadUsage, "--run: %w", err)
	}
	if o.watch {
		return watch(ctx, a, o, chosen)
	}
	if err := a.OpenReports(&o.reports, "test"); err != nil {
		return err
	}
	return once(ctx, a, o, chosen)
}

// watch runs tests after each change until it is interrupted. Failures do not end it.
func watch(ctx context.Context, a *console.Console, o *options, chosen *regexp.Regexp) error {
	for {
		roots := roots(ctx, a, o.targets)
		// Taken before the run, so that a change during it is not missed.
		seen := filewatch.Take(roots)
		if a.Streams.OutTerminal {
			// Clears the screen with what was scrolled away, so that the first failure is at the top.
			fmt.Fprint(a.Streams.Out, "\x1b[H\x1b[2J\x1b[3J")
		}
		err := once(ctx, a, o, chosen)
		if ctx.Err() != nil {
			return nil // an interrupt is the regular end
		}
		// An ExitError without a cause only has the exit code of failures, which have been printed.
		if exit, failed := errors.AsType[*console.ExitError](err); err != nil && (!failed || exit.Cause != nil) {
			fmt.Fprintln(a.Streams.Out, err)
		}
		fmt.Fprintln(a.Streams.Out, "Waiting for changes; an interrupt ends it.")
		if _, _, err := filewatch.Wait(ctx, roots, seen); err != nil {
			return nil
		}
	}
}

// roots returns the paths to watch: the targets, and the folders of packages that the tested programs use by path. They
// are found anew before each run, as a change may add packages.
func roots(ctx context.Context, a *console.Console, targets []string) []string {
	var roots []string
	for _, target := range targets {
		roots = append(roots, a.Path(target))
	}
	files, err := read(ctx, a, targets)
	if err != nil {
		return roots // at least watch the targets
	}
	for _, f := range files {
		// A single file may be the target, and its program stands beside it.
		roots = append(roots, f.Dir)
		if ws, err := workspace.OpenWithoutProgram(f.Dir, a.Looking()); err == nil {
			roots = append(roots, ws.OutsideDirs()...)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// once runs tests and reports failures.
func once(ctx context.Context, a *console.Console, o *options, chosen *regexp.Regexp) error {
	files, err := read(ctx, a, o.targets)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return console.WithCode(console.CodeError, "there is no file *%s in %s (Pulumi%s would be the settings of a stack)",
			suite.Suffix, strings.Join(o.targets, ", "), suite.Suffix)
	}
	// The runner keeps what cases of one program share: its schemas and its text.
	runner := &suite.Runner{Console: a, Embedded: o.embedded, Update: o.update}
	defer runner.Close()

	var cases []*suite.Case
	var all diag.Diagnostics
	for _, f := range files {
		all.Add(f.Diags...)
		// The cases of a file with errors are not run, since they may not mean what they say.
		if f.Diags.HasErrors() {
			continue
		}
		for _, c := range f.Cases {
			if chosen.MatchString(c.Name) {
				cases = append(cases, c)
			}
		}
	}
	if len(cases) == 0 && len(all) == 0 {
		return console.WithCode(console.CodeError, "no case is called %s", o.run)
	}
	began := a.Now()
	results := make([]report.Case, len(cases))
	// Each case has an element of results, so that the order is the files' and not that of the ends.
	parallel.Each(len(cases), 1, func(i int) {
		// Run recovers from panics of its own goroutine only.
		defer a.Crashes.Guard()
		if ctx.Err() != nil {
			return
		}
		// The runner is safe for concurrent use; each case has an engine and a state of its own.
		failures, took := runner.Run(ctx, cases[i])
		results[i] = report.Case{File: cases[i].Place.Source.Name(), Name: cases[i].Name, Took: took,
			Failures: failures}
	})
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	failed := 0
	broken := map[string]bool{} // test files whose program has faults, so that calls may be missing
	for i, r := range results {
		if len(r.Failures) > 0 {
			failed++
		}
		for _, d := range r.Failures {
			if suite.OfProgram(cases[i], d) {
				broken[r.File] = true
				// A fault of the program is one for each case that runs it. It is shown once.
				if slices.ContainsFunc(all, func(known diag.Diagnostic) bool {
					return known.Subject == d.Subject && known.Code == d.Code && known.Summary == d.Summary
				}) {
					continue
				}
			}
			all.Add(d)
		}
	}
	// With --run, mocks of the other cases are not reached on purpose.
	if o.run == "" {
		for _, f := range files {
			if !f.Diags.HasErrors() && !broken[f.Source.Name()] {
				all.Add(f.Unreached()...)
			}
		}
	}
	// Snapshots that no case has written are stale only if all cases ran.
	stale, err := runner.FinishSnapshots(files, o.run == "")
	if err != nil {
		return err
	}
	all.Add(stale...)
	// Before tell: an error of standard output must not cost the reports.
	a.Reports.Cases(results)
	a.Reports.Find(all)
	return tell(a, o, runner, all, len(cases), failed, a.Now().Sub(began))
}

// tell prints the failures and the summary.
func tell(a *console.Console, o *options, runner *suite.Runner, all diag.Diagnostics, cases, failed int,
	took time.Duration) error {
	out := a.Streams.Out
	// A report on standard output must be whole and alone.
	if a.Reports.TakesStdout() {
		out = a.Streams.Err
	}
	if err := console.WriteFindings(a, out, a.Streams.OutTerminal, all); err != nil {
		return err
	}
	if o.coverage {
		for _, part := range runner.Coverage() {
			fmt.Fprintf(out, "%d of %s %s by a case\n", part.Covered, diag.Count(part.All, part.What), part.Verb)
			for _, name := range part.Missing {
				fmt.Fprintln(out, "  not "+part.Verb+": "+name)
			}
		}
	}
	line := fmt.Sprintf("%s, %d failed", diag.Count(cases, "case"), failed)
	if t := view.Seconds(took); t != "" {
		line += ", in " + t
	}
	fmt.Fprintln(out, line)
	if all.HasErrors() {
		return &console.ExitError{Code: console.CodeFailed}
	}
	return nil
}

// read reads the test files that targets name: single files, or all test files below a directory except in hidden
// directories and node_modules.
func read(ctx context.Context, a *console.Console, targets []string) ([]*suite.File, error) {
	var files []*suite.File
	for _, target := range targets {
		path := a.Path(target)
		info, err := confine.Anywhere().Stat(path)
		if err != nil {
			return nil, console.WithCode(console.CodeBadUsage, "%s does not exist", target)
		}
		if !info.IsDir() && !suite.IsTestFile(filepath.Base(path)) {
			return nil, console.WithCode(console.CodeBadUsage, "%s is no test file: its name must end with %s", target,
				suite.Suffix)
		}
		err = confine.Anywhere().WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			name := entry.Name()
			switch {
			case err != nil:
				return err
			case entry.IsDir() && file != path && (strings.HasPrefix(name, ".") || name == "node_modules"):
				return filepath.SkipDir
			case entry.IsDir() || !suite.IsTestFile(name):
				return nil
			}
			text, err := confine.Anywhere().ReadFile(ctx, file)
			if err != nil {
				return err
			}
			files = append(files, suite.Read(diag.NewSource(a.Short(file), text), filepath.Dir(file)))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the tests of %s: %w", target, err)
		}
	}
	return files, nil
}
