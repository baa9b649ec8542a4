package builtins

import (
	"slices"
	"strings"
)

// Theme is a group of functions that documentation shows together.
type Theme struct {
	Title string
	Funcs []*Func // in the order in which documentation shows them
}

// themes are the records of each file.
var themes = [...]Theme{
	{"Choosing and recovering", logicFuncs},
	{"Texts", stringFuncs},
	{"Regular expressions", patternFuncs},
	{"Encodings", encodingFuncs},
	{"Digests", hashFuncs},
	{"Lists and maps", collectionFuncs},
	{"Sequences and sets", sequenceFuncs},
	{"Numbers", numberFuncs},
	{"Dates", dateFuncs},
	{"Networks", networkFuncs},
	{"Secrets", secretFuncs},
	{"Files and environment", fileFuncs},
	{"Assets and archives", slices.Concat(assetFuncs, bundleFuncs)},
	{"Resources, stacks and providers", resourceFuncs},
}

// Themes is every function by theme. The caller must not modify what it refers to.
func Themes() []Theme { return slices.Clone(themes[:]) }

// Table is every function, ordered by name. The caller may modify the slice, but not the records.
func Table() []*Func {
	var all []*Func
	for _, theme := range themes {
		all = append(all, theme.Funcs...)
	}
	slices.SortFunc(all, func(a, b *Func) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// Names are the names and aliases of all functions.
func Names() []string {
	var names []string
	for _, f := range Table() {
		names = append(append(names, f.Name), f.Aliases...)
	}
	return names
}

// byName finds functions by name or alias in lower case. It is complete before main starts and never changes.
var byName = func() map[string]*Func {
	index := make(map[string]*Func)
	for _, f := range Table() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			index[strings.ToLower(name)] = f
		}
	}
	return index
}()

// Spelling returns the name or alias of the function that a text equals but for capitals, as the table spells it.
func (f *Func) Spelling(name string) string {
	for _, known := range append([]string{f.Name}, f.Aliases...) {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return f.Name
}

// Lookup finds a function by its name or an alias, without "fn::", whatever the capitalisation (L1.20).
func Lookup(name string) (*Func, bool) {
	f, ok := byName[strings.ToLower(name)]
	return f, ok
}
