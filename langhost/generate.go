package langhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// programFile is the file name of a generated program.
const programFile = "Main.yaml"

// GenerateProgram translates a program from PCL (F9.11).
func (h *Host) GenerateProgram(ctx context.Context, r *pulumirpc.GenerateProgramRequest) (
	*pulumirpc.GenerateProgramResponse, error) {
	sources := pcl.Sources{}
	for name, text := range r.GetSource() {
		sources[name] = []byte(text)
	}
	program, diags, err := h.generate(ctx, sources, r.GetLoaderTarget(), pcl.Options{})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GenerateProgramResponse{Diagnostics: codegenDiagnostics(diags)}
	if !diags.HasErrors() {
		response.Source = map[string][]byte{programFile: []byte(program.Text)}
	}
	return response, nil
}

// GenerateProject translates a program from PCL and writes a project (F9.11): the project file, the program in the
// folder of the project's field main, and the declarations of the packages that it uses. It writes nothing if the
// diagnostics have an error.
func (h *Host) GenerateProject(ctx context.Context, r *pulumirpc.GenerateProjectRequest) (
	*pulumirpc.GenerateProjectResponse, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(r.GetProject()), &fields); err != nil {
		return nil, fmt.Errorf("read the project: %w", err)
	}
	var main string
	if raw, found := fields["main"]; found {
		if err := json.Unmarshal(raw, &main); err != nil {
			return nil, fmt.Errorf("read the project's field main: %w", err)
		}
	}
	if !filepath.IsLocal(filepath.Join(".", main)) {
		return nil, fmt.Errorf("the project's field main is %s, which is outside of the project", main)
	}
	door := confine.Door{Folder: r.GetSourceDirectory()}
	sources, err := readSources(ctx, door, r.GetSourceDirectory())
	if err != nil {
		return nil, err
	}
	local, err := localPackages(ctx, r.GetLocalDependencies())
	if err != nil {
		return nil, err
	}
	program, diags, err := h.generate(ctx, sources, r.GetLoaderTarget(), pcl.Options{
		Packages: local.byName,
		Component: func(folder string) (pcl.Sources, error) {
			return readSources(ctx, door, filepath.Join(r.GetSourceDirectory(), filepath.FromSlash(folder)))
		},
	})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GenerateProjectResponse{Diagnostics: codegenDiagnostics(diags)}
	if diags.HasErrors() {
		return response, nil
	}
	dir := filepath.Join(r.GetTargetDirectory(), main)
	files := map[string][]byte{
		filepath.Join(r.GetTargetDirectory(), "Pulumi.yaml"): []byte(projectText(fields)),
		filepath.Join(dir, programFile):                      []byte(program.Text),
	}
	for _, name := range program.Packages {
		if path := local.paths[name]; path != "" {
			text, err := confine.Anywhere().ReadFile(ctx, path)
			if err != nil {
				return nil, fmt.Errorf("read a package declaration: %w", err)
			}
			files[filepath.Join(dir, "sdks", filepath.Base(path))] = text
		}
	}
	for _, d := range program.Declared {
		name, path, text, err := PackageFile(d)
		if err != nil {
			return nil, err
		}
		if local.paths[name] == "" {
			files[filepath.Join(dir, filepath.FromSlash(path))] = text
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(path, files[path]); err != nil {
			return nil, fmt.Errorf("write the project: %w", err)
		}
	}
	return response, nil
}

// generate translates a program from PCL, with schemas if a loader is available.
func (h *Host) generate(ctx context.Context, sources pcl.Sources, loader string, o pcl.Options) (pcl.Program,
	diag.Diagnostics, error) {
	schemas, closeSchemas, err := h.schemasIfAny(loader)
	if err != nil {
		return pcl.Program{}, nil, err
	}
	defer closeSchemas()
	o.Schemas = schemas
	program, diags := pcl.Generate(ctx, sources, o)
	return program, diags, nil
}

// writeFile writes a file readable by all users, and creates the folders above it.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// readSources reads the PCL files of a folder.
func readSources(ctx context.Context, door confine.Door, dir string) (pcl.Sources, error) {
	paths, err := door.Glob(dir, "*.pp")
	if err != nil {
		return nil, fmt.Errorf("look for programs in PCL: %w", err)
	}
	if info, err := door.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s", filepath.Base(dir))
	}
	sources := pcl.Sources{}
	for _, path := range paths {
		text, err := door.ReadFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("read a program in PCL: %w", err)
		}
		sources[filepath.Base(path)] = text
	}
	return sources, nil
}

// declaredPackages are the packages whose declaration files a request names.
type declaredPackages struct {
	byName map[string]schema.Descriptor
	paths  map[string]string // of the declaration files, by package name
}

// localPackages reads declaration files made by Pack, by package. It ignores files that declare no package.
func localPackages(ctx context.Context, dependencies map[string]string) (declaredPackages, error) {
	found := declaredPackages{map[string]schema.Descriptor{}, map[string]string{}}
	for name, path := range dependencies {
		info, err := confine.Anywhere().Stat(path)
		if err != nil {
			return found, fmt.Errorf("read the declaration of package %s: %w", name, err)
		}
		if info.IsDir() {
			inside, err := confine.Anywhere().Glob(path, "*.yaml")
			if err != nil || len(inside) != 1 {
				return found, fmt.Errorf("the package %s is one declaration file, but %s holds %d", name, path, len(inside))
			}
			path = inside[0]
		}
		text, err := confine.Anywhere().ReadFile(ctx, path)
		if err != nil {
			return found, fmt.Errorf("read the declaration of package %s: %w", name, err)
		}
		file, declares, diags := project.ParsePackageFile(diag.NewSource(filepath.Base(path), text))
		if message, failed := failing(diags); failed {
			return found, errors.New(message)
		}
		if declares {
			found.byName[name] = file.Descriptor
			found.paths[name] = path
		}
	}
	return found, nil
}

// PackageFile returns the declaration file of a package (F3.18). path is relative to the program's folder, with
// slashes.
func PackageFile(d pcl.Declaration) (name, path string, text []byte, err error) {
	head := &packageHead{Name: d.Name, Version: d.Version, PluginDownloadURL: d.DownloadURL}
	if p := d.Parameter; p != nil {
		head.Parameterization = &parameterHead{encoded: p.Value}
		head.Parameterization.BaseProvider.Name, head.Parameterization.BaseProvider.Version = d.Name, d.Version
		head.Name, head.Version = p.Name, p.Version
	}
	file, err := confine.NewName("a package", head.Name)
	if err != nil {
		return "", "", nil, err
	}
	return head.Name, "sdks/" + file.String() + ".yaml", []byte(head.declaration()), nil
}

// projectText returns the project file with the given fields and the runtime yaml. It changes fields.
func projectText(fields map[string]json.RawMessage) string {
	fields["runtime"] = json.RawMessage(`"yaml"`)
	var b strings.Builder
	first := []string{"name", "runtime", "description", "main"}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(fields)),
		func(name string) bool { return slices.Contains(first, name) })
	for _, name := range append(first, names...) {
		raw, found := fields[name]
		if !found || string(raw) == "null" {
			continue
		}
		text := string(raw) // JSON is YAML
		var plain string
		if json.Unmarshal(raw, &plain) == nil {
			text = literal.Scalar(plain)
		}
		b.WriteString(name + ": " + text + "\n")
	}
	return b.String()
}

// codegenDiagnostics converts findings for the engine.
func codegenDiagnostics(ds diag.Diagnostics) []*codegen.Diagnostic {
	var all []*codegen.Diagnostic
	for _, d := range ds.Sorted() {
		if d.Severity > diag.Info {
			continue // only for editors and portability checks
		}
		severity := codegen.DiagnosticSeverity_DIAG_WARNING
		if d.Severity == diag.Error {
			severity = codegen.DiagnosticSeverity_DIAG_ERROR
		}
		out := &codegen.Diagnostic{Severity: severity, Summary: d.Summary, Detail: d.Detail}
		if r := d.Subject; !r.IsZero() {
			start, end := r.StartPosition(), r.EndPosition()
			out.Subject = &codegen.Range{
				Filename: r.Source.Name(),
				Start:    &codegen.Pos{Line: int64(start.Line), Column: int64(start.Column), Byte: int64(r.Start)},
				End:      &codegen.Pos{Line: int64(end.Line), Column: int64(end.Column), Byte: int64(r.End)},
			}
		}
		all = append(all, out)
	}
	return all
}
