package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are the inputs of a conversion besides the texts.
type Options struct {
	// Name is the name of the project.
	Name string
	// Schema returns the schema of a package, or nil if there is none: then names follow from rules alone.
	Schema func(name string) *schema.Package
	// Template returns the text of a template of CloudFormation that another one nests, by the name of that one's file and
	// the path in it. nil leaves nested stacks to CloudFormation.
	Template func(parent, path string) (*diag.Source, error)
	// Definitions makes files of the definitions of custom resources among the input, so that their kinds are types.
	Definitions bool
}

// Item reports what became of one object of the input.
type Item struct {
	Name    string   `json:"name"`           // in the input
	Kind    string   `json:"kind,omitempty"` // in the input
	As      string   `json:"as,omitempty"`   // the entry of the program; empty if it was left out
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Remarks []string `json:"remarks,omitempty"`
}

func (i *Item) remark(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(i.Remarks, text) {
		i.Remarks = append(i.Remarks, text)
	}
}

// Program is a program that is being written.
type Program struct {
	Items []*Item
	Files map[string][]byte // of the project, beside the program, by their paths

	name     string
	about    string
	notes    []string // comments above everything
	sections map[string]*yaml.Node
	names    map[string]bool       // names of configuration values, variables and resources
	items    map[string]*Item      // by the name of their resource
	objects  map[string]*yaml.Node // objects of Kubernetes as they were, by the name of their resource
	remarks  map[string][]string   // by the name of their resource: what its comment says
	secrets  map[string]bool       // resources whose text must not be shown
	// references holds functions that put the plain texts back in place of references, by the resource's name.
	references map[string][]func()
	untyped    bool       // whether a configuration value has the type any
	parts      []*Program // the components
	stack      string     // the input with the name of a nested stack; empty if nothing reads it
}

// sectionNames are the sections of a program in the order of the file.
var sectionNames = []string{"config", "variables", "resources", "messages", "outputs"}

func newProgram(name string) *Program {
	p := &Program{name: name, sections: map[string]*yaml.Node{}, names: map[string]bool{"pulumi": true},
		items: map[string]*Item{}, objects: map[string]*yaml.Node{}, remarks: map[string][]string{},
		secrets: map[string]bool{}, references: map[string][]func(){}, Files: map[string][]byte{}}
	for _, section := range sectionNames {
		p.sections[section] = mapping()
	}
	p.sections["messages"] = list()
	return p
}

// unique returns a name that nothing in the program has yet, and takes it.
func (p *Program) unique(name string) string {
	found := name
	for n := 2; p.names[found]; n++ {
		found = fmt.Sprintf("%s%d", name, n)
	}
	p.names[found] = true
	return found
}

// leaveOut records a part of a resource that the program does not have. node may be nil.
func (p *Program) leaveOut(resource, what, reason string, node *yaml.Node) {
	text := "left out: " + what + ": " + reason
	if node != nil && !p.secrets[resource] {
		text += shown(node)
	}
	if resource == "" {
		p.notes = append(p.notes, text)
		return
	}
	p.remarks[resource] = append(p.remarks[resource], text)
	if item := p.items[resource]; item != nil {
		item.remark("%s: %s", what, reason)
	}
}

// addConfig adds a configuration value to the program. about is its description; empty for none.
func (p *Program) addConfig(name, kind, about string) {
	declaration := mappingOf("type", text(kind))
	if about != "" {
		put(declaration, "description", text(about))
	}
	put(p.sections["config"], name, declaration)
}

// seal makes a configuration value a secret.
func (p *Program) seal(name string) {
	if declared := member(p.sections["config"], name); member(declared, "secret") == nil {
		put(declared, "secret", boolean(true))
	}
}

// Text returns the program as it is now.
func (p *Program) Text() ([]byte, error) {
	top := mapping()
	put(top, "name", text(p.name))
	put(top, "runtime", text("yaml"))
	if p.about != "" {
		put(top, "description", text(p.about))
	}
	if len(p.Files) > 0 {
		put(top, "crds", list(text("crds/*.yaml")))
	}
	config := "config"
	if p.untyped { // a project file has no such type in its section config
		config = "configuration"
	}
	p.putSections(top, config)
	top.Content[0].HeadComment = comment(p.notes)
	out, err := encode(top)
	if err != nil {
		return nil, err
	}
	formatted, diags := parser.Format(diag.NewSource("Pulumi.yaml", out))
	if diags.HasErrors() {
		return out, nil
	}
	return formatted, nil
}

// putSections adds the sections that have something in them. config is what the configuration is called.
func (p *Program) putSections(top *yaml.Node, config string) {
	for _, name := range sectionNames {
		section := p.sections[name]
		if name == "resources" && len(p.parts) > 0 {
			components := mapping()
			for _, part := range p.parts {
				put(components, part.name, part.component()).HeadComment = comment(part.notes)
			}
			put(top, "components", components)
		}
		switch {
		case len(section.Content) == 0:
			continue
		case name == "resources":
			section = p.commented(section)
		case name == "config":
			name = config
		}
		put(top, name, section)
	}
}

// commented returns the resources with the comments on what they lack.
func (p *Program) commented(section *yaml.Node) *yaml.Node {
	out := *section
	out.Content = slices.Clone(section.Content)
	for i := 0; i < len(out.Content); i += 2 {
		if remarks := p.remarks[out.Content[i].Value]; len(remarks) > 0 {
			key := *out.Content[i]
			key.HeadComment = strings.TrimLeft(key.HeadComment+"\n"+comment(remarks), "\n")
			out.Content[i] = &key
		}
	}
	return &out
}

func comment(texts []string) string {
	var lines []string
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRight("# "+line, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// Secrets returns the names of the secret configuration values that the program needs.
func (p *Program) Secrets() []string {
	var names []string
	each(p.sections["config"], func(key, value *yaml.Node) {
		if secret := member(value, "secret"); secret != nil && member(value, "default") == nil {
			names = append(names, key.Value)
		}
	})
	return names
}

// Repair changes what a finding of the checker is about: an object of Kubernetes goes to the API server as it was, a
// property of any other resource becomes a comment. It reports whether it changed anything. The finding must be about
// the text that Text returned last.
func (p *Program) Repair(found diag.Diagnostic) bool {
	if found.Subject.IsZero() {
		return false
	}
	var root yaml.Node
	if err := yaml.Unmarshal(found.Subject.Source.Text(), &root); err != nil || len(root.Content) == 0 {
		return false
	}
	pos := found.Subject.StartPosition()
	path := pathTo(root.Content[0], pos.Line)
	if len(path) > 2 && path[0] == "components" {
		i := slices.IndexFunc(p.parts, named(path[1]))
		if i < 0 {
			return false
		}
		p, path = p.parts[i], path[2:]
	}
	if len(path) < 2 || path[0] != "resources" {
		return false
	}
	name := path[1]
	if object := p.objects[name]; object != nil {
		p.asObject(name, object, found.Summary)
		return true
	}
	if len(path) < 4 || path[2] != "properties" {
		return false
	}
	node := member(p.sections["resources"], name)
	parent := node
	var last *yaml.Node
	steps := 2
	for _, step := range path[2:] {
		next := member(node, step)
		if next == nil || strings.HasPrefix(step, "fn::") {
			break
		}
		parent, node, last = node, next, next
		steps++
	}
	if last == nil || steps < 4 {
		return false
	}
	remove(parent, path[steps-1])
	p.leaveOut(name, strings.Join(path[3:steps], "."), found.Summary, mappingOf(path[steps-1], last))
	return true
}

// pathTo returns the keys that lead to the entry of a mapping on a line; a list ends the path.
func pathTo(node *yaml.Node, line int) []string {
	var path []string
	for node.Kind == yaml.MappingNode {
		best := -1
		for i := 0; i < len(node.Content); i += 2 {
			if node.Content[i].Line <= line {
				best = i
			}
		}
		if best < 0 {
			return path
		}
		path = append(path, node.Content[best].Value)
		node = node.Content[best+1]
	}
	return path
}

// The helpers below make and read trees of YAML.

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func mappingOf(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{text(key), value}}
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// text returns a scalar that reads back as this text.
func text(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if strings.Contains(strings.TrimRight(value, "\n"), "\n") && !strings.ContainsAny(value, "\t\r") &&
		!strings.Contains(value, " \n") && !strings.HasPrefix(value, " ") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

func boolean(value bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

func put(m *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	k := text(key)
	m.Content = append(m.Content, k, value)
	return k
}

func member(m *yaml.Node, key string) *yaml.Node {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

func textOf(m *yaml.Node, path ...string) string {
	for _, key := range path {
		m = member(m, key)
	}
	if m == nil || m.Kind != yaml.ScalarNode || m.Tag == "!!null" {
		return ""
	}
	return m.Value
}

func remove(m *yaml.Node, key string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content = slices.Delete(m.Content, i, i+2)
			return
		}
	}
}

func each(m *yaml.Node, fn func(key, value *yaml.Node)) {
	if m == nil || m.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		fn(m.Content[i], m.Content[i+1])
	}
}

func encode(node *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(node); err != nil {
		return nil, fmt.Errorf("write the program: %w", err)
	}
	return b.Bytes(), e.Close()
}

// escaped returns a text with interpolations escaped, so that a program reads it literally.
func escaped(value string) string { return strings.ReplaceAll(value, "${", "$${") }

// camel joins the words of names: frontend-config and Service are frontendConfigService.
func camel(words ...string) string {
	var b strings.Builder
	for _, word := range words {
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			if b.Len() == 0 {
				b.WriteString(lowerFirst(part))
			} else {
				b.WriteString(upperFirst(part))
			}
		}
	}
	name := b.String()
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		name = "r" + name
	}
	return name
}

// lowerFirst makes the first word of a name lower case: VPCId is vpcId, S3Bucket is s3Bucket.
func lowerFirst(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}
