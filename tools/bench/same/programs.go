package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// program is a project: a folder, or files of an archive.
type program struct {
	name   string
	dir    string            // of an example
	files  map[string][]byte // of an archive
	config []string          // key=value
}

// programs finds the examples and the programs of all archives of a tree.
func programs(tree string) (list []program, err error) {
	examples, err := os.ReadDir(filepath.Join(tree, "examples"))
	if err != nil {
		return nil, err
	}
	for _, e := range examples {
		if e.IsDir() {
			list = append(list, program{name: "examples/" + e.Name(), dir: filepath.Join(tree, "examples", e.Name())})
		}
	}
	err = filepath.WalkDir(tree, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".txtar"):
			return nil
		}
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tree, file)
		list = append(list, inArchive(strings.TrimSuffix(filepath.ToSlash(rel), ".txtar"), archive)...)
		return err
	})
	return list, err
}

// inArchive finds the programs of an archive: every folder with a project file, or a single file without one.
func inArchive(name string, a *txtar.Archive) (list []program) {
	files := map[string][]byte{}
	var projects []string
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "out/") {
			continue
		}
		files[f.Name] = f.Data
		if path.Base(f.Name) == "Pulumi.yaml" {
			projects = append(projects, path.Dir(f.Name))
		}
	}
	if main := files["Main.yaml"]; len(projects) == 0 && (main != nil || files["Main.json"] != nil) {
		if !strings.Contains("\n"+string(main), "\nname:") {
			files["Pulumi.yaml"] = []byte("name: proj\nruntime: yaml\n")
		} else {
			files["Pulumi.yaml"] = main
			delete(files, "Main.yaml")
		}
		p := program{name: name, files: files}
		for line := range strings.SplitSeq(string(files["config"]), "\n") {
			line = strings.TrimPrefix(strings.TrimPrefix(line, "secret "), "structured ")
			if strings.Contains(line, "=") {
				p.config = append(p.config, line)
			}
		}
		return []program{p}
	}
	slices.Sort(projects)
	for _, dir := range projects {
		list = append(list, program{name: path.Join(name, dir), files: files, dir: ""})
		list[len(list)-1].config = nil
		if dir != "." {
			list[len(list)-1].files = withRoot(files, dir)
		}
	}
	return list
}

// rootFile names the folder of the project in an archive with several.
const rootFile = ".project-folder"

func withRoot(files map[string][]byte, dir string) map[string][]byte {
	own := map[string][]byte{rootFile: []byte(dir)}
	maps.Copy(own, files)
	return own
}

// unpackAll writes all programs of a tree into a folder, with their configuration in the stack dev, and prints the
// name and the project's folder of each.
func unpackAll(tree, root string) error {
	list, err := programs(tree)
	if err != nil {
		return err
	}
	for _, p := range list {
		dir := filepath.Join(root, filepath.FromSlash(p.name))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if dir, err = p.unpack(dir); err != nil {
			return err
		}
		if err := p.configure(dir); err != nil {
			return err
		}
		fmt.Printf("%s\t%s\n", p.name, dir)
	}
	return nil
}

// projectName matches the name in a project file.
var projectName = regexp.MustCompile(`(?m)^name: *(\S+)`)

// configure writes the program's configuration into the file of the stack dev.
func (p program) configure(dir string) error {
	name := projectName.FindSubmatch(p.files["Pulumi.yaml"])
	if len(p.config) == 0 || name == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("config:\n")
	for _, line := range p.config {
		key, value, _ := strings.Cut(line, "=")
		if !strings.Contains(key, ":") {
			key = string(name[1]) + ":" + key
		}
		fmt.Fprintf(&b, "  %s: %q\n", key, value)
	}
	return os.WriteFile(filepath.Join(dir, "Pulumi.dev.yaml"), []byte(b.String()), 0o600)
}

// unpack writes the program into a folder and returns the folder of its project.
func (p program) unpack(root string) (string, error) {
	if p.files == nil {
		return root, os.CopyFS(root, os.DirFS(p.dir))
	}
	for name, data := range p.files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(root, string(p.files[rootFile])), nil
}
