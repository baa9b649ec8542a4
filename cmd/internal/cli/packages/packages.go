package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// NewPackage returns the command package with its subcommands.
func NewPackage(a *console.Console) *cobra.Command {
	return console.Group("package", "Add packages to a project, and show what they have",
		newAdd(a), newRemove(a), newInfo(a), newGetSchema(a), newGetMapping(a))
}

// wanted is a package as given on the command line. Every subcommand that takes a package embeds it or is one, and
// describe knows what it stands for.
type wanted struct {
	source     string // name, optionally with @version, or path
	parameters []string
	server     string
}

// described is a package whose schema was found.
type described struct {
	name    string // name that programs use
	version string
	text    []byte          // the schema
	entry   project.Package // entry for the project file; empty for a schema in a file
}

// schemaFile reports whether the source is a schema file.
func (w *wanted) schemaFile() bool {
	switch strings.ToLower(filepath.Ext(w.source)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.HasSuffix(w.source, ".json.gz")
}

// describe returns a package with its schema: from a file, from a folder, or from a plugin, which is installed if it is
// missing.
func describe(ctx context.Context, a *console.Console, ws *workspace.Workspace, w *wanted) (*described, error) {
	// A folder needs a separator or a dot in its path, so that a folder in the working directory does not hide the
	// plugin of its name.
	path := a.Path(w.source)
	_, missing := confine.Anywhere().Stat(path)
	local := missing == nil && (strings.ContainsAny(w.source, `/\`) || strings.HasPrefix(w.source, "."))
	switch {
	case w.schemaFile():
		text, err := plugin.ReadSchemaFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the schema %s: %w", w.source, console.PlainError(err))
		}
		return head(text, "", w.source)
	case local:
		return describeFolder(ctx, a, ws, w, path)
	case strings.HasPrefix(w.source, ".") || filepath.IsAbs(w.source):
		return nil, console.WithCode(console.CodeUsage, "%s does not exist", w.source)
	case git.IsPackage(w.source):
		return describeRepository(ctx, a, ws, w)
	}
	name, version, _ := strings.Cut(w.source, "@")
	pkg := project.Package{Source: name, Version: strings.TrimPrefix(version, "v"), PluginDownloadURL: w.server,
		Parameters: w.parameters}
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	// Outside of a project there is no lock file to add a plugin to.
	if ws.Project.Path != "" {
		providers.Acquire(a, ws)
	}
	return ask(ctx, a, providers, pkg)
}

// ask gets the schema of a package from a plugin. The returned entry for the project file has the version that was
// found.
func ask(ctx context.Context, a *console.Console, providers *operation.Providers, pkg project.Package) (
	*described, error) {
	d := schema.Descriptor{Name: pkg.Source, Version: pkg.Version, DownloadURL: pkg.PluginDownloadURL}
	if len(pkg.Parameters) > 0 {
		var err error
		if d, err = providers.Parameterize(ctx, pkg); err != nil {
			return nil, explain(err, pkg.Source, a.World.PulumiHome())
		}
	}
	text, err := providers.FetchSchema(ctx, d)
	if err != nil {
		return nil, explain(err, pkg.Source, a.World.PulumiHome())
	}
	found, err := head(text, pkg.Version, pkg.Source)
	if err != nil {
		return nil, err
	}
	// A plugin with parameters has a version of its own, and its package another one; the entry names the plugin's.
	if pkg.Version == "" {
		pkg.Version = d.Version
	}
	if pkg.Version == "" && d.Parameterization == nil {
		pkg.Version = found.version
	}
	found.entry = pkg
	return found, nil
}

// explain adds the advice of an error about a missing plugin, or a similar name.
func explain(err error, name, home string) error {
	var advised interface{ Advice() string }
	// A suggestion replaces the colon by an end of the line, before the advice.
	if errors.Is(err, schema.ErrNotFound) && errors.As(err, &advised) {
		end := ": "
		if meant := diag.DidYouMean(name, operation.PackageNames(home, nil)); meant != "" {
			end = meant + "\n"
		}
		return fmt.Errorf("package %s was not found%s%s", name, end, advised.Advice())
	}
	return fmt.Errorf("package %s: %w", name, err)
}

// describeRepository installs a package from a git repository and describes it. It uses the newest version if none is
// given.
func describeRepository(ctx context.Context, a *console.Console, ws *workspace.Workspace, w *wanted) (*described,
	error) {
	source, version := project.SplitVersion(w.source)
	p, err := git.ParsePackage(source, version)
	if err != nil {
		return nil, console.WithCode(console.CodeUsage, "%s", err)
	}
	if replacement := console.DownloadsForbidden(a); replacement != "" {
		return nil, fmt.Errorf("%s was not fetched, because %s forbids that", source, replacement)
	}
	if p.Version == "" {
		if p.Version, err = p.Newest(ctx, a.ChildEnv()); err != nil {
			return nil, fmt.Errorf("look for the newest version of %s: %w", source, err)
		}
	}
	dir, err := fetch(ctx, a, ws, p)
	if err != nil {
		return nil, err
	}
	found, err := describeFolder(ctx, a, ws, w, dir)
	if err != nil {
		return nil, err
	}
	// A version that is a commit has a prefix in the plugin folder, to be a version at all; the project file has the
	// commit.
	found.entry.Source, found.entry.Version = source, strings.TrimPrefix(p.Version, "0.0.0-x")
	return found, nil
}

// fetch installs a package from a git repository and records it in the lock file. It returns the folder of the package.
func fetch(ctx context.Context, a *console.Console, ws *workspace.Workspace, p git.Package) (dir string, err error) {
	i := Installation(a, p.Name(), p.Version)
	lock, err := install.ReadLockFile(ws.Project.Dir)
	if err != nil {
		return "", err
	}
	// A version that is locked must have the same content as when it was locked.
	if locked := lock.Find(i.Name, i.Version); locked != nil {
		i.Checksum = locked.Checksum(install.Platform())
	}
	result, err := install.FromSources(ctx, &i, p.URL(), "", func(string) {
		fmt.Fprintf(a.Streams.Err, "Fetching %s %s\n", p.Repository, p.Version)
	})
	if err != nil {
		return "", err
	}
	dir = filepath.Join(result.Dir, filepath.FromSlash(p.Folder))
	if !result.Already {
		providers := operation.NewProviders(a, ws, nil, operation.Trusted)
		defer providers.Close()
		// A package without its dependencies is removed, or the next attempt would take it for installed.
		if err := providers.InstallDependencies(ctx, i.Name, dir); err != nil {
			return "", errors.Join(err, install.Remove(install.Plugin{Name: i.Name, Version: i.Version, Path: result.Dir}))
		}
	}
	if result.Checksum != "" && ws.Project.Path != "" {
		err = install.EditLockFile(ctx, ws.Project.Dir, func(l *install.LockFile) {
			l.Add(i.Name, i.Version, p.URL(), result.Checksum)
		})
	}
	return dir, err
}

// describeFolder describes the package of a plugin in a folder, or of an executable.
func describeFolder(ctx context.Context, a *console.Console, ws *workspace.Workspace, w *wanted, path string) (
	*described, error) {
	dir := path
	if info, err := confine.Anywhere().Stat(path); err == nil && !info.IsDir() {
		dir = filepath.Dir(path)
	}
	names, script := project.PluginsIn(confine.Anywhere(), dir)
	name := filepath.Base(dir)
	switch {
	case len(names) == 1:
		name = names[0]
	case dir != path && strings.HasPrefix(filepath.Base(path), "pulumi-resource-"):
		name = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "pulumi-resource-"), ".exe")
	case !script:
		return nil, console.WithCode(console.CodeUsage, "%s holds no plugin: neither a PulumiPlugin.yaml nor an executable "+
			"pulumi-resource-NAME", w.source)
	}
	shown := dir
	if ws.Project.Dir != "" {
		if rel, err := filepath.Rel(ws.Project.Dir, dir); err == nil {
			shown = filepath.ToSlash(rel)
			// A path without a dot would be the name of a plugin.
			if !strings.HasPrefix(shown, ".") {
				shown = "./" + shown
			}
		}
	}
	// The workspace is this command's own, so it can be changed: the plugin is found by name from now on.
	ws.Plugins = append(ws.Plugins, workspace.Plugin{Name: name, Dir: dir})
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	found, err := ask(ctx, a, providers, project.Package{Source: name, Parameters: w.parameters})
	if err != nil {
		return nil, err
	}
	found.entry = project.Package{Source: shown, Parameters: w.parameters}
	return found, nil
}

// head reads the name and the version in a schema. version is used if the schema has none.
func head(text []byte, version, source string) (*described, error) {
	pkg, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	// The schema knows better than the name under which it was found.
	if pkg.Version != "" {
		version = pkg.Version
	}
	return &described{name: pkg.Name, version: version, text: text}, nil
}

// surroundings opens the workspace of the working directory without its program, or an empty one.
func surroundings(a *console.Console) (*workspace.Workspace, error) {
	ws, err := workspace.OpenWithoutProgram(a.World.Dir, a.Looking())
	if errors.Is(err, project.ErrNotFound) {
		return workspace.Empty(a.World.Dir), nil
	}
	return ws, err
}

// addOptions are the arguments and flags of package add.
type addOptions struct {
	wanted
	extension string
}

// newAdd returns the command package add.
func newAdd(a *console.Console) *cobra.Command {
	o := &addOptions{}
	cmd := &cobra.Command{
		Use: "add SOURCE [PARAMETER]...", Short: "Add a package to the project", Args: cobra.MinimumNArgs(1),
		Long: "add installs the plugin of a package, writes the package's declaration to the folder sdks, and an entry to " +
			"packages in the project file. SOURCE is the name of a plugin, with @version if not the newest is meant; the " +
			"path of a folder with a plugin or with components; a repository of git that keeps one, as " +
			"HOST/OWNER/REPOSITORY/FOLDER; or a file with a schema, which gets a declaration only. " +
			"PARAMETERs make another package of a plugin, as of terraform-provider; those that begin with a dash go " +
			"behind --. With --extension they add to what the plugin has instead.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source, o.parameters = args[0], args[1:]
			return add(cmd.Context(), a, o)
		},
	}
	cmd.Flags().StringVar(&o.server, "server", "", "download the plugin from this URL")
	cmd.Flags().StringVar(&o.extension, "extension", "", "the parameters, in one text, of an extension of the package")
	return cmd
}

// add adds a package to the project. It writes the project file last. The lock is taken after the package has been
// fetched, which may take long.
func add(ctx context.Context, a *console.Console, o *addOptions) error {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	if o.extension != "" {
		if len(o.parameters) > 0 {
			return console.WithCode(console.CodeBadUsage, "--extension has the parameters: there can be no others")
		}
		o.parameters = strings.Fields(o.extension)
	}
	ws, err := surroundings(a)
	if err != nil {
		return err
	}
	found, err := describe(ctx, a, ws, &o.wanted)
	if err != nil {
		return err
	}
	release, err := a.Hold(p.Path)
	if err != nil {
		return err
	}
	defer release()
	if p, err = a.SoundProject(a.World.Dir); err != nil { // read again, as it may have changed
		return err
	}
	// An entry is edited in the text, which keeps comments and order.
	next := p.Source.Text()
	if found.entry.Source != "" && o.extension == "" {
		if next, _, err = p.SetPackage(found.name, &found.entry); err != nil {
			return err
		}
	}
	if _, path := p.LocalDir(found.entry); !path { // a folder describes itself
		if err := declare(p.Dir, found); err != nil {
			return err
		}
	}
	// Last, so that the project file never names a package whose declaration is not there.
	if err := p.Save(next); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "Added package %s\n", strings.TrimSpace(found.name+" "+found.version))
	return nil
}

// declare writes the declaration of a package to the folder sdks of a project. It replaces an earlier declaration.
func declare(dir string, found *described) error {
	file, text, err := langhost.Declaration(found.text, found.version)
	if err != nil {
		return err
	}
	// The name comes from a schema, and must not lead out of the folder.
	name, err := confine.NewName("a package", found.name)
	if err != nil {
		return err
	}
	folder := name.In(filepath.Join(dir, "sdks"), "")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of the declaration: %w", console.PlainError(err))
	}
	path := file.In(folder, ".yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write the declaration: %w", console.PlainError(err))
	}
	return withdraw(folder, filepath.Base(path))
}

// withdraw removes all declarations in a folder except kept, and the folder itself if it is then empty.
func withdraw(folder, kept string) error {
	files, _, err := project.PackageFiles(confine.Anywhere(), folder, func(path string) string { return path })
	if err != nil {
		return err
	}
	for _, f := range files {
		// PackageFiles also finds files in folders below, which are of other packages.
		if filepath.Dir(f.Path) == folder && filepath.Base(f.Path) != kept {
			if err := osfile.Remove(f.Path); err != nil {
				return fmt.Errorf("remove an earlier declaration: %w", console.PlainError(err))
			}
		}
	}
	if kept == "" {
		_ = osfile.Remove(folder) // fails if the folder is not empty
		_ = osfile.Remove(filepath.Dir(folder))
	}
	return nil
}

// newRemove returns the command package remove.
func newRemove(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm", "delete"}, Short: "Remove a package from the project",
		Args: cobra.ExactArgs(1),
		Long: "remove takes the entry of a package out of the project file, and its declaration out of the folder sdks. " +
			"The plugin stays installed. The Pulumi CLI's command of this name removes a package from Pulumi's registry.",
		RunE: func(_ *cobra.Command, args []string) error { return remove(a, args[0]) },
	}
}

// remove removes the entry of a package from the project file and its declaration from the folder sdks. Either may be
// missing.
func remove(a *console.Console, name string) error {
	p, err := a.SoundProject(a.World.Dir)
	if err != nil {
		return err
	}
	release, err := a.Hold(p.Path)
	if err != nil {
		return err
	}
	defer release()
	if p, err = a.SoundProject(a.World.Dir); err != nil {
		return err
	}
	next, found, err := p.SetPackage(name, nil)
	if err != nil {
		return err
	}
	// The name was typed, and becomes a folder that is removed.
	checked, err := confine.NewName("a package", name)
	if err != nil {
		return err
	}
	folder := checked.In(filepath.Join(p.Dir, "sdks"), "")
	_, declared := confine.Anywhere().Stat(folder)
	if !found && declared != nil {
		return fmt.Errorf("the project has no package %s, neither in packages nor in the folder sdks", name)
	}
	if declared == nil {
		if err := withdraw(folder, ""); err != nil {
			return err
		}
	}
	if found {
		if err := p.Save(next); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Streams.Err, "Removed package %s\n", name)
	return nil
}
