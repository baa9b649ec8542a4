package editor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// ItemKind is the kind of a completion.
type ItemKind uint8

// The kinds of completions.
const (
	KeyItem ItemKind = iota
	TypeItem
	PropertyItem
	ValueItem
	NameItem
	FunctionItem
	PackageItem
	FileItem
)

// Item is one completion.
type Item struct {
	Label      string
	Kind       ItemKind
	Detail     string // on one line
	Docs       string // Markdown
	Insert     string // replaces the word
	First      bool   // sorts before the others because it is required
	Deprecated bool

	node *check.Node // provides Detail lazily; nil if Detail is set
}

// Completions are the completions at an offset. They replace the bytes from Start to End.
type Completions struct {
	Start, End int
	Items      []Item
	Partial    bool // more completions exist; typing more letters finds them
}

// maxItems limits an answer. Editors ask again after each letter, so long answers would only delay them.
const maxItems = 200

// Complete returns the completions at an offset of an open file. The position is understood from the present text
// alone, around the cursor, and what may stand there is taken from the last check: no check is waited for while
// somebody types.
func Complete(ctx context.Context, s *Snapshot, path string, offset int) (Completions, error) {
	document := s.Text(path)
	if document == nil {
		return Completions{}, nil
	}
	text, shift := document.Near(offset)
	c := parser.Cursor(text, offset-shift)
	answer := Completions{Start: c.Start + shift, End: c.End + shift}
	p, err := s.Recent(ctx, path)
	if err != nil || p.Document == nil && p.SettingsOf == "" {
		return answer, err
	}
	block := document.Block(offset)
	q := &completer{ctx: ctx, p: p, cursor: c, block: block.Text(), offset: offset - int(block.Start)}
	if p.Document != nil && p.Document != document {
		q.text = document
	}
	var items []Item
	if p.SettingsOf != "" {
		c = namespaced(text, offset-shift, c)
		answer.Start, answer.End = c.Start+shift, c.End+shift
		items = s.completeSettings(ctx, p, c)
	} else {
		items = q.items()
	}
	answer.Items, answer.Partial = best(items, c.Typed)
	if surroundingsOf(text, c).fit(answer.Items, c) {
		answer.End++
	}
	answer.Partial = answer.Partial || q.partial
	return answer, nil
}

// best returns the items that match the typed text, best first, at most maxItems. more reports whether it left out
// others. A package may have ten thousand types. Candidates are sorted in batches, so that the work stays linear in
// their number.
func best(items []Item, typed string) (list []Item, more bool) {
	type candidate struct{ rank, index int }
	compare := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(items[a.index].Label, items[b.index].Label),
			a.index-b.index)
	}
	var found []candidate
	cut := func() {
		slices.SortFunc(found, compare)
		more = more || len(found) > maxItems
		found = found[:min(len(found), maxItems)]
	}
	typed = strings.ToLower(typed)
	for i, item := range items {
		label := strings.ToLower(item.Label)
		if !matches(label, typed) {
			continue
		}
		c := candidate{item.rank(label, typed), i}
		// After the first cut, found begins with the maxItems best ones, and a worse one cannot be among them.
		if more && compare(c, found[maxItems-1]) > 0 {
			continue
		}
		if found = append(found, c); len(found) == 2*maxItems {
			cut()
		}
	}
	cut()
	for _, c := range found {
		item := items[c.index]
		if item.node != nil {
			item.Detail = nodeDetail(item.node)
		}
		list = append(list, item)
	}
	return list, more
}

// rank orders items, lowest first: items that start with the typed text, then required items, then the other items of
// the language and schemas, then names, then functions. label and typed are lower case.
func (i Item) rank(label, typed string) int {
	rank := 0
	if !strings.HasPrefix(label, typed) && !strings.HasPrefix(strings.TrimPrefix(label, "fn::"), typed) {
		rank += 8
	}
	if !i.First {
		rank += 4
	}
	switch i.Kind {
	case NameItem:
		rank++
	case FunctionItem:
		rank += 2
	}
	return rank
}

// matches reports whether label contains the letters of typed in order. Both are lower case. It is how editors filter
// themselves; a narrower rule would withhold what they would show.
func matches(label, typed string) bool {
	for _, r := range typed {
		i := strings.IndexRune(label, r)
		if i < 0 {
			return false
		}
		label = label[i+len(string(r)):]
	}
	return true
}

// completer finds the completions at one position. p is the last check, which may be older than the text around the
// cursor: block, offset and text are of the present one.
type completer struct {
	ctx    context.Context
	p      *Program
	cursor parser.Context
	// block is the part of the present text around the cursor, in which schemas are looked for that the check does not
	// know.
	block   string
	offset  int              // in block
	partial bool             // more items exist than the completer lists
	text    *parser.Document // the current text; nil if the program was checked from it
}

// keys returns completions for map keys.
func keys(kind ItemKind, names ...string) []Item { return words(kind, ": ", names) }

// values returns completions for values.
func values(names ...string) []Item { return words(ValueItem, "", names) }

// words returns completions that insert a name followed by end.
func words(kind ItemKind, end string, names []string) []Item {
	items := make([]Item, 0, len(names))
	for _, name := range names {
		items = append(items, Item{Label: name, Kind: kind, Insert: name + end})
	}
	return items
}

var (
	// blockKeys are the keys whose value is a map or a list, which begins on the next line.
	blockKeys = []string{"config", "variables", "resources", "outputs", "components", "hooks", "dynamic", "transforms",
		"messages", "policies", "match", "properties", "arguments", "options", "get", "inputs", "pulumi", "packages",
		"plugins", "template", "backend"}
	yesNo = []string{"true", "false"}
)

// items returns all completions at the cursor, whatever has been typed. The sections of a component are those of a
// program, with `inputs` for `config`.
func (q *completer) items() []Item {
	c, path := q.cursor, q.cursor.Path
	if c.Kind == parser.NameCursor {
		return q.names()
	}
	if len(path) > 2 && path[0] == "components" {
		path = path[2:]
		if len(path) > 0 && path[0] == "inputs" {
			path = append([]string{"config"}, path[1:]...)
		}
	}
	if len(path) == 0 {
		return q.language(nil)
	}
	switch path[0] {
	case "resources":
		return q.resource(path)
	case "variables", "outputs":
		if len(path) >= 2 {
			return q.expression(schema.Any, path[2:])
		}
	case "runtime":
		if len(path) == 1 && c.Kind == parser.ValueCursor {
			return values("yaml")
		}
	case "include":
		return q.files()
	case "packages":
		switch {
		case len(path) == 1 && c.Kind == parser.KeyCursor:
			return keys(PackageItem, q.p.Packages()...)
		case c.Kind == parser.ValueCursor && (len(path) == 2 || len(path) == 3 && path[2] == "source"):
			return q.files()
		}
	case "dynamic":
		if len(path) == 3 && path[2] == "provider" {
			return q.files()
		}
	case "messages":
		switch {
		case len(path) == 3 && path[2] == "resource":
			return q.references(func(n *check.Node) bool { return n.Kind == check.ResourceNode })
		case len(path) > 2 && path[2] != "level":
			return q.expression(schema.Any, path[3:])
		}
	case "transforms", "transformations":
		return q.transform(path[1:], "transforms")
	case "policies":
		return q.policy(path)
	}
	return q.language(path)
}

// fields returns completions for keys of the language. Keys with a map or list as their value end the line.
func fields(names ...string) []Item {
	items := keys(KeyItem, names...)
	for i, name := range names {
		if slices.Contains(blockKeys, name) {
			items[i].Insert = name + ":"
		}
	}
	return items
}

// Signature describes a function and the argument at a position.
type Signature struct {
	Label      string
	Docs       string
	Parameters []Parameter
	Active     int // 0-based index of the parameter; -1 if there are more arguments than parameters
}

// Parameter is a parameter of a function.
type Parameter struct{ Name, Docs string }

// SignatureAt returns the function whose arguments contain an offset inside ${…}; nil if there is none.
func SignatureAt(s *Snapshot, path string, offset int) *Signature {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	text, shift := document.Near(offset)
	c := parser.Cursor(text, offset-shift)
	f, found := builtins.Lookup(c.Function)
	if !found {
		return nil
	}
	signature := &Signature{Label: f.Signature(), Docs: f.Summary, Active: c.Argument}
	for i, p := range f.Params {
		signature.Parameters = append(signature.Parameters, Parameter{Name: f.ParamName(i), Docs: p.Doc})
	}
	if n := len(f.Params); signature.Active >= n {
		signature.Active = n - 1
		if !f.Variadic {
			signature.Active = -1
		}
	}
	return signature
}
