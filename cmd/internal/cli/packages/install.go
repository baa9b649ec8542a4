package packages

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/workspace"
)

// installOptions are the flags of install.
type installOptions struct {
	reinstall, noPlugins bool
}

// NewInstall returns the command install.
func NewInstall(a *console.Console) *cobra.Command {
	o := &installOptions{}
	cmd := &cobra.Command{
		Use: "install", Short: "Install the plugins that the project needs", Args: console.NoArguments,
		Long: "install fetches the plugins of the project's lock file, and those of every package that its program names, " +
			"so that later commands need no network. What is new goes to the lock file with its checksum. A program in " +
			"YAML has no other dependencies.",
		RunE: func(cmd *cobra.Command, _ []string) error { return installNeeded(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.reinstall, "reinstall", false, "install the plugins of the lock file again")
	f.BoolVar(&o.noPlugins, "no-plugins", false, "install no plugins; with this there is nothing to do")
	f.Int("parallel", 4, "accepted for compatibility, without effect")
	console.IgnoredFlags(f, "no-dependencies", "use-language-version-tools")
	console.Hide(f, "parallel")
	return cmd
}

// Install installs the plugins that the project in the working directory needs.
func Install(ctx context.Context, a *console.Console, reinstall bool) error {
	return installNeeded(ctx, a, &installOptions{reinstall: reinstall})
}

// installNeeded installs the plugins in the lock file and those that the program needs. Packages from repositories come
// first, since the workspace is opened with them, then the plugins of the lock file, and at last those that only the
// program names, which its check finds.
func installNeeded(ctx context.Context, a *console.Console, o *installOptions) error {
	ws, err := workspace.Open(a.World.Dir, a.Trusting(console.CompilerSays(a.Streams.Err)))
	if err != nil {
		return console.AdviseProject(err)
	}
	// The flag is of use after this check: it fails outside of projects.
	if o.noPlugins {
		return nil
	}
	// Packages in git repositories come first: the check below reads their components.
	fetched := false
	for _, pkg := range ws.Project.Packages {
		p, err := git.ParsePackage(pkg.Source, pkg.Version)
		if _, local := ws.Project.LocalDir(pkg); local || err != nil || p.Version == "" || !git.IsPackage(pkg.Source) {
			continue // the command check reports the error
		}
		if reason := console.DownloadsForbidden(a); reason != "" {
			return fmt.Errorf("package %s is not installed, and downloads are forbidden by %s", pkg.Name.Text, reason)
		}
		if _, err := fetch(ctx, a, ws, p); err != nil {
			return fmt.Errorf("package %s: %w", pkg.Name.Text, err)
		}
		fetched = true
	}
	// Opened anew, since the workspace has noted what was missing.
	if fetched {
		if ws, err = workspace.Open(a.World.Dir, a.Trusting(console.CompilerSays(a.Streams.Err))); err != nil {
			return console.AdviseProject(err)
		}
	}
	dir := filepath.Dir(ws.Project.Path)
	lock, err := install.ReadLockFile(dir)
	if err != nil {
		return err
	}
	if lock != nil {
		for _, p := range lock.Plugins {
			if err := installListed(ctx, a, o, lock, p); err != nil {
				return err
			}
		}
	}
	// The lock file lists what was installed before; the program may name packages that it does not have yet.
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	// From here on, loading a schema downloads the plugin that is missing for it.
	providers.Acquire(a, ws)
	program, found := operation.CheckWorkspace(ctx, ws, providers, nil)
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	missing := diag.Diagnostics{}
	for _, d := range found { // the command check reports other errors
		if d.Code == diag.PackageMissing || d.Code == diag.Syntax {
			missing.Add(d)
		}
	}
	if missing.HasErrors() {
		return a.Report(missing)
	}
	// Errors of the program do not matter, as long as its packages can be named.
	if program == nil {
		return errors.New("the program has faults, so that its packages are not known; `yamlhost check` shows them")
	}
	for _, d := range program.Packages {
		source, err := providers.Source(d.Name, d.Version)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Streams.Out, "%s %s\n", d.PackageName(), source)
	}
	return nil
}

// Installation returns the installation of a plugin by the means that a has: its home folder, its network, and the
// environment of commands that it starts.
func Installation(a *console.Console, name, version string) install.Installation {
	return install.Installation{Home: a.World.PulumiHome(), Name: name, Version: version, Client: a.World.HTTP,
		AllowHTTP: a.Global.AllowHTTP, Env: a.ChildEnv()}
}

// installListed installs a plugin that the lock file lists, and says nothing if it is installed already.
func installListed(ctx context.Context, a *console.Console, o *installOptions, lock *install.LockFile,
	p install.LockedPlugin) error {
	key, err := lock.KeyOf(p.Name)
	if err != nil {
		return err
	}
	i := Installation(a, p.Name, p.Version)
	i.Server, i.Key, i.Checksum, i.Reinstall = p.Server, key, p.Checksum(install.Platform()), o.reinstall
	// Looked for before the question whether downloads are allowed: without a network everything may be there already.
	for _, have := range install.Resources(i.Home) {
		if have.Name == p.Name && have.Version == p.Version && !o.reinstall {
			return nil
		}
	}
	if reason := console.DownloadsForbidden(a); reason != "" {
		return fmt.Errorf("plugin %s %s is not installed, and downloads are forbidden by %s; `yamlhost plugin install "+
			"--from FILE` installs plugins from a bundle", p.Name, p.Version, reason)
	}
	// The lock file is not changed: what comes has to match it.
	_, err = install.FromSources(ctx, &i, p.Server, a.World.Getenv(console.DownloadOverrides),
		func(text string) { fmt.Fprintln(a.Streams.Err, text) })
	return err
}
