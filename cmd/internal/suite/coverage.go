package suite

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Coverage counts how many items of one kind the cases have reached.
type Coverage struct {
	What, Verb   string // for example resource and registered
	Covered, All int
	Missing      []string // the items not reached, with their positions
}

func (c *Coverage) add(name string, hit bool) {
	c.All++
	if hit {
		c.Covered++
	} else {
		c.Missing = append(c.Missing, name)
	}
}

// reached records the expressions that runs have reached. It is safe for concurrent use.
type reached struct {
	mu    sync.Mutex // guards found
	found map[string]bool
}

// note records an expression. It is used as eval.Options.Covered.
func (r *reached) note(e ast.Expr, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[string]bool{}
	}
	r.found[coverKey(e.Range(), taken)] = true
}

func (r *reached) has(rng diag.Range, taken bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found[coverKey(rng, taken)]
}

func coverKey(rng diag.Range, taken bool) string {
	start := rng.StartPosition()
	return fmt.Sprintf("%s:%d:%d-%d %t", rng.Source.Name(), start.Line, start.Column, rng.End-rng.Start, taken)
}

// Coverage returns how many of the resources, branches and provider function calls in the tested programs the cases
// have reached.
func (r *Runner) Coverage() []Coverage {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []Coverage{{What: "resource", Verb: "registered"}, {What: "alternative", Verb: "taken"},
		{What: "function call", Verb: "reached"}}
	seen := map[string]bool{}
	for _, p := range r.programs {
		for _, c := range p.checked {
			if c.program == nil {
				continue
			}
			for _, n := range c.program.Nodes {
				pos := n.Range.StartPosition()
				name := fmt.Sprintf("%s:%d: %s", n.Range.Source.Name(), pos.Line, n.Name)
				if seen[name] {
					continue
				}
				seen[name] = true
				if n.Kind == check.ResourceNode {
					hit := false
					for position := range p.registered {
						hit = hit || strings.HasSuffix(position, fmt.Sprintf("#%d,%d", pos.Line, pos.Column))
					}
					all[0].add(name, hit)
				}
				p.cover(c.program, n, &all[1], &all[2])
			}
			for _, o := range c.program.Outputs {
				key := fmt.Sprintf("%s:%d: output", o.Decl.Name.Range.Source.Name(), o.Decl.Name.Range.StartPosition().Line)
				if !seen[key] {
					seen[key] = true
					p.coverExpr(c.program, o.Decl.Value, &all[1], &all[2])
				}
			}
		}
	}
	for i := range all {
		slices.Sort(all[i].Missing)
	}
	return all
}

// cover counts the branches and calls in the expressions of a node.
func (p *program) cover(checked *check.Program, n *check.Node, branches, calls *Coverage) {
	switch {
	case n.Config != nil && n.Config.Decl != nil:
		p.coverExpr(checked, n.Config.Decl.Default, branches, calls)
	case n.Variable != nil:
		p.coverExpr(checked, n.Variable.Value, branches, calls)
	case n.Resource != nil:
		n.Resource.Decl.Exprs(func(e ast.Expr) { p.coverExpr(checked, e, branches, calls) })
		if e := n.Resource.Decl.If; e != nil {
			for _, taken := range []bool{true, false} {
				branches.add(fmt.Sprintf("%s, %t", placeOf(e), taken), p.reached.has(e.Range(), taken))
			}
		}
	}
}

func (p *program) coverExpr(checked *check.Program, e ast.Expr, branches, calls *Coverage) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Conditional:
			for _, branch := range []ast.Expr{e.Then, e.Else} {
				branches.add(placeOf(branch), p.reached.has(branch.Range(), true))
			}
		case *ast.Call:
			switch call := checked.Call(e); {
			case call == nil:
			case call.Invoke != nil:
				calls.add(placeOf(e), p.reached.has(e.Range(), true))
			case call.Func != nil && call.Func.Name == "if":
				for _, branch := range call.Args[min(1, len(call.Args)):] {
					if branch != nil {
						branches.add(placeOf(branch), p.reached.has(branch.Range(), true))
					}
				}
			}
		}
		return true
	})
}

// placeOf returns the position of an expression and the beginning of its text, for messages.
func placeOf(e ast.Expr) string {
	pos := e.Range().StartPosition()
	text, _, _ := strings.Cut(e.Range().Text(), "\n")
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:39]) + "…"
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Range().Source.Name(), pos.Line, pos.Column, text)
}
