package parser

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// scope determines which names an expression may use, and which unusual keys the text contains. A remembering scope
// records its answers, so that a result can be reused as long as all answers stay the same.
type scope struct {
	declared map[string]bool // names declared by the program or the component
	local    map[string]int  // additional names, with the number of enclosing bindings
	keys     *oddKeys
	stack    map[string]bool // keys of the stack's configuration

	asked, askedOdd, askedStack map[string]bool // recorded answers; nil if they are not recorded
}

// declares reports whether the scope has a name. A nil scope has none.
func (s *scope) declares(name string) bool {
	if s == nil {
		return false
	}
	// Not recorded: the binding stands in the same block as the expression.
	if s.local[name] > 0 {
		return true
	}
	if s.asked != nil {
		s.asked[name] = s.declared[name]
	}
	return s.declared[name]
}

func (s *scope) odd(name string) bool {
	if s == nil || s.keys == nil {
		return false
	}
	found := s.keys.has(name)
	if s.askedOdd != nil {
		s.askedOdd[name] = found
	}
	return found
}

// answer is the answer of a scope about one name.
type answer struct {
	name string
	yes  bool
}

// answers holds the answers that a scope has given while something was read.
type answers struct{ declared, odd, stack []answer }

// answers returns the recorded answers.
func (s *scope) answers() answers {
	list := func(asked map[string]bool) []answer {
		var all []answer
		for name, yes := range asked {
			all = append(all, answer{name, yes})
		}
		return all
	}
	return answers{declared: list(s.asked), odd: list(s.askedOdd), stack: list(s.askedStack)}
}

// hold reports whether a scope gives the same answers.
func (a *answers) hold(s *scope) bool {
	for _, told := range a.declared {
		if s.declared[told.name] != told.yes {
			return false
		}
	}
	for _, told := range a.odd {
		if s.keys.has(told.name) != told.yes {
			return false
		}
	}
	return !slices.ContainsFunc(a.stack, func(told answer) bool { return s.stack[told.name] != told.yes })
}

// stackHas reports whether the stack's configuration has a value with that name.
func (s *scope) stackHas(name string) bool {
	if s.askedStack != nil {
		s.askedStack[name] = s.stack[name]
	}
	return s.stack[name]
}

// newScope returns the scope of a program with the declared names. stack holds the keys of the stack's configuration;
// roots are the trees of the program's texts.
func newScope(declared map[string]bool, stack []string, roots []*yamlnode.Node) *scope {
	s := &scope{declared: declared, keys: &oddKeys{roots: roots}, stack: make(map[string]bool, len(stack))}
	for _, name := range stack {
		s.stack[name] = true
	}
	return s
}

// inside returns the scope of a component of the program, which declares its own names. These stand in the same block
// as the expressions that ask for them, so that answers about them need not be recorded.
func (s *scope) inside(declared map[string]bool) *scope {
	return &scope{declared: declared, keys: s.keys, askedOdd: s.askedOdd, stack: s.stack, askedStack: s.askedStack}
}

// apart returns a copy of the scope for another goroutine. It does not record answers, for which a lock would be
// needed: a text is read by several goroutines only where nothing is kept of it (see bodyReader.independent).
func (s *scope) apart() *scope {
	return &scope{declared: s.declared, local: maps.Clone(s.local), keys: s.keys, stack: s.stack}
}

// remembering returns a copy of the scope that records its answers.
func (s *scope) remembering() *scope {
	return &scope{declared: s.declared, keys: s.keys, stack: s.stack,
		asked: map[string]bool{}, askedOdd: map[string]bool{}, askedStack: map[string]bool{}}
}

// oddKeys is the set of keys in a text that may be read as expressions (L5.42). It is built on first use.
type oddKeys struct {
	roots    []*yamlnode.Node
	gathered sync.Once
	names    map[string]bool
}

func (k *oddKeys) has(name string) bool {
	k.gathered.Do(func() {
		k.names = map[string]bool{}
		for _, root := range k.roots {
			k.gather(root)
		}
	})
	return k.names[name]
}

func (k *oddKeys) gather(n *yamlnode.Node) {
	if n == nil {
		return
	}
	for i, child := range n.Content {
		if i%2 == 0 && len(n.Content) > 1 && oddKey(child.Value) {
			k.names[child.Value] = true
		}
		k.gather(child)
	}
}

// oddKeysOf returns the keys in a tree that may be read as expressions (L5.42).
func oddKeysOf(root *yamlnode.Node) map[string]bool {
	found := &oddKeys{names: map[string]bool{}}
	found.gather(root)
	return found.names
}

// also calls do while additional names are declared.
func (s *scope) also(do func(), names ...string) {
	if s.local == nil {
		s.local = map[string]int{}
	}
	for _, name := range names {
		// Counted, since a name may be bound again inside of its own binding.
		s.local[name]++
	}
	do()
	for _, name := range names {
		s.local[name]--
	}
}

// textReader parses the texts of scalars, in a scope. It stands above the two grammars, which read names by it; its
// methods are in interpolation.go.
type textReader struct {
	nodes  *nodeReader
	text   *yamlnode.Text
	report *findings
	scope  *scope // nil if strings are not interpolated
}

// oddKey reports whether a member's name contains an operator, a quote, a bracket or, beside others, a word that is one
// in an expression of this language or of others. A dash or colon without spaces is part of a name.
func oddKey(name string) bool {
	if strings.ContainsAny(name, "+*/%=!<>&|^?,;\"'`\\()[]{}") || strings.Contains(name, ":-") {
		return true
	}
	if !strings.ContainsAny(name, " \t\r\n") {
		return false
	}
	return strings.Contains(name, ":") || slices.ContainsFunc(strings.Fields(name), func(word string) bool {
		switch word {
		case "for", "in", "if", "else", "null", "true", "false", "and", "or", "not", "is":
			return true
		}
		return strings.HasPrefix(word, "-") || strings.HasSuffix(word, "-")
	})
}
