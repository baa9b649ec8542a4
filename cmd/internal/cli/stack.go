package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
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
	cmd.Flags().BoolVar(&o.showURNs, "show-urns", false, "show URNs")
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

func newStackList(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the project's stacks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackList(cmd.Context(), o) },
	}
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "list the stacks of all projects")
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

func newStackOutput(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "output [NAME]", Short: "Show the stack's outputs", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.property = args[0]
			}
			return a.stackOutput(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&o.shell, "shell", false, "write lines that a shell can read")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "show secrets in plain text")
	return cmd
}

func newStackExport(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Write the stack's state as JSON", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackExport(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.file, "file", "", "write to this file instead of standard output")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "write secrets in plain text")
	return cmd
}

func newStackImport(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import", Short: "Replace the stack's state by an exported one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackImport(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.file, "file", "", "read from this file instead of standard input")
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "import even a state that is not sound")
	return cmd
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

func newStackHistory(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "Show what was done to the stack, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stackHistory(cmd.Context(), o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
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
	var kept *state.SecretsProvider
	if provider != nil {
		settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
		if err != nil {
			return err
		}
		if err := a.report(diags); err != nil {
			return err
		}
		switch keyed := secrets.IsKeyURL(*provider); {
		case keyed || *provider == secrets.TypePassphrase:
			if exists, err := s.backend.Exists(s.ref); err != nil || exists { // before its settings are touched
				return errors.Join(err, existsError(exists, s.ref))
			}
			if keyed && settings.SecretsProvider != *provider {
				settings.SecretsProvider, settings.EncryptedKey, settings.EncryptionSalt = *provider, "", ""
			}
			manager, err := a.manager(settings, s.ref.Stack)
			if err != nil {
				return err
			}
			if _, err := manager.Encrypt("pulumi"); err != nil { // makes the salt, or proves the passphrase
				return a.explainSecret(err, s.ref.Stack)
			}
			kept = &state.SecretsProvider{Type: manager.Type(), State: manager.State()}
		}
	}
	if err := s.backend.Create(ctx, s.ref, kept); err != nil {
		return err
	}
	if !selected {
		return nil
	}
	return a.selectStack(s)
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

// stackRecord is a stack in the JSON of `stack ls` (F7.12).
type stackRecord struct {
	Name             string  `json:"name"`
	Current          bool    `json:"current"`
	LastUpdate       string  `json:"lastUpdate,omitempty"`
	UpdateInProgress bool    `json:"updateInProgress"`
	ResourceCount    *int    `json:"resourceCount,omitempty"`
	URL              *string `json:"url,omitempty"`
}

func (a *app) stackList(ctx context.Context, o *stackOptions) error {
	var p *project.Project
	found, diags, err := a.openProject(a.world.Dir)
	switch {
	case err == nil && !diags.HasErrors():
		p = found
	case !o.all && err != nil:
		return err
	case !o.all:
		return a.report(diags)
	}
	b, err := a.openBackend(p)
	if err != nil {
		return err
	}
	name, current := "", backend.Ref{}
	if p != nil {
		if current, _, err = a.chosenStack(b, p, o.stack); err != nil {
			current = backend.Ref{}
		}
		if !o.all {
			name = p.Name.Text
		}
	}
	refs, err := b.Stacks(ctx, name)
	if err != nil {
		return err
	}
	records := make([]stackRecord, 0, len(refs))
	for _, ref := range refs {
		records = append(records, a.describeStack(ctx, b, ref, ref == current, o.all))
	}
	if o.json {
		return a.writeJSON(records)
	}
	tw := tabwriter.NewWriter(a.streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tLAST UPDATE\tRESOURCE COUNT")
	for _, r := range records {
		mark, last, resources := "", "n/a", "n/a"
		if r.Current {
			mark = "*"
		}
		if at, err := time.Parse(timeFormat, r.LastUpdate); err == nil {
			last = at.Format("2006-01-02 15:04:05 MST")
		}
		if r.ResourceCount != nil {
			resources = strconv.Itoa(*r.ResourceCount)
		}
		fmt.Fprintf(tw, "%s%s\t%s\t%s\n", r.Name, mark, last, resources)
	}
	return tw.Flush()
}

// timeFormat is RFC 3339 with milliseconds, in UTC (F7.12).
const timeFormat = "2006-01-02T15:04:05.000Z"

// describeStack reads what is known of a stack without its secrets; what cannot be read is left out.
func (a *app) describeStack(ctx context.Context, b *backend.Backend, ref backend.Ref, current, qualified bool) stackRecord {
	r := stackRecord{Name: ref.Stack, Current: current}
	if qualified {
		r.Name = ref.QualifiedName()
	}
	if loaded, err := b.Load(ctx, ref, nil); err == nil {
		n := len(loaded.Snapshot.Resources)
		if at := loaded.Snapshot.Manifest.Time; n > 0 || len(loaded.Snapshot.Pending) > 0 {
			r.LastUpdate, r.ResourceCount = at.UTC().Format(timeFormat), &n
		} else if history, err := b.History(ctx, ref, 1); err == nil && len(history) > 0 {
			r.LastUpdate, r.ResourceCount = time.Unix(history[0].EndTime, 0).UTC().Format(timeFormat), &n
		}
	}
	if locks, err := b.Locks(ref); err == nil {
		r.UpdateInProgress = len(locks) > 0
	}
	return r
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
	if err := writeResources(out, loaded.Snapshot, o.showURNs); err != nil {
		return err
	}
	for _, op := range loaded.Snapshot.Pending {
		fmt.Fprintf(out, "    pending: %s was interrupted while %s\n", op.Resource.URN.Name(), op.Kind)
	}
	outputs := stackOutputs(loaded.Snapshot)
	fmt.Fprintf(out, "\nCurrent stack outputs (%d):\n", outputs.Len())
	return writeOutputs(out, outputs, "    ", o.showSecrets)
}

func writeResources(w io.Writer, s *state.Snapshot, urns bool) error {
	if len(s.Resources) == 0 {
		_, err := fmt.Fprintln(w, "    No resources currently in this stack")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "    TYPE\tNAME")
	for _, r := range s.Resources {
		if urns {
			fmt.Fprintf(tw, "    %s\t%s\t%s\n", r.Type, r.URN.Name(), r.URN)
		} else {
			fmt.Fprintf(tw, "    %s\t%s\n", r.Type, r.URN.Name())
		}
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

// stackOutputs are a stack's outputs, a map.
func stackOutputs(s *state.Snapshot) value.Value {
	for _, r := range s.Resources {
		if r.Type == urn.RootStackType && !r.Delete {
			if r.Outputs.Is(value.KindMap) {
				return r.Outputs
			}
		}
	}
	return value.EmptyMap()
}

// plainOf is a value as plain data for JSON; secrets are hidden unless they are to be shown.
func plainOf(v value.Value, showSecrets bool) any {
	if v.IsSecret() && !showSecrets {
		return hiddenSecret
	}
	if !v.IsKnown() {
		return nil
	}
	if items, ok := v.AsList(); ok {
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = plainOf(item, showSecrets)
		}
		return list
	}
	if v.Kind() == value.KindMap {
		m := map[string]any{}
		for i, k := range v.Keys() {
			m[k] = plainOf(v.At(i), showSecrets)
		}
		return m
	}
	if b, ok := v.AsBool(); ok {
		return b
	}
	if n, ok := v.AsNumber(); ok {
		return n
	}
	if s, ok := v.AsString(); ok {
		return s
	}
	if r, ok := v.AsResource(); ok {
		return string(r.URN)
	}
	if asset, ok := v.AsAsset(); ok {
		return map[string]any{"asset": asset.Text + asset.Path + asset.URI, "hash": asset.Hash}
	}
	if archive, ok := v.AsArchive(); ok {
		return map[string]any{"archive": archive.Path + archive.URI, "hash": archive.Hash}
	}
	return nil
}

// outputText is an output as people see it: text raw, everything else as JSON (F7.12).
func outputText(v value.Value, showSecrets bool) (string, error) {
	plain := plainOf(v, showSecrets)
	if text, ok := plain.(string); ok {
		return text, nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(plain)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func writeOutputs(w io.Writer, outputs value.Value, indent string, showSecrets bool) error {
	if outputs.Len() == 0 {
		_, err := fmt.Fprintln(w, indent+"No output values currently in this stack")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%sOUTPUT\tVALUE\n", indent)
	for i, name := range outputs.Keys() {
		text, err := outputText(outputs.At(i), showSecrets)
		if err != nil {
			return err
		}
		if strings.ContainsAny(text, "\n\t") {
			text = strconv.Quote(text) // one line each
		}
		fmt.Fprintf(tw, "%s%s\t%s\n", indent, name, text)
	}
	return tw.Flush()
}

func (a *app) stackOutput(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	if o.json && o.shell {
		return errors.New("--json and --shell exclude each other")
	}
	loaded, err := a.loadState(ctx, s, o.showSecrets)
	if err != nil {
		return err
	}
	outputs := stackOutputs(loaded.Snapshot)
	if o.property != "" {
		return a.oneOutput(s, outputs, o)
	}
	switch {
	case o.json:
		return a.writeJSON(plainOf(outputs.Public(), o.showSecrets))
	case o.shell:
		for i, name := range outputs.Keys() {
			text, err := outputText(outputs.At(i), o.showSecrets)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.streams.Out, "%s='%s'\n", name, strings.ReplaceAll(text, "'", `'\''`))
		}
		return nil
	}
	fmt.Fprintf(a.streams.Out, "Current stack outputs (%d):\n", outputs.Len())
	return writeOutputs(a.streams.Out, outputs, "    ", o.showSecrets)
}

func (a *app) oneOutput(s *stack, outputs value.Value, o *stackOptions) error {
	v, found := outputs.Lookup(o.property)
	if !found {
		text := fmt.Sprintf("stack %s has no output %q", s.ref.Stack, o.property)
		if near := diag.Suggest(o.property, outputs.Keys()); len(near) > 0 {
			text += fmt.Sprintf("; did you mean %s?", near[0])
		}
		return errors.New(text)
	}
	if o.json {
		return a.writeJSON(plainOf(v, o.showSecrets))
	}
	text, err := outputText(v, o.showSecrets)
	if err != nil {
		return err
	}
	if o.shell {
		text = fmt.Sprintf("%s='%s'", o.property, strings.ReplaceAll(text, "'", `'\''`))
	}
	_, err = fmt.Fprintln(a.streams.Out, text)
	return err
}

func (a *app) stackExport(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	var opener state.Opener
	if o.showSecrets {
		if opener, err = a.openerOf(s); err != nil {
			return err
		}
	}
	text, err := s.backend.Export(ctx, s.ref, opener)
	if err != nil {
		return a.explainSecret(err, s.ref.Stack)
	}
	if o.file != "" {
		if err := os.WriteFile(a.path(o.file), text, 0o600); err != nil {
			return fmt.Errorf("write the exported state: %w", err)
		}
		return nil
	}
	_, err = a.streams.Out.Write(text)
	return err
}

func (a *app) stackImport(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	var text []byte
	if o.file != "" {
		text, err = os.ReadFile(a.path(o.file))
	} else {
		text, err = io.ReadAll(a.streams.In)
	}
	if err != nil {
		return fmt.Errorf("read the state to import: %w", err)
	}
	settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
	if err != nil {
		return err
	}
	if err := a.report(diags); err != nil {
		return err
	}
	vault, err := a.manager(settings, s.ref.Stack)
	if err != nil {
		return err
	}
	done, err := s.backend.Import(ctx, s.ref, text, backend.ImportOptions{
		Force: o.force, Begin: backend.BeginOptions{Command: "import", Secrets: vault, Open: vault.opener},
	})
	if err != nil {
		return a.explainSecret(err, s.ref.Stack)
	}
	for _, warning := range done.Warnings {
		fmt.Fprintf(a.streams.Err, "warning: %s\n", warning)
	}
	for _, op := range done.Dropped {
		fmt.Fprintf(a.streams.Err, "warning: removing pending operation '%s' on '%s' from snapshot\n", op.Kind, op.Resource.URN)
	}
	fmt.Fprintln(a.streams.Err, "Import complete.")
	return nil
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
		if err := os.Remove(s.project.StackFile(s.ref.Stack)); err != nil && !errors.Is(err, os.ErrNotExist) {
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

// historyRecord is an operation in the JSON of `stack history` (F7.12).
type historyRecord struct {
	Kind            string                  `json:"kind"`
	StartTime       string                  `json:"startTime"`
	Message         string                  `json:"message"`
	Environment     map[string]string       `json:"environment"`
	Config          map[string]configRecord `json:"config"`
	Result          string                  `json:"result"`
	EndTime         string                  `json:"endTime"`
	ResourceChanges map[string]int          `json:"resourceChanges,omitempty"`
}

func (a *app) stackHistory(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	records, err := s.backend.History(ctx, s.ref, 0)
	if err != nil {
		return err
	}
	if o.json {
		list := make([]historyRecord, len(records))
		for i, r := range records {
			list[i] = historyRecord{Kind: r.Kind, Message: r.Message, Environment: r.Environment, Result: r.Result, ResourceChanges: r.ResourceChanges,
				StartTime: time.Unix(r.StartTime, 0).UTC().Format(timeFormat), EndTime: time.Unix(r.EndTime, 0).UTC().Format(timeFormat),
				Config: configOfHistory(r.Config)}
		}
		return a.writeJSON(list)
	}
	for _, r := range records {
		var changes []string
		for op, n := range r.ResourceChanges {
			changes = append(changes, fmt.Sprintf("%s %d", op, n))
		}
		slices.Sort(changes)
		fmt.Fprintf(a.streams.Out, "%s  %s %s  %s  %s\n", time.Unix(r.StartTime, 0).UTC().Format("2006-01-02 15:04:05"), r.Kind, r.Result,
			strings.Join(changes, ", "), r.Message)
	}
	return nil
}

// configOfHistory is the configuration of a record in the form of `config --json`, secrets hidden.
func configOfHistory(config map[string]json.RawMessage) map[string]configRecord {
	records := make(map[string]configRecord, len(config))
	for key, raw := range config {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			records[key] = configRecord{Value: &text}
			continue
		}
		secret := strings.Contains(string(raw), `"secure":`)
		record := configRecord{Secret: secret}
		if !secret {
			whole := string(raw)
			record.Value, record.ObjectValue = &whole, json.RawMessage(raw)
		}
		records[key] = record
	}
	return records
}
