package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

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
	_, err = a.data().Write(text)
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
