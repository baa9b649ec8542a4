package builtins

import (
	"slices"
	"strings"
)

// themes are the records of each file, in the order in which documentation shows them.
var themes = [...][]*Func{logicFuncs, stringFuncs, encodingFuncs, collectionFuncs, numberFuncs, secretFuncs, fileFuncs, assetFuncs,
	resourceFuncs}

// Table is every function, ordered by name. The caller may modify the slice, but not the records.
func Table() []*Func {
	all := slices.Concat(themes[:]...)
	slices.SortFunc(all, func(a, b *Func) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// byName finds functions by name or alias in lower case. It is complete before main starts and never changes.
var byName = func() map[string]*Func {
	index := make(map[string]*Func)
	for _, theme := range themes {
		for _, f := range theme {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				index[strings.ToLower(name)] = f
			}
		}
	}
	return index
}()

// Lookup finds a function by its name or an alias, without "fn::", whatever the capitalisation (L1.20).
func Lookup(name string) (*Func, bool) {
	f, ok := byName[strings.ToLower(name)]
	return f, ok
}
