package fleet

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/workspace/project"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Selection holds the flags that determine which projects a command processes, and how many at the same time.
type Selection struct {
	All        bool
	Dirs       []string // folders of projects; with All at most one, the root
	Filters    []string
	AffectedBy string
	Jobs       string
	Resume     bool
	Stack      string // stack of every project; empty means each project's chosen one
}

// Register adds the flags to a command. resumable adds --resume, for commands that change something.
func (s *Selection) Register(cmd *cobra.Command, resumable bool) {
	f := cmd.Flags()
	f.BoolVar(&s.All, "all", false, "every project below a folder, in the order of their references")
	f.StringArrayVar(&s.Filters, "filter", nil,
		"only projects that match path=GLOB, name=GLOB or tag=NAME:GLOB; a ! in front negates it; may be repeated")
	f.StringVar(&s.AffectedBy, "affected-by", "",
		"only projects that a range of git commits changes, such as main...HEAD, and their dependants")
	f.StringVar(&s.Jobs, "jobs", "", "how many stacks run at the same time, in total and per provider, such as 8,aws=2")
	if resumable {
		f.BoolVar(&s.Resume, "resume", false, "skip what the same command finished before it was interrupted")
	}
}

// Several reports whether the command concerns more than one project; words are its arguments.
func (s *Selection) Several(words []string) bool {
	return s.All || len(words) > 1 || len(s.Filters) > 0 || s.AffectedBy != "" || s.Resume
}

// Opening holds options of Open.
type Opening struct {
	Careful bool // open no backend except folders on this machine
	Shown   bool // report what the order does not take into account
}

// Open finds the projects and orders them. It reports cycles, stacks that two projects define, and references to stacks
// that no project defines; they end the command.
func (s *Selection) Open(ctx context.Context, a *console.Console, o Opening) (*projects.Graph, error) {
	g, diags, err := s.Find(ctx, a, o)
	if err != nil {
		return nil, err
	}
	for _, m := range g.Members {
		diags.Add(m.Diags...)
	}
	if err := a.Report(diags); err != nil {
		return nil, err
	}
	return g, nil
}

// Find is like Open, but returns the findings, except those about project files alone, instead of reporting them.
func (s *Selection) Find(ctx context.Context, a *console.Console, o Opening) (*projects.Graph, diag.Diagnostics,
	error) {
	root, dirs, err := s.folders(a)
	if err != nil {
		return nil, nil, err
	}
	choose := func(p *project.Project) (string, error) { return s.stackOf(a, p, o.Careful) }
	members, err := projects.OpenAll(root, dirs, projects.Options{Shown: a.Short, Texts: a.Looking().Texts,
		Stack: choose, Settings: func(p *project.Project, stack string) (*project.Settings, diag.Diagnostics, error) {
			settings, diags, err := a.LoadSettings(p, stack, "")
			if err == nil {
				diags.Add(a.Inherit(p, settings, s.Stack)...)
			}
			return settings, diags, err
		}})
	if err != nil {
		return nil, nil, console.AdviseProject(err)
	}
	if len(members) == 0 {
		return nil, nil, fmt.Errorf("there is no project below %s", a.Short(root))
	}
	g, diags := projects.Link(members)
	keep, err := s.keep(ctx, a, root, g)
	if err != nil {
		return nil, nil, err
	}
	if len(keep) == 0 {
		fmt.Fprintf(a.Streams.Err, "None of %s matches --filter and --affected-by: there is nothing to do\n",
			diag.Count(len(members), "project"))
	}
	exists := func(ref projects.Reference) (bool, error) {
		b, err := a.Backends().Open(members[0].Project)
		if err != nil {
			return false, err
		}
		return b.Exists(backend.Ref{Project: ref.Project, Stack: ref.Stack})
	}
	if o.Careful {
		exists = nil
	}
	lost, err := g.Lost(keep, exists)
	if err != nil {
		return nil, nil, err
	}
	diags.Add(lost...)
	if g = g.Only(keep); o.Shown {
		diags.Add(g.Unordered()...)
	}
	return g, diags, nil
}

// folders returns the root folder and the project folders to open.
func (s *Selection) folders(a *console.Console) (root string, dirs []string, err error) {
	root = a.World.Dir
	if s.All {
		if len(s.Dirs) > 1 {
			return "", nil, console.WithCode(console.CodeBadUsage, "--all takes one folder, and there are %d", len(s.Dirs))
		}
		if len(s.Dirs) == 1 {
			root = a.Path(s.Dirs[0])
		}
		if err := console.MustBeDir(a, root); err != nil {
			return "", nil, err
		}
		dirs, err = projects.Find(root)
		return root, dirs, err
	}
	for _, word := range s.Dirs {
		if err := console.MustBeDir(a, a.Path(word)); err != nil {
			return "", nil, err
		}
		dirs = append(dirs, a.Path(word))
	}
	if len(dirs) == 0 {
		return "", nil, console.WithCode(console.CodeBadUsage,
			"--filter, --affected-by and --resume choose among projects: name their folders, or use --all")
	}
	return root, dirs, nil
}

// keep returns the indexes of the members that pass the filters.
func (s *Selection) keep(ctx context.Context, a *console.Console, root string, g *projects.Graph) ([]int, error) {
	filters := make([]projects.Filter, len(s.Filters))
	for i, text := range s.Filters {
		filters[i], _ = projects.ParseFilter(text) // Check has found no error
	}
	keep := g.Select(filters)
	if s.AffectedBy == "" {
		return keep, nil
	}
	files, err := changedFiles(ctx, a, root, s.AffectedBy)
	if err != nil {
		return nil, err
	}
	affected := g.Affected(files)
	return slices.DeleteFunc(keep, func(i int) bool { return !slices.Contains(affected, i) }), nil
}

// stackOf returns the name of the stack that a command works on in a project: the one given by the flag or the
// environment, the selected one, or the default.
func (s *Selection) stackOf(a *console.Console, p *project.Project, careful bool) (string, error) {
	if name := cmp.Or(s.Stack, a.World.Getenv("PULUMI_STACK")); name != "" {
		ref, err := backend.ParseName(name, p.Name.Text)
		return ref.Stack, err
	}
	b := a.Backends().Local(p)
	if !careful {
		var err error
		if b, err = a.Backends().Open(p); err != nil {
			return "", err
		}
	}
	if b == nil {
		return console.DefaultStack, nil
	}
	ref, chosen, err := a.Stacks().Chosen(b, p, "")
	if err != nil || chosen {
		return ref.Stack, err
	}
	return console.DefaultStack, nil
}

// Check returns an error for values that the flags do not take.
func (s *Selection) Check() error {
	for _, text := range s.Filters {
		if _, err := projects.ParseFilter(text); err != nil {
			return console.WithCode(console.CodeBadUsage, "%w", err)
		}
	}
	_, err := s.Limits()
	return err
}

// Limits returns the limits of --jobs. By default as many stacks run at once as the machine has processors, but at
// least four, as they mostly wait for providers.
func (s *Selection) Limits() (Limits, error) {
	l, err := ParseLimits(s.Jobs, max(4, runtime.NumCPU()))
	if err != nil {
		return l, console.WithCode(console.CodeBadUsage, "%w", err)
	}
	return l, nil
}

// Root returns the root folder of the selection, which identifies a command's record.
func (s *Selection) Root(a *console.Console) string {
	if s.All && len(s.Dirs) == 1 {
		return a.Path(s.Dirs[0])
	}
	return filepath.Clean(a.World.Dir)
}
