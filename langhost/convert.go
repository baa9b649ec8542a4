package langhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// ConvertProgram translates a project to PCL (F9.14): the project file, and the program in the folder of its field
// main.
func (h *Host) ConvertProgram(ctx context.Context, r *pulumirpc.ConvertProgramRequest) (
	*pulumirpc.ConvertProgramResponse, error) {
	diags, err := h.WritePCL(ctx, r.GetSourceDirectory(), r.GetTargetDirectory(), r.GetLoaderTarget())
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ConvertProgramResponse{Diagnostics: codegenDiagnostics(diags)}, nil
}

// WritePCL translates the project in folder from to PCL in folder to. It writes nothing if the findings have an error.
// loader is the address of an engine's schema loader; if it is empty, WritePCL uses Options.Schemas.
func (h *Host) WritePCL(ctx context.Context, from, to, loader string) (diag.Diagnostics, error) {
	w, unread, err := h.open(ctx, &pulumirpc.ProgramInfo{RootDirectory: from}, workspace.Run{})
	if err != nil {
		return nil, err
	}
	if w.Source == nil {
		return slices.Concat(w.Diags, unread), nil
	}
	file, diags := w.Parse(nil)
	if diags.HasErrors() {
		return diags, nil
	}
	options := pcl.Options{Packages: map[string]schema.Descriptor{}, Used: map[string]bool{}}
	for _, use := range usesOf(file) {
		options.Used[use.name] = true
	}
	for _, d := range w.Packages {
		options.Packages[d.PackageName()] = d
	}
	schemas, closeSchemas, err := h.schemasIfAny(loader)
	if err != nil {
		return nil, err
	}
	defer closeSchemas()
	options.Schemas = schemas
	module, found := pcl.Convert(ctx, file, options)
	diags.Add(found...)
	if diags.HasErrors() {
		return diags, nil
	}
	main := ""
	if w.Project.Main != nil {
		main = w.Project.Main.Text
		if filepath.Ext(main) != "" {
			main = filepath.Dir(main)
		}
	}
	if !filepath.IsLocal(filepath.Join(".", main)) {
		return nil, fmt.Errorf("the project's field main is %s, which is outside of the project", main)
	}
	files := map[string]string{"Pulumi.yaml": "name: " + literal.Scalar(w.Project.Name.Text) + "\nruntime: pcl\n"}
	if main != "" {
		files["Pulumi.yaml"] += "main: " + literal.Scalar(main) + "\n"
	}
	if w.Project.Description != "" {
		files["Pulumi.yaml"] += "description: " + literal.Scalar(w.Project.Description) + "\n"
	}
	others, err := configOfOthers(w.Project)
	if err != nil {
		return nil, err
	}
	files["Pulumi.yaml"] += others
	for name, text := range module.Files {
		files[filepath.Join(main, filepath.FromSlash(name))] = text
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(to, name), []byte(files[name])); err != nil {
			return nil, fmt.Errorf("write the program: %w", err)
		}
	}
	return diags, nil
}

// configOfOthers returns the section of a project file with the values of configuration of other namespaces, such as
// that of providers; empty if there are none.
func configOfOthers(p *project.Project) (section string, err error) {
	for _, d := range p.Config {
		if d.Own || d.Value == nil {
			continue
		}
		data, err := json.Marshal(d.Value.Data())
		if err != nil {
			return "", fmt.Errorf("write %s: %w", d.Key, err)
		}
		if section == "" {
			section = "config:\n"
		}
		section += "  " + literal.Scalar(d.Key.String()) + ": {value: " + string(data) + "}\n"
	}
	return section, nil
}

// ConvertState returns an error: a YAML program has no state of its own.
func (h *Host) ConvertState(context.Context, *pulumirpc.ConvertStateRequest) (*pulumirpc.ConvertStateResponse, error) {
	return nil, errors.New("there is no state to convert: the state of a YAML program is Pulumi's already")
}
