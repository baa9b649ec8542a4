package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/report"
)

// ReportFlags are the flags of commands whose result goes to files as well.
type ReportFlags struct {
	out      []string
	ci       string
	eventLog string
}

// Register adds the flags to a command.
func (f *ReportFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.out, "out", nil,
		"write a report as KIND=FILE, - for standard output; may come several times: "+report.KindHelp())
	cmd.Flags().StringVar(&f.eventLog, "event-log", "",
		"write a line of JSON for each event to this file, or to a listener at tcp://ADDRESS")
	Hide(cmd.Flags(), "event-log") // --out events=FILE is the same
	cmd.Flags().StringVar(&f.ci, "ci", "",
		"the CI system to write for: auto (by default), none, github, gitlab, azure, buildkite or teamcity")
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
	a.system = system
	o := report.Options{
		Specs: specs, Stdout: a.Data(), Path: a.Path, Began: a.Now(),
		Subject: report.Subject{Command: command, Version: a.World.Version, Program: "Pulumi.yaml", Dir: a.World.Dir,
			Root: system.Root(a.World.Getenv)},
		Origin: report.OriginOf(a.World.Getenv, a.World.Dir), Always: system == report.GitHub || system == report.GitLab,
	}
	if a.Reports, err = report.Open(o); err != nil {
		return WithCode(CodeBadUsage, "%w", err)
	}
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

// LogGroup folds what is logged until end in the log of the CI system, where it can fold; elsewhere it does nothing.
// Lines go to standard error as they are.
func (a *Console) LogGroup(id, title string) (end func()) {
	if a.system == "" || a.Streams.ErrTerminal || a.Screen == nil {
		return func() {}
	}
	group := report.GroupOf(a.system, id, title, a.Now().Unix())
	if group.Begin != "" {
		fmt.Fprintln(a.Screen, group.Begin)
	}
	return func() {
		if group.End != "" {
			fmt.Fprintln(a.Screen, group.End)
		}
	}
}

// FinishReports completes the reports with how the command ended; text is the error that was shown.
func (a *Console) FinishReports(code int, text string) error {
	if a.Reports == nil {
		return nil
	}
	err := a.Reports.Finish(report.Exit{Code: code, Name: CodeName(code), Text: text}, a.Now())
	ci := report.CI{System: a.system, Getenv: a.World.Getenv, Log: a.Streams.Err}
	if fault := ci.Write(a.Reports.Record()); fault != nil {
		err = errors.Join(err, fmt.Errorf("the CI system could not be told: %w", fault))
	}
	return err
}

// finishLimit is how long reports may take before the process ends without them.
const finishLimit = time.Second

// FinishReportsSoon is FinishReports for a process that is about to end and may hold locks that nobody gives back.
func (a *Console) FinishReportsSoon(code int, text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.FinishReports(code, text) // there is nobody left to tell
	}()
	timer := time.NewTimer(finishLimit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
