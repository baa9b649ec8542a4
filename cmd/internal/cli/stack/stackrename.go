package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

func newStackRename(a *console.Console, o *stackOptions) *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME", Short: "Give the stack another name", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return stackRename(cmd.Context(), a, o, args[0]) },
	}
}

// stackRename renames a stack with its settings file, and the selection if it was selected (F6.14).
func stackRename(ctx context.Context, a *console.Console, o *stackOptions, name string) error {
	s, err := a.Stacks().Current(ctx, o.stack)
	if err != nil {
		return err
	}
	dst, err := s.Backend.ParseRef(name, s.Project.Name.Text)
	if err != nil {
		return err
	}
	if !strings.Contains(name, "/") {
		dst.Owner = s.Ref.Owner
	}
	if dst.Project != s.Ref.Project {
		return fmt.Errorf("the stack %s would be of another project than this one, which is %s", name, s.Ref.Project)
	}
	old, next := s.Project.StackFile(s.Ref.Stack), s.Project.StackFile(dst.Stack)
	release, err := a.Hold(next)
	if err != nil {
		return err
	}
	defer func() { release() }()
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
	if err := os.Rename(old, next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rename the settings file: %w", err)
	}
	release()
	release = func() {} // what is selected may be kept in the same folder
	if selected == s.Ref.QualifiedName() {
		if err := backend.SelectStack(a.World.PulumiHome(), s.Project.Name.Text, s.Project.Path, s.Backend.URL(),
			dst.QualifiedName()); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Streams.Err, "Renamed %s to %s\n", s.Ref.Stack, dst.Stack)
	return nil
}
