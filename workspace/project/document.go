package project

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamltree"
	"gopkg.in/yaml.v3"
)

// Literal is a text in a file, with its range.
type Literal struct {
	Text  string
	Range diag.Range
}

// document is the source of a YAML tree and collects the faults found in it.
type document struct {
	src   *diag.Source
	diags diag.Diagnostics
}

// entry is one key of a mapping with its value, aliases followed.
type entry struct {
	key   Literal
	name  *yaml.Node // the key
	value *yaml.Node
}

// keyAt returns the index of a key in the content of a mapping; the value is at the next index. It returns -1 if there
// is none.
func keyAt(n *yaml.Node, key string) int {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i
			}
		}
	}
	return -1
}

// valueOf returns the value of a key of a mapping, aliases followed; nil if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if i := keyAt(n, key); i >= 0 {
		return yamltree.Resolve(n.Content[i+1])
	}
	return nil
}

// StripBOM returns text without a byte order mark at its start (F3.1).
func StripBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// parse reads a text into a tree and returns its root; nil for an empty text or one that is no YAML, which is reported.
func (d *document) parse(text []byte) *yaml.Node {
	if doc := d.parseDocument(text); doc != nil {
		return yamltree.Resolve(doc.Content[0])
	}
	return nil
}

// parseDocument is parse for the whole document, with the comments around its root.
func (d *document) parseDocument(text []byte) *yaml.Node {
	doc := &yaml.Node{}
	if err := yaml.Unmarshal(text, doc); err != nil {
		line, message := yamltree.SyntaxError(err)
		d.add(diag.Syntax, d.line(line), "this is not valid YAML: "+message, "")
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc
}

func (d *document) add(code diag.Code, rng diag.Range, summary, detail string) {
	d.diags.Add(diag.Diagnostic{Severity: diag.Error, Code: code, Subject: rng, Summary: summary, Detail: detail})
}

// line returns the range of a whole line without its indentation.
func (d *document) line(line int) diag.Range {
	line = min(max(line, 1), d.src.Lines())
	start := d.src.Offset(diag.Position{Line: line, Column: 1})
	text := d.src.Line(line)
	indent := len(text) - len(bytes.TrimLeft(text, " \t"))
	return diag.NewRange(d.src, start+indent, start+len(text))
}

// at returns the range of a node: exact for scalars on one line, up to the end of the line for everything else.
func (d *document) at(n *yaml.Node) diag.Range {
	if n == nil || n.Line == 0 {
		return diag.NewRange(d.src, 0, 0)
	}
	start := d.src.Offset(diag.Position{Line: n.Line, Column: n.Column})
	end := len(bytes.TrimRight(d.src.Line(n.Line), " \t")) + d.src.Offset(diag.Position{Line: n.Line, Column: 1})
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		for size, e := 256, 0; e == 0 && size/2 < d.src.Len()-start; size *= 2 {
			if e = quotedEnd([]byte(d.next(start, size))); e > 0 {
				end = start + e
			}
		}
	case n.Kind == yaml.ScalarNode && d.next(start, len(n.Value)) == n.Value:
		end = start + len(n.Value)
	}
	return diag.NewRange(d.src, start, end)
}

// next returns the text from an offset on, of so many bytes if there are as many.
func (d *document) next(start, size int) string {
	return diag.NewRange(d.src, start, min(start+size, d.src.Len())).Text()
}

// quotedEnd returns the length of the quoted text at the start of b, quotes included; 0 when there is none.
func quotedEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch {
		case b[0] == '"' && b[i] == '\\':
			i++
		case b[i] == b[0] && b[0] == '\'' && i+1 < len(b) && b[i+1] == '\'':
			i++
		case b[i] == b[0]:
			return i + 1
		}
	}
	return 0
}

// kindName returns the kind of a node in the words of messages, such as "a list".
func kindName(n *yaml.Node) string {
	n = yamltree.Resolve(n)
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	}
	return "a string"
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func isText(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && kindName(n) == "a string"
}

// text returns a field's text; null counts as absent.
func (d *document) text(field string, n *yaml.Node) *Literal {
	if isNull(n) {
		return nil
	}
	if !isText(n) {
		d.wrongKind(field, "a string", n)
		return nil
	}
	return &Literal{n.Value, d.at(n)}
}

func (d *document) wrongKind(field, want string, n *yaml.Node) {
	detail := ""
	if n.Kind == yaml.ScalarNode && want == "a string" {
		detail = "put it in quotes to make it a string"
	}
	d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s must be %s, found %s", field, want, kindName(n)), detail)
}

// entries returns the keys and values of a mapping, each key once. Anything but a mapping is reported; null counts as
// empty.
func (d *document) entries(field string, n *yaml.Node) []entry {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.wrongKind(field, "a map", n)
		return nil
	}
	list := make([]entry, 0, len(n.Content)/2)
	seen := make(map[string]diag.Range, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := yamltree.Resolve(n.Content[i])
		if k.Kind != yaml.ScalarNode {
			d.add(diag.KeyNotString, d.at(k), "keys of a map must be strings, found "+kindName(k), "")
			continue
		}
		key := Literal{k.Value, d.at(n.Content[i])}
		if first, twice := seen[key.Text]; twice {
			d.diags.Add(diag.Diagnostic{Code: diag.Duplicate, Subject: key.Range,
				Summary: fmt.Sprintf("%s is declared twice (first at line %d)", key.Text, first.StartPosition().Line),
				Detail:  "remove one of the two",
				Related: []diag.Related{{Range: first, Message: "first declared here"}}})
			continue
		}
		seen[key.Text] = key.Range
		list = append(list, entry{key, n.Content[i], yamltree.Resolve(n.Content[i+1])})
	}
	return list
}

// items yields the items of a list, each with its place for messages. Anything but a list is reported; null counts as
// empty.
func (d *document) items(field string, n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if isNull(n) {
			return
		}
		if n.Kind != yaml.SequenceNode {
			d.wrongKind(field, "a list", n)
			return
		}
		for i, item := range n.Content {
			if !yield(fmt.Sprintf("%s[%d]", field, i), yamltree.Resolve(item)) {
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
func (d *document) fields(field string, n *yaml.Node, known ...string) record {
	return d.fieldsOf(field, n, diag.Error, known)
}

// openFields is fields for a map that may have other keys too, which it ignores. It warns only of keys that are
// certainly misspelt.
func (d *document) openFields(field string, n *yaml.Node, known ...string) record {
	return d.fieldsOf(field, n, diag.Warning, known)
}

func (d *document) fieldsOf(field string, n *yaml.Node, severity diag.Severity, known []string) record {
	entries := d.entries(field, n)
	r := d.record(field+".", entries)
	for _, e := range entries {
		if !slices.Contains(known, e.key.Text) {
			d.unknownKey(field, e.key, severity, known, r)
		}
	}
	return r
}

// key returns the place of a field's key.
func (r record) key(name string) diag.Range { return r.byName[name].key.Range }

// node returns the value of a field; nil if it is absent.
func (r record) node(name string) *yaml.Node { return r.byName[name].value }

// isNull reports whether a field is null or absent.
func (r record) isNull(name string) bool { return isNull(r.node(name)) }

// literal returns the text of a field with its place; nil if it is absent.
func (r record) literal(name string) *Literal { return r.document.text(r.prefix+name, r.node(name)) }

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
	if !isNull(n) && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&b) != nil) {
		r.wrongKind(r.prefix+name, "true or false", n)
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
	d.diags.Add(finding)
}

// nearest returns the candidate that text was most likely meant to be; empty when there is none (F3.3).
func nearest(text string, candidates []string) string {
	if near := diag.Suggest(text, candidates); len(near) > 0 {
		return near[0]
	}
	return ""
}
