package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// newStackExport returns the command stack export.
func newStackExport(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Write the stack's state as JSON", Args: cobra.NoArgs,
		RunE: o.on(a, stackExport),
	}
	cmd.Flags().StringVar(&o.file, "file", "", "write to this file instead of standard output")
	cmd.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "write secrets in plain text")
	cmd.Flags().IntVar(&o.version, "version", 0, "write an earlier state, of a stack that a service keeps")
	console.AtLeast(cmd.Flags(), "version", 1)
	return cmd
}

// newStackImport returns the command stack import.
func newStackImport(a *console.Console, o *stackOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import", Short: "Replace the stack's state by an exported one", Args: cobra.NoArgs,
		RunE: o.on(a, stackImport),
	}
	cmd.Flags().StringVar(&o.file, "file", "", "read from this file instead of standard input")
	cmd.Flags().BoolVarP(&o.force, "force", "f", false, "import even a state that is not sound")
	return cmd
}

// stackExport writes the state. Without --show-secrets they stay sealed, and no passphrase is asked for.
func stackExport(ctx context.Context, a *console.Console, o *stackOptions, s *console.Stack, _ []string) (err error) {
	var opener state.Opener
	if o.showSecrets {
		// Only here is a passphrase asked for.
		manager, err := a.Stacks().Manager(s)
		if err != nil {
			return err
		}
		opener = manager.Opener
	}
	out := a.Data()
	// Secrets in plain text may be in it, hence a file of its own type and not os.Create.
	if o.file != "" {
		file := &exportFile{path: a.Path(o.file)}
		defer func() { err = errors.Join(err, file.close()) }()
		out = file
	}
	if err := s.Backend.Export(ctx, s.Ref, o.version, opener, out); err != nil {
		return console.ExplainSecret(err, s.Ref.Stack)
	}
	return nil
}

// An exportFile creates its file at the first write, so that a state that cannot be exported leaves no file.
type exportFile struct {
	path string
	file *os.File
}

// Write creates the file, readable by its owner only, and writes to it.
func (f *exportFile) Write(p []byte) (n int, err error) {
	// Later writes append to the same file.
	if f.file == nil {
		f.file, err = os.OpenFile(f.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	if err == nil {
		n, err = f.file.Write(p)
	}
	if err != nil {
		err = fmt.Errorf("write the exported state: %w", err)
	}
	return n, err
}

// close closes the file if there was a write.
func (f *exportFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// stackImport replaces the state. The secrets in it are opened by their own provider and sealed by that of the stack,
// so that both may be needed.
func stackImport(ctx context.Context, a *console.Console, o *stackOptions, s *console.Stack, _ []string) error {
	var text []byte
	var err error
	if o.file != "" {
		text, err = os.ReadFile(a.Path(o.file))
	} else {
		text, err = io.ReadAll(a.Streams.In)
	}
	if err != nil {
		return fmt.Errorf("read the state to import: %w\nA state is written by: yamlhost stack export --file FILE", err)
	}
	settings, err := a.Stacks().Settings(s)
	if err != nil {
		return err
	}
	// The manager seals what the import brings, so it is needed also for a state without secrets of its own.
	manager, err := a.Secrets().Of(s.Backend, s.Ref).Manager(settings, s.Ref.Stack)
	if err != nil {
		return err
	}
	options := backend.ImportOptions{Force: o.force,
		Begin: backend.BeginOptions{Command: "import", Secrets: manager, Open: manager.Opener}}
	done, err := s.Backend.Import(ctx, s.Ref, text, options)
	if err != nil {
		return console.ExplainSecret(err, s.Ref.Stack)
	}
	for _, warning := range done.Warnings {
		fmt.Fprintf(a.Streams.Err, "warning: %s\n", warning)
	}
	for _, op := range done.Dropped {
		fmt.Fprintf(a.Streams.Err, "warning: removing pending operation '%s' on '%s' from snapshot\n", op.Kind,
			op.Resource.URN)
	}
	fmt.Fprintln(a.Streams.Err, "Import complete.")
	return nil
}
