package parser

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// scope answers which names an expression may use, and which odd keys the text writes. It remembers its answers where
// what is read is kept: that holds for as long as the answers stay the same.
type scope struct {
	declared map[string]bool // by the program or the component
	local    map[string]int  // names that are bound around what is being read, and how often
	keys     *oddKeys
	stack    map[string]bool // names that the stack's configuration has

	asked, askedOdd, askedStack map[string]bool // the answers; nil where nobody keeps them
}

// declares reports whether the scope that is being read has a name.
func (p *parser) declares(name string) bool {
	s := p.scope
	if s == nil {
		return false
	}
	if s.local[name] > 0 {
		return true
	}
	if s.asked != nil {
		s.asked[name] = s.declared[name]
	}
	return s.declared[name]
}

func (s *scope) odd(name string) bool {
	if s == nil || s.keys == nil {
		return false
	}
	found := s.keys.has(name)
	if s.askedOdd != nil {
		s.askedOdd[name] = found
	}
	return found
}

// answer is what a scope has said of a name.
type answer struct {
	name string
	yes  bool
}

// answers are what a scope has answered while something was read.
type answers struct{ declared, odd, stack []answer }

// answers are those that the scope remembers.
func (s *scope) answers() answers {
	list := func(asked map[string]bool) []answer {
		var all []answer
		for name, yes := range asked {
			all = append(all, answer{name, yes})
		}
		return all
	}
	return answers{declared: list(s.asked), odd: list(s.askedOdd), stack: list(s.askedStack)}
}

// hold reports whether a scope gives the same answers.
func (a *answers) hold(s *scope) bool {
	for _, told := range a.declared {
		if s.declared[told.name] != told.yes {
			return false
		}
	}
	for _, told := range a.odd {
		if s.keys.has(told.name) != told.yes {
			return false
		}
	}
	for _, told := range a.stack {
		if s.stack[told.name] != told.yes {
			return false
		}
	}
	return true
}

// stackHas reports whether the stack's configuration has a value of a name.
func (p *parser) stackHas(name string) bool {
	if p.scope.askedStack != nil {
		p.scope.askedStack[name] = p.scope.stack[name]
	}
	return p.scope.stack[name]
}

// remembering is the same scope that remembers its answers.
func (s *scope) remembering() *scope {
	return &scope{declared: s.declared, keys: s.keys, stack: s.stack,
		asked: map[string]bool{}, askedOdd: map[string]bool{}, askedStack: map[string]bool{}}
}

// oddKeys are the keys of a text that hold white space. They are gathered when somebody asks.
type oddKeys struct {
	roots []*node
	names map[string]bool
}

func (k *oddKeys) has(name string) bool {
	if k.names == nil {
		k.names = map[string]bool{}
		for _, root := range k.roots {
			k.gather(root)
		}
	}
	return k.names[name]
}

func (k *oddKeys) gather(n *node) {
	if n == nil {
		return
	}
	for i, child := range n.Content {
		if i%2 == 0 && len(n.Content) > 1 && oddKey(child.Value) {
			k.names[child.Value] = true
		}
		k.gather(child)
	}
}

// alsoDeclared reads something in which one more name is declared.
func (p *parser) alsoDeclared(name string, fn func()) {
	if p.scope.local == nil {
		p.scope.local = map[string]int{}
	}
	p.scope.local[name]++
	fn()
	p.scope.local[name]--
}

// names are the names that a body declares, with those that are always there.
func (p *parser) names(b body) map[string]bool {
	names := map[string]bool{"pulumi": true}
	for _, name := range p.options.Declared {
		names[name] = true
	}
	b.gather(names)
	return names
}

// inside reads a component's body with the names that it declares in scope.
func (p *parser) inside(b body, fn func()) {
	outer := p.scope
	p.scope = &scope{declared: p.names(b), keys: outer.keys, askedOdd: outer.askedOdd, stack: outer.stack,
		askedStack: outer.askedStack}
	fn()
	p.scope = outer
}

// gather notes the names that a body declares.
func (b body) gather(names map[string]bool) {
	for _, section := range []*entry{b.config, b.configuration, b.variables, b.resources} {
		if section == nil {
			continue
		}
		gatherNames(section.p.deref(section.value), names, 0)
		for _, part := range section.parts {
			gatherNames(part.p.deref(part.value), names, 0)
		}
	}
}

// gatherNames notes the keys of a section as declared. It reports nothing; reading the section will.
func gatherNames(section *node, names map[string]bool, depth int) {
	if section.Kind != yaml.MappingNode || depth > 10 {
		return
	}
	target := func(n *node) *node {
		if n.Kind == yaml.AliasNode && n.Alias != nil {
			return n.Alias
		}
		return n
	}
	for i := 0; i+1 < len(section.Content); i += 2 {
		key := target(section.Content[i])
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if key.Tag != mergeTag {
			names[key.Value] = true
			continue
		}
		merged := target(section.Content[i+1])
		gatherNames(merged, names, depth+1)
		for _, item := range merged.Content {
			if merged.Kind == yaml.SequenceNode {
				gatherNames(target(item), names, depth+1)
			}
		}
	}
}

// item is one entry of a section whose keys are names, with what is to be said about it: one of the declarations is
// set.
type item struct {
	name   ast.Literal
	diags  diag.Diagnostics
	hollow bool // nothing stands behind the name

	config    *ast.Config
	variable  *ast.Variable
	resource  *ast.Resource
	output    *ast.Output
	component *ast.Component
	hook      *ast.Hook
	dynamic   *ast.Dynamic

	bare  bool   // a resource with nothing in it
	stray string // what a field that stands among the resources has to be under; empty for a resource
}

// itemReader reads one entry of a section.
type itemReader func(p *parser, e entry, name ast.Literal) item

// readBlock is what has been read of a block, with the answers that it depends on.
type readBlock struct {
	answers
	items []item
	diags diag.Diagnostics // about no single item
	lines bool             // a message names a line
	above int              // how many lines stood above the block
}

// items reads the entries of a section, each name once. What is to be said about an item comes with it; p gets all
// else.
func (p *parser) items(section *entry, read itemReader) []item {
	if section == nil {
		return nil
	}
	list := section.p.itemsOf(*section, read)
	if len(section.parts) == 0 {
		return list
	}
	seen := make(map[string]int, len(section.parts))
	for i, it := range list {
		seen[it.name.Value] = i
	}
	for _, part := range section.parts {
		rb := part.block.items(part, p.scope, read)
		p.diags.Add(rb.diags...)
		for _, it := range rb.items {
			if first, again := seen[it.name.Value]; again {
				p.duplicate(it.name.Value, it.name.Range, list[first].name.Range)
				if list[first].hollow { // what is meant stands here
					it.name = list[first].name
					list[first] = it
				}
				continue
			}
			seen[it.name.Value] = len(list)
			list = append(list, it)
		}
	}
	return list
}

// itemsOf reads the entries of a section that one parser reads.
func (p *parser) itemsOf(section entry, read itemReader) (list []item) {
	p.section(section, "`"+section.name+"`", func(n *node, _ diag.Range) {
		for i, e := range p.entries(n) {
			if i == 0 && p.nameless(section.name, e) {
				return
			}
			before := len(p.diags)
			it := read(p, e, ast.Literal{Value: e.name, Range: e.at})
			it.name, it.hollow = ast.Literal{Value: e.name, Range: e.at}, empty(p.deref(e.value))
			it.diags = append(diag.Diagnostics(nil), p.diags[before:]...)
			p.diags = p.diags[:before]
			list = append(list, it)
		}
	})
	return list
}

// nameless reports the first entry of a section if that is the field of one, whose name is missing: what has fields is
// a map.
func (p *parser) nameless(section string, e entry) bool {
	known, _ := canonical(section, cuttable)
	if !slices.Contains([]string{"components", "hooks", "dynamic"}, known) || !isField(known, e.name) {
		return false
	}
	if body := p.deref(e.value); body.Kind == yaml.MappingNode || empty(body) {
		return false
	}
	p.fail(diag.Nameless, e.at, "write the name of the entry in the line above",
		"`%s` belongs to an entry whose name is missing", shorten(e.name))
	return true
}

// items reads the entries of the block, or gives those that are known already.
func (b *block) items(part entry, outer *scope, read itemReader) *readBlock {
	if b.read != nil && b.read.hold(outer) {
		return b.read
	}
	p := *b.p
	p.diags, p.scope, p.linesAbove = nil, outer.remembering(), part.line
	rb := &readBlock{items: p.itemsOf(part, read), above: part.line}
	rb.answers = p.scope.answers()
	rb.diags, rb.lines = p.diags, p.namesLines
	b.read = rb
	return rb
}
