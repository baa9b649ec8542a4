package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// NewShim returns the command shim.
func NewShim(a *console.Console) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "shim DIR", Short: "Put this program into a folder under the name pulumi",
		Long: "shim links this program into a folder as pulumi. Under that name it answers as the Pulumi CLI " +
			"does for YAML projects, so that tools which call `pulumi` work with it: put the folder first on " +
			"their PATH. It refuses commands that it does not have, and names them.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("shim takes one folder\nSee %s --help.", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return link(a, args[0], force) },
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "replace an existing pulumi")
	return cmd
}

// link links the program into a folder as pulumi. It keeps an existing file of that name, unless that is such a link or
// force is set.
func link(a *console.Console, folder string, force bool) error {
	if a.World.Self == "" {
		return errors.New("cannot find out where this program is; link it as pulumi by hand")
	}
	// A link to a link would break when a package manager moves the one between.
	self, err := filepath.EvalSymlinks(a.World.Self)
	if err != nil {
		return err
	}
	dir := a.Path(folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// main goes by the name under which it was started: see World.AsPulumi.
	name := "pulumi"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	// Not Stat: a link that leads nowhere has to be found, too.
	if _, err := os.Lstat(path); err == nil {
		// A link to this program may be replaced without asking: that is how a shim is renewed.
		if target, err := filepath.EvalSymlinks(path); (err != nil || target != self) && !force {
			return fmt.Errorf("%s exists already and is not this program; name another folder, or use --force", path)
		}
		if err := osfile.Remove(path); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if runtime.GOOS == "windows" { // Windows lets only privileged users make symbolic links
		err = os.Link(self, path)
	} else {
		err = os.Symlink(self, path)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "%s is this program. Tools find it when their PATH begins with the folder:\n", path)
	// Alone on standard output, so that a shell can evaluate it.
	_, err = fmt.Fprintf(a.Streams.Out, "export PATH=%q:\"$PATH\"\n", dir)
	return err
}
