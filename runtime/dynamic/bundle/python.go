package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// pythonImport matches a line that imports modules: "import a.b, c as d" and "from .a import b".
var pythonImport = lazyregexp.New(
	`(?m)^[ \t]*(?:import[ \t]+([A-Za-z_][\w., \t]*)|from[ \t]+(\.*[A-Za-z_.\w]*)[ \t]+import[ \t]+\(?([^\n#)]*))`)

// makePython bundles the entry and the modules below its folder that it imports, directly or not. The interpreter
// resolves all other modules.
func makePython(o Options) (*Bundle, error) {
	entry := path.Clean(filepath.ToSlash(o.Source))
	base := path.Dir(entry) // absolute imports are resolved here, as for a script
	door := confine.Door{Folder: o.Dir}
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
		text, err := door.ReadFile(context.Background(), full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fault(name, "there is no such file")
		case err != nil:
			return nil, fault(name, err.Error())
		case !utf8.Valid(text):
			return nil, fault(name, "the file is not UTF-8")
		}
		files[name] = string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		if faults := missingModules(o, name, base, files[name]); len(faults) > 0 {
			return nil, &Error{Faults: faults}
		}
		for _, module := range importedModules(files[name]) {
			for _, candidate := range moduleFiles(module, path.Dir(name), base) {
				info, err := door.Stat(filepath.Join(o.Dir, filepath.FromSlash(candidate)))
				if err == nil && info.Mode().IsRegular() {
					queue = append(queue, candidate)
				}
			}
		}
	}
	names := slices.Sorted(maps.Keys(files))
	code, err := json.Marshal(struct { // keys of the map are sorted, so the text depends on the sources alone
		Entry string            `json:"entry"`
		Files map[string]string `json:"files"`
	}{entry, files})
	if err != nil {
		return nil, fault(entry, err.Error())
	}
	b := &Bundle{Code: string(code), Files: names}
	if o.Handler == nil {
		return b, nil
	}
	if export := o.Handler.Export; export != "" && !defines(files[entry], export) {
		return nil, fault(entry, "the file has no "+export)
	}
	b.Texts, err = handlerTexts(o.Handler, base, files)
	return b, err
}

// handlerTexts returns the files by path relative to the entry's folder, where a handler runs, and adds the module of
// captured values if the handler has some.
func handlerTexts(h *Handler, base string, files map[string]string) (map[string]string, error) {
	texts := make(map[string]string, len(files)+1)
	for name, text := range files {
		relative := name
		if base != "." {
			var below bool
			if relative, below = strings.CutPrefix(name, base+"/"); !below {
				return nil, fault(name, "the file is outside of the folder of the entry: move it there")
			}
		}
		texts[relative] = text
	}
	if h.Captured {
		texts[CapturedPython+
			".py"] = "import json, os\n\nwith open(os.path.join(os.path.dirname(os.path.abspath(__file__)), \"" + CapturedFile +
			"\"), encoding=\"utf-8\") as f:\n    captured = json.load(f)\n"
	}
	return texts, nil
}

// defines reports whether a text binds a name at the top level.
func defines(text, name string) bool {
	quoted := regexp.QuoteMeta(name)
	return regexp.MustCompile(`(?m)^(?:(?:async[ \t]+)?def|class)[ \t]+` + quoted + `\b|^` + quoted +
		`[ \t]*[:=]|^(?:from|import)\b.*\b` + quoted + `\b`).
		MatchString(text)
}

// missingModules returns a fault for each relative import of a module that does not exist, and for each import of
// captured values that the handler does not have.
func missingModules(o Options, name, base, text string) []Fault {
	var faults []Fault
	for _, m := range pythonImport().FindAllStringSubmatchIndex(text, -1) {
		start := m[0]
		line := 1 + strings.Count(text[:start], "\n")
		statement := strings.TrimSpace(text[m[0]:m[1]])
		if o.Handler != nil && !o.Handler.Captured && regexp.MustCompile(`\b`+CapturedPython+`\b`).MatchString(statement) {
			faults = append(faults, Fault{File: name, Line: line,
				Message: "nothing is captured: add capture to the call of fn::bundle"})
			continue
		}
		if m[4] < 0 {
			continue
		}
		module := text[m[4]:m[5]]
		if !strings.HasPrefix(module, ".") || strings.Trim(module, ".") == "" {
			continue
		}
		candidates := moduleFiles(module, path.Dir(name), base)
		file := candidates[len(candidates)-2] // the module file; the last candidate is the package of that name
		absent := func(path string) bool {
			_, err := confine.Door{Folder: o.Dir}.Stat(filepath.Join(o.Dir, filepath.FromSlash(path)))
			return err != nil
		}
		if absent(file) && absent(strings.TrimSuffix(file, ".py")) { // a package needs no __init__.py
			faults = append(faults, Fault{File: name, Line: line, Message: "there is no module " + module})
		}
	}
	return faults
}

// importedModules returns the modules that a text imports, as written: relative ones begin with dots.
func importedModules(text string) []string {
	var modules []string
	for _, m := range pythonImport().FindAllStringSubmatch(text, -1) {
		for item := range strings.SplitSeq(m[1], ",") {
			if name, _, _ := strings.Cut(strings.TrimSpace(item), " "); name != "" {
				modules = append(modules, name)
			}
		}
		if m[2] == "" {
			continue
		}
		modules = append(modules, m[2])
		for item := range strings.SplitSeq(m[3], ",") { // from a import b may mean the module a.b
			if name, _, _ := strings.Cut(strings.TrimSpace(item), " "); name != "" && name != "*" {
				modules = append(modules, joinModule(m[2], name))
			}
		}
	}
	return modules
}

// joinModule returns the name of a module in a package; the package may consist of dots only.
func joinModule(pkg, name string) string {
	if strings.HasSuffix(pkg, ".") {
		return pkg + name
	}
	return pkg + "." + name
}

// moduleFiles returns the possible files of a module, relative to the project. here is the folder of the importing
// file, base the folder of the entry.
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
	for part := range strings.SplitSeq(module, ".") {
		if part == "" {
			continue
		}
		dir = path.Join(dir, part)
		found = append(found, dir+".py", dir+"/__init__.py")
	}
	return found
}
