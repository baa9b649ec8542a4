package newproject

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	checkcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/check"
	configcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/config"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/templates"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newOptions are the arguments and flags of new.
type newOptions struct {
	template    string
	dir         string
	name        string
	description string
	stack       string
	config      []string // key=value
	force       bool
	list        bool
	yes         bool
	// A flag on the line is an answer; the same text as a default is none.
	set func(flag string) bool // reports whether a flag is on the command line
}

// NewNew returns the command `new`.
func NewNew(a *console.Console) *cobra.Command {
	o := &newOptions{}
	cmd := &cobra.Command{
		Use: "new [TEMPLATE]", Aliases: []string{"create", "setup"}, Short: "Make a project from a template", Args: console.AtMostOne("a template"),
		Long: "new makes a project, and a stack for it, from a template of this program, from a folder such as " +
			"./template,\nor from a folder of a git repository, as in " +
			"https://example.com/team/templates.git//web?ref=v2.\n" +
			"On a terminal it asks for everything that no flag sets. Existing files are kept unless --force is given.\n" +
			"github-actions and gitlab-ci add their files to an existing project.\n\n" +
			"Templates: " + strings.Join(templates.Names(), ", ") + ".",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.template = args[0]
			}
			o.set = cmd.Flags().Changed
			return makeProject(cmd.Context(), a, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dir, "dir", "",
		"make the project in this folder, which need not exist; by default in the working directory")
	flags.StringVarP(&o.name, "name", "n", "", "the project's name; by default that of its folder")
	flags.StringVarP(&o.description, "description", "d", "", "the project's description; by default the template's")
	flags.StringVarP(&o.stack, "stack", "s", console.DefaultStack, "the stack to create")
	flags.StringArrayVarP(&o.config, "config", "c", nil,
		"a configuration value of the stack, as key=value; may be repeated")
	flags.BoolVarP(&o.force, "force", "f", false, "replace existing files, and use an existing stack")
	flags.BoolVarP(&o.list, "list", "l", false, "list the templates and make nothing")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask; use the default for everything that no flag sets")
	return cmd
}

// makeProject makes a project. It completes all checks that can fail before it writes the first file.
func makeProject(ctx context.Context, a *console.Console, o *newOptions) error {
	if o.list {
		return list(a.Streams.Out)
	}
	m := &maker{Console: a, options: o, asks: a.Interactive() && !o.yes}
	if err := m.open(ctx); err != nil {
		return err
	}
	// A template that joins adds its files to the project that is there. Without one it makes a project, as others do.
	if there := m.projectThere(); m.template.Joins && there != "" {
		return m.join(there)
	}
	if err := m.gather(); err != nil {
		return err
	}
	files, err := m.render()
	if err != nil {
		return err
	}
	exists, err := m.openStack()
	if err != nil {
		return err
	}
	settings, err := m.Stacks().Settings(m.stack) // the file exists already if the folder was used before
	if err != nil {
		return err
	}
	if files, err = m.free(files, settings, exists); err != nil {
		return err
	}
	if err := m.seal(settings); err != nil {
		return err
	}
	// Nothing has been written before this line.
	if err := m.write(files, settings); err != nil {
		return err
	}
	// Only --force gets here with an existing stack: free has refused it otherwise.
	if exists {
		err = a.Stacks().Select(m.stack)
	} else {
		err = a.Stacks().Create(ctx, m.stack, nil, true)
	}
	if err != nil {
		return fmt.Errorf("the project is made, but not its stack: %w", err)
	}
	// The check is for the last lines that are printed: whether plugins are missing.
	_, found, err := checkcmd.CheckTarget(ctx, m.Console, m.dir, m.stack.Ref.Stack, nil, operation.Careful)
	m.tell(files, exists, slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
		return d.Code == diag.PackageMissing
	}))
	if err != nil {
		return err
	}
	return m.warn(found)
}

// warn reports errors that `check` finds in the new project as warnings: a template may be older than the installed
// schemas, and its project is created nevertheless. Missing plugins and configuration are not reported, as both may be
// added later.
func (m *maker) warn(found diag.Diagnostics) error {
	var faults diag.Diagnostics
	for _, d := range found.Sorted() {
		if d.Severity == diag.Error && d.Code != diag.PackageMissing && d.Code != diag.ConfigMissing {
			d.Severity = diag.Warning
			faults.Add(d)
		}
	}
	if len(faults) > 0 {
		fmt.Fprintln(m.Streams.Err, "\nThe program of the template has faults, which `yamlhost check` shows too:")
	}
	return m.Report(faults)
}

// list writes a table of the built-in templates.
func list(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TEMPLATE\tMAKES")
	for _, name := range templates.Names() {
		t, err := templates.Embedded(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(tw, "%s\t%s\n", t.Name, t.Description)
	}
	return tw.Flush()
}

// A maker makes one project. Its fields are filled in the order of its steps: what is asked, the files, the project,
// the stack.
type maker struct {
	*console.Console
	options     *newOptions
	asks        bool
	template    *templates.Template
	dir         string // absolute path
	name        string
	description string
	stackName   string
	values      map[string]string // configuration, by key as written
	unset       []project.TemplateValue
	project     *project.Project
	stack       *console.Stack
}

// projectThere returns the project file in the folder, or "" if there is none. The names are looked for in the folder
// itself: a project further up is another one.
func (m *maker) projectThere() string {
	for _, name := range []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json"} {
		path := filepath.Join(m.dir, name)
		if info, err := confine.Anywhere().Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// join adds the files of a template to an existing project. Flags that describe a new project would be ignored here,
// and are refused.
func (m *maker) join(path string) error {
	for _, flag := range []string{"name", "description", "stack", "config"} {
		if m.options.set(flag) {
			return console.WithCode(console.CodeUsage,
				"--%s is for new projects, but %s exists already; without it, %s adds its files to that project", flag,
				m.Short(path), m.template.Name)
		}
	}
	p, err := m.SoundProject(m.dir)
	if err != nil {
		return err
	}
	m.name, m.description = p.Name.Text, p.Description
	files, err := m.template.Fill(m.name, m.description)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f templates.File) bool { // the existing project keeps its own
		return f.Usual || f.Path == m.template.ProjectFile || f.Path == templates.TestScript
	})
	if files, err = m.free(files, nil, false); err != nil {
		return err
	}
	if err := templates.Write(m.dir, files, m.options.force); err != nil {
		return err
	}
	fmt.Fprintf(m.Streams.Err, "Added to project %s:\n", m.name)
	m.tellFiles(files)
	m.tellQuickstart()
	return nil
}

// render returns the project's files, and parses the project file as later commands do. A template with a fault is
// found before anything is written.
func (m *maker) render() ([]templates.File, error) {
	files, err := m.template.Fill(m.name, m.description)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Path != m.template.ProjectFile {
			continue
		}
		path := filepath.Join(m.dir, f.Path)
		p, found := project.Parse(diag.NewSource(m.Short(path), project.StripBOM(f.Text)))
		if err := m.Report(found); err != nil {
			return nil, err
		}
		p.Path, p.Dir = path, m.dir
		// Templates of Pulumi exist for every language.
		if p.Runtime != "" && p.Runtime != "yaml" {
			return nil, fmt.Errorf("template %s is for programs of the runtime %s, which cannot be run here", m.template.Name,
				p.Runtime)
		}
		m.project = p
	}
	return files, nil
}

// openStack opens the backend and reports whether the stack exists. The name is checked here because the files come
// before the stack.
func (m *maker) openStack() (exists bool, err error) {
	b, err := m.Backends().Open(m.project)
	if err != nil {
		return false, err
	}
	ref, err := b.ParseRef(m.stackName, m.name)
	if err != nil {
		return false, err
	}
	m.stack = &console.Stack{Project: m.project, Backend: b, Ref: ref}
	if exists, err = b.Exists(ref); err == nil && !exists {
		err = ref.CheckNew()
	}
	return exists, err
}

// free returns the files to write. It returns an error if other files are in their places, except that usual files
// which exist already are kept. settings is nil if there are none to write. An existing stack is taken to belong to
// another project unless --force is given.
func (m *maker) free(files []templates.File, settings *project.Settings, exists bool) ([]templates.File, error) {
	taken, err := templates.Conflicts(m.dir, files)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f templates.File) bool {
		i := slices.Index(taken, f.Path)
		// Usual files, such as .gitignore, are everybody's: one that is there is as good.
		if !f.Usual || i < 0 {
			return false
		}
		taken = slices.Delete(taken, i, i+1)
		return true
	})
	// Without values no settings are written, and an existing file stays.
	if settings != nil && settings.Exists && len(m.values) > 0 {
		taken = append(taken, filepath.Base(settings.Path))
	}
	if m.options.force {
		return files, nil
	}
	var faults, ways []string
	if len(taken) > 0 {
		faults = append(faults, fmt.Sprintf("%s already has these files:\n    %s", m.place(),
			strings.Join(taken, "\n    ")))
		ways = append(ways, "--dir")
	}
	if exists {
		faults = append(faults, fmt.Sprintf("%s has a stack '%s' of a project %s already", m.stack.Backend.PublicURL(),
			m.stack.Ref.Stack, m.name))
		ways = append(ways, "--name", "--stack")
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf(
			"nothing was written: %s\nGive another %s, or use --force, which replaces files and uses the existing stack",
			strings.Join(faults, "\nand "), strings.Join(ways, " or "))
	}
	return files, nil
}

// seal writes the configuration to the settings, with secrets encrypted. It runs before the files are written: a value
// that looks like a secret leaves nothing behind.
func (m *maker) seal(settings *project.Settings) error {
	secret := map[project.Key]bool{}
	for _, v := range m.template.Config {
		key, err := project.ParseKey(v.Key, m.name)
		if err != nil {
			return fmt.Errorf("template %s: %w", m.template.Name, err)
		}
		secret[key] = v.Secret
	}
	// A value is secret if the template or the program says so.
	for _, d := range m.project.Config {
		secret[d.Key] = secret[d.Key] || d.Secret
	}
	for _, text := range slices.Sorted(maps.Keys(m.values)) {
		key, err := project.ParseKey(text, m.name)
		if err != nil {
			return err
		}
		var v any = m.values[text]
		switch {
		case !secret[key] && configcmd.LooksSecret(key.Name, m.values[text]):
			return fmt.Errorf("config value for %s looks like a secret; "+
				"set it with `yamlhost config set --secret` when the project is made", key)
		case secret[key]:
			own := m.Secrets().Of(m.stack.Backend, m.stack.Ref)
			if v, err = own.SealedConfig(settings, m.stack.Ref.Stack, key, m.values[text]); err != nil {
				return err
			}
		}
		settings.Set(key, v)
	}
	return nil
}

// write writes the project's files, and the settings if there are values.
func (m *maker) write(files []templates.File, settings *project.Settings) error {
	if err := templates.Write(m.dir, files, m.options.force); err != nil {
		return err
	}
	if len(m.values) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(settings.Path), 0o755); err != nil {
		return err
	}
	// The folder of the settings must exist for the lock.
	release, err := m.Hold(settings.Path)
	if err != nil {
		return err
	}
	defer release()
	return settings.Save()
}

// place returns the project's folder for messages.
func (m *maker) place() string {
	if short := m.Short(m.dir); short != "." {
		return short
	}
	return m.dir
}

// tell prints what was created and what to do next. used is set if the stack existed before. plugins is set if the
// program uses plugins that are not installed.
func (m *maker) tell(files []templates.File, used, plugins bool) {
	out := m.Streams.Err
	fmt.Fprintf(out, "Created project %s in %s:\n", m.name, m.place())
	m.tellFiles(files)
	if len(m.values) > 0 {
		fmt.Fprintf(out, "    %s\n", filepath.Base(m.project.StackFile(m.stack.Ref.Stack)))
	}
	if used {
		fmt.Fprintf(out, "It uses the existing stack '%s'.\n", m.stack.Ref.Stack)
	} else {
		fmt.Fprintf(out, "Created stack '%s'\n", m.stack.Ref.Stack)
	}
	m.tellQuickstart()
	fmt.Fprintln(out, "\nWhat to do next:")
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if m.dir != m.World.Dir {
		fmt.Fprintf(tw, "    cd %s\n", console.ShellWord(m.place()))
	}
	for _, v := range m.unset {
		line := v.Key + " VALUE"
		if v.Secret { // without a value, so that the secret stays out of the shell's history
			line = "--secret " + v.Key
		}
		fmt.Fprintf(tw, "    yamlhost config set %s\t%s\n", line, v.Description)
	}
	// preview is named first, as it changes nothing.
	if plugins {
		fmt.Fprintln(tw, "    yamlhost preview --accept-new-plugins\tinstalls and locks its plugins, and shows what would be made")
	} else {
		fmt.Fprintln(tw, "    yamlhost preview\tshows what would be made")
	}
	fmt.Fprintln(tw, "    yamlhost up\tmakes it")
	fmt.Fprintln(tw, "    yamlhost destroy\tremoves it again")
	tw.Flush()
}

// tellFiles lists files that were written.
func (m *maker) tellFiles(files []templates.File) {
	for _, f := range files {
		fmt.Fprintf(m.Streams.Err, "    %s\n", f.Path)
	}
}

// tellQuickstart prints the first steps that the template describes.
func (m *maker) tellQuickstart() {
	if m.template.Quickstart != "" {
		fmt.Fprintf(m.Streams.Err, "\n%s\n", strings.TrimSpace(m.template.Quickstart))
	}
}
