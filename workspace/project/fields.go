package project

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// This file reads maps whose keys are known, in the words of project, stack and package files.

// Literal is a text in a file, with its range.
type Literal struct {
	Text  string
	Range diag.Range
}

// document is a file that is being read, with the faults found in it.
type document struct {
	src   *diag.Source
	diags diag.Diagnostics
	// shared are further findings, which the parser of a program in the same text makes too: those of what the language
	// defines, which alike reads.
	shared   diag.Diagnostics
	language bool
	// outline is the text that was read instead of src: src with some lines empty and without its last lines; nil if it
	// was src itself.
	outline *diag.Source
	broken  bool // there are syntax errors; what could be read in spite of them is incomplete
}

// entry is one key of a mapping with its value, aliases followed.
type entry struct {
	key   Literal
	name  *yamlnode.Node // the key
	value *yamlnode.Node
}

// anchored reports whether the entry has an anchor, so that others may refer to its value.
func (e entry) anchored() bool { return hasAnchor(e.value) }

func hasAnchor(n *yamlnode.Node) bool {
	return n != nil && (n.Anchor() != "" || slices.ContainsFunc(n.Content, hasAnchor))
}

// valueOf returns the value of a key of a mapping, aliases followed; nil if there is none.
func valueOf(n *yamlnode.Node, key string) *yamlnode.Node {
	if i := n.Index(key); i >= 0 {
		return n.Content[i+1].Target()
	}
	return nil
}

// StripBOM returns text without a byte order mark at its start (F3.1).
func StripBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// parse reads the file into a tree and returns its root: nil for an empty text, or one that cannot be read. Syntax
// errors are reported; then values in broken lines are null.
func (d *document) parse() *yamlnode.Node {
	t := yamlnode.NewTree(d.src)
	if fault := t.Screen(); fault != nil {
		d.diags.Add(*fault)
		d.broken = true
		return nil
	}
	if err := t.Read(); err != nil {
		d.broken = true
		found, err := t.Mend(err)
		d.diags.Add(found...)
		if err != nil {
			return nil
		}
		t.Forget()
	}
	d.alike(func() {
		for _, found := range t.Runaways() {
			d.report(found)
		}
	})
	return t.Root.Target()
}

// parseCommented is parse for a file that is edited: it returns the whole document, with its comments; nil for a file
// with syntax errors, which cannot be edited.
func (d *document) parseCommented() (document *yamlnode.Document, root *yamlnode.Node) {
	t := yamlnode.NewTree(d.src)
	if t.Screen() == nil {
		if document, err := t.Commented(); err == nil {
			return document, t.Root.Target()
		}
	}
	return nil, d.parse()
}

// parseOutline reads an outline of the file. It returns nil if that cannot be read.
func (d *document) parseOutline(outline []byte) *yamlnode.Node {
	src := diag.NewSource(d.src.Name(), outline)
	t := yamlnode.NewTree(src)
	if t.Screen() != nil || t.Read() != nil || t.Root == nil {
		return nil
	}
	d.outline = src
	return t.Root.Target()
}

// add adds a finding. What is missing or odd in a file with syntax errors may be their result and is not reported.
func (d *document) add(code diag.Code, rng diag.Range, summary, detail string) {
	d.report(diag.Diagnostic{Severity: diag.Error, Code: code, Subject: rng, Summary: summary, Detail: detail})
}

// report is add for a whole finding.
func (d *document) report(found diag.Diagnostic) {
	switch {
	case d.broken:
	case d.language:
		d.shared.Add(found)
	default:
		d.diags.Add(found)
	}
}

// alike runs read, whose findings are those of the parser too, in a text that is also a program.
func (d *document) alike(read func()) {
	outer := d.language
	d.language = true
	read()
	d.language = outer
}

// at returns the range of a node; the start of the file for nil.
func (d *document) at(n *yamlnode.Node) diag.Range {
	if n == nil {
		return diag.NewRange(d.src, 0, 0)
	}
	start, end := n.Start, n.End
	if d.outline != nil { // its lines are those of the file
		start, end = d.src.Offset(d.outline.Position(start)), d.src.Offset(d.outline.Position(end))
	}
	return diag.NewRange(d.src, start, end)
}

func isNull(n *yamlnode.Node) bool { return n == nil || yamlnode.IsNull(n) }

func isText(n *yamlnode.Node) bool {
	return n != nil && n.Kind == yamlnode.Scalar && yamlnode.KindName(n) == "a string"
}

// text returns a field's text; null counts as absent.
func (d *document) text(field string, n *yamlnode.Node) *Literal {
	if isNull(n) {
		return nil
	}
	if !isText(n) {
		d.wrongKind(field, "a string", n)
		return nil
	}
	return &Literal{n.Value, d.at(n)}
}

// path is text for a path, which it returns with slashes.
func (d *document) path(field string, n *yamlnode.Node) *Literal {
	l := d.text(field, n)
	if l != nil {
		l.Text = d.slashed(*l)
	}
	return l
}

// slashed returns a path with slashes, and warns of others.
func (d *document) slashed(l Literal) string {
	text, found := diag.Slashed(l.Range, l.Text)
	if found != nil {
		d.report(*found)
	}
	return text
}

// wrongKind reports a value of another kind. Nobody reads what is in a list or map.
func (d *document) wrongKind(field, want string, n *yamlnode.Node) {
	if n.Kind != yamlnode.Scalar {
		d.hide(n)
	}
	detail := ""
	if n.Kind == yamlnode.Scalar && want == "a string" {
		detail = "put it in quotes to make it a string"
	}
	d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s must be %s, found %s", field, want, yamlnode.KindName(n)), detail)
}

// hide hides the texts of a value that is not read in everything that is rendered: no declaration says whether they are
// secret. It does not follow aliases, whose targets are read, or hidden, where they stand.
func (d *document) hide(n *yamlnode.Node) {
	if n.Kind == yamlnode.Scalar {
		d.src.Hide(d.at(n))
		return
	}
	for i, child := range n.Content {
		if n.Kind != yamlnode.Map || i%2 == 1 {
			d.hide(child)
		}
	}
}

// entries returns the keys and values of a mapping, each key once. Anything but a mapping is reported; null counts as
// empty.
func (d *document) entries(field string, n *yamlnode.Node) []entry {
	if isNull(n) {
		return nil
	}
	if n.Kind != yamlnode.Map {
		d.wrongKind(field, "a map", n)
		return nil
	}
	list := make([]entry, 0, len(n.Content)/2)
	seen := make(map[string]diag.Range, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i].Target()
		if k.Kind != yamlnode.Scalar {
			d.add(diag.KeyNotString, d.at(k), "keys of a map must be strings, found "+yamlnode.KindName(k), "")
			continue
		}
		key := Literal{k.Value, d.at(n.Content[i])}
		if first, twice := seen[key.Text]; twice {
			d.report(diag.Diagnostic{Code: diag.Duplicate, Subject: key.Range,
				Summary: fmt.Sprintf("%s is declared twice (first at line %d)", key.Text, first.StartPosition().Line),
				Detail:  "remove one of the two",
				Related: []diag.Related{{Range: first, Message: "first declared here"}}})
			continue
		}
		seen[key.Text] = key.Range
		list = append(list, entry{key, n.Content[i], n.Content[i+1].Target()})
	}
	return list
}

// items yields the items of a list, each with its place for messages. Anything but a list is reported; null counts as
// empty.
func (d *document) items(field string, n *yamlnode.Node) iter.Seq2[string, *yamlnode.Node] {
	return func(yield func(string, *yamlnode.Node) bool) {
		if isNull(n) {
			return
		}
		if n.Kind != yamlnode.List {
			d.wrongKind(field, "a list", n)
			return
		}
		for i, item := range n.Content {
			if !yield(fmt.Sprintf("%s[%d]", field, i), item.Target()) {
				return
			}
		}
	}
}

// record is a mapping of which the keys are known. Its methods read the values; null counts as absent.
type record struct {
	*document
	prefix string // of the names of fields in messages
	byName map[string]entry
}

func (d *document) record(prefix string, entries []entry) record {
	r := record{d, prefix, make(map[string]entry, len(entries))}
	for _, e := range entries {
		r.byName[e.key.Text] = e
	}
	return r
}

// fields returns a mapping. It reports every key that is not in known.
func (d *document) fields(field string, n *yamlnode.Node, known ...string) record {
	return d.fieldsOf(field, n, diag.Error, known)
}

// openFields is fields for a map that may have other keys too, which it ignores. It warns only of keys that are
// certainly misspelt.
func (d *document) openFields(field string, n *yamlnode.Node, known ...string) record {
	return d.fieldsOf(field, n, diag.Warning, known)
}

func (d *document) fieldsOf(field string, n *yamlnode.Node, severity diag.Severity, known []string) record {
	entries := d.entries(field, n)
	r := d.record(field+".", entries)
	for _, e := range entries {
		if !slices.Contains(known, e.key.Text) {
			d.hide(e.value)
			d.unknownKey(field, e.key, severity, known, r)
		}
	}
	return r
}

// key returns the place of a field's key.
func (r record) key(name string) diag.Range { return r.byName[name].key.Range }

// node returns the value of a field; nil if it is absent.
func (r record) node(name string) *yamlnode.Node { return r.byName[name].value }

// isNull reports whether a field is null or absent.
func (r record) isNull(name string) bool { return isNull(r.node(name)) }

// literal returns the text of a field with its place; nil if it is absent.
func (r record) literal(name string) *Literal { return r.document.text(r.prefix+name, r.node(name)) }

// path returns a field that is a path, with slashes; nil if it is absent.
func (r record) path(name string) *Literal { return r.document.path(r.prefix+name, r.node(name)) }

// pathText returns the text of path; empty if the field is absent.
func (r record) pathText(name string) string {
	if l := r.path(name); l != nil {
		return l.Text
	}
	return ""
}

// text returns the text of a field; empty if it is absent.
func (r record) text(name string) string {
	if l := r.literal(name); l != nil {
		return l.Text
	}
	return ""
}

// flag returns the boolean of a field; false if it is absent.
func (r record) flag(name string) (b bool) {
	n := r.node(name)
	switch {
	case isNull(n):
	case n.Kind != yamlnode.Scalar || n.Tag != yamlnode.BoolTag:
		r.wrongKind(r.prefix+name, "true or false", n)
	default:
		b = strings.EqualFold(n.Value, "true")
	}
	return b
}

// texts returns the items of a field that is a list of strings.
func (r record) texts(name string) (list []string) {
	for place, item := range r.items(r.prefix+name, r.node(name)) {
		if l := r.document.text(place, item); l != nil {
			list = append(list, l.Text)
		}
	}
	return list
}

// unknownKey reports an unknown key, with a fix if it certainly is a misspelling of a missing one.
func (d *document) unknownKey(field string, key Literal, severity diag.Severity, known []string, r record) {
	finding := diag.Diagnostic{Severity: severity, Code: diag.UnknownKey, Subject: key.Range,
		Summary: fmt.Sprintf("unknown key %s in %s", key.Text, field)}
	near := diag.Suggest(key.Text, known)
	sure := diag.Meant(key.Text, near)
	switch {
	case severity == diag.Warning && sure == "":
		return
	case len(near) > 0:
		finding.Summary += fmt.Sprintf("; did you mean %s?", near[0])
	default:
		finding.Detail = "it may have: " + strings.Join(known, ", ")
	}
	if _, given := r.byName[sure]; sure != "" && !given {
		finding.Fixes = []diag.Fix{{Label: "Change to " + sure, Edits: []diag.Edit{{Range: key.Range, Text: sure}}}}
	}
	d.report(finding)
}

// nearest returns the candidate that text was most likely meant to be; empty when there is none (F3.3).
func nearest(text string, candidates []string) string {
	if near := diag.Suggest(text, candidates); len(near) > 0 {
		return near[0]
	}
	return ""
}
