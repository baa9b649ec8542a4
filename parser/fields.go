package parser

import (
	"cmp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file reads maps whose keys the language defines: sections, resources, options. The keys are matched ignoring
// case (L1.20).

// fieldReaders holds a reader for each field of a map, by the canonical name of the field. What the readers refer to is
// allocated on the heap, so maps that every resource may have are read with fieldsOf.
type fieldReaders map[string]func(e entry)

// fields reads the entries of a map with the reader of each key in keys. It reports all other keys, and returns false
// if there are any. place describes the map in the report.
func (r *nodeReader) fields(entries []entry, place string, keys []string, readers fieldReaders) bool {
	return r.onlyFields(entries, place, keys, func(name string, e entry) { readers[name](e) })
}

// gather is like fields, but returns the entries with a key in keys, by canonical name.
func (r *nodeReader) gather(entries []entry, place string, keys []string) map[string]*entry {
	found := map[string]*entry{}
	r.onlyFields(entries, place, keys, func(name string, e entry) { found[name] = &e })
	return found
}

// onlyFields is like fields with one reader for all keys, which gets their canonical names.
func (r *nodeReader) onlyFields(entries []entry, place string, keys []string, read func(name string, e entry)) bool {
	known := true
	r.fieldsOf(entries, keys, nil, read, func(e entry) bool {
		known = false
		r.unknownKey(diag.Error, e, place, keys, "")
		return true
	})
	return known
}

// fieldsOf reads the entries of a map whose keys the language defines. It calls known with the canonical name for each
// key that is one of keys, and unknown for all others. It reports unusual capitalization, and keys that occur in two
// spellings (L1.22). A key that is certainly a misspelling of a missing one is passed to unknown and then, if unknown
// returns true, to known, so that its value is checked as intended. others lists keys that have a meaning elsewhere and
// are not misspellings. The list of entries is used again afterwards.
func (r *nodeReader) fieldsOf(entries []entry, keys, others []string, known func(name string, e entry),
	unknown func(e entry) bool) {
	seen := make(map[string]diag.Range, len(entries))
	var odd []entry
	for _, e := range entries {
		name, ok := canonical(e.name, keys)
		if !ok {
			odd = append(odd, e)
			continue
		}
		if first, again := seen[name]; again {
			e.from.duplicate(name, e.at, first)
			continue
		}
		seen[name] = e.at
		if name != e.name {
			e.from.capitalisation(e, name)
		}
		known(name, e)
	}
	for _, e := range odd {
		if _, elsewhere := canonical(e.name, others); !elsewhere {
			e.meant = diag.Meant(e.name, diag.Suggest(e.name, slices.Concat(keys, others)))
			if e.meant == "" {
				e.meant, e.advice = phrasebook.Key(e.name, keys)
			}
			_, e.taken = seen[e.meant]
		}
		if !unknown(e) || e.meant == "" || e.taken || !slices.Contains(keys, e.meant) {
			continue
		}
		seen[e.meant] = e.at
		known(e.meant, e)
	}
	r.release(entries)
}

func (r *nodeReader) capitalisation(e entry, name string) {
	d := r.report.warn(diag.Capitalisation, e.at, "", "write `%s` as `%s`", e.name, name)
	d.Fixes = e.renamed(name)
}

// renamed returns the fix that changes the key, or nil if the text does not contain the key literally.
func (e entry) renamed(name string) []diag.Fix { return rewritten(e.at, e.name, name) }

// rewritten returns the fix that replaces a word, or nil if the range does not contain the word literally.
func rewritten(rng diag.Range, word, right string) []diag.Fix {
	rng, ok := rng.Word(word)
	if !ok {
		return nil
	}
	return []diag.Fix{{Label: "Write `" + right + "`", Edits: []diag.Edit{{Range: rng, Text: right}}}}
}

// unknownKey reports a key that has no meaning in its place (L1.23). hint, if it is not empty, replaces the suggestion
// of similar names.
func (r *nodeReader) unknownKey(severity diag.Severity, e entry, place string, keys []string, hint string) {
	detail := hint
	switch {
	case detail != "":
	case e.advice != "":
		detail = e.advice
	case e.taken:
		detail = "`" + e.meant + "` is already given: remove one of the two"
	case e.meant != "" && slices.Contains(keys, e.meant):
		detail = "did you mean `" + e.meant + "`?"
	case len(keys) <= 10:
		detail = didYouMean(e.name, keys, "known are "+listing(keys, " and "))
	default:
		detail = didYouMean(e.name, keys, "")
	}
	if e.taken || !slices.Contains(keys, e.meant) { // it is not read, so no schema and no declaration makes it secret
		cmp.Or(e.from, r).text.HideTexts(e.value)
	}
	d := r.report.report(severity, diag.UnknownKey, e.at, detail, "unknown key `%s` in %s", diag.Excerpt(e.name), place)
	if hint == "" && slices.Contains(keys, e.meant) && !e.taken {
		d.Fixes = e.renamed(e.meant)
		for i := range d.Fixes {
			d.Fixes[i].Guess = e.advice != ""
		}
	}
}

// didYouMean returns a question with the names that are similar to text, or instead if there are none.
func didYouMean(text string, names []string, instead string) string {
	if near := diag.Suggest(text, names); len(near) > 0 {
		return "did you mean " + listing(near, " or ") + "?"
	}
	return instead
}

// listing formats names as a list: `a`, `b` and `c`. last separates the last two.
func listing(names []string, last string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(last)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("`" + name + "`")
	}
	return b.String()
}

// section calls fn for the map that is the value of an entry. Null counts as an empty map (L1.16) and any other value
// is reported; fn is not called for them.
func (r *nodeReader) section(e entry, what string, fn func(n *yamlnode.Node, rng diag.Range)) {
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case n.Kind == yamlnode.Map:
			fn(n, rng)
		case !yamlnode.IsNull(n):
			detail := ""
			if n.Kind == yamlnode.List {
				detail = "write each as `name: …`, without a dash"
			}
			r.wrongKind(n, rng, what, "a map", detail)
		}
	})
}

func (r *nodeReader) wrongKind(n *yamlnode.Node, rng diag.Range, what, kind, detail string) {
	if r.mended(rng) || r.repairs.Any() && r.repairs.Touch(r.text.Bytes, n) { // part of it is lost
		return
	}
	if strangeKeys(n) {
		r.entries(n) // reports them
		return
	}
	if n.Kind != yamlnode.Scalar { // nobody reads what is in it
		r.text.HideTexts(n)
	}
	r.report.fail(diag.WrongKind, rng, detail, "%s must be %s, found %s", what, kind, yamlnode.KindName(n))
}

// literalText reads a field that must be a literal string. It returns nil for null and after reporting an error.
func (r *nodeReader) literalText(e entry, what string) *ast.Literal {
	var literal *ast.Literal
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		if yamlnode.IsNull(n) || r.mended(rng) {
			return
		}
		if !isText(n) {
			detail := ""
			if n.Kind == yamlnode.Scalar {
				detail = "put it in quotes: \"" + diag.Excerpt(n.Value) + "\""
			}
			r.wrongKind(n, rng, what, "a string", detail)
			return
		}
		text, ok := unescapeDollars(n.Value)
		if !ok {
			r.report.fail(diag.NotLiteral, rng, "write the text itself, without `${…}`", "%s must be a literal string", what)
			return
		}
		literal = &ast.Literal{Value: text, Range: rng}
	})
	return literal
}

// choice reads a field whose text must be one of choices. format is the message for any other text; instead is the
// advice if no choice is similar to it.
func (r *nodeReader) choice(e entry, what string, choices []string, instead, format string) *ast.Literal {
	literal := r.literalText(e, what)
	if literal == nil || slices.Contains(choices, literal.Value) {
		return literal
	}
	r.report.fail(diag.NotInEnum, literal.Range, didYouMean(literal.Value, choices, instead), format,
		diag.Excerpt(literal.Value))
	return nil
}

// plainText reads a field whose text is never interpolated (L1.14).
func (r *nodeReader) plainText(e entry, what string) *ast.Literal {
	var literal *ast.Literal
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case isText(n):
			literal = &ast.Literal{Value: n.Value, Range: rng}
		case !yamlnode.IsNull(n):
			r.wrongKind(n, rng, what, "a string", "")
		}
	})
	return literal
}

// literals reads a field that is a list of literal strings or a single one. want describes one of them, for errors.
func (r *nodeReader) literals(e entry, what, want string) []ast.Literal {
	var list []ast.Literal
	one := func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case yamlnode.IsNull(n):
		case !isText(n):
			r.wrongKind(n, rng, what, want, "")
		case strings.Contains(n.Value, "${"):
			r.report.fail(diag.NotLiteral, rng, "write "+want, "%s must be literal", what)
		default:
			list = append(list, ast.Literal{Value: n.Value, Range: rng})
		}
	}
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch n.Kind {
		case yamlnode.List:
			for _, item := range n.Content {
				r.with(item, nil, one)
			}
		case yamlnode.Map:
			r.wrongKind(n, rng, what, "a list", "write `[one, two]`")
		default:
			one(n, rng)
		}
	})
	return list
}

// literalBool reads a field that must be a boolean literal.
func (r *nodeReader) literalBool(e entry, what string) *ast.BoolLiteral {
	var literal *ast.BoolLiteral
	r.with(e.value, e.via, func(n *yamlnode.Node, rng diag.Range) {
		switch {
		case r.mended(rng):
		case n.Kind == yamlnode.Scalar && n.Tag == yamlnode.BoolTag:
			literal = &ast.BoolLiteral{Value: isTrue(n.Value), Range: rng}
		case yamlnode.IsNull(n):
		case isText(n) && strings.Contains(n.Value, "${"):
			r.report.fail(diag.NotLiteral, rng, "write `true` or `false`", "%s must be a literal boolean", what)
		default:
			r.wrongKind(n, rng, what, "a boolean", "write `true` or `false`, without quotes")
		}
	})
	return literal
}

// isText reports whether a node is a string according to its tag.
func isText(n *yamlnode.Node) bool {
	if n.Kind != yamlnode.Scalar {
		return false
	}
	switch n.Tag {
	case yamlnode.NullTag, yamlnode.BoolTag, yamlnode.IntTag, yamlnode.FloatTag:
		return false
	}
	return true
}

func isTrue(text string) bool { return strings.EqualFold(text, "true") }

// unescapeDollars replaces `$$` by `$` in a text (L5.8); ok is false if the text contains an interpolation.
func unescapeDollars(text string) (string, bool) {
	if !strings.Contains(text, "$") {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '$' && i+1 < len(text) {
			switch text[i+1] {
			case '{':
				return "", false
			case '$':
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), true
}
