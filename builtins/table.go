package builtins

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/schema"
)

// Theme is a group of functions in the documentation.
type Theme struct {
	Title string
	Funcs []*Func // in the order of the documentation
}

//go:embed functions.txt
var records string

// The bodies of functions, and the result types that depend on the arguments, by function name.
var (
	evals = merged(logicEvals, stringEvals, patternEvals, encodingEvals, hashEvals, collectionEvals, sequenceEvals,
		numberEvals, dateEvals, networkEvals, secretEvals, fileEvals, assetEvals, bundleEvals, resourceEvals)
	results = merged(logicResults, collectionResults, sequenceResults, secretResults, fileResults)
)

func merged[V any](tables ...map[string]V) map[string]V {
	all := make(map[string]V)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// themes parses the records on first use.
var themes = sync.OnceValue(func() []Theme { return readRecords(records) })

// readRecords parses a text in the format of functions.txt, which describes that format. It panics if the text is
// invalid.
func readRecords(text string) []Theme {
	var themes []Theme
	var f *Func
	types := make(typeReader)
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "//") {
			continue
		}
		if title, ok := strings.CutPrefix(line, "# "); ok {
			themes = append(themes, Theme{Title: title})
			continue
		}
		key, content, ok := strings.Cut(line, ": ")
		switch {
		case line == "":
			f = nil
		case ok && f == nil && len(themes) > 0:
			f = &Func{Name: key, Summary: content, Eval: evals[key], Lazy: lazies[key], Result: results[key]}
			theme := &themes[len(themes)-1]
			theme.Funcs = append(theme.Funcs, f)
		case !ok || f == nil || !f.set(key, content, types):
			panic(fmt.Sprintf("builtins: functions.txt: unexpected line %q", line))
		}
	}
	return themes
}

// set stores one line of a record. It returns false if the key is unknown.
func (f *Func) set(key, content string, types typeReader) bool {
	switch key {
	case "aliases":
		f.Aliases = strings.Fields(content)
	case "argument":
		f.Shape = map[string]Shape{"list": Positional, "map": Fields}[content]
		return f.Shape != Whole
	case "result":
		f.Result = always(types.read(content))
	case "example":
		f.Example = content
	case "call":
		f.Call = content
	case "gives":
		f.Gives = content
	case "rule":
		f.Rule = content
	case "since":
		f.Since, f.Portable = strings.CutSuffix(content, " portable")
	case "warning":
		f.Warning = content
	default:
		words := strings.Fields(key)
		if len(words) < 3 || words[0] != "-" {
			return false
		}
		p := Param{Type: types.read(words[2]), Doc: content, Literal: slices.Contains(words[3:], "literal"),
			Path: slices.Contains(words[3:], "path"), URI: slices.Contains(words[3:], "uri"),
			Marked: slices.Contains(words[3:], "marked")}
		p.Name, f.Variadic = strings.CutSuffix(words[1], "...")
		p.Name, p.Optional = strings.CutSuffix(p.Name, "?")
		f.Params = append(f.Params, p)
	}
	return true
}

// typeReader parses the types in records. It is a cache: equal texts have the same type.
type typeReader map[string]schema.Type

func (r typeReader) read(text string) schema.Type {
	if t := r[text]; t != nil {
		return t
	}
	var members []schema.Type
	depth, start := 0, 0
	for i, c := range text + "|" {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == '|' && depth == 0:
			members = append(members, r.member(text[start:i]))
			start = i + 1
		}
	}
	if r[text] = members[0]; len(members) > 1 {
		r[text] = &schema.Union{Members: members}
	}
	return r[text]
}

// member parses a type that is not a union.
func (r typeReader) member(text string) schema.Type {
	if elem, ok := strings.CutSuffix(text, "?"); ok {
		return &schema.Optional{Elem: r.read(elem)}
	}
	if item, ok := strings.CutPrefix(text, "list<"); ok {
		return list(r.read(strings.TrimSuffix(item, ">")))
	}
	if item, ok := strings.CutPrefix(text, "map<"); ok {
		return &schema.Map{Item: r.read(strings.TrimSuffix(item, ">"))}
	}
	for p := schema.Null; p <= schema.AnyResource; p++ {
		if schema.TypeName(p) == text {
			return p
		}
	}
	panic(fmt.Sprintf("builtins: functions.txt: unknown type %q", text))
}

// Themes returns all functions by theme. The caller must not modify the themes or functions.
func Themes() []Theme { return slices.Clone(themes()) }

// Table returns all functions, ordered by name. The caller may modify the slice, but not the functions.
func Table() []*Func {
	var all []*Func
	for _, theme := range themes() {
		all = append(all, theme.Funcs...)
	}
	slices.SortFunc(all, func(a, b *Func) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return all
}

// Names returns the names and aliases of all functions.
func Names() []string {
	var names []string
	for _, f := range Table() {
		names = append(append(names, f.Name), f.Aliases...)
	}
	return names
}

// byName maps names and aliases in lower case to functions.
var byName = sync.OnceValue(func() map[string]*Func {
	index := make(map[string]*Func)
	for _, f := range Table() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			index[strings.ToLower(name)] = f
		}
	}
	return index
})

// Spelling returns the name or alias of the function that equals name except for case, in the spelling of the table.
func (f *Func) Spelling(name string) string {
	for _, known := range append([]string{f.Name}, f.Aliases...) {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return f.Name
}

// Lookup returns the function with a name or alias, without "fn::" and ignoring case (L1.20).
func Lookup(name string) (*Func, bool) {
	f, ok := byName()[strings.ToLower(name)]
	return f, ok
}
