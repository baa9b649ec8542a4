package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// pythonImport finds the modules that a line imports: "import a.b, c as d" and "from .a import b".
var pythonImport = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t]+([A-Za-z_][\w., \t]*)|from[ \t]+(\.*[A-Za-z_.\w]*)[ \t]+import[ \t]+\(?([^\n#)]*))`)

// makePython takes the entry and every module that it imports from its own folder, directly or not. Modules that are not
// there are the interpreter's business.
func makePython(o Options) (*Bundle, error) {
	entry := path.Clean(filepath.ToSlash(o.Source))
	base := path.Dir(entry) // where absolute imports begin, as for a script
	files := map[string]string{}
	queue := []string{entry}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if _, seen := files[name]; seen {
			continue
		}
		full := filepath.Join(o.Dir, filepath.FromSlash(name))
		if !inside(o.Dir, full) {
			return nil, fault(name, "the file is outside of the project")
		}
		text, err := os.ReadFile(full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fault(name, "there is no such file")
		case err != nil:
			return nil, fault(name, err.Error())
		case !utf8.Valid(text):
			return nil, fault(name, "the file is not UTF-8")
		}
		files[name] = string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		for _, module := range importedModules(files[name]) {
			for _, candidate := range moduleFiles(module, path.Dir(name), base) {
				if info, err := os.Stat(filepath.Join(o.Dir, filepath.FromSlash(candidate))); err == nil && info.Mode().IsRegular() {
					queue = append(queue, candidate)
				}
			}
		}
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	code, err := json.Marshal(struct { // keys of the map are sorted, so the text depends on the sources alone
		Entry string            `json:"entry"`
		Files map[string]string `json:"files"`
	}{entry, files})
	if err != nil {
		return nil, fault(entry, err.Error())
	}
	return &Bundle{Code: string(code), Files: names}, nil
}

// importedModules lists what a text imports, each as Python writes it, with leading dots for relative ones.
func importedModules(text string) []string {
	var modules []string
	for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
		for _, item := range strings.Split(m[1], ",") {
			if name, _, _ := strings.Cut(strings.TrimSpace(item), " "); name != "" {
				modules = append(modules, name)
			}
		}
		if m[2] == "" {
			continue
		}
		modules = append(modules, m[2])
		for _, item := range strings.Split(m[3], ",") { // from a import b may mean the module a.b
			if name, _, _ := strings.Cut(strings.TrimSpace(item), " "); name != "" && name != "*" {
				modules = append(modules, joinModule(m[2], name))
			}
		}
	}
	return modules
}

// joinModule is the name of a module inside a package, which may be nothing but dots.
func joinModule(pkg, name string) string {
	if strings.HasSuffix(pkg, ".") {
		return pkg + name
	}
	return pkg + "." + name
}

// moduleFiles are the files that a module may be, relative to the project: here is the folder of the importing file, base
// that of the entry.
func moduleFiles(module, here, base string) []string {
	dir := base
	if dots := len(module) - len(strings.TrimLeft(module, ".")); dots > 0 {
		dir = here
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		module = module[dots:]
	}
	var found []string
	for _, part := range strings.Split(module, ".") {
		if part == "" {
			continue
		}
		dir = path.Join(dir, part)
		found = append(found, dir+".py", dir+"/__init__.py")
	}
	return found
}
