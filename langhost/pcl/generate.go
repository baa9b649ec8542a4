package pcl

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// Sources are the texts of a module by file name.
type Sources map[string][]byte

// Options are the inputs of Generate besides the text.
type Options struct {
	// Schemas finds packages; nil for none. Only calls with positional arguments need it.
	Schemas schema.Loader
	// Packages are the declared packages, by the name that tokens have.
	Packages map[string]schema.Descriptor
	// Used are the packages whose declarations Convert writes down; nil for all.
	Used map[string]bool
	// Project reports whether the text goes into a project file, whose section config takes fewer types than a program's
	// section configuration (L2.11).
	Project bool
	// Component reads the module of a local component; folder is relative to the program's, with slashes. Nil for none.
	Component func(folder string) (Sources, error)
}

// Program is a program in YAML.
type Program struct {
	Text string
	// Packages are the packages that it uses, sorted.
	Packages []string
	// Objects are the resources and components, also those inside of components.
	Objects []Object
	// Declared are the packages that the text itself says how to get.
	Declared []Declaration
}

// Object is what a block makes a resource of.
type Object struct {
	Kind  string // the token, or the folder of a component
	Name  string
	Place diag.Range
}

// Declaration is a block `package`.
type Declaration struct {
	Name, Version, DownloadURL string
	Parameter                  *Parameter // nil for a plain package
}

// Parameter makes a package out of a plugin; Value is base64.
type Parameter struct{ Name, Version, Value string }

// Generate translates a program. Its text is worth nothing when there is an error among the findings.
func Generate(ctx context.Context, sources Sources, o Options) (Program, diag.Diagnostics) {
	g := &generator{ctx: ctx, options: o, packages: map[string]bool{}, components: &mapping{}, tokens: map[string]string{}}
	top := &mapping{}
	m := g.module("", sources)
	body := m.translate(sectionsOfProgram)
	config := "configuration"
	if o.Project && !g.further {
		config = "config"
	}
	for _, section := range []struct {
		key string
		m   *mapping
	}{
		{"pulumi", body.pulumi}, {config, body.config}, {"hooks", body.hooks}, {"components", g.components},
		{"variables", body.variables}, {"resources", body.resources}, {"outputs", body.outputs},
	} {
		top.addFilled(section.key, section.m)
	}
	p := Program{Packages: slices.Sorted(maps.Keys(g.packages)), Objects: g.objects, Declared: g.declared,
		Text: "{}\n"}
	if len(top.entries) > 0 {
		var b strings.Builder
		header := m.header()
		for _, line := range header {
			b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
		}
		if len(header) > 0 {
			b.WriteByte('\n')
		}
		writeEntries(&b, top, 0)
		p.Text = b.String()
	}
	return p, g.diags
}

// generator is one run of Generate.
type generator struct {
	ctx      context.Context
	options  Options
	diags    diag.Diagnostics
	packages map[string]bool
	declared []Declaration
	objects  []Object
	further  bool // whether a configuration value of the program has a type that project files do not have

	components *mapping          // in the order in which they are complete
	tokens     map[string]string // of components, by folder
	names      []string          // of components
}

// module is the text of a program or of a component: all files of one folder.
type module struct {
	*generator
	folder  string
	sources map[string]*diag.Source
	bodies  []*hclsyntax.Body
	hooks   map[string]bool
}

// sections are the parts of a program or component.
type sections struct{ pulumi, config, hooks, variables, resources, outputs *mapping }

func newSections() *sections {
	return &sections{&mapping{}, &mapping{}, &mapping{}, &mapping{}, &mapping{}, &mapping{}}
}

// module parses the files of a folder.
func (g *generator) module(folder string, sources Sources) *module {
	m := &module{generator: g, folder: folder, sources: map[string]*diag.Source{}, hooks: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		m.sources[name] = diag.NewSource(path.Join(folder, name), sources[name])
		file, diags := hclsyntax.ParseConfig(sources[name], name, hcl.InitialPos)
		for _, d := range diags {
			rng := diag.Range{}
			if d.Subject != nil {
				rng = m.place(*d.Subject)
			}
			m.diags.Add(diag.Diagnostic{Code: diag.Syntax, Subject: rng, Summary: d.Summary, Detail: d.Detail})
		}
		if body, ok := file.Body.(*hclsyntax.Body); ok && !diags.HasErrors() {
			m.bodies = append(m.bodies, body)
		}
	}
	return m
}

func (m *module) place(r hcl.Range) diag.Range {
	source := m.sources[r.Filename]
	if source == nil {
		return diag.Range{}
	}
	return diag.NewRange(source, r.Start.Byte, r.End.Byte)
}

func (m *module) fail(rng hcl.Range, detail, format string, args ...any) {
	m.diags.Add(diag.Diagnostic{Code: diag.Syntax, Subject: m.place(rng), Summary: fmt.Sprintf(format, args...),
		Detail: detail})
}

// item is a block or an attribute of a body.
type item struct {
	block     *hclsyntax.Block
	attribute *hclsyntax.Attribute
	at        hcl.Range
}

// items returns the blocks and attributes of a body in the order of the text.
func items(body *hclsyntax.Body) []item {
	var all []item
	for _, b := range body.Blocks {
		all = append(all, item{block: b, at: b.DefRange()})
	}
	for _, a := range body.Attributes {
		all = append(all, item{attribute: a, at: a.NameRange})
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.at.Start.Byte - b.at.Start.Byte })
	return all
}

// attributes calls attribute for each attribute of a body, and the function in blocks for each block of that type.
// Any other block is an error.
func (m *module) attributes(body *hclsyntax.Body, blocks map[string]func(*hclsyntax.Block),
	attribute func(*hclsyntax.Attribute)) {
	for _, i := range items(body) {
		switch {
		case i.attribute != nil:
			attribute(i.attribute)
		case blocks[i.block.Type] != nil:
			blocks[i.block.Type](i.block)
		default:
			m.fail(i.at, "", "a block `%s` is not understood here", i.block.Type)
		}
	}
}

// comments returns the lines of comment right above a place, and what stands behind nothing else on them.
func (m *module) comments(rng hcl.Range) []string {
	source := m.sources[rng.Filename]
	if source == nil {
		return nil
	}
	var lines []string
	for number := rng.Start.Line - 1; number > 0; number-- {
		text, found := lineComment(source, number)
		if !found {
			break
		}
		lines = append(lines, text)
	}
	slices.Reverse(lines)
	return lines
}

// lineComment returns the text of a line that is nothing but a comment; found is false for another line, which it is
// then.
func lineComment(source *diag.Source, number int) (text string, found bool) {
	text = strings.TrimSpace(string(source.Line(number)))
	for _, mark := range []string{"#", "//"} {
		if comment, found := strings.CutPrefix(text, mark); found {
			return strings.TrimSpace(comment), true
		}
	}
	return text, false
}

// header returns the comments that files begin with, when a blank line follows: those are on a file as a whole.
func (m *module) header() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.sources)) {
		var lines []string
		source := m.sources[name]
		for number := 1; number <= source.Lines(); number++ {
			text, found := lineComment(source, number)
			if !found {
				if text != "" {
					lines = nil
				}
				break
			}
			lines = append(lines, text)
		}
		all = append(all, lines...)
	}
	return all
}
