package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/release"
)

// newVersion prints version and edition; it reads no file, so that it is fast.
func newVersion(a *console.Console) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version and edition",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.WriteJSON(versionRecord{a.Version(), release.Edition, "v" + operation.PulumiVersion, runtime.Version(),
					runtime.GOOS, runtime.GOARCH})
			}
			return printVersion(a)
		},
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

// versionRecord identifies the program.
type versionRecord struct {
	Version       string `json:"version"`       // with a leading v
	Edition       string `json:"edition"`       // default or lean
	PulumiVersion string `json:"pulumiVersion"` // of the Pulumi CLI that it does as, with a leading v
	GoVersion     string `json:"goVersion"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
}

func printVersion(a *console.Console) error {
	if a.World.AsPulumi { // who asks compares it with what it needs of the Pulumi CLI
		_, err := fmt.Fprintln(a.Streams.Out, "v"+operation.PulumiVersion)
		return err
	}
	_, err := fmt.Fprintf(a.Streams.Out, "%s (%s edition)\n", a.Version(), release.Edition)
	return err
}
