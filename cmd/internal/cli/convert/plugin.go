package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/workspace"
)

// rendered returns the command that renders the files of a tool, which no converter reads, and the format of what it
// prints; empty for other tools.
func rendered(tool string) (command, format string) {
	switch tool {
	case "helm":
		return "helm template CHART", "kubernetes"
	case "kustomize":
		return "kustomize build DIR", "kubernetes"
	case "compose", "docker-compose":
		return "kompose convert --stdout", "kubernetes"
	case "cdk":
		return "cdk synth", "cloudformation"
	case "sam":
		return "sam validate --debug", "cloudformation"
	}
	return "", ""
}

// throughPlugin runs a converter plugin, which translates another tool's program to PCL, and converts that PCL. The
// plugin is started although it may be a stranger's, since the user named it.
func throughPlugin(ctx context.Context, a *console.Console, o *options, name, out string,
	given *operation.GivenSchemas) (err error) {
	if len(o.paths) != 1 {
		return console.WithCode(console.CodeBadUsage, "--from %s takes one folder, that of the program", o.from)
	}
	// Converters get a folder, which is their contract with the Pulumi CLI.
	from := a.Path(o.paths[0])
	command, format := rendered(o.from)
	if err := console.MustBeDir(a, from); err != nil && command == "" {
		return console.WithCode(console.CodeUsage, "--from %s: %w", o.from, err)
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	providers.Given = given
	defer providers.Close()
	converter, err := providers.Converter(ctx, o.from)
	if err != nil && command != "" {
		return console.WithCode(console.CodeUsage, "--from %s: there is no converter of that name\n"+
			"convert what `%s` prints with `--from %s`", o.from, command, format)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, converter.Close()) }()
	dir, err := os.MkdirTemp("", "yamlhost-convert-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(dir) }()
	found, err := converter.Program(ctx, from, dir, out, nil)
	// After an interrupt the plugin's error is only that it was ended.
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	if err != nil {
		return console.WithCode(console.CodeProgram, "converter %s: %w; nothing was written", o.from, err)
	}
	warnings, err := operation.SayConverted(a, from, found)
	if err != nil {
		return err
	}
	read := func(folder string) (pcl.Sources, error) { return readModule(dir, folder) }
	sources, err := read(".")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return console.WithCode(console.CodeUsage, "converter %s found nothing to convert in %s", o.from, o.paths[0])
	}
	return convertPCL(ctx, a, o, name, out, given, sources, read, &reportRecord{Warnings: warnings})
}

// readModule reads the PCL files of a folder below dir, but not those in subfolders.
func readModule(dir, folder string) (pcl.Sources, error) {
	// The name of the folder comes from the text of a program.
	if !filepath.IsLocal(filepath.FromSlash(folder)) {
		return nil, errors.New("it is outside of the folder of the program")
	}
	door := confine.Door{Folder: dir}
	paths, err := door.Glob(filepath.Join(dir, filepath.FromSlash(folder)), "*.pp")
	if err != nil {
		return nil, fmt.Errorf("read the program in PCL: %w", err)
	}
	sources := pcl.Sources{}
	for _, path := range paths {
		if sources[filepath.Base(path)], err = door.ReadFile(context.Background(), path); err != nil {
			return nil, fmt.Errorf("read the program in PCL: %w", err)
		}
	}
	return sources, nil
}

// runtimes maps languages to the names of their plugins where these differ.
var runtimes = map[string]string{"typescript": "nodejs", "javascript": "nodejs", "csharp": "dotnet"}

// write writes the program as a project in the language that the user asked for, either completely or not at all.
// further are additional files of the project.
func (o *options) write(ctx context.Context, a *console.Console, name, out string, content []byte,
	further map[string][]byte) error {
	files := map[string][]byte{"Pulumi.yaml": content}
	maps.Copy(files, further)
	// The files are ours already.
	if o.to == "yaml" {
		return write(out, files)
	}
	stage, err := os.MkdirTemp("", "yamlhost-convert-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = osfile.RemoveAll(stage) }()
	// Plugins of languages read PCL, so the program is translated twice: to PCL by our language host, then by the
	// plugin.
	dirs := map[string]string{}
	for _, part := range []string{"yaml", "pcl", "done"} {
		dirs[part] = filepath.Join(stage, part)
		if err := os.Mkdir(dirs[part], 0o755); err != nil {
			return fmt.Errorf("make a temporary folder: %w", err)
		}
	}
	if err := fill(dirs["yaml"], files); err != nil {
		return err
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	defer providers.Close()
	// No engine is needed: PCL is written from text alone.
	host, err := langhost.New(langhost.Options{Version: a.Version(), Schemas: providers.FetchSchema, Env: a.World.Env,
		Stderr: a.Streams.Err})
	if err != nil {
		return err
	}
	defer host.Close()
	diags, err := host.WritePCL(ctx, dirs["yaml"], dirs["pcl"], "")
	if err != nil {
		return err
	}
	if err := a.Report(diags); err != nil {
		return err
	}
	language := o.to
	if runtime := runtimes[o.to]; runtime != "" {
		language = runtime
	}
	// The plugin's protocol takes the project file as JSON.
	project, err := json.Marshal(map[string]string{"name": name, "runtime": language})
	if err != nil {
		return err
	}
	found, err := providers.GenerateProject(ctx, language, dirs["pcl"], dirs["done"], string(project))
	if err != nil {
		return fmt.Errorf("--to %s: %w; nothing was written", o.to, err)
	}
	if _, err := operation.SayConverted(a, dirs["pcl"], found); err != nil {
		return err
	}
	// The files of the YAML project were the input of the language's plugin; the result has only what that has written.
	clear(files)
	err = confine.Anywhere().WalkDir(dirs["done"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dirs["done"], path)
		if err != nil {
			return err
		}
		files[rel], err = confine.Anywhere().ReadFile(ctx, path)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the generated project: %w", err)
	}
	return write(out, files)
}
