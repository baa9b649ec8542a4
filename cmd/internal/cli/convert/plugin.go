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
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/langhost"
	"github.com/yamlhost/yamlhost/workspace"
)

// throughPlugin has the converter of another tool write PCL, and converts that.
func throughPlugin(ctx context.Context, a *console.Console, o *options, name, out string) (err error) {
	if len(o.paths) != 1 {
		return console.WithCode(console.CodeBadUsage, "--from %s takes one folder, that of the program", o.from)
	}
	from := a.Path(o.paths[0])
	if err := console.MustBeDir(from); err != nil {
		return console.WithCode(console.CodeUsage, "--from %s: %w", o.from, err)
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	defer providers.Close()
	converter, err := providers.Converter(ctx, o.from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, converter.Close()) }()
	dir, err := os.MkdirTemp("", "yamlhost-convert-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	found, err := converter.Program(ctx, from, dir, out, nil)
	if ctx.Err() != nil {
		return a.Signals.Ended()
	}
	if err != nil {
		return fmt.Errorf("converter %s: %w; nothing was written", o.from, err)
	}
	if err := operation.SayConverted(a, from, found); err != nil {
		return err
	}
	texts, err := readModule(dir)
	if err != nil {
		return err
	}
	if len(texts) == 0 {
		return fmt.Errorf("converter %s found nothing to convert in %s", o.from, o.paths[0])
	}
	return convertPCL(ctx, a, o, name, out, texts)
}

// readModule reads the PCL of a folder, without that of the components below it.
func readModule(dir string) ([]*diag.Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the converted program: %w", err)
	}
	var texts []*diag.Source
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".pp" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the converted program: %w", err)
		}
		texts = append(texts, diag.NewSource(e.Name(), text))
	}
	return texts, refuseComponents(dir)
}

// refuseComponents returns an error if a converter has written modules of its own: they would be lost.
func refuseComponents(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".pp" && filepath.Dir(path) != dir {
			rel, _ := filepath.Rel(dir, path)
			return fmt.Errorf("the program has a module of its own, %s, which is not converted yet; nothing was written",
				strings.ReplaceAll(filepath.Dir(rel), `\`, "/"))
		}
		return err
	})
}

// runtimes are the names of languages' plugins, where they differ from those of the languages.
var runtimes = map[string]string{"typescript": "nodejs", "javascript": "nodejs", "csharp": "dotnet"}

// write writes the program as a project in the language that the user asked for: the whole of it, or nothing.
// further are files beside it.
func (o *options) write(ctx context.Context, a *console.Console, name, out string, content []byte,
	further map[string][]byte) error {
	if o.to == "yaml" {
		files := map[string][]byte{"Pulumi.yaml": content}
		maps.Copy(files, further)
		return write(out, files)
	}
	stage, err := os.MkdirTemp("", "yamlhost-convert-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(stage) }()
	dirs := map[string]string{}
	for _, part := range []string{"yaml", "pcl", "done"} {
		dirs[part] = filepath.Join(stage, part)
		if err := os.Mkdir(dirs[part], 0o755); err != nil {
			return fmt.Errorf("make a temporary folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dirs["yaml"], "Pulumi.yaml"), content, 0o600); err != nil {
		return fmt.Errorf("write the program: %w", err)
	}
	providers := operation.NewProviders(a, workspace.Empty(a.World.Dir), nil, operation.Trusted)
	defer providers.Close()
	host, err := langhost.New(langhost.Options{Version: a.Version(), Schemas: providers.FetchSchema, Env: a.World.Env,
		Stderr: a.Streams.Err})
	if err != nil {
		return err
	}
	defer host.Close()
	diags, err := host.WritePCL(ctx, dirs["yaml"], dirs["pcl"])
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
	project, err := json.Marshal(map[string]string{"name": name, "runtime": language})
	if err != nil {
		return err
	}
	found, err := providers.GenerateProject(ctx, language, dirs["pcl"], dirs["done"], string(project))
	if err != nil {
		return fmt.Errorf("--to %s: %w; nothing was written", o.to, err)
	}
	if err := operation.SayConverted(a, dirs["pcl"], found); err != nil {
		return err
	}
	files := map[string][]byte{}
	err = filepath.WalkDir(dirs["done"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dirs["done"], path)
		if err != nil {
			return err
		}
		files[rel], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the generated project: %w", err)
	}
	return write(out, files)
}
