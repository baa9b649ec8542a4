package lsp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/picture"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/crd"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// NewLSP returns the command lsp.
func NewLSP(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Answer an editor over the Language Server Protocol",
		Long: "lsp is started by editors. It answers with the findings of `yamlhost check`, completes, explains " +
			"and renames. It starts nothing from the project, downloads nothing and opens no socket: plugins " +
			"that are installed or on the PATH are asked for their schemas.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), a) },
	}
}

// Plan returns a function that previews the selected stack of the project in a folder.
func Plan(inside console.Inside) func(ctx context.Context, dir string) (string, error) {
	return func(ctx context.Context, dir string) (string, error) {
		text, err := inside(ctx, dir, "preview", "--diff")
		if text != "" {
			return text, nil // the text includes any error
		}
		return "", err
	}
}

// serve answers an editor until it sends exit.
func serve(ctx context.Context, a *console.Console) error {
	opener := &ProgramOpener{Console: a, Loaders: make(map[string]*KeptSchemas)}
	defer opener.Close()
	// A server lives long, other than the commands that System has tuned the collector for.
	memory.Serve(a.World.Getenv)
	// A preview runs plugins, so the client offers it only as a command that a person calls.
	plan := Plan(console.NewInside(a))
	return lsp.Serve(ctx, a.Streams.In, a.Data(), editor.NewSession(opener), lsp.Options{
		Version: a.World.Version, Rest: memory.Rest, Programs: Programs,
		Graph: func(out io.Writer, p *editor.Program) error { return picture.WriteSVG(out, p.Checked) },
		Plan:  func(ctx context.Context, path string) (string, error) { return plan(ctx, opener.Root(path)) }})
}

// A ProgramOpener opens programs for an editor, as `check` does, and caches the schemas that it reads. It is safe for
// concurrent use. It keeps no text of a program: those are the session's.
type ProgramOpener struct {
	Console *console.Console
	// Within is the only folder in which files are read; empty for any.
	Within string

	declarations project.FoundPackages

	mu      sync.Mutex
	Loaders map[string]*KeptSchemas // by the folder of the project; guarded by mu
	states  map[string]keptState    // by the folder of the project; guarded by mu
	crds    *crd.Cache              // set by kinds; guarded by mu
}

var _ editor.Opener = (*ProgramOpener)(nil)

// KeptSchemas caches the schemas of one project, with the providers that they are read from. It stays until Forget
// finds it incomplete: a keystroke must not read a schema again.
type KeptSchemas struct {
	schema.Loader
	providers *operation.Providers
	// damaged reports whether a schema that was opened turned out to be damaged, as by a concurrent write.
	damaged func() bool

	mu      sync.Mutex
	missing bool // set if a package was not found; guarded by mu
}

// Load loads a package and records a failure, so that Forget can drop the cache.
func (k *KeptSchemas) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	pkg, err := k.Loader.Load(ctx, d)
	// A check that was cancelled says nothing about the package.
	if err != nil && ctx.Err() == nil {
		k.mu.Lock()
		k.missing = true
		k.mu.Unlock()
	}
	return pkg, err
}

// incomplete reports whether another attempt may find more.
func (k *KeptSchemas) incomplete() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.missing || k.damaged()
}

// Close closes the providers of all projects.
func (o *ProgramOpener) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.Loaders {
		// The editor has gone, and nobody is left to read an error.
		_ = k.providers.Close()
	}
}

// Forget drops caches with schemas that are missing or damaged, so that these are looked for again.
func (o *ProgramOpener) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for dir, k := range o.Loaders {
		if k.incomplete() {
			_ = k.providers.Close()
			delete(o.Loaders, dir)
		}
	}
}

// schemas returns the cache of a project, which its programs share.
func (o *ProgramOpener) schemas(ws *workspace.Workspace) *KeptSchemas {
	o.mu.Lock()
	defer o.mu.Unlock()
	dir := ws.Project.Dir
	// By folder and not by program: a file that is checked by itself has the plugins of its project.
	k := o.Loaders[dir]
	if k == nil {
		k = &KeptSchemas{providers: operation.NewProviders(o.Console, ws, nil, operation.Careful)}
		k.Loader, k.damaged = k.providers.WatchedSchemas()
		o.Loaders[dir] = k
	}
	return k
}

// kinds returns the cache for Kubernetes kinds defined in files.
func (o *ProgramOpener) kinds() *crd.Cache {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Made late, as the first program with definitions needs it.
	if o.crds == nil {
		o.crds = o.Console.World.CRDs()
	}
	return o.crds
}

// Root returns the folder that findings about a file use as the base of file names: the folder of its project, or else
// its own.
func (o *ProgramOpener) Root(path string) string {
	dir := filepath.Dir(path)
	if found, err := project.Find(dir); err == nil {
		return filepath.Dir(found)
	}
	return dir
}

// Name returns the name of a file in findings, the same as `check` uses in the project's folder.
func (o *ProgramOpener) Name(path string) string { return workspace.Relative(o.Root(path))(path) }

// Open opens the program that a file belongs to: that of its project, or the file by itself if it is not part of the
// project's program. It is called for each snapshot of the session that is asked about the program, that is after every
// edit: what takes long, schemas and declarations, is kept by the opener.
func (o *ProgramOpener) Open(ctx context.Context, path string, document func(path string) *parser.Document) (
	*editor.Project, error) {
	root := o.Root(path)
	shown := workspace.Relative(root)
	absolute := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(root, filepath.FromSlash(name))
	}
	options := o.Console.Looking()
	options.Within = o.Within
	options.Shown, options.Declarations, options.CRDs = shown, &o.declarations, o.kinds()
	// What is open in the editor counts, saved or not.
	options.Opened = func(name string) *diag.Source {
		if d := document(absolute(name)); d != nil {
			return d.Source()
		}
		return nil
	}
	// The project file is often the program's text, too: its reader then skips the sections of the program, which are
	// most of it.
	options.Outline = func(name string) []byte {
		if d := document(absolute(name)); d != nil {
			if text, known := d.Outline(project.ProgramSections()); known {
				return text
			}
		}
		return nil
	}
	// The name of the file decides, so that a settings file is not taken for a program.
	if settings := o.settings(ctx, root, path, options, document); settings != nil {
		settings.Path = absolute
		return settings, nil
	}
	// A file of the project that its program does not include is checked by itself.
	ws, err := workspace.Open(root, options)
	if err != nil || ws.Source == nil || !o.belongs(ws, path, shown) {
		ws, err = workspace.OpenFile(path, options)
	}
	if err != nil {
		return nil, err
	}
	p := &editor.Project{Main: ws.Program.Path, Path: absolute, Join: ws.Join}
	// A project without a program text, such as one whose main folder is missing, has findings of its project file
	// only.
	if ws.Source == nil {
		p.Main = ws.Project.Path
		p.Join = func(found diag.Diagnostics) diag.Diagnostics {
			_, all := ws.Check(ctx, workspace.CheckOptions{})
			return append(found, all...)
		}
		return p, nil
	}
	// The session's document keeps what it knows from keystroke to keystroke. A new one is made only for a text that
	// nobody has open.
	if d := document(p.Main); d != nil && d.Source() == ws.Source {
		p.Document = d
	} else {
		p.Document = parser.NewDocument(ws.Source)
	}
	kept := o.schemas(ws)
	// An editor must not start what the project brings along, so a package with its own plugin stays unknown.
	checking := workspace.CheckOptions{
		Options: check.Options{Config: ws.ConfigTexts(nil), Stat: ws.Project.Door.Stat,
			Bundle: kept.providers.Sources.Bundle, Handler: kept.providers.Sources.Handler},
		Parameterize: func(ctx context.Context, pkg project.Package) (schema.Descriptor, error) {
			// A path of its own or an absolute one is a program of the project's.
			if strings.HasPrefix(pkg.Source, ".") || filepath.IsAbs(pkg.Source) {
				return schema.Descriptor{}, errors.New("its plugin belongs to the project, and is not started by an editor")
			}
			return kept.providers.Parameterize(ctx, pkg)
		}}
	p.Parse = ws.ParserOptions(checking)
	p.Declare = ws.Declare
	var failed diag.Diagnostics
	p.Check, failed = ws.CheckerOptions(ctx, checking)
	p.Check.Schemas = ws.Schemas(kept)
	p.Join = func(found diag.Diagnostics) diag.Diagnostics {
		found = ws.Join(append(slices.Clip(found), failed...))
		return append(found, kept.providers.Paths.Placed(ws).Unseen()...)
	}
	// State, Settings and Packages are functions: most requests need none of them, and they read files.
	p.State = func(ctx context.Context) *editor.State { return o.state(ctx, ws.Project) }
	p.Settings = func() []*parser.Document { return settingsFiles(ws.Project, shown, document) }
	p.Files = filesFrom(filepath.Dir(p.Main))
	home, own := o.Console.World.PulumiHome(), ownPackages(ws)
	p.Packages = func() []string { return operation.PackageNames(home, own) }
	return p, nil
}

// belongs reports whether a file is part of the program of its project.
func (o *ProgramOpener) belongs(ws *workspace.Workspace, path string, shown func(string) string) bool {
	if path == ws.Program.Path || path == ws.Project.Path {
		return true
	}
	name := shown(path)
	found := func() bool {
		return slices.ContainsFunc(ws.Parts, func(src *diag.Source) bool { return src.Name() == name })
	}
	// Without the word nothing can be included, which saves a parse for most files.
	if !found() && strings.Contains(string(ws.Source.Text()), "include") {
		ws.Parse(nil) // finds the files that the program includes
	}
	return found()
}

// filesFrom returns a function that lists a folder, given its path relative to dir. Hidden files are omitted.
func filesFrom(dir string) func(folder string) []string {
	return func(folder string) (names []string) {
		path := filepath.FromSlash(folder)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		entries, err := confine.Anywhere().ReadDir(path)
		if err != nil {
			return nil // the folder need not exist yet
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case strings.HasPrefix(name, "."):
			case e.IsDir():
				// The slash shows the editor that the path can go on.
				names = append(names, name+"/")
			default:
				names = append(names, name)
			}
		}
		return names
	}
}

// ownPackages returns the names of the packages that a project declares.
func ownPackages(ws *workspace.Workspace) []string {
	var names []string
	for _, d := range ws.Packages {
		names = append(names, d.PackageName())
	}
	for _, c := range ws.Components {
		names = append(names, c.Name)
	}
	if !ws.CRDs.Empty() {
		names = append(names, crd.Package)
	}
	return names
}

// maxPrograms limits the programs of a workspace that are checked without being open in the editor.
const maxPrograms = 200

// projectFiles lists the names of files that mark the folder of a project or of a package of components.
var projectFiles = []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json", "PulumiPlugin.yaml"}

// Programs returns the paths of the project files below a folder in lexical order, at most maxPrograms. Hidden folders,
// and those that package managers fill, are skipped.
func Programs(folder string) (paths []string) {
	_ = confine.Anywhere().WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // skip unreadable folders
		// A home folder may have been opened as the workspace.
		case len(paths) == maxPrograms:
			return filepath.SkipAll
		case d.IsDir() && path != folder && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"node_modules", "vendor", "venv"}, d.Name())):
			return filepath.SkipDir
		case d.Type().IsRegular() && slices.Contains(projectFiles, d.Name()):
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}
