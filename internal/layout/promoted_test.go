package layout

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostPromoted is the maximum number of methods that can be called on a struct, those of embedded fields included. A
// struct with more is a stack of types in one, whatever the number of methods that each of them declares.
const mostPromoted = 60

// shape holds the methods and embedded fields of a type declaration.
type shape struct {
	isStruct bool
	methods  map[string]bool
	embedded []string // types of this module, by package and name
}

// shapes returns the types of all packages but those of tests. Embedded types of other modules are left out: nobody
// here can divide them.
func shapes(t *testing.T) map[string]*shape {
	t.Helper()
	all := map[string]*shape{}
	of := func(name string) *shape {
		if all[name] == nil {
			all[name] = &shape{methods: map[string]bool{}}
		}
		return all[name]
	}
	for _, f := range code(t) {
		if strings.HasPrefix(f.pkg, "test/") {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					of(f.pkg + "." + bare(d.Recv.List[0].Type).(*ast.Ident).Name).methods[d.Name.Name] = true
				}
				return false
			case *ast.TypeSpec:
				s := of(f.pkg + "." + d.Name.Name)
				switch content := d.Type.(type) {
				case *ast.StructType:
					s.isStruct = true
					s.embed(f, content.Fields)
				case *ast.InterfaceType:
					for _, m := range content.Methods.List {
						for _, name := range m.Names {
							s.methods[name.Name] = true
						}
					}
					s.embed(f, content.Methods)
				}
			}
			return true
		})
	}
	return all
}

// embed records the fields without a name, of types of this module.
func (s *shape) embed(f file, fields *ast.FieldList) {
	for _, field := range fields.List {
		if len(field.Names) > 0 {
			continue
		}
		switch e := bare(field.Type).(type) {
		case *ast.Ident:
			s.embedded = append(s.embedded, f.pkg+"."+e.Name)
		case *ast.SelectorExpr:
			if from, ours := strings.CutPrefix(f.names[e.X.(*ast.Ident).Name], module+"/"); ours {
				s.embedded = append(s.embedded, from+"."+e.Sel.Name)
			}
		}
	}
}

// methodsOf returns the methods that can be called on a type: of each name the one at the least depth, and none if
// several embedded types have it there.
func methodsOf(all map[string]*shape, name string) map[string]bool {
	found, seen := map[string]bool{}, map[string]bool{}
	for level := []string{name}; len(level) > 0; {
		count := map[string]int{}
		var next []string
		for _, t := range level {
			s := all[t]
			if s == nil || seen[t] {
				continue
			}
			seen[t] = true
			for m := range s.methods {
				count[m]++
			}
			next = append(next, s.embedded...)
		}
		for m, n := range count {
			if _, shadowed := found[m]; !shadowed {
				found[m] = n == 1
			}
		}
		level = next
	}
	maps.DeleteFunc(found, func(_ string, one bool) bool { return !one })
	return found
}

// TestStructsAreOneThing counts the methods that can be called on each struct, and prints the ten largest with -v.
func TestStructsAreOneThing(t *testing.T) {
	t.Parallel()
	type size struct {
		name       string
		own, total int
	}
	var sizes []size
	all := shapes(t)
	for name, s := range all {
		if !s.isStruct {
			continue
		}
		z := size{name, len(s.methods), len(methodsOf(all, name))}
		sizes = append(sizes, z)
		if z.total > mostPromoted {
			t.Errorf("%d methods can be called on %s, %d of them its own, and %d are allowed: name the embedded fields", z.total,
				name, z.own, mostPromoted)
		}
	}
	slices.SortFunc(sizes, func(a, b size) int { return cmp.Or(b.total-a.total, strings.Compare(a.name, b.name)) })
	for _, z := range sizes[:10] {
		t.Logf("%3d methods, %2d of them its own: %s", z.total, z.own, z.name)
	}
}

// deepest is how many structs may be embedded in each other: a reader finds the field behind a promoted name in at most
// two steps.
const deepest = 2

// depthOf returns the longest chain of structs that are embedded in each other, from a struct on.
func depthOf(all map[string]*shape, name string) (chain []string) {
	for _, e := range all[name].embedded {
		if s := all[e]; s == nil || !s.isStruct || e == name {
			continue
		}
		if below := append([]string{e}, depthOf(all, e)...); len(below) > len(chain) {
			chain = below
		}
	}
	return chain
}

// TestStructsAreNoStacks measures how deep structs are embedded in each other.
func TestStructsAreNoStacks(t *testing.T) {
	t.Parallel()
	all := shapes(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !all[name].isStruct {
			continue
		}
		if chain := depthOf(all, name); len(chain) > deepest {
			t.Errorf("%s is a stack of %s: name the fields", name, strings.Join(chain, ", "))
		}
	}
	three := map[string]*shape{"p.A": {isStruct: true, embedded: []string{"p.B"}},
		"p.B": {isStruct: true, embedded: []string{"p.C"}}, "p.C": {isStruct: true, embedded: []string{"p.D"}},
		"p.D": {isStruct: true}}
	if chain := depthOf(three, "p.A"); !slices.Equal(chain, []string{"p.B", "p.C", "p.D"}) {
		t.Errorf("the chain is %v", chain)
	}
}

// TestPromotedMethodsAreCounted counts methods in a small program.
func TestPromotedMethodsAreCounted(t *testing.T) {
	t.Parallel()
	all := map[string]*shape{
		"p.Top":   {isStruct: true, methods: map[string]bool{"A": true}, embedded: []string{"p.Left", "p.Right"}},
		"p.Left":  {methods: map[string]bool{"A": true, "B": true, "Twice": true}, embedded: []string{"p.Deep"}},
		"p.Right": {methods: map[string]bool{"C": true, "Twice": true}, embedded: []string{"p.Top"}},
		"p.Deep":  {methods: map[string]bool{"B": true, "D": true, "Twice": true}},
	}
	got := slices.Sorted(maps.Keys(methodsOf(all, "p.Top")))
	if want := []string{"A", "B", "C", "D"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
