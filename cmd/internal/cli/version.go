package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/release"
)

// newVersion prints version and edition; it reads no file, so that it is fast.
func newVersion(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version and edition",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *console.Console) error {
	if a.World.AsPulumi { // who asks compares it with what it needs of the Pulumi CLI
		_, err := fmt.Fprintln(a.Streams.Out, "v"+operation.PulumiVersion)
		return err
	}
	_, err := fmt.Fprintf(a.Streams.Out, "%s (%s edition)\n", a.Version(), release.Edition)
	return err
}
