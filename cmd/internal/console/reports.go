package console

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// ReportFlags are the flags of commands that can write their result to files as well.
type ReportFlags struct {
	// Several is set for a command on several stacks, which collects their results even if no report is requested.
	Several bool

	out      []string
	ci       string
	eventLog string
}

// Register adds the flags to a command.
func (f *ReportFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.out, "out", nil,
		"write a report as KIND=FILE, - for standard output; may be repeated: "+report.KindHelp())
	cmd.Flags().StringVar(&f.eventLog, "event-log", "",
		"write a line of JSON for each event to this file, or to a listener at tcp://ADDRESS")
	Hide(cmd.Flags(), "event-log") // --out events=FILE is the same
	cmd.Flags().StringVar(&f.ci, "ci", "",
		"the CI system to write for: auto (by default), none, github, gitlab, azure, buildkite or teamcity")
}

// Add requests one more report, as the flag --out does.
func (f *ReportFlags) Add(spec report.Spec) { f.out = append(f.out, spec.Kind+"="+spec.File) }

// Reports holds the reports of a command, including those for a CI system. The zero value has none.
type Reports struct {
	*report.Set               // requested with --out; nil if there are none
	system      report.System // the CI system that gets reports of the run
	console     *Console
}

// OpenReports opens the reports of a command before the command does anything. further are reports requested by other
// flags.
func (a *Console) OpenReports(f *ReportFlags, command string, further ...report.Spec) error {
	system, err := f.system(&a.World)
	if err != nil {
		return err
	}
	specs := further
	if f.eventLog != "" {
		specs = append(specs, report.Spec{Kind: "events", File: f.eventLog})
	}
	for _, text := range f.out {
		spec, err := report.ParseSpec(text)
		if err != nil {
			return WithCode(CodeBadUsage, "%w", err)
		}
		specs = append(specs, spec)
	}
	o := report.Options{
		Specs: specs, Stdout: a.Data(), Path: a.Path, Began: a.Now(),
		Subject: report.Subject{Command: command, Version: a.World.Version, Program: "Pulumi.yaml", Dir: a.World.Dir,
			Root: system.Root(a.World.Getenv)},
		Origin: report.OriginOf(a.World.Getenv, a.World.Dir),
		Always: f.Several || system == report.GitHub || system == report.GitLab, ResultsOnly: system == "",
	}
	set, err := report.Open(o)
	if err != nil {
		return WithCode(CodeBadUsage, "%w", err)
	}
	a.Reports = Reports{set, system, a}
	return nil
}

// system returns the CI system that --ci selects. Under the name of the Pulumi CLI it is none by default: actions that
// call that program write their own annotations and summaries.
func (f *ReportFlags) system(w *World) (report.System, error) {
	switch f.ci {
	case "":
		if w.AsPulumi {
			return "", nil
		}
		return report.SystemOf(w.Getenv), nil
	case "auto":
		return report.SystemOf(w.Getenv), nil
	case "none":
		return "", nil
	}
	if s := report.System(f.ci); slices.Contains(report.Systems, s) {
		return s, nil
	}
	return "", WithCode(CodeBadUsage, "--ci takes auto, none, github, gitlab, azure, buildkite or teamcity, not %q", f.ci)
}

// fold returns the lines that begin and end a folded group in the log of the CI system. Both are empty if the log
// cannot fold.
func (r *Reports) fold(id, title string) (group report.Group) {
	if c := r.console; r.system != "" && !c.Streams.ErrTerminal && c.Screen != nil {
		group = report.GroupOf(r.system, id, title, c.Now().Unix())
	}
	return group
}

// LogGroup starts a folded group in the log of the CI system; end closes it. If the system cannot fold, LogGroup does
// nothing. The group lines are written to standard error unfiltered.
func (r *Reports) LogGroup(id, title string) (end func()) {
	group := r.fold(id, title)
	if group.Begin != "" {
		fmt.Fprintln(r.console.Screen, group.Begin)
	}
	return func() {
		if group.End != "" {
			fmt.Fprintln(r.console.Screen, group.End)
		}
	}
}

// Finish completes the reports with the command's exit code; text is the error that was printed.
func (r *Reports) Finish(code int, text string) error {
	if r.Set == nil {
		return nil
	}
	err := r.Set.Finish(report.Exit{Code: code, Name: CodeName(code), Text: text}, r.console.Now())
	ci := report.CI{System: r.system, Getenv: r.console.World.Getenv, Log: r.console.Streams.Err}
	if fault := ci.Write(r.Record()); fault != nil {
		err = errors.Join(err, fmt.Errorf("report to the CI system: %w", fault))
	}
	return err
}

// finishLimit is how long reports may take before the process ends without them.
const finishLimit = time.Second

// FinishSoon is Finish with a time limit, for a process that is about to end and may hold locks that are never
// released.
func (r *Reports) FinishSoon(code int, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Finish(code, text) // nobody is left to receive the error
	}()
	timer := time.NewTimer(finishLimit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
