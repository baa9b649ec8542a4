package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// entry is a key of a map with its value. The key is a scalar; the value may be an alias. entries sets the first six
// fields; meant, taken and advice are for maps whose keys the language defines, and are set in fields.go.
type entry struct {
	name  string // the key's text
	key   *yamlnode.Node
	value *yamlnode.Node
	at    diag.Range     // range of the key
	via   *yamlnode.Node // the map from which a merge key took the entry; nil for an entry of the map itself
	from  *nodeReader    // the reader that has read the key

	meant  string // the known key of which an unknown one is certainly a misspelling or a translation; may be empty
	taken  bool   // the map contains the key meant already
	advice string // on a key of another tool; empty for other keys
}

// nodeReader reads the nodes of one tree as maps with entries, lists and literals, resolving aliases and merge keys.
// One serves one tree, in one goroutine: aliases counts what has been expanded since the beginning of the text.
type nodeReader struct {
	text    *yamlnode.Text
	report  *findings
	repairs *yamlnode.Repairs // repairs of the text
	aliases aliases
	spare   [][]entry // unused lists
}

// newNodeReader returns a reader of a text that adds its diagnostics to f.
func newNodeReader(p *yamlnode.Text, f *findings, r *yamlnode.Repairs) *nodeReader {
	return &nodeReader{text: p, report: f, repairs: r}
}

// extension reports the use of a feature that only yamlhost has. Inside an alias it reports nothing, because the note
// about the alias covers that.
func (r *nodeReader) extension(rng diag.Range, format string, args ...any) {
	if !r.aliases.any() {
		r.report.portability(rng, format, args...)
	}
}

// mended reports whether a repair has overwritten the value at a position.
func (r *nodeReader) mended(rng diag.Range) bool {
	return r.repairs.Any() && r.repairs.Mended(r.text.Offset(rng.Start))
}

// lostBehind reports whether a repair has removed the line after an empty value. That line may have been the value.
func (r *nodeReader) lostBehind(rng diag.Range) bool {
	return r.repairs.Any() && r.repairs.LostBehind(r.text.Bytes, r.text.Offset(rng.Start))
}

// whole returns the range of an entry including its key, or only that of the key if the value is elsewhere.
func (r *nodeReader) whole(e entry) diag.Range {
	end := r.text.Outside(e.value.End)
	if end < int(e.at.Start) {
		return e.at
	}
	return diag.NewRange(r.text.Source, int(e.at.Start), end)
}

// with calls fn with the node that n stands for, resolving an alias, and with the range of n itself. via is the map
// that a merge key took n from, or nil. fn is not called if an alias is inside of its own value, or if aliases expand
// to too many nodes (L1.28).
func (r *nodeReader) with(n, via *yamlnode.Node, fn func(n *yamlnode.Node, rng diag.Range)) {
	rng := r.text.Span(n)
	entered := len(r.aliases.open)
	defer func() { r.aliases.leave(entered) }()
	if n.Kind == yamlnode.Alias {
		r.extension(rng, "an alias")
	}
	// An entry that a merge key has taken is read through the alias that the merge key has followed.
	if via != nil && !r.aliases.inside[via] {
		r.aliases.enter(via)
	}
	if n.Kind == yamlnode.Alias {
		target := n.Target()
		if r.aliases.inside[target] || target.Start <= n.Start && n.End <= target.End {
			r.report.fail(diag.AliasLimit, rng, "an alias cannot be inside of the value of its own anchor",
				"`*%s` refers to itself", diag.Excerpt(n.Value))
			return
		}
		r.aliases.enter(target)
		n = target
	}
	if r.tally(n) {
		fn(n, rng)
	}
}

// tally counts a node that is read through an alias and returns false if there are too many, or too much text in them.
// It reports the first excess.
func (r *nodeReader) tally(n *yamlnode.Node) bool {
	ok, first := r.aliases.tally(n)
	switch {
	case !first:
	case r.aliases.expanded > maxExpansion:
		r.report.fail(diag.AliasLimit, r.text.Span(r.aliases.open[0]), "use fewer aliases and merge keys",
			"more than %d nodes after expanding aliases", maxExpansion)
	default:
		r.report.fail(diag.AliasLimit, r.text.Span(r.aliases.open[0]), "refer to large texts less often, or use a variable",
			"more than %d MiB of text after expanding aliases", maxAliasText>>20)
	}
	return ok
}

// list returns an empty list with at least the given capacity.
func (r *nodeReader) list(room int) []entry {
	for i, list := range slices.Backward(r.spare) { // as many as there are maps inside each other
		if cap(list) >= room {
			r.spare = slices.Delete(r.spare, i, i+1)
			return list
		}
	}
	// The caller gives it back with release once no entry of it is needed.
	return make([]entry, 0, room)
}

// release returns an unused list of entries to the pool.
func (r *nodeReader) release(list []entry) {
	const most = 64 // longer lists are rarely needed
	if cap(list) <= most {
		r.spare = append(r.spare, list[:0])
	}
}

// strangeKeys reports whether a map has a key that is no text, as `{{name}}` of other tools is one. Then nothing
// further is said of the map.
func strangeKeys(n *yamlnode.Node) bool {
	for i := 0; n.Kind == yamlnode.Map && i < len(n.Content); i += 2 {
		if n.Content[i].Target().Kind != yamlnode.Scalar {
			return true
		}
	}
	return false
}

// entries returns the entries of a map, with merge keys expanded and each name once. It reports keys that are not
// strings (L1.27) and duplicate keys (L1.E).
func (r *nodeReader) entries(n *yamlnode.Node) []entry {
	list := r.list(len(n.Content) / 2)
	index := newNames(len(n.Content) / 2)
	merges := false
	var firsts map[int]diag.Range // first occurrence of entries that were replaced by later ones
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		rng := r.text.Span(key)
		if key.Kind == yamlnode.Alias {
			key = key.Target()
		}
		if key.Tag == yamlnode.MergeTag && key.Kind == yamlnode.Scalar {
			merges = true
			list = append(list, entry{key: key, value: value, at: rng, name: key.Value, from: r})
			continue
		}
		if key.Kind != yamlnode.Scalar {
			detail := "write a string as the key"
			if key.Kind == yamlnode.Map && key.Flow() { // {{name}}, the syntax of other tools
				detail = "a reference is written `${name.property}`; put a text that begins with `{` in quotes"
			}
			r.report.fail(diag.KeyNotString, rng, detail, "mapping keys must be strings, found %s", yamlnode.KindName(key))
			continue
		}
		if fix, mended := r.repairs.MendedKey(r.text.Offset(rng.Start)); mended {
			renamed := *key
			renamed.Value, key, rng = fix.Key, &renamed, r.text.At(fix.Start, fix.End)
		}
		switch key.Tag {
		case yamlnode.IntTag, yamlnode.FloatTag, yamlnode.BoolTag, yamlnode.NullTag:
			r.report.warn(diag.KeyNotString, rng, "Pulumi's own YAML host rejects such keys; put it in quotes",
				"the key `%s` is read as text", diag.Excerpt(key.Value))
		}
		if prior, found := index.add(list, key.Value); found {
			first, moved := firsts[prior]
			if !moved {
				first = list[prior].at
			}
			r.duplicate(key.Value, rng, first)
			if yamlnode.IsNull(list[prior].value.Target()) { // the later entry has the value
				if firsts == nil {
					firsts = map[int]diag.Range{}
				}
				firsts[prior] = first
				list[prior].key, list[prior].at, list[prior].value = key, rng, value
			}
			continue
		}
		list = append(list, entry{key: key, value: value, at: rng, name: key.Value, from: r})
	}
	if !merges {
		return list
	}
	// Only now, as own keys win over merged ones wherever they stand.
	return r.merge(list, &index)
}

// described returns the entries of a map with the fields of a resource or another declaration. If fields occur again,
// the name of another entry is missing before them (Y117); the rest belongs to that entry and is left out.
func (r *nodeReader) described(n *yamlnode.Node) []entry {
	i, first := secondEntry(n)
	if i == 0 {
		return r.entries(n)
	}
	key := n.Content[i]
	d := r.report.fail(diag.Nameless, r.text.Span(key), "write the name of the other entry in the line above, or remove this one",
		"`%s` is there already (line %d): the name of another entry is missing", diag.Excerpt(key.Value),
		r.text.ShownLine(r.text.Span(first)))
	d.Related = []diag.Related{{Range: r.text.Span(first), Message: "declared here first"}}
	rest := *n
	rest.Content = n.Content[:i:i]
	return r.entries(&rest)
}

// secondEntry returns the index at which another entry seems to begin in a map, and the earlier key that is repeated
// there. Another entry begins if the first key is repeated, or two others are. Repeated lines with equal values do not
// count. pos is 0 if there is no other entry.
func secondEntry(n *yamlnode.Node) (pos int, first *yamlnode.Node) {
	if n.Flow() {
		return 0, nil
	}
	known := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		prior, again := known[key.Value]
		known[key.Value] = i
		switch {
		case key.Kind != yamlnode.Scalar || key.Tag == yamlnode.MergeTag || !again:
			continue
		case prior == i-2 && n.Content[i+1].Kind == n.Content[i-1].Kind && n.Content[i+1].Value == n.Content[i-1].Value:
			continue
		case pos > 0 && n.Content[pos].Value != key.Value:
			return pos, first
		case pos == 0:
			pos, first = i, n.Content[prior]
		}
		if prior == 0 {
			return pos, first
		}
	}
	return 0, nil
}

func (r *nodeReader) duplicate(name string, rng, first diag.Range) {
	d := r.report.fail(diag.Duplicate, rng, "remove one of the two", "`%s` is declared twice (first at line %d)", diag.Excerpt(name),
		r.text.ShownLine(first))
	d.Related = []diag.Related{{Range: first, Message: "declared here first"}}
}

// merge replaces merge keys by the merged entries that the map does not contain itself.
func (r *nodeReader) merge(list []entry, index *names) []entry {
	written := map[string]bool{}
	for _, e := range list {
		if e.key.Tag != yamlnode.MergeTag {
			written[e.name] = true
		}
	}
	merged := make([]entry, 0, len(list))
	for _, e := range list {
		if e.key.Tag != yamlnode.MergeTag {
			merged = append(merged, e)
			continue
		}
		r.extension(e.at, "a merge key")
		for _, m := range r.mergedEntries(e) {
			if !written[m.name] && r.tally(m.value) {
				written[m.name] = true
				merged = append(merged, m)
			}
		}
	}
	return merged
}

// mergedEntries returns the entries of one merge key.
func (r *nodeReader) mergedEntries(e entry) []entry {
	var brought []entry
	one := func(source *yamlnode.Node) {
		target := source.Target()
		if target.Kind != yamlnode.Map {
			r.report.fail(diag.WrongKind, r.text.Span(source), "a merge key takes a map, or a list of maps",
				"`<<` must be a map, found %s", yamlnode.KindName(target))
			return
		}
		r.with(source, nil, func(target *yamlnode.Node, _ diag.Range) {
			if target == source {
				brought = append(brought, r.entries(target)...)
				return
			}
			for _, m := range r.entries(target) {
				if m.via == nil {
					m.via = target
				}
				// The entry is a copy, whether or not it is used.
				r.tally(m.value)
				brought = append(brought, m)
			}
		})
	}
	value := e.value.Target()
	if value.Kind != yamlnode.List {
		one(e.value)
		return brought
	}
	r.with(e.value, nil, func(value *yamlnode.Node, _ diag.Range) {
		for _, item := range value.Content {
			one(item)
		}
	})
	return brought
}

// names finds an entry by its name: by searching a short list, and with a map for a long one.
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

// add records a name that is about to be appended to list. If the list contains it already, add returns the index of
// that entry and true.
func (ns *names) add(list []entry, name string) (int, bool) {
	if ns.byName != nil {
		if pos, found := ns.byName[name]; found {
			return pos, true
		}
		ns.byName[name] = len(list)
		return 0, false
	}
	for i := range list {
		if list[i].name == name && list[i].key.Tag != yamlnode.MergeTag {
			return i, true
		}
	}
	return 0, false
}

// maxExpansion is the maximum number of nodes that are read through aliases and merge keys (L1.28).
const maxExpansion = 1_000_000

// maxAliasText is the maximum length of the texts that are read through aliases and merge keys, all together.
const maxAliasText = 64 << 20

// aliases holds the aliases and merge keys that are currently being expanded.
type aliases struct {
	open       []*yamlnode.Node // the nodes they refer to, outermost first
	inside     map[*yamlnode.Node]bool
	expanded   int  // number of nodes read through aliases
	text       int  // length of the texts read through aliases
	overflowed bool // a limit has been exceeded
}

func (a *aliases) any() bool { return len(a.open) > 0 }

// enter starts to expand an alias or a merge key that refers to n.
func (a *aliases) enter(n *yamlnode.Node) {
	if a.inside == nil {
		a.inside = map[*yamlnode.Node]bool{}
	}
	a.inside[n] = true
	a.open = append(a.open, n)
}

// leave ends all expansions beyond the given depth.
func (a *aliases) leave(depth int) {
	for _, left := range a.open[depth:] {
		delete(a.inside, left)
	}
	a.open = a.open[:depth]
}

// tally counts a node that is read through an alias. ok is false if there are too many nodes or too much text; first is
// true for the first of these.
func (a *aliases) tally(n *yamlnode.Node) (ok, first bool) {
	if !a.any() {
		return true, false
	}
	a.expanded++
	if n.Kind == yamlnode.Scalar {
		a.text += len(n.Value)
	}
	first = !a.overflowed && (a.expanded > maxExpansion || a.text > maxAliasText)
	a.overflowed = a.overflowed || first
	return !a.overflowed, first
}
