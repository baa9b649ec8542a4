package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newVersion prints the version and nothing else; it reads no file, so that it is fast.
func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.streams.Out, a.version())
			return err
		},
	}
}

// version is this program's version as v1.2.3.
func (a *app) version() string {
	if v := a.world.Version; v != "" && v[0] != 'v' {
		return "v" + v
	} else if v != "" {
		return v
	}
	return "v0.0.0-dev"
}
