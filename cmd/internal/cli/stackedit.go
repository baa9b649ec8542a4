package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func newStackRename(a *app, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME", Short: "Give the stack another name", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.stackRename(cmd.Context(), o, args[0]) },
	}
}

// stackRename renames a stack with its settings file, and the selection if it was selected (F6.14).
func (a *app) stackRename(ctx context.Context, o *stackOptions, name string) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	to, err := backend.ParseRef(name, s.project.Name.Text)
	if err != nil {
		return err
	}
	if to.Project != s.ref.Project {
		return fmt.Errorf("the stack %s would be of another project than this one, which is %s", name, s.ref.Project)
	}
	old, next := s.project.StackFile(s.ref.Stack), s.project.StackFile(to.Stack)
	if _, err := os.Stat(next); err == nil {
		return fmt.Errorf("there is a settings file %s already; move it away first", a.short(next))
	}
	selected, err := backend.SelectedStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL())
	if err != nil {
		return err
	}
	if err := s.backend.Rename(ctx, s.ref, to); err != nil {
		return err
	}
	if err := os.Rename(old, next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rename the settings file: %w", err)
	}
	if selected == s.ref.QualifiedName() {
		if err := backend.SelectStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL(), to.QualifiedName()); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.streams.Err, "Renamed %s to %s\n", s.ref.Stack, to.Stack)
	return nil
}

func newStackTag(a *app, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tag", Short: "Show and change the stack's tags", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List tags", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tagList(cmd.Context(), o) }}
	list.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.AddCommand(list,
		&cobra.Command{Use: "get NAME", Short: "Show a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return a.tagGet(cmd.Context(), o, args[0]) }},
		&cobra.Command{Use: "set NAME VALUE", Short: "Set a tag", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.tagChange(cmd.Context(), o, func(tags map[string]string) error {
					tags[args[0]] = args[1]
					return nil
				})
			}},
		&cobra.Command{Use: "rm NAME", Aliases: []string{"remove"}, Short: "Remove a tag", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.tagChange(cmd.Context(), o, func(tags map[string]string) error {
					if _, found := tags[args[0]]; !found {
						return fmt.Errorf("the stack has no tag %q", args[0])
					}
					delete(tags, args[0])
					return nil
				})
			}})
	return cmd
}

func (a *app) tagList(ctx context.Context, o *stackOptions) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	tags, err := s.backend.Tags(s.ref)
	if err != nil {
		return err
	}
	if o.json {
		return a.writeJSON(tags)
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(a.streams.Out, "%s\t%s\n", name, tags[name])
	}
	return nil
}

func (a *app) tagGet(ctx context.Context, o *stackOptions, name string) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	tags, err := s.backend.Tags(s.ref)
	if err != nil {
		return err
	}
	text, found := tags[name]
	if !found {
		return fmt.Errorf("the stack has no tag %q", name)
	}
	_, err = fmt.Fprintln(a.streams.Out, text)
	return err
}

func (a *app) tagChange(ctx context.Context, o *stackOptions, change func(map[string]string) error) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	tags, err := s.backend.Tags(s.ref)
	if err != nil {
		return err
	}
	if err := change(tags); err != nil {
		return err
	}
	return s.backend.SetTags(s.ref, tags)
}

// stackGraphOptions are the flags of `stack graph`.
type stackGraphOptions struct {
	ignoreParents, ignoreDependencies, shortNames bool
	dependencyColor, parentColor, fragment        string
}

func newStackGraph(a *app, o *stackOptions) *cobra.Command {
	g := &stackGraphOptions{}
	cmd := &cobra.Command{
		Use: "graph [FILE]", Short: "Write the graph of what is in the state, in DOT", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.file = args[0]
			}
			return a.stackGraph(cmd.Context(), o, g)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&g.ignoreParents, "ignore-parent-edges", false, "leave out who is whose parent")
	f.BoolVar(&g.ignoreDependencies, "ignore-dependency-edges", false, "leave out who depends on whom")
	f.BoolVar(&g.shortNames, "short-node-name", false, "show names instead of URNs")
	f.StringVar(&g.dependencyColor, "dependency-edge-color", "#246C60", "the colour of dependencies")
	f.StringVar(&g.parentColor, "parent-edge-color", "#AA6639", "the colour of parents")
	f.StringVar(&g.fragment, "dot-fragment", "", "text to put in front of all nodes")
	return cmd
}

func (a *app) stackGraph(ctx context.Context, o *stackOptions, g *stackGraphOptions) (err error) {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	loaded, err := a.loadState(ctx, s, false)
	if err != nil {
		return err
	}
	out := a.streams.Out
	if o.file != "" {
		f, err := os.Create(a.path(o.file))
		if err != nil {
			return fmt.Errorf("write the graph: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	return writeStateDOT(out, loaded.Snapshot, g)
}

// writeStateDOT writes resources as nodes; edges go from what is needed to what needs it.
func writeStateDOT(w io.Writer, s *state.Snapshot, g *stackGraphOptions) error {
	var b strings.Builder
	b.WriteString("strict digraph {\n")
	if g.fragment != "" {
		b.WriteString("    " + g.fragment + "\n")
	}
	number := map[string]int{}
	for i, r := range s.Resources {
		if r.Delete {
			continue
		}
		number[string(r.URN)] = i
		label := string(r.URN)
		if g.shortNames {
			label = r.URN.Name()
		}
		fmt.Fprintf(&b, "    Resource%d [label=%q];\n", i, label)
	}
	for i, r := range s.Resources {
		if r.Delete {
			continue
		}
		if at, found := number[string(r.Parent)]; found && !g.ignoreParents {
			fmt.Fprintf(&b, "    Resource%d -> Resource%d [color = %q];\n", at, i, g.parentColor)
		}
		for _, u := range r.Dependencies {
			if at, found := number[string(u)]; found && !g.ignoreDependencies {
				fmt.Fprintf(&b, "    Resource%d -> Resource%d [color = %q, label = %q];\n", at, i, g.dependencyColor, strings.Join(via(r, string(u)), ", "))
			}
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// via are the properties by which r depends on a resource.
func via(r *state.Resource, u string) []string {
	var keys []string
	for key, urns := range r.PropertyDependencies {
		for _, x := range urns {
			if string(x) == u {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func newChangeSecretsProvider(a *app, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "change-secrets-provider PROVIDER", Short: "Seal the stack's secrets anew", Args: cobra.ExactArgs(1),
		Long: "change-secrets-provider opens all secrets of the stack's configuration and state and seals them anew, with a new\n" +
			"passphrase or with a key that a key service keeps: PROVIDER is passphrase, default, or the URL of a key. A new passphrase is\n" +
			"asked for on a terminal and else read from the first line of standard input; the old one comes from\n" +
			"PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeSecretsProvider(cmd.Context(), o, args[0])
		},
	}
}

func (a *app) changeSecretsProvider(ctx context.Context, o *stackOptions, provider string) error {
	s, err := a.currentStack(ctx, o.stack)
	if err != nil {
		return err
	}
	settings, diags, err := a.loadSettings(s.project, s.ref.Stack, "")
	if err != nil {
		return err
	}
	if err := a.report(diags); err != nil {
		return err
	}
	old, err := a.manager(settings, s.ref.Stack)
	if err != nil {
		return err
	}
	next, adopt, err := a.newManager(provider, s.ref.Stack)
	if err != nil {
		return err
	}
	begin := backend.BeginOptions{Command: "stack change-secrets-provider", Secrets: next, Open: old.opener}
	err = s.backend.Edit(ctx, s.ref, begin, func(base *state.Snapshot) (*state.Snapshot, error) {
		// The configuration is sealed first, and written last: a fault in between leaves it as it was.
		if err := reseal(settings, old, next); err != nil {
			return nil, a.explainSecret(err, s.ref.Stack)
		}
		changed := *base
		return &changed, nil
	})
	if err != nil {
		return a.explainSecret(err, s.ref.Stack)
	}
	with := adopt(settings)
	if err := settings.Save(); err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "The secrets of the stack are sealed with %s.\n", with)
	return nil
}

// newManager makes the manager that a stack is to change to. adopt puts it into the stack's settings, and says what it is.
func (a *app) newManager(provider, stack string) (next secrets.Manager, adopt func(*project.Settings) string, err error) {
	if !secrets.IsKeyURL(provider) {
		passphrase, err := a.newPassphrase(stack)
		if err != nil {
			return nil, nil, err
		}
		m, err := secrets.NewPassphrase(&a.keys, passphrase)
		return m, func(s *project.Settings) string {
			s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = m.Salt(), "", ""
			return "the new passphrase"
		}, err
	}
	var o secrets.Options
	a.withKeys(&o)
	m, err := secrets.NewCloud(provider, "", o)
	if err != nil {
		return nil, nil, err
	}
	if _, err := m.Encrypt("pulumi"); err != nil { // makes the data key, or proves that the service will not
		return nil, nil, err
	}
	return m, func(s *project.Settings) string {
		s.EncryptionSalt, s.SecretsProvider, s.EncryptedKey = "", m.URL(), m.EncryptedKey()
		return "the key " + m.URL()
	}, nil
}

// newPassphrase comes from a person or from the first line of standard input.
func (a *app) newPassphrase(stack string) (string, error) {
	if a.interactive() && a.streams.ReadPassword != nil {
		return a.askPassphrase(stack, secrets.Purpose{New: true})
	}
	line, err := readLine(a.streams.In)
	if line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return "", fmt.Errorf("read the new passphrase from standard input: %w", err)
	}
	return line, nil
}

// reseal opens every secret of a settings file and seals it with another manager.
func reseal(settings *project.Settings, old, next secrets.Manager) error {
	for _, e := range settings.Entries() {
		if !e.IsSecret() {
			continue
		}
		data, err := resealed(e.Data(), old, next)
		if err != nil {
			return fmt.Errorf("configuration %s: %w", e.Key, err)
		}
		settings.Set(e.Key, data)
	}
	return nil
}

func resealed(v any, old, next secrets.Manager) (any, error) {
	var err error
	switch v := v.(type) {
	case project.Secure:
		plain, err := old.Decrypt(string(v))
		if err != nil {
			return nil, err
		}
		sealed, err := next.Encrypt(plain)
		return project.Secure(sealed), err
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			if list[i], err = resealed(item, old, next); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			if m[key], err = resealed(item, old, next); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}
