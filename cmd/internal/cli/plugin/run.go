package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/plugin"
)

func newPluginRun(a *console.Console) *cobra.Command {
	kind := ""
	cmd := &cobra.Command{
		Use: "run NAME[@VERSION] or PATH [ARGUMENT]...", Short: "Run the executable of a plugin", Args: cobra.MinimumNArgs(1),
		Long: "run starts the executable of an installed plugin, or the one at a path, with the arguments that follow. Its " +
			"input and its outputs are those of this command, and its exit code becomes that of this command. Flags of run " +
			"come before NAME.",
		RunE: func(cmd *cobra.Command, args []string) error { return pluginRun(cmd.Context(), a, kind, args) },
	}
	cmd.Flags().StringVar(&kind, "kind", "tool", "the kind of the plugin, such as tool, converter or resource")
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// pluginRun runs a plugin until it ends.
func pluginRun(ctx context.Context, a *console.Console, kind string, args []string) error {
	if len(args) > 1 && args[1] == "--" {
		args = slices.Delete(args, 1, 2)
	}
	path := a.Path(args[0])
	if info, err := os.Stat(path); err != nil || info.IsDir() || !strings.ContainsAny(args[0], `/\\`) {
		name, version, _ := strings.Cut(args[0], "@")
		o := plugin.Options{Home: a.World.PulumiHome(), Path: filepath.SplitList(a.World.Getenv("PATH")),
			IgnoreAmbient: a.World.Enabled("PULUMI_IGNORE_AMBIENT_PLUGINS")}
		found, err := o.FindKind(kind, name, version)
		if err != nil {
			return err
		}
		path = found
	}
	run := exec.CommandContext(ctx, path, args[1:]...)
	run.Dir, run.Env = a.World.Dir, a.ChildEnv()
	run.Stdin, run.Stdout, run.Stderr = a.Streams.In, a.Streams.Out, a.Streams.Err
	err := run.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return &console.ExitError{Code: max(ended.ExitCode(), console.CodeError)}
	}
	if err != nil {
		return fmt.Errorf("run plugin %s: %w", args[0], err)
	}
	return nil
}
