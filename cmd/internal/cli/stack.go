package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// stackOptions are the flags of `stack` and what is below it.
type stackOptions struct {
	stack           string
	name            string // of the stack to make, select or remove
	secretsProvider string
	noSelect        bool
	create          bool
	all             bool
	json            bool
	showSecrets     bool
	showURNs        bool
	showIDs         bool
	page, pageSize  int // of `stack history`
	showName        bool
	property        string
	shell           bool
	file            string
	force           bool
	yes             bool
	preserveConfig  bool
	removeBackups   bool
}

func newStack(a *app) *cobra.Command {
	o := &stackOptions{}
	cmd := &cobra.Command{
		Use: "stack", Short: "Show and manage stacks", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackShow(cmd.Context(), o) },
	}
	cmd.PersistentFlags().StringVarP(&o.stack, "stack", "s", "", "the stack; by default the selected one")
	cmd.Flags().BoolVarP(&o.showIDs, "show-ids", "i", false, "show the ids that providers have given")
	cmd.Flags().BoolVarP(&o.showURNs, "show-urns", "u", false, "show URNs")
	cmd.Flags().BoolVar(&o.showName, "show-name", false, "show the name and nothing else")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show secret outputs in plain text")
	cmd.AddCommand(newStackInit(a, o), newStackSelect(a, o), newStackList(a, o), newStackOutput(a, o), newStackExport(a, o),
		newStackImport(a, o), newStackRemove(a, o), newStackHistory(a, o), newStackUnselect(a, o),
		newStackRename(a, o), newStackTag(a, o), newStackGraph(a, o), newChangeSecretsProvider(a, o))
	return cmd
}

func newStackInit(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "init [NAME]", Aliases: []string{"new", "create"}, Short: "Create a stack and select it", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.nameFrom(args)
			return a.stackInit(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.secretsProvider, "secrets-provider", "default", secretsProviderHelp())
	cmd.Flags().BoolVar(&o.noSelect, "no-select", false, "do not select the new stack")
	return cmd
}

func newStackSelect(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "select [NAME]", Short: "Choose the stack that commands act on", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.nameFrom(args)
			return a.stackSelect(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.create, "create", "c", false, "create the stack if it does not exist")
	cmd.Flags().StringVar(&o.secretsProvider, "secrets-provider", "default", "with --create: "+secretsProviderHelp())
	return cmd
}

func newStackUnselect(a *app, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "unselect", Short: "Forget which stack was selected", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, b, err := a.projectAndBackend()
			if err != nil {
				return err
			}
			return backend.SelectStack(a.pulumiHome(), p.Name.Text, p.Path, b.URL(), "")
		},
	}
}

func newStackRemove(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm [NAME]", Aliases: []string{"remove"}, Short: "Remove a stack and its configuration", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.nameFrom(args)
			return a.stackRemove(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "remove it even if it has resources, which are left behind")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.preserveConfig, "preserve-config", false, "keep the stack's configuration file")
	cmd.Flags().BoolVar(&o.removeBackups, "remove-backups", false, "remove backups as well")
	return cmd
}

// nameFrom takes the stack's name from an argument or from --stack.
func (o *stackOptions) nameFrom(args []string) {
	if o.name = o.stack; len(args) > 0 {
		o.name = args[0]
	}
}

func (a *app) projectAndBackend() (*project.Project, *backend.Backend, error) {
	p, err := a.soundProject(a.world.Dir)
	if err != nil {
		return nil, nil, err
	}
	b, err := a.openBackend(p)
	return p, b, err
}

// currentStack opens the project of the working directory and its chosen stack.
func (a *app) currentStack(ctx context.Context, flag string) (*stack, error) {
	p, err := a.soundProject(a.world.Dir)
	if err != nil {
		return nil, err
	}
	return a.openStack(ctx, p, flag)
}

// createStack makes a stack in its backend. When provider asks for a passphrase or for a key, that is asked for now, and what comes
// of it goes into the stack's file and state; otherwise that waits for the first secret (D3, F4.15).
func (a *app) createStack(ctx context.Context, s *stack, provider *string, selected bool) error {
	kept, err := a.providerToCreate(s, provider)
	if err != nil {
		return err
	}
	if err := s.backend.Create(ctx, s.ref, kept); err != nil {
		return err
	}
	if !selected {
		return nil
	}
	return a.selectStack(s)
}

// providerToCreate decides how the secrets of a new stack are sealed, and puts that into its settings file. nil leaves it open.
func (a *app) providerToCreate(s *stack, provider *string) (*state.SecretsProvider, error) {
	if provider == nil {
		return nil, nil
	}
	release, err := a.hold(a.settingsPath(s.project, s.ref.Stack, ""))
	if err != nil {
		return nil, err
	}
	defer release()
	settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
	if err != nil {
		return nil, err
	}
	if err := a.report(diags); err != nil {
		return nil, err
	}
	keyed := secrets.IsKeyURL(*provider)
	if !keyed && *provider != secrets.TypePassphrase {
		return nil, nil
	}
	if exists, err := s.backend.Exists(s.ref); err != nil || exists { // before its settings are touched
		return nil, errors.Join(err, existsError(exists, s.ref))
	}
	if keyed && settings.SecretsProvider != *provider {
		settings.SecretsProvider, settings.EncryptedKey, settings.EncryptionSalt = *provider, "", ""
	}
	manager, err := a.heldManager(settings, s.ref.Stack)
	if err != nil {
		return nil, err
	}
	if _, err := manager.Encrypt("pulumi"); err != nil { // makes the salt, or proves the passphrase
		return nil, a.explainSecret(err, s.ref.Stack)
	}
	return &state.SecretsProvider{Type: manager.Type(), State: manager.State()}, nil
}

func existsError(exists bool, ref backend.Ref) error {
	if exists {
		return &backend.ExistsError{Ref: ref}
	}
	return nil
}

func (a *app) stackInit(ctx context.Context, o *stackOptions) error {
	p, b, err := a.projectAndBackend()
	if err != nil {
		return err
	}
	if o.name == "" {
		if !a.interactive() {
			return errors.New("missing stack name: yamlhost stack init NAME")
		}
		fmt.Fprint(a.streams.Err, "stack name (dev): ")
		if o.name, err = readLine(a.streams.In); err != nil && o.name == "" {
			return err
		}
		if o.name == "" {
			o.name = defaultStack
		}
	}
	ref, err := backend.ParseRef(o.name, p.Name.Text)
	if err != nil {
		return err
	}
	if err := a.createStack(ctx, &stack{project: p, backend: b, ref: ref}, &o.secretsProvider, !o.noSelect); err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "Created stack '%s'\n", ref.Stack)
	return nil
}

func (a *app) stackSelect(ctx context.Context, o *stackOptions) error {
	p, b, err := a.projectAndBackend()
	if err != nil {
		return err
	}
	if o.name == "" {
		return withCode(codeUsage, "missing stack name: yamlhost stack select NAME")
	}
	ref, err := backend.ParseRef(o.name, p.Name.Text)
	if err != nil {
		return err
	}
	s := &stack{project: p, backend: b, ref: ref}
	exists, err := b.Exists(ref)
	switch {
	case err != nil:
		return err
	case exists:
		return a.selectStack(s)
	case o.create:
		return a.createStack(ctx, s, &o.secretsProvider, true)
	}
	return a.noSuchStack(ctx, b, ref)
}

// stackShow is bare `stack`: an overview of the chosen one.
func (a *app) stackShow(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	if o.showName {
		_, err := fmt.Fprintln(a.streams.Out, s.ref.Stack)
		return err
	}
	loaded, err := a.loadState(ctx, s, o.showSecrets)
	if err != nil {
		return err
	}
	out := a.streams.Out
	fmt.Fprintf(out, "Current stack is %s:\n    Managed by %s\n", s.ref.Stack, s.backend.URL())
	if at := loaded.Snapshot.Manifest.Time; len(loaded.Snapshot.Resources) > 0 {
		fmt.Fprintf(out, "    Last updated: %s\n", at.Format("2006-01-02 15:04:05 MST"))
	}
	fmt.Fprintf(out, "Current stack resources (%d):\n", len(loaded.Snapshot.Resources))
	if err := writeResources(out, loaded.Snapshot, o.showURNs, o.showIDs); err != nil {
		return err
	}
	for _, op := range loaded.Snapshot.Pending {
		fmt.Fprintf(out, "    pending: %s was interrupted while %s\n", op.Resource.URN.Name(), op.Kind)
	}
	outputs := stackOutputs(loaded.Snapshot)
	fmt.Fprintf(out, "\nCurrent stack outputs (%d):\n", outputs.Len())
	return writeOutputs(out, outputs, "    ", o.showSecrets)
}

func writeResources(w io.Writer, s *state.Snapshot, urns, ids bool) error {
	if len(s.Resources) == 0 {
		_, err := fmt.Fprintln(w, "    No resources currently in this stack")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "    TYPE\tNAME")
	for _, r := range s.Resources {
		fmt.Fprintf(tw, "    %s\t%s", r.Type, r.URN.Name())
		if urns {
			fmt.Fprintf(tw, "\t%s", r.URN)
		}
		if ids && r.ID != "" {
			fmt.Fprintf(tw, "\t%s", r.ID)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// loadState reads a stack's state, secrets sealed unless they are to be shown (F4.16).
func (a *app) loadState(ctx context.Context, s *stack, open bool) (*backend.Loaded, error) {
	var opener state.Opener
	if open {
		var err error
		if opener, err = a.openerOf(s); err != nil {
			return nil, err
		}
	}
	loaded, err := s.backend.Load(ctx, s.ref, opener)
	if err != nil {
		return nil, a.explainSecret(err, s.ref.Stack)
	}
	return loaded, nil
}

func (a *app) openerOf(s *stack) (state.Opener, error) {
	settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, a.report(diags)
	}
	vault, err := a.manager(settings, s.ref.Stack)
	if err != nil {
		return nil, err
	}
	return vault.opener, nil
}

func (a *app) stackRemove(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.name)
	if err != nil {
		return err
	}
	if !o.yes && !a.world.envTrue("PULUMI_SKIP_CONFIRMATIONS") {
		if !a.interactive() {
			return withCode(codeUsage, "--yes must be passed in to remove a stack when running in non-interactive mode")
		}
		if err := a.confirm(fmt.Sprintf("This will permanently remove the stack '%s'. Go on?", s.ref.Stack)); err != nil {
			return err
		}
	}
	if err := s.backend.Remove(ctx, s.ref, backend.RemoveOptions{Force: o.force, Backups: o.removeBackups}); err != nil {
		return err
	}
	if !o.preserveConfig {
		path := s.project.StackFile(s.ref.Stack)
		release, err := a.hold(path)
		if err != nil {
			return err
		}
		err = os.Remove(path)
		release()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the stack's configuration: %w", err)
		}
	}
	selected, err := backend.SelectedStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL())
	if err == nil && selected == s.ref.QualifiedName() {
		err = backend.SelectStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL(), "")
	}
	fmt.Fprintf(a.streams.Err, "Stack '%s' has been removed!\n", s.ref.Stack)
	return err
}
