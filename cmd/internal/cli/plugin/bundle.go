package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// bundleOptions are the flags of plugin bundle.
type bundleOptions struct {
	out       string
	platforms []string
}

// newPluginBundle returns the command plugin bundle.
func newPluginBundle(a *console.Console) *cobra.Command {
	o := &bundleOptions{}
	cmd := &cobra.Command{
		Use: "bundle --out FILE", Short: "Pack the plugins of the lock file into one file", Args: console.NoArguments,
		Long: "bundle downloads the plugins of the project's lock file, for this machine's platform or for those of " +
			"--platform, and packs them into one file with their checksums. `plugin install --from FILE` installs them on a " +
			"machine without a network. Checksums and signatures are checked as plugin install does.",
		RunE: func(cmd *cobra.Command, _ []string) error { return pluginBundle(cmd.Context(), a, o) },
	}
	cmd.Flags().StringVar(&o.out, "out", "", "write the bundle to this file")
	cmd.Flags().StringSliceVar(&o.platforms, "platform", nil,
		"pack the plugins for this platform, such as linux-amd64 or darwin-arm64; may be repeated")
	return cmd
}

// platformName matches the platforms that plugins are published for.
var platformName = lazyregexp.New(`^(linux|darwin|windows)-(amd64|arm64)$`)

// pluginBundle writes a bundle, either completely or not at all.
func pluginBundle(ctx context.Context, a *console.Console, o *bundleOptions) (err error) {
	if o.out == "" {
		return console.WithCode(console.CodeBadUsage, "--out is missing: the file to write")
	}
	// Bundles are mostly made on the kind of machine that they are for.
	if len(o.platforms) == 0 {
		o.platforms = []string{install.Platform()}
	}
	for _, p := range o.platforms {
		// A typing error would be a download that fails for no visible reason.
		if !platformName().MatchString(p) {
			return console.WithCode(console.CodeBadUsage, "--platform takes a system and a processor such as linux-amd64, not %q",
				p)
		}
	}
	// The bundle has the name of the project, for messages of the machine that reads it.
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	// Only what the lock file has: a bundle is for machines that trust the lock file and nothing else.
	lock, err := install.ReadLockFile(filepath.Dir(p.Path))
	if err != nil {
		return err
	}
	if lock == nil || len(lock.Plugins) == 0 {
		return console.WithCode(console.CodeUsage, "%s lists no plugins: `yamlhost install` adds those that the program names",
			install.LockName)
	}
	if reason := console.DownloadsForbidden(a); reason != "" {
		return fmt.Errorf("a bundle is made of downloads, which are forbidden by %s", reason)
	}
	var plugins []install.Installation
	for _, locked := range lock.Plugins {
		// The machine without a network cannot check signatures, so they are checked here.
		key, err := lock.KeyOf(locked.Name)
		if err != nil {
			return err
		}
		for _, platform := range o.platforms {
			plugins = append(plugins, install.Installation{Name: locked.Name, Version: locked.Version,
				Server:   locked.Server,
				Platform: platform, Checksum: locked.Checksum(platform), Key: key, Client: a.World.HTTP,
				AllowHTTP: a.Global.AllowHTTP, Env: a.ChildEnv()})
		}
	}
	folder, err := os.MkdirTemp("", "yamlhost-bundle-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(folder) }()
	out := a.Path(o.out)
	// The temporary file is in the folder of the result, so that both are on one file system and a rename suffices.
	f, err := os.CreateTemp(filepath.Dir(out), ".yamlhost-bundle-")
	if err != nil {
		return fmt.Errorf("--out %s: %w", o.out, console.PlainError(err))
	}
	defer func() {
		if err != nil {
			_ = osfile.Remove(f.Name())
		}
	}()
	err = install.Bundle(ctx, f, p.Name.Text, plugins, a.World.Getenv(console.DownloadOverrides), folder,
		func(text string) { fmt.Fprintln(a.Streams.Err, text) })
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if err := osfile.Rename(f.Name(), out); err != nil {
		return fmt.Errorf("--out %s: %w", o.out, console.PlainError(err))
	}
	fmt.Fprintf(a.Streams.Err, "%s has %s for %s; `yamlhost plugin install --from %s` installs them\n", o.out,
		diag.Count(len(lock.Plugins), "plugin"), strings.Join(o.platforms, ", "), o.out)
	return nil
}

// installBundle installs the plugins in a bundle that fit this machine. lock is the lock file in the folder dir; if it
// is nil, begin asks for a new one.
func installBundle(ctx context.Context, a *console.Console, o *pluginOptions, lock *install.LockFile, dir string,
	begin bool) error {
	if len(o.args) > 0 || o.file != "" || o.server != "" {
		return console.WithCode(console.CodeBadUsage, "--from installs all plugins of a bundle: it cannot be used with a name, "+
			"--file or --server")
	}
	folder, err := os.MkdirTemp("", "yamlhost-bundle-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(folder) }()
	// It compares each archive with the checksum in the bundle, which only shows damage.
	plugins, err := install.Unbundle(ctx, a.Path(o.from), folder)
	if err != nil {
		return console.WithCode(console.CodeUsage, "--from %s: %w", o.from, console.PlainError(err))
	}
	// The lock file of this project is what is trusted, not the bundle, which may come from anywhere.
	for _, i := range plugins { // check all before installing any
		locked, want := lock.Find(i.Name, i.Version), ""
		if locked != nil {
			want = locked.Checksum(install.Platform())
		}
		key, err := lock.KeyOf(i.Name)
		switch {
		case err != nil:
			return err
		case want != "" && !strings.EqualFold(want, i.Checksum):
			return console.WithCode(console.CodeUsage, "--from %s: the archive of %s %s has another SHA-256 than the one of %s; nothing was installed",
				o.from, i.Name, i.Version, install.LockName)
		// A new checksum would have to be believed without the signature that the lock file asks for.
		case want == "" && key != nil:
			return console.WithCode(console.CodeUsage, "--from %s: %s trusts a key for %s, and has no checksum of %s for %s: a bundle has no signatures, "+
				"so nothing was installed", o.from, install.LockName, i.Name, i.Version, install.Platform())
		}
	}
	for _, i := range plugins {
		// The other fields are from the bundle: File, Checksum, and the names.
		i.Home, i.Reinstall = a.World.PulumiHome(), o.reinstall
		result, err := install.Install(ctx, i)
		if err != nil {
			return err
		}
		if result.Already {
			fmt.Fprintf(a.Streams.Err, "%s %s is installed already; --reinstall installs it again\n", i.Name, i.Version)
		} else {
			fmt.Fprintf(a.Streams.Err, "installed %s %s in %s\n", i.Name, i.Version, a.Short(result.Dir))
		}
		// Only providers are locked, and only where a lock file is wanted.
		if i.Kind != "resource" || !begin {
			continue
		}
		err = install.EditLockFile(ctx, dir, func(now *install.LockFile) {
			now.Add(i.Name, i.Version, i.Server, i.Checksum)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
