package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// newVersion prints the version and nothing else; it reads no file, so that it is fast.
func newVersion(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Streams.Out, a.Version())
			return err
		},
	}
}
