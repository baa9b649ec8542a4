package parser

import (
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
)

// maxExpansion is how many nodes may be read through aliases and merge keys in all (L1.28).
const maxExpansion = 1_000_000

// entry is a key of a map with its value. The key is a scalar; value may still be an alias.
type entry struct {
	name  string // the key's text
	key   *node
	value *node
	at    diag.Range // of the key
	via   *node      // the map that a merge key brought the entry from; nil for an entry that is written here
	p     *parser    // that reads the entry
	parts []entry    // what else belongs to a section that is read by blocks
	block *block     // of a part
	line  int        // how many lines stand above that block

	meant string // the key of the language that an unknown one is surely a slip of; empty where there is none
	taken bool   // meant stands there already
}

// whole is the place of an entry with its key; of the key alone where both do not stand together.
func (p *parser) whole(e entry) diag.Range {
	end := p.outside(e.value.Column)
	if end < int(e.at.Start) {
		return e.at
	}
	return diag.NewRange(p.src, int(e.at.Start), end)
}

// deref follows an alias.
func (p *parser) deref(n *node) *node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// with reads a node through fn, which gets the node behind an alias, and the place to name it by: the alias's own. fn
// is not called where the alias stands inside of what it stands for, or where aliases expand to too much (L1.28).
func (p *parser) with(n, via *node, fn func(n *node, at diag.Range)) {
	at := p.span(n)
	entered := len(p.aliases)
	defer func() {
		for _, left := range p.aliases[entered:] {
			delete(p.expanding, left)
		}
		p.aliases = p.aliases[:entered]
	}()
	if n.Kind == yaml.AliasNode {
		p.extension(at, "an alias")
	}
	if via != nil && !p.expanding[via] {
		p.enter(via)
	}
	if n.Kind == yaml.AliasNode {
		if p.expanding[n.Alias] || n.Alias.Line <= n.Line && n.Column <= n.Alias.Column {
			p.fail(diag.AliasLimit, at, "an alias cannot stand inside of the value that its anchor names",
				"`*%s` refers to itself", shorten(n.Value))
			return
		}
		p.enter(n.Alias)
		n = n.Alias
	}
	if p.tally() {
		fn(n, at)
	}
}

func (p *parser) enter(n *node) {
	if p.expanding == nil {
		p.expanding = map[*node]bool{}
	}
	p.expanding[n] = true
	p.aliases = append(p.aliases, n)
}

// tally counts a node that is read through an alias, and answers whether there may be more.
func (p *parser) tally() bool {
	if len(p.aliases) == 0 {
		return true
	}
	p.expanded++
	if p.expanded > maxExpansion && !p.overflowed {
		p.overflowed = true
		p.fail(diag.AliasLimit, p.span(p.aliases[0]), "write out less through aliases and merge keys",
			"more than %d nodes after expanding aliases", maxExpansion)
	}
	return !p.overflowed
}

// entries are the entries of a map: merge keys expanded, keys as text, each name once. It reports keys that are no text
// (L1.27) and those that come twice (L1.E).
func (p *parser) entries(n *node) []entry {
	list := make([]entry, 0, len(n.Content)/2)
	index := newNames(len(n.Content) / 2)
	merges := false
	var firsts map[int]diag.Range // where those stand first that the list has from further below
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := p.span(key)
		if key.Kind == yaml.AliasNode {
			key = p.deref(key)
		}
		if key.Tag == mergeTag && key.Kind == yaml.ScalarNode {
			merges = true
			list = append(list, entry{key: key, value: value, at: at, name: key.Value, p: p})
			continue
		}
		if key.Kind != yaml.ScalarNode {
			detail := "write a text as the key"
			if key.Kind == yaml.MappingNode && key.Style&yaml.FlowStyle != 0 { // {{name}}, as other tools have it
				detail = "a reference is written `${name.property}`; put a text that begins with `{` in quotes"
			}
			p.fail(diag.KeyNotString, at, detail, "mapping keys must be strings, found %s", kindName(key))
			continue
		}
		if p.repairs != nil {
			if name, whole, mended := p.mendedKey(at); mended {
				renamed := *key
				renamed.Value, key, at = name, &renamed, whole
			}
		}
		switch key.ShortTag() {
		case intTag, floatTag, boolTag, nullTag:
			p.warn(diag.KeyNotString, at, "Pulumi's own YAML host rejects such keys; quote it to make it a text",
				"the key `%s` is read as text", shorten(key.Value))
		}
		if before, found := index.add(list, key.Value); found {
			first, moved := firsts[before]
			if !moved {
				first = list[before].at
			}
			p.duplicate(key.Value, at, first)
			if empty(p.deref(list[before].value)) { // what is meant stands there
				if firsts == nil {
					firsts = map[int]diag.Range{}
				}
				firsts[before] = first
				list[before].key, list[before].at, list[before].value = key, at, value
			}
			continue
		}
		list = append(list, entry{key: key, value: value, at: at, name: key.Value, p: p})
	}
	if !merges {
		return list
	}
	return p.merge(list, &index)
}

// described are the entries of a map with the fields of a resource or the like. Where fields come again, the name of
// another entry is missing, which has the rest (Y117).
func (p *parser) described(n *node) []entry {
	i, first := secondEntry(n)
	if i == 0 {
		return p.entries(n)
	}
	key := n.Content[i]
	d := p.fail(diag.Nameless, p.span(key), "write the name of the other entry in the line above, or remove this one",
		"`%s` is there already (line %d): the name of another entry is missing", shorten(key.Value),
		p.shownLine(p.span(first)))
	d.Related = []diag.Related{{Range: p.span(first), Message: "declared here first"}}
	rest := *n
	rest.Content = n.Content[:i:i]
	return p.entries(&rest)
}

// secondEntry is where in a map another entry seems to begin, and the key above that is the same as the one there: the
// first key comes again, or two do. It is 0 where none begins; a line that is there twice is no other entry.
func secondEntry(n *node) (at int, first *node) {
	if n.Style&yaml.FlowStyle != 0 {
		return 0, nil
	}
	known := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		before, again := known[key.Value]
		known[key.Value] = i
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == mergeTag || !again:
			continue
		case before == i-2 && n.Content[i+1].Kind == n.Content[i-1].Kind && n.Content[i+1].Value == n.Content[i-1].Value:
			continue
		case at > 0 && n.Content[at].Value != key.Value:
			return at, first
		case at == 0:
			at, first = i, n.Content[before]
		}
		if before == 0 {
			return at, first
		}
	}
	return 0, nil
}

func (p *parser) duplicate(name string, at, first diag.Range) {
	d := p.fail(diag.Duplicate, at, "remove one of the two", "`%s` is declared twice (first at line %d)", shorten(name),
		p.shownLine(first))
	d.Related = []diag.Related{{Range: first, Message: "declared here first"}}
}

// merge replaces merge keys by the entries that they bring and that are not written out.
func (p *parser) merge(list []entry, index *names) []entry {
	written := map[string]bool{}
	for _, e := range list {
		if e.key.Tag != mergeTag {
			written[e.name] = true
		}
	}
	merged := make([]entry, 0, len(list))
	for _, e := range list {
		if e.key.Tag != mergeTag {
			merged = append(merged, e)
			continue
		}
		p.extension(e.at, "a merge key")
		for _, m := range p.mergedEntries(e) {
			if !written[m.name] && p.tally() {
				written[m.name] = true
				merged = append(merged, m)
			}
		}
	}
	return merged
}

// mergedEntries are the entries that one merge key brings.
func (p *parser) mergedEntries(e entry) []entry {
	var brought []entry
	one := func(source *node) {
		target := p.deref(source)
		if target.Kind != yaml.MappingNode {
			p.fail(diag.WrongKind, p.span(source), "a merge key takes a map, or a list of maps",
				"`<<` must be a map, found %s", kindName(target))
			return
		}
		p.with(source, nil, func(target *node, _ diag.Range) {
			if target == source {
				brought = append(brought, p.entries(target)...)
				return
			}
			for _, m := range p.entries(target) {
				if m.via == nil {
					m.via = target
				}
				p.tally()
				brought = append(brought, m)
			}
		})
	}
	value := p.deref(e.value)
	if value.Kind != yaml.SequenceNode {
		one(e.value)
		return brought
	}
	p.with(e.value, nil, func(value *node, _ diag.Range) {
		for _, item := range value.Content {
			one(item)
		}
	})
	return brought
}

// names finds an entry by its name: by looking at all in a short list, by a map in a long one.
type names struct {
	byName map[string]int
}

func newNames(size int) names {
	const few = 12
	if size <= few {
		return names{}
	}
	return names{byName: make(map[string]int, size)}
}

// add notes a name that is about to be appended to list, and answers the place of an entry that has it already.
func (ns *names) add(list []entry, name string) (int, bool) {
	if ns.byName != nil {
		if at, found := ns.byName[name]; found {
			return at, true
		}
		ns.byName[name] = len(list)
		return 0, false
	}
	for i := range list {
		if list[i].name == name && list[i].key.Tag != mergeTag {
			return i, true
		}
	}
	return 0, false
}
