package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are the settings of a conversion. The zero value converts without schemas, nested templates or files.
type Options struct {
	// Name is the name of the project.
	Name string
	// Schema returns the schema of a package, or nil if there is none. Without a schema, names follow fixed rules.
	Schema func(name string) *schema.Package
	// Template returns the text of a nested CloudFormation template, by its parent's file name and its path there. If
	// it is nil, CloudFormation deploys nested stacks as before.
	Template func(parent, path string) (*diag.Source, error)
	// Definitions keeps definitions of custom resources as files of the project, so that their kinds become types.
	Definitions bool
}

// schemaOf returns the schema of a package, or nil.
func (o Options) schemaOf(name string) *schema.Package {
	if o.Schema == nil {
		return nil
	}
	return o.Schema(name)
}

// Item reports the outcome for one object of the input. Its JSON form is part of the report of `convert --json`.
type Item struct {
	Name    string   `json:"name"`           // name in the input
	Kind    string   `json:"kind,omitempty"` // kind in the input
	As      string   `json:"as,omitempty"`   // name in the program; empty if it was left out
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Remarks []string `json:"remarks,omitempty"`
}

// remark adds a remark to the report, each text once.
func (i *Item) remark(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(i.Remarks, text) {
		i.Remarks = append(i.Remarks, text)
	}
}

// Program is the result of a conversion. Repair may change it until it checks without findings. Text may be called any
// number of times, between repairs. Items and Files are complete when the conversion returns, but for the remarks that
// Repair adds.
type Program struct {
	Items []*Item
	Files map[string][]byte // other files of the project, by path

	name     string
	about    string
	notes    []string // comments at the top of the program
	sections map[string]*yamlnode.Node
	names    map[string]bool              // used names of configuration values, variables and resources
	numbers  map[string]int               // the last number that unique has given to a name
	at       *Item                        // the item that is converted
	items    map[string]*Item             // by resource name
	objects  map[string]*yamlnode.Node    // Kubernetes objects without changes, by resource name
	remarks  map[string][]string          // comments by resource name
	secrets  map[string]bool              // names of resources that comments must not quote
	shown    map[string]int               // how often a line of a comment is in what was left out
	beside   map[string]yamlnode.Comments // comments of the sections
	// references holds functions that restore plain texts from references, by the name of the referenced resource.
	references map[string][]func()
	further    bool       // the section config cannot hold a value: its type is any, or its default has an escape
	parts      []*Program // components
	stack      string     // input for the name of a nested stack; empty if unused
}

// sectionNames are the sections of a program in the order of the file.
var sectionNames = []string{"config", "variables", "resources", "messages", "outputs"}

// newProgram returns a program with empty sections. The name pulumi is taken by the built-in variable.
func newProgram(name string) *Program {
	p := &Program{name: name, sections: map[string]*yamlnode.Node{}, names: map[string]bool{"pulumi": true},
		numbers: map[string]int{},
		items:   map[string]*Item{}, objects: map[string]*yamlnode.Node{}, remarks: map[string][]string{},
		secrets: map[string]bool{}, references: map[string][]func(){}, Files: map[string][]byte{},
		shown: map[string]int{}, beside: map[string]yamlnode.Comments{}}
	for _, section := range sectionNames {
		p.sections[section] = mapping()
	}
	p.sections["messages"] = list()
	return p
}

// unique returns an unused name and reserves it. It continues with the number it gave last, so that many equal names
// cost no search from 2 each time.
func (p *Program) unique(name string) string {
	found := name
	for n := max(2, p.numbers[name]+1); p.names[found]; n++ {
		found = fmt.Sprintf("%s%d", name, n)
		p.numbers[name] = n
	}
	// Configuration, variables and resources share the names of a program, hence one set.
	p.names[found] = true
	return found
}

// leaveOut records a part of a resource that cannot be converted. resource is empty for all that is no resource; node
// may be nil.
func (p *Program) leaveOut(resource, what, reason string, node *yamlnode.Node) {
	text := "left out: " + what + ": " + reason
	// Of a Secret nothing is quoted, whatever its parts are called.
	if node != nil && !p.secrets[resource] {
		text += p.quote(node)
	}
	item := p.items[resource]
	if resource == "" {
		if item = p.at; item != nil {
			text = item.Name + ": " + text
		}
		p.notes = append(p.notes, text)
	} else {
		p.remarks[resource] = append(p.remarks[resource], text)
	}
	if item != nil {
		item.remark("%s: %s", what, reason)
	}
}

// quote returns a part of the input for a comment of the program, without secrets. It counts the comments in that part
// as shown, so that keep does not repeat them.
func (p *Program) quote(node *yamlnode.Node) string {
	for _, line := range commentLines(node) {
		p.shown[line]++
	}
	return shown(node)
}

// drop leaves a document out of the program, with a remark and a comment.
func (p *Program) drop(item *Item, doc *yamlnode.Node, reason string) {
	item.remark("%s", reason)
	p.notes = append(p.notes, fmt.Sprintf("%s:%d is left out: %s", item.File, item.Line, reason)+p.quote(doc))
}

// mention puts a comment of the input at the top of the program.
func (p *Program) mention(comment string) {
	if comment != "" {
		p.notes = append(p.notes, uncommented(comment))
	}
}

// outside records what stands outside of all objects of an input: comments of a text that has nothing else, and entries
// that later ones replace.
func (p *Program) outside(src *diag.Source, in *input) {
	for _, comment := range in.comments {
		p.mention(comment)
	}
	for _, entry := range in.repeated {
		item := &Item{Name: entry.Content[0].Value, Kind: "repeated key", File: src.Name(), Line: lineOf(src, entry.Content[0])}
		p.Items = append(p.Items, item)
		p.drop(item, entry, "the map has this key again, and the last one counts")
	}
}

// addConfig declares a configuration value. about is its description and may be empty.
func (p *Program) addConfig(name, kind, about string) {
	declaration := mappingOf("type", text(kind))
	if about != "" {
		put(declaration, "description", text(about))
	}
	// The caller knows that there is none, and a search in each put would make long maps slow.
	put(p.sections["config"], name, declaration)
}

// add adds an entry to a section, with the comments of its source.
func (p *Program) add(section, name string, key, value, out *yamlnode.Node) {
	added := put(p.sections[section], name, out)
	added.SetNotes(key.Notes())
	p.keep(added, out, key, value)
}

// say adds a remark to the item that is converted.
func (p *Program) say(format string, args ...any) { p.at.remark(format, args...) }

// seal marks a configuration value as secret.
func (p *Program) seal(name string) {
	if declared := yamlnode.Member(p.sections["config"], name); yamlnode.Member(declared, "secret") == nil {
		put(declared, "secret", boolean(true))
	}
}

// Text returns the current text of the program.
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
	if p.further { // config of a project file does not allow the type any, and its texts are data without escapes
		config = "configuration"
	}
	p.putSections(top, config)
	top.Content[0].SetHead(comment(p.notes))
	out, err := encode(top, func(text []byte) []byte {
		// The text is what fmt would make of it, so a first fmt changes nothing.
		formatted, diags := parser.Format(diag.NewSource("Pulumi.yaml", text))
		if diags.HasErrors() {
			return text
		}
		return formatted
	})
	if err != nil {
		return nil, fmt.Errorf("write the program: %w", err)
	}
	return out, nil
}

// putSections adds the non-empty sections. config is the key of the configuration section.
func (p *Program) putSections(top *yamlnode.Node, config string) {
	for _, name := range sectionNames {
		section, beside := p.sections[name], p.beside[name]
		// Components stand above the resources that use them.
		if name == "resources" && len(p.parts) > 0 {
			components := mapping()
			for _, part := range p.parts {
				put(components, part.name, part.component()).SetHead(comment(part.notes))
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
		put(top, name, section).SetNotes(beside)
	}
}

// commented returns the resources with comments for their remarks.
func (p *Program) commented(section *yamlnode.Node) *yamlnode.Node {
	out := *section
	out.Content = slices.Clone(section.Content)
	for i := 0; i < len(out.Content); i += 2 {
		if remarks := p.remarks[out.Content[i].Value]; len(remarks) > 0 {
			key := *out.Content[i]
			key.SetHead(strings.TrimLeft(key.Head()+"\n"+comment(remarks), "\n"))
			out.Content[i] = &key
		}
	}
	return &out
}

// comment returns texts as lines of a YAML comment.
func comment(texts []string) string {
	var lines []string
	for _, text := range texts {
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRight("# "+line, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// Secrets returns the names of the secret configuration values without a default.
func (p *Program) Secrets() []string {
	var names []string
	each(p.sections["config"], func(key, value *yamlnode.Node) {
		if secret := yamlnode.Member(value, "secret"); secret != nil && yamlnode.Member(value, "default") == nil {
			names = append(names, key.Value)
		}
	})
	return names
}

// Repair removes the cause of a checker finding: a Kubernetes object is passed to the API server unchanged, a property
// of any other resource becomes a comment. It reports whether it changed anything. The finding must refer to the last
// result of Text.
func (p *Program) Repair(found diag.Diagnostic) bool {
	if found.Subject.IsZero() {
		return false
	}
	src := found.Subject.Source
	// The text of the finding is parsed, and not the tree: comments and formatting have moved the lines.
	root, err := yamlnode.Parse(src.Text())
	if err != nil || root == nil {
		return false
	}
	path := pathTo(src, root, found.Subject.StartPosition().Line)
	// A component is a program of its own here.
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
	// One fault makes the whole object untyped: the API server knows fields that the schema does not.
	if object := p.objects[name]; object != nil {
		p.asObject(name, object, found.Summary)
		return true
	}
	if len(path) < 4 || path[2] != "properties" {
		return false
	}
	node := yamlnode.Member(p.sections["resources"], name)
	parent := node
	var last *yamlnode.Node
	// The walk does not enter a call: its arguments mean nothing without each other, so the whole value is left out.
	steps := 2
	for _, step := range path[2:] {
		next := yamlnode.Member(node, step)
		if next == nil || strings.HasPrefix(step, "fn::") {
			break
		}
		parent, node, last = node, next, next
		steps++
	}
	if last == nil || steps < 4 {
		return false
	}
	if path[3] == "objs" && yamlnode.TextAt(p.sections["resources"], name, "type") == configGroup {
		p.dropObject(name, last, found.Summary)
		return true
	}
	key := remove(parent, path[steps-1])
	p.leaveOut(name, strings.Join(path[3:steps], "."), found.Summary, entryOf(key, last))
	return true
}

// configGroup is the type of resources that pass objects on as they are.
const configGroup = "kubernetes:yaml/v2:ConfigGroup"

// asObject passes an object to the API server unchanged, without a type. References to its fields, which it has no
// longer, become the names that they replaced.
func (p *Program) asObject(name string, properties *yamlnode.Node, reason string) {
	resource := yamlnode.Member(p.sections["resources"], name)
	options := yamlnode.Member(resource, "options")
	resource.Content = nil
	put(resource, "type", text(configGroup))
	put(resource, "properties", mappingOf("objs", list(properties)))
	// Options are the program's and stay, such as the order after a definition.
	if options != nil {
		put(resource, "options", options)
	}
	delete(p.objects, name)
	for _, undo := range p.references[name] { // the resource has no fields any more
		undo()
	}
	p.items[name].remark("%s; the program passes it on as it is", reason)
}

// replace puts a reference to target in place of a value. asObject undoes it if target loses its type.
func (p *Program) replace(value *yamlnode.Node, target *object, reference *yamlnode.Node) {
	before := *value
	*value = *reference
	value.SetNotes(before.Notes())
	p.references[target.resource] = append(p.references[target.resource], func() { *value = before })
}

// dropObject leaves out an object that the program cannot pass on, so that it does not remain as a group of nothing.
func (p *Program) dropObject(name string, objects *yamlnode.Node, reason string) {
	item := p.items[name]
	key := remove(p.sections["resources"], name)
	item.As = ""
	p.drop(item, objects, reason)
	notes := key.Notes()
	p.mention(joined(notes.Head, notes.Line, notes.Foot))
}

// pathTo returns the keys that lead to the map entry on a line. The path ends at a list.
func pathTo(src *diag.Source, node *yamlnode.Node, line int) []string {
	var path []string
	for node.Kind == yamlnode.Map {
		best := -1
		for i := 0; i < len(node.Content); i += 2 {
			// The entry is the last that begins at the line or above.
			if lineOf(src, node.Content[i]) <= line {
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

// lineOf returns the line of a node in its text.
func lineOf(src *diag.Source, n *yamlnode.Node) int { return src.LineOf(n.Start) }

// Helpers that build and read YAML trees.

// mapping returns an empty map.
func mapping() *yamlnode.Node { return &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag} }

// mappingOf returns a map with one entry.
func mappingOf(key string, value *yamlnode.Node) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag, Content: []*yamlnode.Node{text(key), value}}
}

// entryOf returns a map of one entry of the input, with the comments of its key.
func entryOf(key, value *yamlnode.Node) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag, Content: []*yamlnode.Node{key, value}}
}

// list returns a list of items.
func list(items ...*yamlnode.Node) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.List, Tag: yamlnode.ListTag, Content: items}
}

// text returns a scalar that YAML reads back as this string.
func text(value string) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Scalar, Tag: yamlnode.StringTag, Value: value, Style: styleOf(value)}
}

// styleOf returns the style for a string: literal for lines that remain readable, and in quotes what the YAML library
// would write as lines that mean something else.
func styleOf(value string) yamlnode.Style {
	lines := strings.TrimRight(value, "\n")
	switch {
	case value == "<<": // plain, it is a merge
		return yamlnode.DoubleQuotedStyle
	case !strings.Contains(value, "\n"):
		return 0
	// The library would write these as a literal that YAML reads back with other blanks or breaks.
	case lines == "" || strings.ContainsFunc(value, func(r rune) bool {
		return r != '\n' && !unicode.IsPrint(r)
	}) || strings.Contains(value, " \n") || strings.HasPrefix(lines, " ") || strings.HasPrefix(lines, "\n") ||
		strings.HasSuffix(lines, " "):
		return yamlnode.DoubleQuotedStyle
	}
	return yamlnode.LiteralStyle
}

// restyle gives a string of the input another style if its own is not safe.
func restyle(n *yamlnode.Node) {
	if style := styleOf(n.Value); style != 0 || n.Style&(yamlnode.LiteralStyle|yamlnode.FoldedStyle) != 0 {
		n.Style = style
	}
}

// boolean returns a boolean scalar.
func boolean(value bool) *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Scalar, Tag: yamlnode.BoolTag, Value: fmt.Sprint(value)}
}

// null returns the null scalar.
func null() *yamlnode.Node {
	return &yamlnode.Node{Kind: yamlnode.Scalar, Tag: yamlnode.NullTag, Value: "null"}
}

// put appends an entry without looking for an equal key, and returns the node of its key, for comments.
func put(m *yamlnode.Node, key string, value *yamlnode.Node) *yamlnode.Node {
	k := text(key)
	m.Content = append(m.Content, k, value)
	return k
}

// remove deletes an entry and returns its key; nil if there is none.
func remove(m *yamlnode.Node, name string) *yamlnode.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if key := m.Content[i]; key.Value == name {
			m.Content = slices.Delete(m.Content, i, i+2)
			return key
		}
	}
	return nil
}

// each calls fn for the entries of a map; a nil node and any other kind have none.
func each(m *yamlnode.Node, fn func(key, value *yamlnode.Node)) {
	for key, value := range yamlnode.Entries(m) {
		fn(key, value)
	}
}

// camel joins the words of names in camelCase: frontend-config and Service become frontendConfigService.
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

// lowerFirst converts the first word of a name to lower case: VPCId becomes vpcId, S3Bucket becomes s3Bucket.
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
