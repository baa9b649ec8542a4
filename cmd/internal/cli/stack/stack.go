package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/schema"
)

// stackOptions are the flags of `stack` and its subcommands. One command runs in a process, so that its subcommands can
// share it.
type stackOptions struct {
	stack           string
	secretsProvider string
	noSelect        bool
	create          bool
	all             bool
	project         string // whose stacks to list
	json            bool
	showSecrets     bool
	showURNs        bool
	showIDs         bool
	page, pageSize  int    // flags of `stack history`
	why             string // likewise
	version         int    // version of the state to export; 0 means the present one
	showName        bool
	shell           bool
	file            string
	force           bool
	yes             bool
	preserveConfig  bool
	removeBackups   bool
}

// NewStack returns the command stack with its subcommands.
func NewStack(a *console.Console) *cobra.Command {
	o := &stackOptions{}
	cmd := &cobra.Command{
		Use: "stack", Short: "Show and manage stacks", Args: console.UnknownCommand,
		RunE: o.on(a, stackShow),
	}
	cmd.PersistentFlags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	get := &cobra.Command{Use: "get", Short: "Show a stack: its resources and its outputs", Args: console.NoArguments,
		RunE: cmd.RunE}
	for _, shown := range []*cobra.Command{cmd, get} {
		shown.Flags().BoolVarP(&o.showIDs, "show-ids", "i", false,
			"show the ids that providers have given, and default providers")
		shown.Flags().BoolVarP(&o.showURNs, "show-urns", "u", false, "show URNs, and default providers")
		shown.Flags().BoolVar(&o.showName, "show-name", false, "show the name and nothing else")
		shown.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show secret outputs in plain text")
	}
	cmd.AddCommand(get, newStackInit(a, o), newStackSelect(a, o), newStackList(a, o), newStackOutput(a, o),
		newStackExport(a, o), newStackImport(a, o), newStackRemove(a, o), newStackHistory(a, o), newStackUnselect(a, o),
		newStackRename(a, o), newStackTag(a, o), newStackGraph(a, o), newChangeSecretsProvider(a, o))
	return cmd
}

// newStackInit returns the command stack init.
func newStackInit(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "init [NAME]", Aliases: []string{"new", "create", "setup"}, Short: "Create a stack and select it",
		Args: cobra.MaximumNArgs(1),
		RunE: console.RunWith(a, stackInit, o, &o.stack),
	}
	cmd.Flags().StringVar(&o.secretsProvider, "secrets-provider", "default", console.SecretsProviderHelp())
	cmd.Flags().BoolVar(&o.noSelect, "no-select", false, "do not select the new stack")
	return cmd
}

// newStackSelect returns the command stack select.
func newStackSelect(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "select [NAME]", Short: "Choose the stack that commands act on", Args: cobra.MaximumNArgs(1),
		Long: "Without a name, a terminal shows the stacks to choose from, by typing a part of a name or by arrows.",
		RunE: console.RunWith(a, stackSelect, o, &o.stack),
	}
	cmd.Flags().BoolVarP(&o.create, "create", "c", false, "create the stack if it does not exist")
	cmd.Flags().StringVar(&o.secretsProvider, "secrets-provider", "default", "with --create: "+
		console.SecretsProviderHelp())
	return cmd
}

// newStackUnselect returns the command stack unselect.
func newStackUnselect(a *console.Console, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "unselect", Short: "Forget which stack was selected", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, b, err := a.Stacks().ProjectAndBackend()
			if err != nil {
				return err
			}
			return a.Stacks().Unselect(p, b)
		},
	}
}

// newStackRemove returns the command stack rm.
func newStackRemove(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm [NAME]", Aliases: []string{"remove", "delete"}, Short: "Remove a stack and its configuration",
		Args: cobra.MaximumNArgs(1),
		RunE: console.RunWith(a, stackRemove, o, &o.stack),
	}
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "remove it even if it has resources, which are left behind")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.preserveConfig, "preserve-config", false, "keep the stack's configuration file")
	cmd.Flags().BoolVar(&o.removeBackups, "remove-backups", false, "remove backups as well")
	return cmd
}

// on returns the body of a command that works on the chosen stack. The chosen stack exists: Current has an error for
// one that does not. Commands that must not find the stack missing go through here; init and select do not.
func (o *stackOptions) on(a *console.Console, body func(ctx context.Context, a *console.Console, o *stackOptions,
	s *console.Stack, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.Stacks().Current(cmd.Context(), o.stack)
		if err != nil {
			return err
		}
		return body(cmd.Context(), a, o, s, args)
	}
}

// stackInit creates a stack whose name may be asked for; it does not need Current, since nothing is there to be chosen.
func stackInit(ctx context.Context, a *console.Console, o *stackOptions) error {
	p, b, err := a.Stacks().ProjectAndBackend()
	if err != nil {
		return err
	}
	if o.stack == "" {
		if !a.Interactive() {
			return errors.New("missing stack name: yamlhost stack init NAME")
		}
		fmt.Fprint(a.Streams.Err, "stack name (dev): ")
		if o.stack, err = console.ReadLine(a.Streams.In); err != nil && o.stack == "" {
			return err
		}
		if o.stack == "" {
			o.stack = console.DefaultStack
		}
	}
	ref, err := b.ParseRef(o.stack, p.Name.Text)
	if err != nil {
		return err
	}
	if err := a.Stacks().Create(ctx, &console.Stack{Project: p, Backend: b, Ref: ref}, &o.secretsProvider,
		!o.noSelect); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "Created stack '%s'\n", ref.Stack)
	return nil
}

// stackSelect selects a stack. Under the name of Pulumi's CLI it never asks.
func stackSelect(ctx context.Context, a *console.Console, o *stackOptions) error {
	p, b, err := a.Stacks().ProjectAndBackend()
	if err != nil {
		return err
	}
	// The Pulumi CLI asks here as well, but tools that call it would wait for an answer forever.
	if o.stack == "" {
		if !a.Interactive() || a.World.AsPulumi {
			return console.WithCode(console.CodeUsage, "missing stack name: yamlhost stack select NAME")
		}
		_, err := a.Stacks().Pick(ctx, p, b, &o.secretsProvider)
		return err
	}
	ref, err := b.ParseRef(o.stack, p.Name.Text)
	if err != nil {
		return err
	}
	s := &console.Stack{Project: p, Backend: b, Ref: ref}
	exists, err := b.Exists(ref)
	switch {
	case err != nil:
		return err
	case exists:
		return a.Stacks().Select(s)
	// --create makes the command one that a script can repeat.
	case o.create:
		return a.Stacks().Create(ctx, s, &o.secretsProvider, true)
	}
	return console.NoSuchStack(ctx, b, ref)
}

// stackShow runs `stack` without a subcommand: it shows an overview of the chosen stack.
func stackShow(ctx context.Context, a *console.Console, o *stackOptions, s *console.Stack, _ []string) error {
	// The name is known without the state, which may be damaged or large.
	if o.showName {
		_, err := fmt.Fprintln(a.Streams.Out, s.Ref.Stack)
		return err
	}
	loaded, err := a.Stacks().Load(ctx, s, o.showSecrets)
	if err != nil {
		return err
	}
	out := a.Streams.Out
	fmt.Fprintf(out, "Current stack is %s:\n    Managed by %s\n", s.Ref.Stack, s.Backend.PublicURL())
	t := s.Backend.LastUpdate(ctx, s.Ref, loaded.Snapshot.Manifest.Time).UTC()
	if len(loaded.Snapshot.Resources) > 0 && !t.IsZero() {
		fmt.Fprintf(out, "    Last updated: %s\n", t.Format("2006-01-02 15:04:05 MST"))
	}
	fmt.Fprintf(out, "\nCurrent stack resources (%d):\n", len(loaded.Snapshot.Resources))
	if len(loaded.Snapshot.Resources) == 0 {
		fmt.Fprintln(out, "    No resources currently in this stack")
	}
	// Default providers appear only with URNs or IDs, which is what somebody looks for who wants them.
	terminal := a.Streams.OutTerminal
	inventory := view.InventoryOptions{Color: a.Color(terminal), Width: a.Streams.Width(terminal), URNs: o.showURNs,
		IDs: o.showIDs, Providers: o.showURNs || o.showIDs}
	view.WriteInventory(out, loaded.Snapshot, inventory)
	writePending(out, loaded)
	outputs := operation.StackOutputs(loaded.Snapshot)
	fmt.Fprintf(out, "\nCurrent stack outputs (%d):\n", outputs.Len())
	return writeOutputs(out, outputs, "    ", o.showSecrets)
}

// writePending shows what a run is doing, or was doing when it was interrupted. A lock that somebody holds tells the
// two apart.
func writePending(w io.Writer, loaded *backend.Loaded) {
	pending := loaded.Snapshot.Pending
	switch {
	case len(pending) == 0:
		return
	case len(loaded.Held) > 0:
		fmt.Fprintf(w, "\nUnder way (%d):\n", len(pending))
	default:
		fmt.Fprintf(w, "\nInterrupted (%d); the next `yamlhost up` settles it:\n", len(pending))
	}
	for _, op := range pending {
		fmt.Fprintf(w, "     %s %s (%s)\n", op.Kind, op.Resource.URN.Name(), schema.CollapseToken(op.Resource.Type))
	}
	if text := operation.AtWork(loaded.Recovered); text != "" && len(loaded.Held) == 0 {
		fmt.Fprintf(w, "     %s\n", text)
	}
}

// stackRemove removes the state first: if that is refused, because the stack has resources, its configuration must be
// there still. The file is edited under a lock that other commands respect, and a missing one is no fault.
func stackRemove(ctx context.Context, a *console.Console, o *stackOptions) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	options := backend.RemoveOptions{Force: o.force, Backups: o.removeBackups}
	if !o.yes && a.Interactive() { // refuse before the question; Remove looks again, with the lock
		if err := backend.Removable(ctx, s.Backend, s.Ref, options); err != nil {
			return err
		}
	}
	question := fmt.Sprintf("This will permanently remove the stack '%s'. Go on?", s.Ref.Stack)
	if err := a.Confirm(o.yes || a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "remove a stack", question); err != nil {
		return err
	}
	// Remove looks for resources under the lock, also with --yes. Only --force leaves them behind.
	if err := s.Backend.Remove(ctx, s.Ref, options); err != nil {
		return err
	}
	if !o.preserveConfig {
		path := s.Project.StackFile(s.Ref.Stack)
		release, err := a.Hold(path)
		if err != nil {
			return err
		}
		err = osfile.Remove(path)
		release()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the stack's configuration: %w", err)
		}
	}
	// The selection would name a stack that does not exist.
	selected, err := backend.SelectedStack(a.World.PulumiHome(), s.Project.Name.Text, s.Project.Path, s.Backend.URL())
	if err == nil && selected == s.Ref.QualifiedName() {
		err = a.Stacks().Unselect(s.Project, s.Backend)
	}
	fmt.Fprintf(a.Streams.Err, "Stack '%s' has been removed!\n", s.Ref.Stack)
	return err
}

// newStackRename returns the command stack rename.
func newStackRename(a *console.Console, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME", Short: "Give the stack another name", Args: cobra.ExactArgs(1),
		RunE: o.on(a, stackRename),
	}
}

// stackRename renames a stack and its settings file, and keeps the stack selected if it was (F6.14). Everything that
// can be refused is looked at before the state is renamed, since that cannot be undone for others who see the new name
// at once.
func stackRename(ctx context.Context, a *console.Console, _ *stackOptions, s *console.Stack, args []string) error {
	name := args[0]
	dst, err := s.Backend.ParseRef(name, s.Project.Name.Text)
	if err != nil {
		return err
	}
	// A plain name stays in the organization of the stack.
	if !strings.Contains(name, "/") {
		dst.Owner = s.Ref.Owner
	}
	// The program and the settings stay in this project.
	if dst.Project != s.Ref.Project {
		return fmt.Errorf("the stack %s would be of another project than this one, which is %s", name, s.Ref.Project)
	}
	old, next := s.Project.StackFile(s.Ref.Stack), s.Project.StackFile(dst.Stack)
	// The lock is that of the folder, which has the settings of both names.
	release, err := a.Hold(next)
	if err != nil {
		return err
	}
	defer func() { release() }()
	if exists, err := s.Backend.Exists(dst); err != nil {
		return err
	} else if exists {
		return &backend.ExistsError{Ref: dst}
	}
	// It may be the settings of a stack that exists elsewhere, or that will be created.
	if _, err := os.Stat(next); err == nil {
		return fmt.Errorf("there is a settings file %s already; move it away first", a.Short(next))
	}
	selected, err := backend.SelectedStack(a.World.PulumiHome(), s.Project.Name.Text, s.Project.Path, s.Backend.URL())
	if err != nil {
		return err
	}
	if err := s.Backend.Rename(ctx, s.Ref, dst); err != nil {
		return err
	}
	if err := osfile.Rename(old, next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rename the settings file: %w", err)
	}
	release()
	release = func() {} // the selection may be stored in the same folder
	if selected == s.Ref.QualifiedName() {
		if err := a.Stacks().Select(&console.Stack{Project: s.Project, Backend: s.Backend, Ref: dst}); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Streams.Err, "Renamed %s to %s\n", s.Ref.Stack, dst.Stack)
	return nil
}
