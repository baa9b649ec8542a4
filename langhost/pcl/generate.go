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

// Sources maps the file names of a module to the texts.
type Sources map[string][]byte

// Options are the inputs of Generate and Convert besides the program.
type Options struct {
	// Schemas finds packages; nil for none. Only calls with positional arguments need it.
	Schemas schema.Loader
	// Packages are the declared packages, by the name used in tokens.
	Packages map[string]schema.Descriptor
	// Used are the packages whose declarations Convert writes; nil for all.
	Used map[string]bool
	// Project reports whether the text is part of a project file, whose section config supports fewer types than the
	// section configuration of a program (L2.11).
	Project bool
	// Component reads the module of a local component. folder is relative to the program's folder, with slashes. If
	// Component is nil, local components are errors.
	Component func(folder string) (Sources, error)
}

// Program is a program in YAML.
type Program struct {
	Text string
	// Packages are the names of the used packages, sorted.
	Packages []string
	// Objects are the resource, read and component blocks, including those inside of components.
	Objects []Object
	// Declared are the package blocks of the program.
	Declared []Declaration
}

// Object is a block that declares a resource or a component instance.
type Object struct {
	Kind  string // the token, or the folder of a component, or the name if it has neither
	Name  string
	Place diag.Range
}

// Declaration is a block `package`.
type Declaration struct {
	Name, Version, DownloadURL string
	Parameter                  *Parameter // nil for a plain package
}

// Parameter is the parameterization of a package. Value is base64.
type Parameter struct{ Name, Version, Value string }

// Generate translates a program to YAML. The result must not be used if the findings have an error.
func Generate(ctx context.Context, sources Sources, o Options) (Program, diag.Diagnostics) {
	g := &generator{ctx: ctx, options: o, packages: map[string]bool{}, components: &mapping{},
		tokens: map[string]string{}}
	m := g.module("", sources)
	body := m.translate()
	config := "configuration"
	if o.Project && !g.further {
		config = "config"
	}
	p := Program{Packages: slices.Sorted(maps.Keys(g.packages)), Objects: g.objects, Declared: g.declared,
		Text: "{}\n"}
	if top := body.document(config, g.components); len(top.entries) > 0 {
		var b strings.Builder
		writeComments(&b, m.heading, "")
		if len(m.heading) > 0 {
			b.WriteByte('\n')
		}
		writeEntries(&b, top, 0)
		writeComments(&b, m.rest(), "")
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
	further  bool // a configuration value has a type that project files do not support

	components *mapping          // in order of completion
	tokens     map[string]string // of components, by folder, or by "=" and token for empty ones; empty while translated
	names      []string          // of components
}

// module is a program or component: all files of one folder.
type module struct {
	*generator
	folder  string // of a component, relative to the program's folder; empty for the program
	sources map[string]*diag.Source
	bodies  []*hclsyntax.Body
	hooks   map[string]bool
	heading []string            // comments on whole files
	remarks map[string][]remark // comments that are not in the program yet, by file, in their order
}

func (m *module) isProgram() bool { return m.folder == "" }

// sections are the parts of a program or component.
type sections struct{ pulumi, config, hooks, variables, resources, outputs mapping }

// document returns the sections that are not empty, in the order of a YAML file. config is the key of the section
// config.
func (s *sections) document(config string, components *mapping) *mapping {
	out := &mapping{}
	out.addFilled("pulumi", &s.pulumi)
	out.addFilled(config, &s.config)
	out.addFilled("hooks", &s.hooks)
	out.addFilled("components", components)
	out.addFilled("variables", &s.variables)
	out.addFilled("resources", &s.resources)
	out.addFilled("outputs", &s.outputs)
	return out
}

// module parses the files of a folder.
func (g *generator) module(folder string, sources Sources) *module {
	m := &module{generator: g, folder: folder, sources: map[string]*diag.Source{}, hooks: map[string]bool{},
		remarks: map[string][]remark{}}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		m.sources[name] = diag.NewSource(path.Join(folder, name), sources[name])
		if d := m.tooDeep(name, sources[name]); d != nil {
			m.diags.Add(*d)
			continue
		}
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
			m.remarks[name] = remarks(sources[name], name)
		}
	}
	m.heading = m.header()
	return m
}

// Limits of a text. The parser of HCL calls itself for each bracket and operator inside of another.
const (
	maxNesting = 100
	maxChain   = 1000 // operators, conditions and steps of one expression
	// maxJoining is how many bytes may be copied for one text: the parser of HCL joins the lines of a text, and what is
	// between its escapes such as $${, one by one.
	maxJoining  = 16 << 30
	bytesOfPart = 32
)

// tooDeep returns a finding about a text whose expressions are nested or chained beyond the limits; nil for others.
func (m *module) tooDeep(name string, text []byte) *diag.Diagnostic {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	var open, chain int // brackets, and operators since the last line or comma
	// parts of the text since an interpolation; what they have; what is copied to join them
	var parts, bytes, joining int
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenQuotedLit && token.Type != hclsyntax.TokenStringLit {
			parts, bytes, joining = 0, 0, 0
		} else {
			parts++
			bytes += len(token.Bytes)
			if joining += bytes + parts*bytesOfPart; joining > maxJoining {
				return &diag.Diagnostic{Code: diag.RunawayInput, Subject: m.place(token.Range),
					Summary: fmt.Sprintf("a text of more than %d parts, which are its lines and escapes", parts-1),
					Detail:  "put it into a file, and read that with `readFile`"}
			}
		}
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			open++
			chain++
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl:
			open++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc:
			open--
		case hclsyntax.TokenTemplateSeqEnd:
			open--
			chain = 0
		case hclsyntax.TokenNewline, hclsyntax.TokenComma:
			chain = 0
			continue
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit,
			hclsyntax.TokenComment:
			continue
		default:
			chain++
		}
		if open > maxNesting || chain > maxChain {
			summary := fmt.Sprintf("more than %d brackets and texts inside each other", maxNesting)
			if open <= maxNesting {
				summary = fmt.Sprintf("an expression with more than %d operators", maxChain)
			}
			return &diag.Diagnostic{Code: diag.RunawayInput, Subject: m.place(token.Range), Summary: summary,
				Detail: "give parts of it names, as local variables"}
		}
	}
	return nil
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
	rng       hcl.Range
}

// items returns the blocks and attributes of a body in source order.
func items(body *hclsyntax.Body) []item {
	var all []item
	for _, b := range body.Blocks {
		all = append(all, item{block: b, rng: b.DefRange()})
	}
	for _, a := range body.Attributes {
		all = append(all, item{attribute: a, rng: a.NameRange})
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.rng.Start.Byte - b.rng.Start.Byte })
	return all
}

// attributes calls attribute for each attribute of a body, and blocks[type] for each block. A block of another type is
// an error.
func (m *module) attributes(body *hclsyntax.Body, blocks map[string]func(*hclsyntax.Block),
	attribute func(*hclsyntax.Attribute)) {
	for _, i := range items(body) {
		switch {
		case i.attribute != nil:
			attribute(i.attribute)
		case blocks[i.block.Type] != nil:
			blocks[i.block.Type](i.block)
		default:
			m.fail(i.rng, "", "a block `%s` is not understood here", i.block.Type)
		}
	}
}
