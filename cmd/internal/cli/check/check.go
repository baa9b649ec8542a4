package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// checkOptions are the arguments and flags of check.
type checkOptions struct {
	targets  []string
	format   string
	portable bool
	stack    string
	fix      bool
	aliases  bool
	reports  console.ReportFlags
	schemas  operation.SchemaFlags

	untrusted   bool
	allowStacks []string
	several     fleet.Selection
}

// NewCheck returns the command check.
func NewCheck(a *console.Console) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check [DIR or FILE]...",
		Short: "Report all faults of a program in one pass",
		Long: "check reads, resolves and type-checks programs without running them. It needs no stack; with " +
			"--stack the stack's configuration is checked as well. It ends with exit code 12 if there is any " +
			"error.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.targets = args; len(args) == 0 {
				o.targets = []string{"."}
			}
			return checkPrograms(cmd.Context(), a, o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "text", "the report on standard output: "+
		strings.Join(report.Kinds(), ", "))
	o.reports.Register(cmd)
	cmd.Flags().BoolVar(&o.fix, "fix", false, "apply the fixes that are certain, and write the files")
	cmd.Flags().BoolVar(&o.aliases, "aliases", false, "also report aliases that no stack of the project needs any more")
	o.schemas.Register(cmd)
	cmd.Flags().BoolVar(&o.untrusted, "untrusted", false,
		"report what a run with --untrusted refuses, and ask no plugin that is not locked")
	cmd.Flags().StringArrayVar(&o.allowStacks, "allow-stack", nil, operation.AllowStackHelp)
	cmd.Flags().BoolVar(&o.portable, "portable", false, "also report what only yamlhost understands")
	cmd.Flags().StringVarP(&o.stack, "stack", "s", "", "check with this stack's configuration")
	o.several.Register(cmd, false)
	return cmd
}

// checkPrograms checks programs and reports their findings. Findings of all programs are reported together, in the
// order of their files.
func checkPrograms(ctx context.Context, a *console.Console, o *checkOptions) error {
	var further []report.Spec
	if o.format != "text" {
		if !slices.Contains(report.Kinds(), o.format) {
			return console.WithCode(console.CodeBadUsage, "--format takes %s, not %q", strings.Join(report.Kinds(), ", "),
				o.format)
		}
		further = []report.Spec{{Kind: o.format, File: "-"}}
	}
	if err := a.OpenReports(&o.reports, "check", further...); err != nil {
		return err
	}
	var all diag.Diagnostics
	if o.several.All || len(o.several.Filters) > 0 || o.several.AffectedBy != "" {
		o.several.Dirs, o.several.Stack = o.targets, o.stack
		g, diags, err := o.several.Find(ctx, a, fleet.Opening{Careful: true})
		if err != nil {
			return err
		}
		all, o.targets = diags, nil
		for _, m := range g.Members {
			o.targets = append(o.targets, m.Dir)
		}
	}
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	trust := operation.Careful
	if o.untrusted {
		trust = operation.Untrusted
	}
	found, err := checkAll(o, func(target string) (diag.Diagnostics, error) {
		look := func() (diag.Diagnostics, error) {
			program, diags, err := CheckTarget(ctx, a, target, o.stack, given, trust, o.allowStacks...)
			if err == nil && o.aliases && program != nil {
				var unneeded diag.Diagnostics
				unneeded, err = aliasesOf(ctx, a, target, program)
				diags.Add(unneeded...)
			}
			return diags, err
		}
		diags, err := look()
		if err == nil && o.fix {
			diags, err = fixTarget(a, diags, look)
		}
		return diags, err
	})
	if err != nil {
		return err
	}
	all.Add(found...)
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	shown := diag.Diagnostics{}
	errors, warnings := 0, 0
	for _, d := range all.Sorted() {
		if d.Severity > diag.Info && !(o.portable && d.Severity == diag.Portability) {
			continue
		}
		shown.Add(d)
		switch d.Severity {
		case diag.Error:
			errors++
		case diag.Warning, diag.Portability:
			warnings++
		}
	}
	a.Reports.Find(shown)
	// A report on standard output stands alone.
	if !a.Reports.TakesStdout() {
		if err := console.WriteFindings(a, a.Streams.Out, a.Streams.OutTerminal, shown); err != nil {
			return err
		}
		fmt.Fprintf(a.Streams.Out, "%s, %s\n", diag.Count(errors, "error"), diag.Count(warnings, "warning"))
		if name := uncheckedStack(a, o); name != "" {
			fmt.Fprintf(a.Streams.Err, "The configuration of stack %s is not checked: that is `yamlhost check --stack %[1]s`.\n", name)
		}
	}
	if errors > 0 {
		return console.Reported(shown)
	}
	return nil
}

// uncheckedStack returns the selected stack of the project that was checked if it has settings that were not; empty if
// there is none. It is a reminder, and silent about everything that cannot be read.
func uncheckedStack(a *console.Console, o *checkOptions) string {
	if o.stack != "" || len(o.targets) != 1 || o.untrusted {
		return ""
	}
	p, _, err := a.OpenProject(a.Path(o.targets[0]))
	if err != nil {
		return ""
	}
	name := a.Backends().Selected(p)
	if name == "" {
		return ""
	}
	if settings, _, err := a.LoadSettings(p, name, ""); err != nil || !settings.Exists || settings.Empty() {
		return ""
	}
	return name
}

// checkAll checks every target, several at a time unless files are edited. It returns the error of the first target
// that has one.
func checkAll(o *checkOptions, checkOne func(target string) (diag.Diagnostics, error)) (diag.Diagnostics, error) {
	limits, err := o.several.Limits()
	if err != nil {
		return nil, err
	}
	if o.fix {
		limits.All = 1
	}
	type result struct {
		diags diag.Diagnostics
		err   error
	}
	results := make([]result, len(o.targets))
	slots := make(chan struct{}, limits.All)
	var work sync.WaitGroup
	for i, target := range o.targets {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			results[i].diags, results[i].err = checkOne(target)
		})
	}
	work.Wait()
	var all diag.Diagnostics
	for _, r := range results {
		if r.err != nil {
			return nil, r.err
		}
		all.Add(r.diags...)
	}
	return all, nil
}

// CheckTarget checks the program of a folder or file, and reports the findings. trust determines which programs of the
// project may be started. allowStacks are the stacks that an untrusted program may read. Findings in the stack's files
// are those of the workspace, which merges them with the program's.
func CheckTarget(ctx context.Context, a *console.Console, target, stack string, given *operation.GivenSchemas,
	trust operation.Trust, allowStacks ...string) (*check.Program, diag.Diagnostics, error) {
	options := a.Looking()
	options.Confined = trust == operation.Untrusted
	ws, err := a.OpenTarget(target, options)
	if err != nil {
		return nil, nil, err
	}
	var config map[project.Key]project.Text
	if stack != "" && ws.Project.Name.Text != "" { // a project with a broken file has no stacks; the fault is reported
		var diags diag.Diagnostics
		if config, diags, err = a.Stacks().Config(ws.Project, stack); err != nil {
			return nil, nil, err
		}
		ws.Diags.Add(diags...)
	}
	a.Reports.SetSubject(ws.Project.Name.Text, stack, a.Short(ws.Project.Path))
	providers := operation.NewProviders(a, ws, nil, trust)
	defer providers.Close()
	providers.Given = given
	if trust == operation.Untrusted {
		providers.MayReadStack = operation.UntrustedStacks(allowStacks, ws.Project.Name.Text, stack)
	}
	program, diags := operation.CheckWorkspace(ctx, ws, providers, config)
	diags.Add(providers.Paths.Unseen()...)
	return program, diags, nil
}

// maxFixing limits how often fixes are applied again: a fix may reveal an error that was hidden before.
const maxFixing = 10

// fixTarget applies the fixes of findings, checks again, and returns the remaining findings. Programs are read anew
// each time: positions move with every fix.
func fixTarget(a *console.Console, ds diag.Diagnostics, again func() (diag.Diagnostics, error)) (diag.Diagnostics,
	error) {
	total := 0
	for range maxFixing {
		fixed, err := fixFiles(a, ds)
		if err != nil {
			return nil, err
		}
		if fixed == 0 {
			break
		}
		total += fixed
		if ds, err = again(); err != nil {
			return nil, err
		}
	}
	if total > 0 {
		fmt.Fprintf(a.Streams.Err, "fixed %s\n", diag.Count(total, "finding"))
	}
	return ds, nil
}

// fixFiles applies the fixes of findings to their files and returns the number of fixes. It returns an error if a file
// has changed since it was read.
func fixFiles(a *console.Console, ds diag.Diagnostics) (int, error) {
	total := 0
	done := make(map[*diag.Source]bool)
	for _, d := range ds {
		src := d.Subject.Source
		if src == nil || done[src] || len(d.Fixes) == 0 {
			continue
		}
		// ApplyFixes takes all findings of one text together, since their positions refer to the same text.
		done[src] = true
		text, n := diag.ApplyFixes(src, ds)
		if n == 0 {
			continue
		}
		if err := replaceFile(a, src, text); err != nil {
			return total, fmt.Errorf("fix %s: %w", src.Name(), console.PlainError(err))
		}
		total += n
	}
	return total, nil
}

// replaceFile replaces the content of a file that was read as src. It returns an error if the file has changed since.
func replaceFile(a *console.Console, src *diag.Source, text []byte) error {
	path := a.Path(src.Name())
	release, err := a.Hold(path)
	if err != nil {
		return err
	}
	defer release()
	info, err := confine.Anywhere().Stat(path)
	if err != nil {
		return err
	}
	now, err := confine.Anywhere().ReadFile(context.Background(), path)
	read := project.StripBOM(now) // the byte order mark is not part of the source text, and is kept
	if err != nil || string(read) != string(src.Text()) && string(now) != string(src.Text()) {
		return errors.New("the file has changed meanwhile")
	}
	if len(src.Text()) == len(read) {
		text = slices.Concat(now[:len(now)-len(read)], text)
	}
	return osfile.WriteFile(path, text, info.Mode().Perm())
}
