package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/cli/packages"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// pluginOptions are the arguments and flags of `plugin install`.
type pluginOptions struct {
	args      []string
	server    string
	file      string
	from      string
	checksum  string
	key       string
	reinstall bool
	lock      bool
}

// NewPlugin returns the command plugin with its subcommands.
func NewPlugin(a *console.Console) *cobra.Command {
	return console.Group("plugin", "List, install and remove provider plugins",
		newPluginList(a), newPluginInstall(a), newPluginRemove(a), newPluginRun(a), newPluginBundle(a))
}

// newPluginList returns the command plugin ls.
func newPluginList(a *console.Console) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "List installed and built-in plugins",
		Args: console.NoArguments, RunE: func(*cobra.Command, []string) error { return pluginList(a, asJSON) }}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

// newPluginInstall returns the command plugin install.
func newPluginInstall(a *console.Console) *cobra.Command {
	o := &pluginOptions{}
	cmd := &cobra.Command{
		Use: "install [KIND NAME [VERSION]]", Short: "Install a plugin, or those of the lock file",
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return pluginInstall(cmd.Context(), a, o)
		},
		Long: "install fetches a plugin into the plugin folder that Pulumi uses as well. KIND is resource for providers; " +
			"it can also be language, converter, tool or analyzer. Without arguments it installs what the project's lock " +
			"file (" + install.LockName + ") lists, or without one what the project needs. Without a version it " +
			"installs that of the lock file, or else the newest. Archives must have the " +
			"checksums that the lock file has for this platform, and those that their publisher lists " +
			"beside them; new checksums are added to the lock file. With --key they must also have a " +
			"signature.",
	}
	f := cmd.Flags()
	f.StringVar(&o.server, "server", "",
		"where to download from; ${NAME}, ${VERSION}, ${OS} and ${ARCH} are replaced by their values, and the "+
			"archive's name is appended")
	f.StringVarP(&o.file, "file", "f", "", "install this archive, executable or folder")
	f.StringVar(&o.from, "from", "", "install the plugins of this bundle, which plugin bundle has written")
	f.StringVar(&o.checksum, "checksum", "", "the SHA-256 that the archive must have, in hexadecimal digits")
	f.StringVar(&o.key, "key", "",
		"the publisher's public key of minisign, or a file with it: the archive, or its list of checksums, must have its "+
			"signature; the lock file keeps the key, and every later version must be signed with it too")
	f.BoolVar(&o.reinstall, "reinstall", false, "install again what is installed already")
	f.BoolVar(&o.lock, "lock", false, "create a lock file even if there is no project")
	return cmd
}

// newPluginRemove returns the command plugin rm.
func newPluginRemove(a *console.Console) *cobra.Command {
	yes, all := false, false
	cmd := &cobra.Command{Use: "rm [resource [NAME [VERSION]]]", Aliases: []string{"remove", "delete"},
		Short: "Remove installed plugins", Args: cobra.MaximumNArgs(3),
		RunE: func(_ *cobra.Command, args []string) error { return pluginRemove(a, args, yes, all) }}
	cmd.Flags().BoolVarP(&yes, "yes", "y", a.World.Enabled("PULUMI_SKIP_CONFIRMATIONS"), "do not ask")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "remove all plugins")
	return cmd
}

// pluginRecord is the JSON form of an available plugin.
type pluginRecord struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // resource
	Version string `json:"version"`
	Path    string `json:"path,omitempty"` // path of its folder; empty for a built-in provider
	BuiltIn bool   `json:"builtIn,omitempty"`
}

// pluginList lists installed and built-in plugins.
func pluginList(a *console.Console, asJSON bool) error {
	rows := []pluginRecord{}
	for _, p := range install.Resources(a.World.PulumiHome()) {
		rows = append(rows, pluginRecord{Name: p.Name, Kind: "resource", Version: p.Version, Path: p.Path})
	}
	for _, name := range embedded.Names() {
		version, _ := embedded.Version(name)
		rows = append(rows, pluginRecord{Name: name, Kind: "resource", Version: version, BuiltIn: true})
	}
	if asJSON {
		text, err := json.MarshalIndent(rows, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(a.Streams.Out, "%s\n", text)
		}
		return err
	}
	return console.Table(a.Streams.Out, func(table io.Writer) {
		fmt.Fprintln(table, "NAME\tKIND\tVERSION\tWHERE")
		for _, r := range rows {
			origin := "built in"
			if !r.BuiltIn {
				origin = r.Path
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Name, r.Kind, r.Version, origin)
		}
	})
}

// kinds lists the kinds of plugins that can be installed.
var kinds = []string{"resource", "language", "converter", "tool", "analyzer"}

// kind returns the kind of plugin that the arguments name, or "".
func (o *pluginOptions) kind() string {
	if len(o.args) == 0 {
		return ""
	}
	return o.args[0]
}

// pluginInstall installs one plugin, or all plugins of the lock file.
func pluginInstall(ctx context.Context, a *console.Console, o *pluginOptions) error {
	if a.World.PulumiHome() == "" {
		return errors.New("it is not known where the home folder is; set PULUMI_HOME")
	}
	dir, begin := a.World.Dir, o.lock // folder of the lock file, and whether to create one
	// Inside of a project the lock file belongs to the project, wherever the command was started.
	if path, err := project.Find(dir); err == nil {
		dir, begin = filepath.Dir(path), true
	}
	lock, err := install.ReadLockFile(dir)
	if err != nil {
		return err
	}
	if o.from != "" {
		return installBundle(ctx, a, o, lock, dir, begin)
	}
	switch {
	case len(o.args) == 0 && (lock == nil || a.World.AsPulumi) && begin && !o.lock:
		// Without a lock file the program decides what is needed; so it does under the name of the Pulumi CLI, which
		// has no lock file.
		return packages.Install(ctx, a, o.reinstall)
	case len(o.args) == 0 && lock == nil:
		return console.WithCode(console.CodeUsage,
			"there is no %s here; name a plugin: yamlhost plugin install resource NAME", install.LockName)
	case len(o.args) == 0:
		if len(lock.Plugins) == 0 {
			fmt.Fprintf(a.Streams.Err, "%s lists no plugins: a command adds a plugin to it when it first "+
				"downloads it for this project.\n", install.LockName)
		}
		for _, p := range lock.Plugins {
			if err := installNamed(ctx, a, o, p.Name, p.Version, lock, dir); err != nil {
				return err
			}
		}
		return nil
	// From here on a plugin is named, as KIND NAME.
	case !slices.Contains(kinds, o.args[0]):
		return console.WithCode(console.CodeUsage, "there are plugins of the kinds %s, not %q", strings.Join(kinds, ", "),
			o.args[0])
	case len(o.args) == 1:
		return console.WithCode(console.CodeUsage, "name the plugin: yamlhost plugin install %s NAME", o.args[0])
	}
	if o.args[0] != "resource" { // the lock file has only providers
		lock, begin = nil, false
	}
	name, version := o.args[1], ""
	if len(o.args) == 3 {
		version = strings.TrimPrefix(o.args[2], "v")
	} else if p := lock.Find(name, ""); p != nil {
		version = p.Version
	} else if o.file != "" {
		return console.WithCode(console.CodeUsage,
			"name the version too: yamlhost plugin install resource %s VERSION --file …, with that of the file for VERSION", name)
	}
	if lock == nil && begin {
		// EditLockFile creates the file; an empty lock only shows that one is wanted.
		lock = &install.LockFile{}
	}
	return installNamed(ctx, a, o, name, version, lock, dir)
}

// trusts sets the key that must have signed the archive: the lock file's, or the one of --key. It returns an error if
// these differ.
func (o *pluginOptions) trusts(a *console.Console, i *install.Installation, lock *install.LockFile) error {
	var err error
	if i.Key, err = lock.KeyOf(i.Name); err != nil || o.key == "" {
		return err
	}
	text := o.key
	// A key is text without slashes mostly; one that happens to be a path is a file with the key.
	if content, err := os.ReadFile(a.Path(o.key)); err == nil {
		text = string(content)
	}
	key, err := install.ParseKey(text)
	if err != nil {
		return console.WithCode(console.CodeUsage, "--key: %w", err)
	}
	if i.Key != nil && i.Key.String() != key.String() {
		return fmt.Errorf("--key differs from the key that %s has for %s; if the publisher has a new key, remove "+
			"the old one from that file", install.LockName, i.Name)
	}
	i.Key = key
	return nil
}

// installNamed installs a plugin and reports what it did. If the lock file contains the plugin, the archive has to
// match its entry. lock is nil if none is to be written. Without a version, that of a downloaded archive is recorded.
func installNamed(ctx context.Context, a *console.Console, o *pluginOptions, name, version string,
	lock *install.LockFile, dir string) error {
	i := packages.Installation(a, name, version)
	i.Kind, i.Server, i.Checksum, i.Reinstall = o.kind(), o.server, o.checksum, o.reinstall
	if o.file != "" {
		i.File = a.Path(o.file)
	}
	if err := o.trusts(a, &i, lock); err != nil {
		return err
	}
	// Checked before anything is downloaded, for the name of the flag in the error.
	if i.Server != "" {
		if _, err := install.Sources(name, i.Server, ""); err != nil {
			return console.WithCode(console.CodeUsage, "--server: %w", err)
		}
	}
	if locked := lock.Find(name, version); locked != nil {
		// The flag wins over the lock file's server, never over its checksum.
		if i.Server == "" {
			i.Server = locked.Server
		}
		if want := locked.Checksum(install.Platform()); want != "" {
			if i.Checksum != "" && !strings.EqualFold(i.Checksum, want) {
				return fmt.Errorf("--checksum differs from the one that %s has for %s %s", install.LockName, name, version)
			}
			i.Checksum = want
		}
	} else if reason := console.DownloadsForbidden(a); i.File == "" && i.Server == "" && reason != "" {
		return fmt.Errorf("downloads are forbidden by %s; use --file", reason)
	}
	server := i.Server
	result, err := install.Result{}, error(nil)
	// A file has no server that the lock file could name.
	if i.File != "" {
		server = ""
		result, err = install.Install(ctx, i)
	} else {
		result, err = install.FromSources(ctx, &i, server, a.World.Getenv(console.DownloadOverrides), nil)
		version = i.Version // the newest version if none was given
	}
	if err != nil {
		return err
	}
	if result.Already {
		// Nothing was downloaded, so nothing was compared: the installed plugin may come from another archive.
		if i.Checksum != "" && result.Checksum != "" && !strings.EqualFold(i.Checksum, result.Checksum) {
			return fmt.Errorf(
				"%s %s is installed already, from an archive with the SHA-256 %s, and %s was expected; --reinstall installs the "+
					"expected one",
				name, version, result.Checksum, i.Checksum)
		}
		if o.key != "" {
			return fmt.Errorf("%s %s is installed already, and its signature was not checked; --reinstall installs it anew",
				name, version)
		}
		fmt.Fprintf(a.Streams.Err, "%s %s is installed already; --reinstall installs it again\n", name, version)
	} else {
		fmt.Fprintf(a.Streams.Err, "installed %s %s in %s\n", name, version, a.Short(result.Dir))
	}
	if !result.Already && result.Checksum == "" && o.lock {
		fmt.Fprintf(a.Streams.Err, "warning: %s does not list it: a folder has no checksum; archives have one\n",
			install.LockName)
	}
	// A folder has no checksum, so there is nothing to lock.
	if lock == nil || result.Checksum == "" {
		return nil
	}
	// The file is read again under its lock: another command may have added a plugin meanwhile.
	return install.EditLockFile(ctx, dir, func(now *install.LockFile) {
		now.Add(name, version, server, result.Checksum)
		if i.Key != nil {
			now.Trust(name, i.Key)
		}
	})
}

// pluginRemove removes the plugins that the arguments name.
func pluginRemove(a *console.Console, args []string, yes, all bool) error {
	if len(args) == 0 && !all {
		return console.WithCode(console.CodeUsage, "name the plugin to remove, or pass --all")
	}
	if len(args) > 0 && args[0] != "resource" {
		return console.WithCode(console.CodeUsage, "there are only plugins of the kind resource, not %q", args[0])
	}
	var removed []install.Plugin
	for _, p := range install.Resources(a.World.PulumiHome()) {
		fits, err := pluginFits(p, args)
		if err != nil {
			return err
		}
		if fits {
			removed = append(removed, p)
		}
	}
	// Scripts remove plugins that may not be there, and the Pulumi CLI succeeds.
	if len(removed) == 0 && a.World.AsPulumi {
		fmt.Fprintln(a.Streams.Err, "no plugins found to uninstall")
		return nil
	}
	if len(removed) == 0 {
		return errors.New("no such plugin is installed")
	}
	// What is about to go is listed before the question.
	if !yes {
		for _, p := range removed {
			fmt.Fprintf(a.Streams.Err, "  %s %s\n", p.Name, p.Version)
		}
	}
	question := fmt.Sprintf("Remove %s?", diag.Count(len(removed), "plugin"))
	if err := a.Confirm(yes, "remove plugins", question); err != nil {
		return err
	}
	for _, p := range removed {
		if err := install.Remove(p); err != nil {
			return err
		}
		fmt.Fprintf(a.Streams.Err, "removed %s %s\n", p.Name, p.Version)
	}
	return nil
}

// pluginFits reports whether a plugin matches the arguments KIND, NAME and VERSION, which may be a range.
func pluginFits(p install.Plugin, args []string) (bool, error) {
	if len(args) > 1 && args[1] != p.Name {
		return false, nil
	}
	if len(args) < 3 {
		return true, nil
	}
	wanted, err := semver.NewConstraint(strings.TrimPrefix(args[2], "v"))
	if err != nil {
		return false, console.WithCode(console.CodeUsage, "%q is neither a version nor a range of versions", args[2])
	}
	have, err := semver.NewVersion(p.Version)
	// A folder whose version cannot be parsed fits no range.
	return err == nil && wanted.Check(have), nil
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[[]pluginRecord]("plugins", "the plugins that are installed or built in", "`plugin ls --json`"),
	contract.Of[install.LockFile]("lock", "the plugins that a project uses", "`"+install.LockName+"`"),
}

// newPluginRun returns the command plugin run.
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

// pluginRun runs a plugin and waits for its end.
func pluginRun(ctx context.Context, a *console.Console, kind string, args []string) error {
	// The Pulumi CLI takes it between the name and the arguments, and does not pass it on.
	if len(args) > 1 && args[1] == "--" {
		args = slices.Delete(args, 1, 2)
	}
	path := a.Path(args[0])
	// A path needs a separator: a file in the working directory does not hide the plugin of its name.
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
	// Without the context: supervise ends the plugin with its children, also when this process is killed.
	run := exec.Command(path, args[1:]...)
	run.Dir, run.Env = a.World.Dir, a.ChildEnv()
	run.Stdin, run.Stdout, run.Stderr = a.Streams.In, a.Streams.Out, a.Streams.Err
	err := supervise.Run(ctx, run, a.World.Supervisor())
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		// A plugin that a signal ended has the code -1.
		return &console.ExitError{Code: max(ended.ExitCode(), console.CodeError)}
	}
	if err != nil {
		return fmt.Errorf("run plugin %s: %w", args[0], err)
	}
	return nil
}
