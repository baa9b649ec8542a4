package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/runtime/backend"
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
	release, err := a.hold(next)
	if err != nil {
		return err
	}
	defer func() { release() }()
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
	release()
	release = func() {} // what is selected may be kept in the same folder
	if selected == s.ref.QualifiedName() {
		if err := backend.SelectStack(a.pulumiHome(), s.project.Name.Text, s.project.Path, s.backend.URL(), to.QualifiedName()); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.streams.Err, "Renamed %s to %s\n", s.ref.Stack, to.Stack)
	return nil
}
