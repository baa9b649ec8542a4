package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Installed returns the folder of an installed plugin in source form for the project in dir. found is false if it is
// not installed, or differs from the project's lock file. A nil Installed finds none.
type Installed func(dir, name, version string) (folder string, found bool)

// Project is a project file (L1.B). After faults, its fields have what could be read.
type Project struct {
	Source    *diag.Source
	Path      string // absolute path of the file
	Dir       string // absolute path of its directory, the root directory
	Installed Installed
	// Door opens the files of the project: its program, settings, environments and definitions.
	Door confine.Door
	// Shared are the findings about the file that the parser of a program in the same text makes too.
	Shared diag.Diagnostics

	Name        Literal
	Description string
	Runtime     string // empty if not specified
	// RuntimePlace is its range; zero if not specified.
	RuntimePlace diag.Range
	// Compiler is the runtime option of that name: a command that prints the program (L1.F); nil without one.
	Compiler       *Literal
	Main           *Literal
	StackConfigDir string // as written; empty for the root directory
	BackendURL     string
	RefreshAlways  bool
	ReadsPending   bool        // `run` reads interrupted creations whose IDs follow from their inputs
	DriftRules     []DriftRule // differences that do not count as drift
	Stateful       []string    // globs of types that hold data, besides the ones that are known
	PolicyPacks    []PolicyPack

	Config   []*Declaration // in file order
	Packages []Package      // in file order
	Plugins  []Plugin
	CRDs     []Literal // paths and patterns of files with definitions of Kubernetes kinds
}

// PolicyPack is an entry of `policyPacks`: a pack that checks every preview and update. Paths are relative to the root
// directory or absolute.
type PolicyPack struct {
	Path   Literal
	Config string // empty without a file
}

// Resolve returns the absolute path for a path in the project file; empty for an empty path.
func (p *Project) Resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

// readPolicyPacks reads policyPacks, a list of paths, or of mappings with path and config.
func (p *Project) readPolicyPacks(d *document, n *yamlnode.Node) {
	for field, item := range d.items("policyPacks", n) {
		path, config := item, (*yamlnode.Node)(nil)
		if item.Kind == yamlnode.Map {
			fields := d.fields(field, item, "path", "config")
			path, config = fields.node("path"), fields.node("config")
		}
		l := d.path(field, path)
		if l == nil {
			if path == nil {
				d.add(diag.WrongKind, d.at(item), field+" has no path", "write the folder of the pack: `path: ./policies`")
			}
			continue
		}
		pack := PolicyPack{Path: *l}
		if c := d.path(field+".config", config); c != nil {
			pack.Config = c.Text
		}
		p.PolicyPacks = append(p.PolicyPacks, pack)
	}
}

// Package is an entry of `packages`: the source of a package (L7.31).
type Package struct {
	Name              Literal
	Source            string // without version
	SourceRange       diag.Range
	Version           string
	Parameters        []string
	PluginDownloadURL string
	Checksums         map[string]string // platform such as linux-amd64 to hex
}

// Plugin is an entry of `plugins`: a plugin in a folder.
type Plugin struct {
	Kind    string // providers, analyzers or languages
	Name    string
	Path    string // relative to the root directory or absolute
	Range   diag.Range
	Version string
}

// fileNames are the names of a project file in the order of the search (F3.1).
var fileNames = []string{"Pulumi.json", "Pulumi.yaml", "Pulumi.yml"}

// ErrNotFound is returned when no directory from the given one upwards holds a project file.
var ErrNotFound = errors.New("no Pulumi.yaml, Pulumi.yml or Pulumi.json found")

// Find looks for a project file in dir and then upwards (L1.1). It returns an error that wraps ErrNotFound when there
// is none; it names a file in dir whose name has other letter case, which only Windows and macOS would take.
func Find(dir string) (path string, err error) {
	for folder := filepath.Clean(dir); ; folder = filepath.Dir(folder) {
		for _, name := range fileNames {
			path := filepath.Join(folder, name)
			switch info, err := confine.Anywhere().Stat(path); {
			case err == nil && info.Mode().IsRegular():
				return path, nil
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return "", fmt.Errorf("look for a project: %w", err)
			}
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%w in %s or any directory above it%s", ErrNotFound, dir, otherCase(dir))
		}
	}
}

// otherCase names the project file of a folder whose name has other letter case; empty if there is none.
func otherCase(dir string) string {
	entries, _ := confine.Anywhere().ReadDir(dir) // a folder that cannot be read holds none
	for _, e := range entries {
		for _, name := range fileNames {
			if e.Name() != name && strings.EqualFold(e.Name(), name) && e.Type().IsRegular() {
				return fmt.Sprintf("; rename %s to %s", e.Name(), name)
			}
		}
	}
	return ""
}

// Load reads a project file through a door, which becomes the project's. name is its name in diagnostics. The error is
// one of reading the file; faults in the text are diagnostics, but for those in Project.Shared.
func Load(door confine.Door, path, name string) (*Project, diag.Diagnostics, error) {
	text, err := door.ReadFile(context.Background(), path)
	if err != nil {
		return nil, nil, fmt.Errorf("read project file: %w", err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read project file: %w", err)
	}
	p, diags := ParseOutlined(diag.NewSource(name, StripBOM(text)), nil)
	p.Path, p.Dir, p.Door = abs, filepath.Dir(abs), door
	return p, diags, nil
}

var projectName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}$`)

// Parse reads the text of a project file. It always returns a project with what could be read.
func Parse(src *diag.Source) (*Project, diag.Diagnostics) {
	p, own := ParseOutlined(src, nil)
	return p, slices.Concat(own, p.Shared)
}

// ProgramSections returns the prefixes of lines that begin sections of a program, which the reader of project files
// ignores.
func ProgramSections() []string { return []string{"resources:", "variables:", "outputs:"} }

// ParseOutlined is Parse without the findings in Project.Shared, for a caller that may have the text without the lines
// of ProgramSections, and without empty lines at its end; nil if it has not.
func ParseOutlined(src *diag.Source, outline []byte) (*Project, diag.Diagnostics) {
	p := &Project{Source: src}
	d := &document{src: src}
	defer func() { p.Shared = d.shared }()
	root := d.parseProject(outline)
	if root == nil {
		if !d.broken {
			d.add(diag.WrongKind, diag.NewRange(src, 0, 0), "the project file is empty",
				"it needs at least a name: write `name: my-project`")
		}
		return p, d.diags
	}
	if root.Kind != yamlnode.Map {
		d.wrongKind("a project file", "a map", root)
		return p, d.diags
	}
	p.read(d, root)
	return p, d.diags
}

// parseProject parses the text; of a large text only the part without program sections, since the whole takes a good
// part of a program's reading time. outline is that part, or nil. If the whole has syntax errors, they are reported and
// that part is read nevertheless, for instance while its program is being edited.
func (d *document) parseProject(outline []byte) *yamlnode.Node {
	const large = 4 << 10
	if d.src.Len() > large {
		if outline == nil {
			outline = blankProgram(d.src.Text())
		}
		// This fails if an anchor was cut away; then the whole text is parsed.
		if root := d.parseOutline(outline); root != nil {
			return root
		}
	}
	root := d.parse()
	d.shared, d.diags = d.diags, nil // the faults of the syntax
	if d.broken {
		if outline == nil {
			outline = blankProgram(d.src.Text())
		}
		if rest := d.parseOutline(outline); rest != nil {
			return rest
		}
	}
	return root
}

// blankProgram returns text with the lines of top-level program sections empty, so that positions are unchanged.
func blankProgram(text []byte) []byte {
	kept := make([]byte, 0, 4096)
	cutting := false
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line = text[:i+1]
		}
		text = text[len(line):]
		if first := line[0]; first != ' ' && first != '\n' && first != '\r' && first != '#' &&
			!(first == '-' && len(line) > 1 && line[1] == ' ') {
			cutting = false
			for _, section := range ProgramSections() {
				cutting = cutting || strings.HasPrefix(string(line[:min(len(line), 16)]), section)
			}
		}
		if cutting {
			line = []byte("\n")
		}
		kept = append(kept, line...)
	}
	// empty lines at the end are not needed, and parsing them costs more than the rest
	return append(bytes.TrimRight(kept, "\n"), '\n')
}

func (p *Project) read(d *document, root *yamlnode.Node) {
	entries := d.entries("a project file", root)
	r := d.record("", entries)
	p.readName(d, entries, r)
	d.alike(func() { p.Description = r.text("description") })
	for _, field := range []string{"author", "website", "license"} {
		r.text(field)
	}
	p.readRuntime(d, r.node("runtime"))
	p.Main = r.path("main")
	p.StackConfigDir = r.pathText("stackConfigDir")
	r.text("requiredPulumiVersion")
	p.readConfig(d, r.byName["config"], r.byName["stackConfigDir"])
	p.BackendURL = d.fields("backend", r.node("backend"), "url").text("url")
	p.readOptions(d, r.node("options"))
	p.readPolicyPacks(d, r.node("policyPacks"))
	readTemplate(d, r.node("template"))
	p.readPackages(d, r.node("packages"))
	p.readPlugins(d, r.node("plugins"))
	p.readCRDs(d, r.node("crds"))
}

// readCRDs reads crds, a pattern or a list of them.
func (p *Project) readCRDs(d *document, n *yamlnode.Node) {
	if n == nil || n.Kind != yamlnode.List {
		if l := d.path("crds", n); l != nil {
			p.CRDs = []Literal{*l}
		}
		return
	}
	for place, item := range d.items("crds", n) {
		if l := d.path(place, item); l != nil {
			p.CRDs = append(p.CRDs, *l)
		}
	}
}

func (p *Project) readName(d *document, entries []entry, r record) {
	e, found := r.byName["name"]
	if !found {
		finding := diag.Diagnostic{Code: diag.WrongKind, Subject: diag.NewRange(d.src, 0, 0),
			Summary: "the project has no name", Detail: "add one at the top of the file: `name: my-project`"}
		for _, other := range entries {
			if other.key.Text == "apiVersion" { // which has a finding as a manifest
				finding.Subject, finding.Summary = other.key.Range, "a Kubernetes manifest is not a project"
				finding.Detail = "`yamlhost convert --from kubernetes` converts manifests to a program"
				break
			}
			if nearest(other.key.Text, []string{"name"}) != "" && isText(other.value) {
				finding.Subject = other.key.Range
				finding.Summary += fmt.Sprintf(": found %s instead", other.key.Text)
				finding.Detail = "write it as `name`"
				finding.Fixes = []diag.Fix{{Label: "Change to name", Edits: []diag.Edit{{Range: other.key.Range, Text: "name"}}}}
				break
			}
		}
		d.report(finding)
		return
	}
	if isNull(e.value) {
		d.add(diag.WrongKind, e.key.Range, "the project has no name", "write one after the colon: `name: my-project`")
		return
	}
	name := r.literal("name")
	if name == nil {
		return
	}
	p.Name = *name
	if !projectName().MatchString(name.Text) {
		d.add(diag.WrongKind, name.Range, fmt.Sprintf("%q cannot be a project's name", name.Text),
			"A name has 1 to 100 letters, digits, hyphens, underscores and dots.")
	}
}

func (p *Project) readRuntime(d *document, n *yamlnode.Node) {
	if isNull(n) {
		return
	}
	if n.Kind != yamlnode.Map {
		if l := d.text("runtime", n); l != nil {
			p.Runtime, p.RuntimePlace = l.Text, l.Range
		}
		return
	}
	fields := d.fields("runtime", n, "name", "options")
	if l := fields.literal("name"); l != nil {
		p.Runtime, p.RuntimePlace = l.Text, l.Range
	}
	options := fields.node("options")
	if p.Runtime != "" && p.Runtime != "yaml" {
		d.entries("runtime.options", options) // its content is read elsewhere
		return
	}
	p.Compiler = d.fields("runtime.options", options, "compiler").literal("compiler")
}

func (p *Project) readOptions(d *document, n *yamlnode.Node) {
	fields := d.fields("options", n, "refresh", "drift", "stateful", "settlePending")
	p.readDrift(d, fields.node("drift"))
	p.Stateful = fields.texts("stateful")
	chosen := func(option, only, advice string) bool {
		l := fields.literal(option)
		if l != nil && l.Text != only {
			d.add(diag.WrongKind, l.Range, fmt.Sprintf("options.%s must be %s, found %q", option, only, l.Text), advice)
		}
		return l != nil && l.Text == only
	}
	p.ReadsPending = chosen("settlePending", "read",
		"leave the option out to be asked what became of interrupted creations")
	p.RefreshAlways = chosen("refresh", "always", "leave the option out to refresh only when asked to")
}

func readTemplate(d *document, n *yamlnode.Node) {
	fields := d.openFields("template", n, "displayName", "description", "quickstart", "important", "metadata", "config")
	for _, name := range []string{"displayName", "description", "quickstart"} {
		fields.text(name)
	}
	fields.flag("important")
	for _, e := range d.entries("template.metadata", fields.node("metadata")) {
		d.text("template.metadata."+e.key.Text, e.value)
	}
	for _, e := range d.entries("template.config", fields.node("config")) {
		d.openFields("template.config."+e.key.Text, e.value, "description", "default", "secret")
	}
}

func (p *Project) readPackages(d *document, n *yamlnode.Node) {
	for _, e := range d.entries("packages", n) {
		place := "packages." + e.key.Text
		pkg := Package{Name: e.key}
		if isText(e.value) {
			pkg.Source, pkg.Version = SplitVersion(d.slashed(Literal{e.value.Value, d.at(e.value)}))
			pkg.Version, pkg.SourceRange = plainVersion(pkg.Version), d.at(e.value)
			p.Packages = append(p.Packages, pkg)
			continue
		}
		if e.value.Kind != yamlnode.Map {
			d.wrongKind(place, "a string or a map", e.value)
			continue
		}
		if i := e.value.Index("crds"); i >= 0 {
			d.add(diag.UnknownKey, d.at(e.value.Content[i]), place+" cannot have crds",
				"write `crds: [PATH]` at the top of the project file: the Pulumi CLI passes over it there, and refuses it here")
			continue
		}
		fields := d.fields(place, e.value, "source", "version", "parameters", "pluginDownloadURL", "checksums", "extensions")
		pkg.Source, pkg.Version = fields.pathText("source"), plainVersion(fields.text("version"))
		pkg.PluginDownloadURL = fields.text("pluginDownloadURL")
		pkg.SourceRange = d.at(fields.node("source"))
		if fields.isNull("source") {
			d.add(diag.WrongKind, e.key.Range, place+" has no source", "add the source of the package: `source: …`")
			continue
		}
		pkg.Parameters = fields.texts("parameters")
		if len(fields.texts("extensions")) > 0 {
			d.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: fields.key("extensions"),
				Summary: place + ".extensions has no effect", Detail: "declare the extension as a package of its own: `NAME: {source: PLUGIN, parameters: […]}`"})
		}
		for _, sum := range d.entries(place+".checksums", fields.node("checksums")) {
			if l := d.text(place+".checksums."+sum.key.Text, sum.value); l != nil {
				if pkg.Checksums == nil {
					pkg.Checksums = map[string]string{}
				}
				pkg.Checksums[sum.key.Text] = l.Text
			}
		}
		p.Packages = append(p.Packages, pkg)
	}
}

// SplitVersion cuts source@version at its last @, since a path or a URL may contain others.
func SplitVersion(text string) (source, version string) {
	i := strings.LastIndexByte(text, '@')
	if i <= 0 || strings.Contains(text[i:], "/") {
		return text, ""
	}
	return text[:i], text[i+1:]
}

func (p *Project) readPlugins(d *document, n *yamlnode.Node) {
	kinds := []string{"providers", "analyzers", "languages"}
	fields := d.openFields("plugins", n, kinds...)
	for _, kind := range kinds {
		for place, item := range d.items("plugins."+kind, fields.node(kind)) {
			values := d.openFields(place, item, "name", "path", "version")
			p.Plugins = append(p.Plugins, Plugin{Kind: kind, Range: d.at(item), Name: values.text("name"),
				Path: values.pathText("path"), Version: plainVersion(values.text("version"))})
			for _, name := range []string{"name", "path"} {
				if item.Kind == yamlnode.Map && values.isNull(name) {
					d.add(diag.WrongKind, d.at(item), fmt.Sprintf("%s has no %s", place, name), "")
				}
			}
		}
	}
}

// StackFile returns the path of a stack's settings file (F3.7). stack is the stack's name, possibly qualified.
func (p *Project) StackFile(stack string) string {
	dir := cmp.Or(p.Resolve(p.StackConfigDir), p.Dir)
	return filepath.Join(dir, "Pulumi."+strings.ReplaceAll(stack, "/", "-")+cmp.Or(filepath.Ext(p.Path), ".yaml"))
}

// DriftRule describes differences that are ignored as drift. Patterns are globs: * matches any text without a colon or
// a dot, ** any text. An empty pattern matches everything.
type DriftRule struct {
	Type, URN, Property string
	Reason              string // shown in reports
}

// readDrift reads options.drift.ignore.
func (p *Project) readDrift(d *document, n *yamlnode.Node) {
	list := d.fields("options.drift", n, "ignore").node("ignore")
	for place, item := range d.items("options.drift.ignore", list) {
		r := d.fields(place, item, "type", "urn", "property", "reason")
		rule := DriftRule{Type: r.text("type"), URN: r.text("urn"), Property: r.text("property"), Reason: r.text("reason")}
		switch {
		case rule.Reason == "":
			d.add(diag.WrongKind, d.at(item), place+" has no reason",
				"add the reason why the difference does not matter: `reason: …`")
		case rule.Type == "" && rule.URN == "" && rule.Property == "":
			d.add(diag.WrongKind, d.at(item), place+" ignores everything",
				"name what to ignore with `type`, `urn` or `property`")
		default:
			p.DriftRules = append(p.DriftRules, rule)
		}
	}
}
