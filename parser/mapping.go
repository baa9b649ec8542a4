package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
)

// entry is a key of a map with its value. The key is a scalar; value may still be an alias.
type entry struct {
	name  string // the key's text
	key   *node
	value *node
	at    diag.Range  // of the key
	via   *node       // the map that a merge key brought the entry from; nil for an entry that is written here
	from  *nodeReader // that has read the key

	meant string // the key of the language that an unknown one is surely a slip of; empty where there is none
	taken bool   // meant stands there already
}

// nodeReader reads the nodes of one tree as maps with entries, lists and literals, through aliases and merge keys.
type nodeReader struct {
	*passage
	*findings
	repairs *repairs // of the text
	aliases aliases
	spare   [][]entry // lists that nobody uses
}

// newNodeReader makes a reader of a text, which reports to findings.
func newNodeReader(p *passage, f *findings, r *repairs) *nodeReader {
	return &nodeReader{passage: p, findings: f, repairs: r}
}

// extension notes the use of something that only yamlhost understands. The note about an alias covers the text that
// is read through it.
func (r *nodeReader) extension(rng diag.Range, format string, args ...any) {
	if !r.aliases.any() {
		r.portability(rng, format, args...)
	}
}

// mended reports whether the value at a place was written over by a repair.
func (r *nodeReader) mended(rng diag.Range) bool {
	return r.repairs.any() && r.repairs.mended(r.offset(rng.Start))
}

// lostBehind reports whether a repair took out the line behind an empty value, which was perhaps the value.
func (r *nodeReader) lostBehind(rng diag.Range) bool {
	return r.repairs.any() && r.repairs.lostBehind(r.text, r.offset(rng.Start))
}

// whole returns the place of an entry with its key; of the key alone where both do not stand together.
func (r *nodeReader) whole(e entry) diag.Range {
	end := r.outside(e.value.end)
	if end < int(e.at.Start) {
		return e.at
	}
	return diag.NewRange(r.src, int(e.at.Start), end)
}

// with reads a node through fn, which gets the node behind an alias, and the place to name it by: the alias's own. fn
// is not called where the alias is inside of its own value, or where aliases expand to too much (L1.28).
func (r *nodeReader) with(n, via *node, fn func(n *node, rng diag.Range)) {
	rng := r.span(n)
	entered := len(r.aliases.open)
	defer func() { r.aliases.leave(entered) }()
	if n.kind == aliasNode {
		r.extension(rng, "an alias")
	}
	if via != nil && !r.aliases.inside[via] {
		r.aliases.enter(via)
	}
	if n.kind == aliasNode {
		if r.aliases.inside[n.alias] || n.alias.start <= n.start && n.end <= n.alias.end {
			r.fail(diag.AliasLimit, rng, "an alias cannot be inside of the value of its own anchor",
				"`*%s` refers to itself", shorten(n.value))
			return
		}
		r.aliases.enter(n.alias)
		n = n.alias
	}
	if r.tally() {
		fn(n, rng)
	}
}

// tally counts a node that is read through an alias, and answers whether there may be more.
func (r *nodeReader) tally() bool {
	ok, first := r.aliases.tally()
	if first {
		r.fail(diag.AliasLimit, r.span(r.aliases.open[0]), "use fewer aliases and merge keys",
			"more than %d nodes after expanding aliases", maxExpansion)
	}
	return ok
}

// list returns an empty list with room for so many entries.
func (r *nodeReader) list(room int) []entry {
	if last := len(r.spare) - 1; last >= 0 && cap(r.spare[last]) >= room {
		list := r.spare[last]
		r.spare = r.spare[:last]
		return list
	}
	return make([]entry, 0, room)
}

// release returns an unused list of entries to the pool.
func (r *nodeReader) release(list []entry) {
	const most = 64 // a longer one is hardly needed again
	if cap(list) <= most {
		r.spare = append(r.spare, list[:0])
	}
}

// entries returns the entries of a map: merge keys expanded, keys as text, each name once. It reports keys that are no
// text (L1.27) and those that come twice (L1.E).
func (r *nodeReader) entries(n *node) []entry {
	list := r.list(len(n.content) / 2)
	index := newNames(len(n.content) / 2)
	merges := false
	var firsts map[int]diag.Range // where those stand first that the list has from further below
	for i := 0; i+1 < len(n.content); i += 2 {
		key, value := n.content[i], n.content[i+1]
		rng := r.span(key)
		if key.kind == aliasNode {
			key = key.target()
		}
		if key.tag == mergeTag && key.kind == scalarNode {
			merges = true
			list = append(list, entry{key: key, value: value, at: rng, name: key.value, from: r})
			continue
		}
		if key.kind != scalarNode {
			detail := "write a string as the key"
			if key.kind == mapNode && key.flow() { // {{name}}, as other tools have it
				detail = "a reference is written `${name.property}`; put a text that begins with `{` in quotes"
			}
			r.fail(diag.KeyNotString, rng, detail, "mapping keys must be strings, found %s", kindName(key))
			continue
		}
		if fix, mended := r.repairs.mendedKey(r.offset(rng.Start)); mended {
			renamed := *key
			renamed.value, key, rng = fix.key, &renamed, r.at(fix.start, fix.end)
		}
		switch key.tag {
		case intTag, floatTag, boolTag, nullTag:
			r.warn(diag.KeyNotString, rng, "Pulumi's own YAML host rejects such keys; put it in quotes",
				"the key `%s` is read as text", shorten(key.value))
		}
		if before, found := index.add(list, key.value); found {
			first, moved := firsts[before]
			if !moved {
				first = list[before].at
			}
			r.duplicate(key.value, rng, first)
			if empty(list[before].value.target()) { // what is meant stands there
				if firsts == nil {
					firsts = map[int]diag.Range{}
				}
				firsts[before] = first
				list[before].key, list[before].at, list[before].value = key, rng, value
			}
			continue
		}
		list = append(list, entry{key: key, value: value, at: rng, name: key.value, from: r})
	}
	if !merges {
		return list
	}
	return r.merge(list, &index)
}

// described returns the entries of a map with the fields of a resource or the like. Where fields come again, the name
// of another entry is missing, which has the rest (Y117).
func (r *nodeReader) described(n *node) []entry {
	i, first := secondEntry(n)
	if i == 0 {
		return r.entries(n)
	}
	key := n.content[i]
	d := r.fail(diag.Nameless, r.span(key), "write the name of the other entry in the line above, or remove this one",
		"`%s` is there already (line %d): the name of another entry is missing", shorten(key.value),
		r.shownLine(r.span(first)))
	d.Related = []diag.Related{{Range: r.span(first), Message: "declared here first"}}
	rest := *n
	rest.content = n.content[:i:i]
	return r.entries(&rest)
}

// secondEntry is where in a map another entry seems to begin, and the key above that is the same as the one there: the
// first key comes again, or two do. It is 0 where none begins; a line that is there twice is no other entry.
func secondEntry(n *node) (pos int, first *node) {
	if n.flow() {
		return 0, nil
	}
	known := make(map[string]int, len(n.content)/2)
	for i := 0; i+1 < len(n.content); i += 2 {
		key := n.content[i]
		before, again := known[key.value]
		known[key.value] = i
		switch {
		case key.kind != scalarNode || key.tag == mergeTag || !again:
			continue
		case before == i-2 && n.content[i+1].kind == n.content[i-1].kind && n.content[i+1].value == n.content[i-1].value:
			continue
		case pos > 0 && n.content[pos].value != key.value:
			return pos, first
		case pos == 0:
			pos, first = i, n.content[before]
		}
		if before == 0 {
			return pos, first
		}
	}
	return 0, nil
}

func (r *nodeReader) duplicate(name string, rng, first diag.Range) {
	d := r.fail(diag.Duplicate, rng, "remove one of the two", "`%s` is declared twice (first at line %d)", shorten(name),
		r.shownLine(first))
	d.Related = []diag.Related{{Range: first, Message: "declared here first"}}
}

// merge replaces merge keys by the entries that they bring and that are not written out.
func (r *nodeReader) merge(list []entry, index *names) []entry {
	written := map[string]bool{}
	for _, e := range list {
		if e.key.tag != mergeTag {
			written[e.name] = true
		}
	}
	merged := make([]entry, 0, len(list))
	for _, e := range list {
		if e.key.tag != mergeTag {
			merged = append(merged, e)
			continue
		}
		r.extension(e.at, "a merge key")
		for _, m := range r.mergedEntries(e) {
			if !written[m.name] && r.tally() {
				written[m.name] = true
				merged = append(merged, m)
			}
		}
	}
	return merged
}

// mergedEntries returns the entries that one merge key brings.
func (r *nodeReader) mergedEntries(e entry) []entry {
	var brought []entry
	one := func(source *node) {
		target := source.target()
		if target.kind != mapNode {
			r.fail(diag.WrongKind, r.span(source), "a merge key takes a map, or a list of maps",
				"`<<` must be a map, found %s", kindName(target))
			return
		}
		r.with(source, nil, func(target *node, _ diag.Range) {
			if target == source {
				brought = append(brought, r.entries(target)...)
				return
			}
			for _, m := range r.entries(target) {
				if m.via == nil {
					m.via = target
				}
				r.tally()
				brought = append(brought, m)
			}
		})
	}
	value := e.value.target()
	if value.kind != listNode {
		one(e.value)
		return brought
	}
	r.with(e.value, nil, func(value *node, _ diag.Range) {
		for _, item := range value.content {
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
		if pos, found := ns.byName[name]; found {
			return pos, true
		}
		ns.byName[name] = len(list)
		return 0, false
	}
	for i := range list {
		if list[i].name == name && list[i].key.tag != mergeTag {
			return i, true
		}
	}
	return 0, false
}

// maxExpansion is how many nodes may be read through aliases and merge keys in all (L1.28).
const maxExpansion = 1_000_000

// aliases are the aliases and merge keys that are being expanded around what is read.
type aliases struct {
	open       []*node // what they stand for, the outermost first
	inside     map[*node]bool
	expanded   int  // nodes read through aliases
	overflowed bool // maxExpansion has been reached
}

func (a *aliases) any() bool { return len(a.open) > 0 }

// enter begins to read what an alias or a merge key stands for.
func (a *aliases) enter(n *node) {
	if a.inside == nil {
		a.inside = map[*node]bool{}
	}
	a.inside[n] = true
	a.open = append(a.open, n)
}

// leave ends all but so many of the expansions.
func (a *aliases) leave(depth int) {
	for _, left := range a.open[depth:] {
		delete(a.inside, left)
	}
	a.open = a.open[:depth]
}

// tally counts a node that is read through an alias. first says that this one is the first too many.
func (a *aliases) tally() (ok, first bool) {
	if !a.any() {
		return true, false
	}
	a.expanded++
	first = a.expanded > maxExpansion && !a.overflowed
	a.overflowed = a.overflowed || first
	return !a.overflowed, first
}
