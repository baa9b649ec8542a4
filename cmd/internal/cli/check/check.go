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
	"github.com/yamlhost/yamlhost/workspace"
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
			a.Global.AdviseFor(o.stack, "")
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
		// --format is the short form of a report on standard output.
		further = []report.Spec{{Kind: o.format, File: "-"}}
	}
	if err := o.several.Check(); err != nil {
		return err
	}
	if err := a.OpenReports(&o.reports, "check", further...); err != nil {
		return err
	}
	var all diag.Diagnostics
	// The selection replaces the targets by the folders that it finds. Its own findings, such as of a broken project
	// file, are reported with the others.
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
	// A check starts nothing of the project, unlike a run: it is what people do first with a program that they do not
	// know.
	trust := operation.Careful
	if o.untrusted {
		trust = operation.Untrusted
	}
	var checked *project.Project // of a single target
	found, err := checkAll(o, func(target string) (diag.Diagnostics, error) {
		look := func() (diag.Diagnostics, error) {
			// It is called again after each fix, with everything read anew.
			ws, err := openTarget(a, target, trust)
			if err != nil {
				return nil, err
			}
			if len(o.targets) == 1 {
				checked = ws.Project
			}
			program, diags, err := checkWorkspace(ctx, a, ws, o.stack, given, trust, o.allowStacks...)
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
	// After an interrupt the findings are those of a part of the programs. Exit code 0 would be wrong, and so would a
	// list.
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	return tell(a, o, all, checked)
}

// tell shows findings and their number, and reminds of the stack of the project checked whose configuration was not. It
// returns an error if one of the findings is.
func tell(a *console.Console, o *checkOptions, all diag.Diagnostics, checked *project.Project) error {
	shown := diag.Diagnostics{}
	errors, warnings := 0, 0
	// Hints are for editors, and portability is for those who ask (D6).
	for _, d := range all.Sorted() {
		if d.Severity > diag.Info && !(o.portable && d.Severity == diag.Portability) {
			continue
		}
		shown.Add(a.Global.Advised(d))
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
		if name := uncheckedStack(a, o, checked); name != "" {
			fmt.Fprintln(a.Streams.Err, a.Streams.Fold(fmt.Sprintf("The configuration of stack %s is not checked: "+
				"that is `yamlhost check --stack %[1]s`.", name), a.Streams.ErrTerminal))
		}
	}
	// The findings have been printed, so the error has only the exit code.
	if errors > 0 {
		return console.Reported(shown)
	}
	return nil
}

// uncheckedStack returns the selected stack of the project that was checked if it has settings that were not; empty if
// there is none. It is a reminder, and silent about everything that cannot be read. p is nil if several targets were
// checked, which have no single selected stack.
func uncheckedStack(a *console.Console, o *checkOptions, p *project.Project) string {
	if o.stack != "" || p == nil || o.untrusted {
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
	// Two programs may include the same file, and a fix must not meet a half-written one.
	if o.fix {
		limits.All = 1
	}
	type result struct {
		diags diag.Diagnostics
		err   error
	}
	// Each goroutine has an element of its own, so the order of the targets is kept and nothing is locked.
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
// project may be started. Findings in the stack's files are those of the workspace, which merges them with those of the
// program.
func CheckTarget(ctx context.Context, a *console.Console, target, stack string, given *operation.GivenSchemas,
	trust operation.Trust) (*check.Program, diag.Diagnostics, error) {
	ws, err := openTarget(a, target, trust)
	if err != nil {
		return nil, nil, err
	}
	return checkWorkspace(ctx, a, ws, stack, given, trust)
}

// openTarget opens the workspace of a folder or file that is to be checked.
func openTarget(a *console.Console, target string, trust operation.Trust) (*workspace.Workspace, error) {
	options := a.Looking()
	// The workspace opens files of the project, too, before the program is checked.
	options.Confined = trust == operation.Untrusted
	return a.OpenTarget(target, options)
}

// checkWorkspace checks the program of a workspace as CheckTarget does. allowStacks are the stacks that an untrusted
// program may read.
func checkWorkspace(ctx context.Context, a *console.Console, ws *workspace.Workspace, stack string,
	given *operation.GivenSchemas, trust operation.Trust, allowStacks ...string) (*check.Program, diag.Diagnostics,
	error) {
	var err error
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
	// Plugins that a program may start but that no lock file names are known only after the check has asked for them.
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
	// Fixes of one round do not overlap, but one may make another possible.
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
		// A finding without a source, such as about a missing file, has nothing to edit.
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
	// The name of a source is the path as it is shown, relative to the working directory.
	path := a.Path(src.Name())
	// The lock is the one that other commands take for edits. An editor takes none, hence the comparison below.
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
