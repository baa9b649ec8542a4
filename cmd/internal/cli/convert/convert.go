package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	checkcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/convert"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
)

// options are the arguments and flags of convert.
type options struct {
	paths   []string
	from    string
	out     string
	name    string
	json    bool
	to      string
	schemas operation.SchemaFlags
}

// reportRecord is the JSON form of the conversion report.
type reportRecord struct {
	Converted int             `json:"converted"` // objects converted without a remark
	Remarks   int             `json:"withRemarks"`
	LeftOut   int             `json:"leftOut"`
	Checked   bool            `json:"checked"`            // whether the schemas needed for checking are known
	Errors    []string        `json:"errors,omitempty"`   // errors that `yamlhost check` reports
	Warnings  []string        `json:"warnings,omitempty"` // warnings of the converter plugin, each with its position
	Secrets   []string        `json:"secrets,omitempty"`  // configuration keys of secrets that still need a value
	Items     []*convert.Item `json:"items"`
}

// Contracts lists the JSON forms that the command writes.
var Contracts = []contract.Contract{
	contract.Of[reportRecord]("convert", "what became of each object of the input", "`convert --json`"),
}

// sources maps the formats that convert reads itself to the file name extensions they use. Any other format is the name
// of a plugin, so this map also decides whether one is started.
var sources = map[string][]string{
	"kubernetes":     {".yaml", ".yml", ".json"},
	"cloudformation": {".yaml", ".yml", ".json", ".template"},
	"pcl":            {".pp"},
}

// Formats returns the formats that convert reads without a converter plugin.
func Formats() []string { return slices.Sorted(maps.Keys(sources)) }

// NewConvert returns the command convert.
func NewConvert(a *console.Console) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use: "convert --from FORMAT PATH...", Short: "Write a program from the files of another tool",
		Args: cobra.MinimumNArgs(1),
		Long: "convert reads manifests of Kubernetes, a template of CloudFormation, or PCL, and writes a project. " +
			"Any other format is read by a converter plugin of that name, such as terraform. A path is a file, or a folder whose files are all read; - is the standard input. Without --out the " +
			"program goes to standard output.\n\nReferences between objects become references of the program. " +
			"The values of a Secret become secret configuration. What cannot be converted stays in the program as " +
			"a comment with its reason. The program is checked before it is written; with the schema of the " +
			"provider, names and types come from there.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return run(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "what to convert: kubernetes, cloudformation, pcl, or the name of a converter plugin")
	f.StringVar(&o.to, "to", "yaml", "the language of the program: yaml, or one whose plugin is there, such as typescript, "+
		"python, go or csharp")
	f.StringVar(&o.out, "out", "", "write the project to this folder, which must be empty or new")
	f.StringVarP(&o.name, "name", "n", "", "the project's name; by default that of the folder or of the file")
	f.BoolVarP(&o.json, "json", "j", false, "write a report on each object in JSON instead of text")
	o.schemas.Register(cmd)
	return cmd
}

// run converts the files of another tool to a program.
func run(ctx context.Context, a *console.Console, o *options) error {
	// nil for a plugin's format, which has no endings of ours.
	ends := sources[o.from]
	switch {
	case o.from == "":
		return console.WithCode(console.CodeBadUsage, "--from is missing: it takes kubernetes, cloudformation, pcl, or "+
			"the name of a converter such as terraform")
	case ends == nil && !converterName().MatchString(o.from):
		return console.WithCode(console.CodeBadUsage, "--from takes kubernetes, cloudformation, pcl or the name of a "+
			"converter, not %q", o.from)
	}
	// Another language needs several files, of which none can go to standard output.
	if o.to != "yaml" && o.out == "" {
		return console.WithCode(console.CodeBadUsage, "--to %s writes a project: name its folder with --out", o.to)
	}
	out := ""
	if o.out != "" {
		out = a.Path(o.out)
		// It is checked first, since reading and checking may take long.
		if err := vacant(out, o.out); err != nil {
			return err
		}
	}
	name := o.name
	if name == "" {
		name = projectName(o, out)
	}
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	// A plugin reads files itself, so nothing is read before it starts.
	if ends == nil {
		return throughPlugin(ctx, a, o, name, out, given)
	}
	if o.from == "pcl" {
		sources, component, err := readPCL(ctx, a, o.paths, ends)
		if err != nil {
			return err
		}
		return convertPCL(ctx, a, o, name, out, given, sources, component, &reportRecord{})
	}
	// Everything is read before the first text is converted: references go from file to file.
	texts, err := read(ctx, a, o.paths, ends)
	if err != nil {
		return err
	}
	ws := workspace.Empty(a.World.Dir)
	providers := operation.NewProviders(a, ws, nil, operation.Careful)
	providers.Given = given
	defer providers.Close()
	// Each package is looked for once: nil stands for one that has not been found.
	found := map[string]*schema.Package{}
	// Definitions of kinds become files, which need a folder and a program that names them.
	conversion := convert.Options{Name: name, Definitions: out != "" && o.to == "yaml", Schema: func(name string) *schema.Package {
		if _, asked := found[name]; !asked {
			found[name], _ = providers.Schemas().Load(ctx, schema.Descriptor{Name: name}) // else rules name properties
		}
		return found[name]
	}}
	var program *convert.Program
	var diags diag.Diagnostics
	if o.from == "kubernetes" {
		program, diags = convert.Kubernetes(texts, conversion)
	} else {
		if len(texts) > 1 {
			return console.WithCode(console.CodeBadUsage, "a template of CloudFormation is a program of its own: convert one "+
				"at a time; the paths name %d files, such as %s and %s", len(texts), texts[0].Name(), texts[1].Name())
		}
		// A template may come from a stranger: the paths of nested ones must not lead out of its folder. The folder is
		// that of the template, not the working directory: paths in it are relative to it.
		door := confine.Door{Folder: filepath.Dir(a.Path(texts[0].Name()))}
		conversion.Template = func(parent, path string) (*diag.Source, error) {
			if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(parent), path)
			}
			full := a.Path(path)
			text, err := door.ReadFile(ctx, full)
			// The reason becomes a remark in the program, so it says nothing about the file system.
			if errors.Is(err, confine.ErrOutside) {
				return nil, errors.New("it is outside of the folder of the template that is converted")
			}
			if err != nil {
				return nil, console.PlainError(err)
			}
			return diag.NewSource(a.Short(full), text), nil
		}
		program, diags = convert.CloudFormation(texts[0], conversion)
	}
	if err := a.Report(diags); err != nil {
		return err
	}
	record := reportRecord{Items: program.Items, Secrets: program.Secrets()}
	return finish(ctx, a, o, name, out, program, program.Files, given, &record)
}

// finish checks a converted program, writes it and reports on it.
func finish(ctx context.Context, a *console.Console, o *options, name, out string, program converted,
	files map[string][]byte, given *operation.GivenSchemas, record *reportRecord) error {
	content, err := checked(ctx, a, program, files, given, record)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	// The program is written also with errors: a person completes it, and the exit code says so.
	if err := o.write(ctx, a, name, out, content, files); err != nil {
		return err
	}
	return tell(a, o, record, content)
}

// vacant returns an error if dir exists and is not empty. written is the folder as the user wrote it. A file where the
// folder should be is an error of ReadDir, too.
func vacant(dir, written string) error {
	entries, err := confine.Anywhere().ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out %s: %w", written, console.PlainError(err))
	case len(entries) > 0:
		return console.WithCode(console.CodeUsage, "--out %s: the folder is not empty: %s is in it; name another folder",
			written, entries[0].Name())
	}
	return nil
}

// read reads the files that paths name, in their order. In folders it reads the files whose names have one of the
// endings.
func read(ctx context.Context, a *console.Console, paths, ends []string) ([]*diag.Source, error) {
	var texts []*diag.Source
	take := func(path string, read func(path string) ([]byte, error)) error {
		text, err := read(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", a.Short(path), console.PlainError(err))
		}
		texts = append(texts, diag.NewSource(a.Short(path), text))
		return nil
	}
	for _, path := range paths {
		if path == "-" {
			// Standard input has no name, and so no ending to be chosen by.
			text, err := io.ReadAll(a.Streams.In)
			if err != nil {
				return nil, fmt.Errorf("read the standard input: %w", err)
			}
			texts = append(texts, diag.NewSource("standard input", text))
			continue
		}
		full := a.Path(path)
		info, err := os.Stat(full)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, console.PlainError(err))
		}
		if !info.IsDir() {
			if err := take(full, os.ReadFile); err != nil { // also a pipe: the user named it
				return nil, err
			}
			continue
		}
		before, door := len(texts), confine.Door{Folder: full} // links lead nowhere else
		err = door.WalkDir(full, func(p string, d fs.DirEntry, err error) error {
			// Other files of a folder, such as a README, are no mistake.
			if err != nil || d.IsDir() || !slices.Contains(ends, strings.ToLower(filepath.Ext(p))) {
				return err
			}
			return take(p, func(path string) ([]byte, error) { return door.ReadFile(ctx, path) })
		})
		if err != nil {
			return nil, err
		}
		if len(texts) == before {
			return nil, console.WithCode(console.CodeUsage, "%s has no file that ends in %s", path, strings.Join(ends, ", "))
		}
	}
	return texts, nil
}

// converterName matches names of converter plugins.
var converterName = lazyregexp.New(`^[a-z][a-z0-9-]*$`)

// outsideNames matches what a project name cannot contain.
var outsideNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// projectName derives a project name from the folder that the program is written to, or else from the first path.
func projectName(o *options, out string) string {
	name := o.paths[0]
	if out != "" {
		name = out
	}
	name = filepath.Base(name)
	// A folder keeps its dots, a file loses its ending.
	if out == "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	name = strings.Trim(outsideNames.ReplaceAllString(name, "-"), "-.")
	if name == "" {
		return "converted"
	}
	return name
}

// maxRepairs limits how often a program is repaired and checked again.
const maxRepairs = 40

// A converted program can be repaired where the checker finds an error. Repair reports whether it has changed the text.
type converted interface {
	Text() ([]byte, error)
	Repair(found diag.Diagnostic) bool
}

// checked checks the program as `check` does and repairs it while errors are found. files are written beside it. A
// missing plugin or a missing configuration value is no fault of the program. An error that cannot be repaired stays in
// the record, with the program as it is.
func checked(ctx context.Context, a *console.Console, program converted, files map[string][]byte,
	given *operation.GivenSchemas, record *reportRecord) ([]byte, error) {
	// The check needs a project in a folder of its own: that of --out does not exist yet, and must not if anything
	// fails.
	dir, err := os.MkdirTemp("", "yamlhost-convert-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(dir) }()
	if err := fill(dir, files); err != nil {
		return nil, err
	}
	for range maxRepairs {
		content, err := program.Text()
		if err != nil {
			return nil, err
		}
		// The name is the one in messages, where a user will find the program.
		if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), content, 0o600); err != nil {
			return nil, fmt.Errorf("write the program to check it: %w", err)
		}
		_, found, err := checkcmd.CheckTarget(ctx, a, dir, "", given, operation.Careful)
		if err != nil {
			return nil, err
		}
		// Only the errors of the last round remain.
		record.Checked, record.Errors = true, nil
		repaired := false
		for _, d := range found.Sorted() {
			switch {
			// A configuration value is missing until the user sets it, after the conversion.
			case d.Severity != diag.Error || d.Code == diag.ConfigMissing:
			case d.Code == diag.PackageMissing:
				record.Checked = false
			default:
				line := 0
				if !d.Subject.IsZero() {
					line = d.Subject.StartPosition().Line
				}
				record.Errors = append(record.Errors, fmt.Sprintf("Pulumi.yaml:%d: %s", line, d.Summary))
				repaired = program.Repair(d) || repaired
			}
		}
		// Without a repair the next round would find the same.
		if !repaired || ctx.Err() != nil {
			return content, nil
		}
	}
	return program.Text()
}

// write writes the files to the folder out, either all of them or none. It does nothing if out is empty.
func write(out string, files map[string][]byte) error {
	if out == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("make %s: %w", filepath.Dir(out), console.PlainError(err))
	}
	// The project is completed beside its folder, on the same file system, and then renamed.
	stage, err := os.MkdirTemp(filepath.Dir(out), ".yamlhost-convert-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", console.PlainError(err))
	}
	defer func() { _ = osfile.RemoveAll(stage) }()
	if err := fill(stage, files); err != nil {
		return err
	}
	// MkdirTemp makes folders that only their owner can read.
	if err := os.Chmod(stage, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", out, console.PlainError(err))
	}
	// Windows does not rename a folder over another one. vacant made sure that it is empty, and Remove fails otherwise.
	if err := osfile.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder
		return fmt.Errorf("replace %s: %w", out, console.PlainError(err))
	}
	if err := osfile.Rename(stage, out); err != nil {
		return fmt.Errorf("make %s: %w", out, console.PlainError(err))
	}
	return nil
}

// fill writes files to a folder.
func fill(dir string, files map[string][]byte) error {
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", name, console.PlainError(err))
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, console.PlainError(err))
		}
	}
	return nil
}

// tell writes the report, and also the program if that goes to standard output.
func tell(a *console.Console, o *options, record *reportRecord, content []byte) error {
	for _, item := range record.Items {
		switch {
		// An object without a name in the program was left out.
		case item.As == "":
			record.LeftOut++
		case len(item.Remarks) > 0:
			record.Remarks++
		default:
			record.Converted++
		}
	}
	var err error
	switch {
	case o.json:
		err = a.WriteJSON(record)
	case o.out == "":
		_, err = a.Streams.Out.Write(content)
	}
	if err != nil {
		return err
	}
	// JSON has everything that the text would repeat.
	if !o.json {
		sayReport(a, o, record)
	}
	if len(record.Errors) > 0 {
		return console.WithCode(console.CodeProgram, "the program needs work: `yamlhost check` finds %s",
			diag.Count(len(record.Errors), "error"))
	}
	return nil
}

// sayReport writes the report as text to standard error: remarks, numbers, and the errors that remain.
func sayReport(a *console.Console, o *options, record *reportRecord) {
	w := a.Streams.Err
	for _, item := range record.Items {
		for _, remark := range item.Remarks {
			fmt.Fprintf(w, "%s:%d: %s: %s\n", item.File, item.Line, strings.TrimSpace(item.Kind+" "+item.Name), remark)
		}
	}
	fmt.Fprintf(w, "%s converted, %d with remarks, %d left out\n", diag.Count(record.Converted+record.Remarks, "object"),
		record.Remarks, record.LeftOut)
	if !record.Checked {
		fmt.Fprintln(w, "The schema of the provider is not known here, so names follow from rules and types are not checked; "+
			"install the plugin, or give --schema-dir.")
	}
	if o.out != "" {
		fmt.Fprintf(w, "The project is in %s.\n", o.out)
	}
	if len(record.Errors) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(record.Errors, "\n"))
	}
}

// generated is a program that cannot be repaired. PCL is complete when it is converted, so there is nothing that this
// program could take out again.
type generated []byte

func (g generated) Text() ([]byte, error)       { return g, nil }
func (g generated) Repair(diag.Diagnostic) bool { return false }

// readPCL reads the files that paths name, and returns with them what reads the components of the program. The files
// of a folder are one module, and its subfolders have those of its components: they are read where the program names
// them.
func readPCL(ctx context.Context, a *console.Console, paths, ends []string) (pcl.Sources,
	func(folder string) (pcl.Sources, error), error) {
	sources := pcl.Sources{}
	var component func(folder string) (pcl.Sources, error)
	for _, path := range paths {
		dir := a.Path(path)
		// A single file: read reports a missing one, with the path as it was given.
		if info, err := os.Stat(dir); path == "-" || err != nil || !info.IsDir() {
			texts, err := read(ctx, a, []string{path}, ends)
			if err != nil {
				return nil, nil, err
			}
			sources[texts[0].Name()] = texts[0].Text()
			dir = filepath.Dir(dir)
		} else {
			files, err := readModule(dir, ".")
			if err != nil {
				return nil, nil, err
			}
			if len(files) == 0 {
				return nil, nil, console.WithCode(console.CodeUsage, "%s has no file that ends in %s; files in folders below "+
					"it are parts of components", path, strings.Join(ends, ", "))
			}
			for name, text := range files {
				sources[a.Short(filepath.Join(dir, name))] = text
			}
		}
		// The folder of the first path is the program's. Components of standard input have no place.
		if component == nil && path != "-" {
			component = func(folder string) (pcl.Sources, error) {
				files, err := readModule(dir, folder)
				if err == nil && len(files) == 0 {
					err = fmt.Errorf("it has no file that ends in %s", strings.Join(ends, ", "))
				}
				return files, err
			}
		}
	}
	return sources, component, nil
}

// convertPCL translates PCL, the intermediate language of Pulumi's converters, and completes the record. component
// reads the files of a component; it may be nil.
func convertPCL(ctx context.Context, a *console.Console, o *options, name, out string, given *operation.GivenSchemas,
	sources pcl.Sources, component func(folder string) (pcl.Sources, error), record *reportRecord) error {
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Careful)
	providers.Given = given
	defer providers.Close()
	program, diags := pcl.Generate(ctx, sources, pcl.Options{Schemas: providers.Schemas(), Project: true,
		Component: component})
	if err := a.Report(diags); err != nil {
		return err
	}
	// Generate writes the sections; the head of the project file is ours.
	text := "name: " + literal.Scalar(name) + "\nruntime: yaml\n"
	if program.Text != "{}\n" {
		text += program.Text
	}
	files := map[string][]byte{}
	for _, d := range program.Declared {
		// Such a package needs no file: its plugin is found by its name.
		if d == (pcl.Declaration{Name: d.Name}) { // an empty declaration
			continue
		}
		_, path, declaration, err := langhost.PackageFile(d)
		if err != nil {
			return err
		}
		files[path] = declaration
	}
	record.Items = []*convert.Item{}
	for _, object := range program.Objects {
		item := &convert.Item{Name: object.Name, Kind: object.Kind, As: object.Name}
		if o.from == "pcl" { // otherwise the user does not see the text
			item.File, item.Line = object.Place.Source.Name(), object.Place.StartPosition().Line
		}
		record.Items = append(record.Items, item)
	}
	return finish(ctx, a, o, name, out, generated(text), files, given, record)
}
