package deploy

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/fleet"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/cmd/internal/pipelines"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// several describes how an operation runs on more than one project. Each operation passes one, so that the conditions
// below are named by what holds and not by the names of commands.
type several struct {
	run runFunc // the operation on one project
	// question is asked once for all projects, after their plans are shown. It is empty for an operation that never
	// asks.
	question string
	existing bool // skip projects whose stack does not exist
	reverse  bool // process dependants before their dependencies
	unlinked bool // process projects in any order
	plans    bool // plan only: stacks read each other's planned outputs
	emits    bool // allow --emit, which writes a CI pipeline instead
}

// notTogether lists the flags that apply to one stack only.
var notTogether = []string{"plan", "save-plan", "import-file", "config-file", "settle-pending", "target",
	"target-replace", "replace", "exclude", "import-pending-creates", "ui"}

// severalFlags makes a command accept more than one project. one is its operation on a project that is alone. With one
// project everything stays as it is without it, to the letter; with several, flags that can only mean one stack are
// refused, before anything begins.
func severalFlags(a *console.Console, cmd *cobra.Command, o *operation.Options, one runFunc, k several) {
	s := &fleet.Selection{}
	s.Register(cmd, !k.plans)
	queued := &fleet.Submission{}
	queued.Register(cmd, k.unlinked)
	var emit string
	if k.emits {
		cmd.Flags().StringVar(&emit, "emit", "", "with --all: run nothing, and write a pipeline to standard output: "+
			strings.Join(pipelines.Kinds(), ", "))
	}
	// The check of one directory stays for one project; several directories are a selection.
	single := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if s.Several(args) {
			return nil
		}
		return single(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(s.Check(), queued.Check()); err != nil {
			return err
		}
		if !s.Several(args) {
			// These flags would have no effect on one project, which their user could not see.
			for _, flag := range [][2]string{{"queue", queued.URL}, {"emit", emit}, {"jobs", s.Jobs}} {
				if flag[1] != "" {
					return console.WithCode(console.CodeBadUsage, "--%s needs several projects: use --all, or name them", flag[0])
				}
			}
			end, err := begin(cmd, a, o, args)
			if err != nil {
				return err
			}
			defer end()
			return one(cmd.Context(), a, o)
		}
		// A plan, an import file or a target is that of one stack.
		for _, name := range notTogether {
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
				return console.WithCode(console.CodeBadUsage, "--%s is for one stack: leave it out, or name one project", name)
			}
		}
		s.Dirs, s.Stack, o.Reports.Several = args, o.Stack, true
		if emit != "" {
			return emitPipeline(cmd.Context(), a, s, emit)
		}
		if queued.URL != "" {
			return submit(cmd, a, o, s, queued, k)
		}
		// With several projects, --json is one report of all of them, in the form that fits the operation.
		if o.Json {
			kind := "events"
			if k.plans {
				kind = "json"
			}
			o.Json = false
			o.Reports.Add(report.Spec{Kind: kind, File: "-"})
		}
		end, err := begin(cmd, a, o, nil)
		if err != nil {
			return err
		}
		defer end()
		return runSeveral(cmd.Context(), a, o, s, k, cmd.Name())
	}
}

// ordered returns the graph in the order in which the operation processes projects. A project is destroyed after those
// that read its outputs, and created before them.
func (k several) ordered(g *projects.Graph) *projects.Graph {
	switch {
	// Without edges everything runs at once.
	case k.unlinked:
		return &projects.Graph{Members: g.Members}
	case k.reverse:
		return g.Reversed()
	}
	return g
}

// runSeveral runs an operation on every project of a selection. It asks once for all of them, after all previews: a
// question for each would be answered without reading. What a preview would give to projects that read it, neighbours
// carry.
func runSeveral(ctx context.Context, a *console.Console, o *operation.Options, s *fleet.Selection, k several,
	name string) error {
	if !k.existing { // operations on existing stacks need program texts for the order only
		a.Texts = workspace.NewTexts()
	}
	// The graph is complete before the first project begins; a circle is an error here.
	g, err := s.Open(ctx, a, fleet.Opening{Shown: true})
	if err != nil {
		return err
	}
	if k.existing {
		if g, err = existing(a, g); err != nil {
			return err
		}
	}
	g = k.ordered(g)
	limits, err := s.Limits()
	if err != nil {
		return err
	}
	c := fleet.Command{Name: name, Graph: g, Limits: limits}
	each := func(preview bool) func(context.Context, *console.Console, *projects.Member) error {
		// The planned outputs of a preview must not be read by the run after it, so each pass has its own.
		neighbours := &operation.Neighbours{}
		return func(ctx context.Context, a *console.Console, m *projects.Member) error {
			// Members run concurrently, each with options of its own. A copy is shallow, which suffices: what it shares
			// is not changed after begin.
			mine := *o
			mine.Dir, mine.PreviewOnly = m.Dir, preview
			if k.existing { // existing stacks read each other's real outputs
				mine.Stack = m.Stack
			} else {
				mine.Neighbours = neighbours
			}
			return k.run(ctx, a, &mine)
		}
	}
	if k.question != "" && !o.Yes && !o.PreviewOnly && !o.SkipPreview {
		// The wording is the Pulumi CLI's, which scripts look for.
		if !a.Interactive() {
			return console.WithCode(console.CodeUsage,
				"--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
		}
		// The preview has no jobs file: only a run can be resumed.
		look := c
		look.Each = each(true)
		if err := fleet.Preview(ctx, a, look); err != nil {
			return err
		}
		if err := a.Prompt().Confirm(fmt.Sprintf(k.question, diag.Count(len(g.Members), "stack"))); err != nil {
			return err
		}
		// All plans have been shown and approved.
		o.SkipPreview = true
	}
	// The progress file lets --resume skip what is done.
	if !k.plans && !o.PlanOnly && !o.PreviewOnly {
		c.Jobs = fleet.NewProgress(a.World.PulumiHome(), name, s.Root(a), s.Resume)
	}
	c.Each = each(o.PreviewOnly)
	return fleet.Run(ctx, a, c)
}

// existing returns the graph reduced to the members whose stack exists. One that does not exist is named, for it may be
// a wrong name.
func existing(a *console.Console, g *projects.Graph) (*projects.Graph, error) {
	var keep []int
	for i, m := range g.Members {
		b, err := a.Backends().Open(m.Project)
		if err != nil {
			return nil, err
		}
		exists, err := b.Exists(backend.Ref{Project: m.Project.Name.Text, Stack: m.Stack})
		if err != nil {
			return nil, err
		}
		if exists {
			keep = append(keep, i)
		} else {
			fmt.Fprintf(a.Streams.Err, "%s does not exist: there is nothing to do\n", m.Key())
		}
	}
	return g.Only(keep), nil
}

// emitPipeline writes a CI pipeline for the projects of a selection. Its paths are relative to the working directory,
// which has to be the root of the repository. Nothing of the projects is run. Careful opening suffices: the graph needs
// texts only.
func emitPipeline(ctx context.Context, a *console.Console, s *fleet.Selection, name string) error {
	kind, err := pipelines.Find(name)
	if err != nil {
		return console.WithCode(console.CodeBadUsage, "%w", err)
	}
	g, err := s.Open(ctx, a, fleet.Opening{Careful: true, Shown: true})
	if err != nil {
		return err
	}
	base, err := filepath.Rel(a.World.Dir, s.Root(a))
	if err != nil {
		return err
	}
	return kind.Write(a.Data(), g, filepath.ToSlash(base))
}

// inQueue lists the flags that a queued command may have. The value is the flag that a job passes on; it is empty for
// flags that only select or configure jobs.
var inQueue = map[string]string{"continue-on-error": "--continue-on-error", "refresh": "--refresh=true",
	"expect-no-changes": "--expect-no-changes", "exit-code": "--exit-code", "remove": "--remove",
	"all": "", "filter": "", "affected-by": "", "stack": "", "queue": "", "priority": "", "slots": "", "source": "",
	"detach": "", "every": "", "yes": "", "skip-preview": "", "plan-only": ""}

// submit submits a command on a selection to a queue. A flag that a job would not have is refused, rather than dropped:
// the command would do something else than its help describes.
func submit(cmd *cobra.Command, a *console.Console, o *operation.Options, s *fleet.Selection, q *fleet.Submission,
	k several) error {
	var flags []string
	var refused error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		carried, known := inQueue[f.Name]
		switch {
		// Flags of the program, such as --color, concern this process and not the job.
		case cmd.Root().PersistentFlags().Lookup(f.Name) != nil:
		case !known, f.Name == "refresh" && f.Value.String() != "true":
			refused = console.WithCode(console.CodeBadUsage,
				"--%s cannot go into the queue: leave it out, or give it to the workers by their environment", f.Name)
		// --flag=false is the same as no flag.
		case carried != "" && f.Value.String() != "false":
			flags = append(flags, carried)
		}
	})
	if refused != nil {
		return refused
	}
	if k.question != "" && !o.Yes && !o.SkipPreview {
		return console.WithCode(console.CodeUsage,
			"a job in a queue cannot ask: pass --yes or --skip-preview")
	}
	ctx := cmd.Context()
	g, err := s.Open(ctx, a, fleet.Opening{Careful: true, Shown: true})
	if err != nil {
		return err
	}
	g = k.ordered(g)
	name := cmd.Name()
	if o.PlanOnly {
		// A job is named by its command, and `run --plan-only` is a preview that needs no stack.
		name = "preview"
	}
	return q.Submit(ctx, a, s, g, name, flags)
}
