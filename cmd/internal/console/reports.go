package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// ReportFlags are the flags of commands whose result goes to files as well.
type ReportFlags struct {
	// Several reports whether the command is about several stacks, whose results are gathered without any report, too.
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

// Add asks for one more report, as --out does.
func (f *ReportFlags) Add(spec report.Spec) { f.out = append(f.out, spec.Kind+"="+spec.File) }

// Reports are the reports of a command, including the ones for a CI system. The zero value has none.
type Reports struct {
	*report.Set               // of --out; nil without any
	system      report.System // the CI system that gets reports of the run
	console     *Console
}

// OpenReports opens the reports of a command before anything is done. further are reports that other flags ask for.
func (a *Console) OpenReports(f *ReportFlags, command string, further ...report.Spec) error {
	system, err := f.system(a.World.Getenv)
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
		Always: f.Several || system == report.GitHub || system == report.GitLab, Untold: system == "",
	}
	set, err := report.Open(o)
	if err != nil {
		return WithCode(CodeBadUsage, "%w", err)
	}
	a.Reports = Reports{set, system, a}
	return nil
}

// system is the CI system of --ci.
func (f *ReportFlags) system(getenv func(string) string) (report.System, error) {
	switch f.ci {
	case "", "auto":
		return report.SystemOf(getenv), nil
	case "none":
		return "", nil
	}
	for _, s := range report.Systems {
		if string(s) == f.ci {
			return s, nil
		}
	}
	return "", WithCode(CodeBadUsage, "--ci takes auto, none, github, gitlab, azure, buildkite or teamcity, not %q", f.ci)
}

// fold returns how the log of the CI system folds what is written between two lines; both are empty where it cannot.
func (r *Reports) fold(id, title string) (group report.Group) {
	if c := r.console; r.system != "" && !c.Streams.ErrTerminal && c.Screen != nil {
		group = report.GroupOf(r.system, id, title, c.Now().Unix())
	}
	return group
}

// LogGroup folds what is logged until end in the log of the CI system, where it can fold; elsewhere it does nothing.
// Lines go to standard error as they are.
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

// Finish completes the reports with how the command ended; text is the error that was shown.
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

// FinishSoon is Finish for a process that is about to end and may hold locks that are never released.
func (r *Reports) FinishSoon(code int, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Finish(code, text) // there is nobody left to tell
	}()
	timer := time.NewTimer(finishLimit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
