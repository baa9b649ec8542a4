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

// with reads a node through fn, which gets the node behind an alias, and the place to name it by: the alias's own. fn is
// not called where the alias stands inside of what it stands for, or where aliases expand to too much (L1.28).
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
			p.duplicate(key.Value, at, list[before].at)
			continue
		}
		list = append(list, entry{key: key, value: value, at: at, name: key.Value, p: p})
	}
	if !merges {
		return list
	}
	return p.merge(list, &index)
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
