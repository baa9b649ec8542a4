// Package types checks the expressions of a program: it infers their types, checks that they are assignable where they
// stand, follows accesses, and finds the targets of calls (rules L4, L5.B–L5.E, L6 and L8).
//
// A Body is what the declarations of a program or a component share. The check of one declaration is a value of its
// own: the declaration with what has been found so far, and the parts that read and extend it. Each part names the
// parts that it needs:
//
//	constants   literal expressions, also through variables, and what comes from a resource
//	outside     files, the environment and other stacks, as far as the arguments are literal
//	accessor    steps into values
//	fitter      assignability of an expression to its destination       constants, accessor
//	typer       types of expressions                                    all others
//	caller      targets and arguments of calls                          all others
//	options     options of resources and calls                          constants, fitter, typer
//
// The last three need each other, since options and arguments are expressions.
package types

import (
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/names"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Body holds the data that the checks of all declarations of a program or a component share. Declarations that do not
// depend on each other may be checked at the same time: a check reads the facts about the declarations that it needs,
// which are complete, and writes to nothing that another one reads.
type Body struct {
	Program  *program.Program
	Options  program.Options // of the whole program, but for the stack's configuration in a component
	Scope    *names.Scope
	Packages *packages.Set
	Resolver *packages.Resolver
	// Components reports whether a token is that of a component whose text is known.
	Components func(token string) bool
	// Report is where reports of declarations begin; no check reports to it.
	Report *findings.Reporter

	origins origins
	// spare holds unused checkers: a program has as many declarations as lines, and each check needs the same parts.
	// It ends with the body. The runtime keeps a sync.Pool, and so all that a check has found, until the second
	// collection after its last use.
	spare spare
}

// Outcome is the result of the check of a declaration, with its dependencies besides the expressions and the nodes that
// they name. It is immutable. Two checks may share it, so its readers copy what they want to change.
type Outcome struct {
	Type  schema.Type     // of the node or the output
	Value *value.Value    // of a configuration value, if the stack gives it
	Text  *string         // of the same
	Types []schema.Type   // by slot; nil for an expression that was not inferred
	Calls []*program.Call // of the unit's calls; nil for one that means nothing
	Found diag.Diagnostics

	Missing       []MissingUse // packages that were missing
	JSONArguments []ast.Expr   // of fn::toJSON
	Leads         []Lead       // from accesses
	Lost          []Answer     // names that were looked for among those that reading has lost
	Volatile      bool         // it has looked at something that may change without notice, such as files
}

// MissingUse is a use of a package without a provider.
type MissingUse struct {
	Package *packages.Package
	At      diag.Range
}

// Answer records whether the parser has lost a part of a name.
type Answer struct {
	Name string
	Lost bool
}

// Lead is the range of an expression that continues an access.
type Lead struct {
	From *ast.Access
	To   diag.Range
}

// declaration is the environment of the check of one declaration, with what has been found so far. One goroutine owns
// it from Body.checker to Checker.outcome. Whatever the check of a declaration reads outside of it, other than the
// facts about the nodes that it names and the packages that its calls name, has to be noted here: in missing or lost,
// or as volatile. Otherwise the next check would reuse an outcome that is no longer true.
type declaration struct {
	ctx          context.Context
	body         *Body
	program      *program.Program
	file         *ast.File
	unit         *ast.Unit // nil for a declaration without expressions
	report       *findings.Reporter
	types        []schema.Type
	calls        []*program.Call
	locals       map[*ast.Local]schema.Type // nil until there is one
	destinations destinations

	lost          []Answer
	missing       []MissingUse
	jsonArguments []ast.Expr
	leads         []Lead
	volatile      bool
}

// hasLost reports whether the parser lost a part of a name. It notes the answer, which an edit elsewhere in the text
// can change.
func (c *declaration) hasLost(name string) bool {
	yes := slices.Contains(c.file.Lost, name)
	c.lost = append(c.lost, Answer{name, yes})
	return yes
}

// invalid reports an error in an expression, as Errorf does, and returns its type. It exists because most reports are
// the end of a function that returns a type.
func (c *declaration) invalid(code diag.Code, rng diag.Range, detail, format string, a ...any) schema.Type {
	c.report.Errorf(code, rng, detail, format, a...)
	return schema.Invalid
}

// typeOf returns the inferred type of an expression, which may belong to another declaration; Invalid if there is none.
// A variable is followed to its value, which is in another unit, and has been inferred by then.
func (c *declaration) typeOf(e ast.Expr) schema.Type {
	if e == nil {
		return schema.Invalid
	}
	// The types of this declaration are not in the Program yet.
	if unit, slot := ast.Slot(e); unit == c.unit && c.unit != nil {
		if t := c.types[slot]; t != nil {
			return t
		}
		return schema.Invalid
	}
	return c.program.TypeOf(e)
}

// call returns the target of a call in the declaration; nil for an invalid call.
func (c *declaration) call(e *ast.Call) *program.Call {
	_, i := e.Unit()
	return c.calls[i]
}

func (c *declaration) setType(e ast.Expr, t schema.Type) {
	_, slot := ast.Slot(e)
	c.types[slot] = t
}

func (c *declaration) setCall(e *ast.Call, call *program.Call) {
	_, i := e.Unit()
	c.calls[i] = call
}

func (c *declaration) bindLocal(l *ast.Local, t schema.Type) {
	if c.locals == nil {
		c.locals = make(map[*ast.Local]schema.Type)
	}
	c.locals[l] = t
}

// known is Program.Known for the declaration that is being checked. A package that is missing may be installed at any
// time, without an edit.
func (c *declaration) known(t schema.Type) schema.Type {
	found, missing := c.body.Packages.Known(c.ctx, t)
	c.volatile = c.volatile || missing
	return found
}

// cyclic reports whether a node belongs to a cycle, so that nothing may follow its value.
func (c *declaration) cyclic(n *program.Node) bool { return c.body.Scope.Cyclic(n) }

// Checker checks one declaration.
type Checker struct {
	decl      declaration
	constants constants
	outside   outside
	accessor  accessor
	fitter    fitter
	typer     typer
	caller    caller
	options   options
}

// checker returns a checker for the declaration that owns the expressions of a unit. The parts of a spare checker stay,
// since they hold nothing but each other; everything else is made anew, for the outcome of the former check keeps its
// slices.
func (b *Body) checker(ctx context.Context, unit *ast.Unit) *Checker {
	c := b.spare.take()
	if c == nil {
		c = new(Checker)
		c.decl.report = b.Report.Fork()
		c.constants = constants{decl: &c.decl}
		c.outside = outside{decl: &c.decl, constants: &c.constants}
		c.accessor = accessor{decl: &c.decl}
		c.fitter = fitter{decl: &c.decl, constants: &c.constants, accessor: &c.accessor}
		c.typer = typer{decl: &c.decl, constants: &c.constants, accessor: &c.accessor, fitter: &c.fitter,
			caller: &c.caller}
		c.caller = caller{decl: &c.decl, constants: &c.constants, outside: &c.outside, accessor: &c.accessor,
			fitter: &c.fitter, typer: &c.typer, options: &c.options}
		c.options = options{decl: &c.decl, constants: &c.constants, fitter: &c.fitter, typer: &c.typer}
	}
	c.decl = declaration{ctx: ctx, body: b, program: b.Program, file: b.Program.File, unit: unit,
		report: c.decl.report, destinations: c.decl.destinations}
	if unit != nil {
		c.decl.types, c.decl.calls = make([]schema.Type, unit.Size), make([]*program.Call, len(unit.Calls))
	}
	return c
}

// spare is a set of unused checkers. It is safe for concurrent use.
type spare struct {
	mu  sync.Mutex
	all []*Checker
}

// take removes a checker from the set; nil if there is none.
func (s *spare) take() *Checker {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.all) - 1
	if last < 0 {
		return nil
	}
	c := s.all[last]
	s.all = s.all[:last]
	return c
}

func (s *spare) put(c *Checker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
}

// outcome returns what has been found, and ends the use of the checker. t is the type of the node or the output. The
// checker may check another declaration at once, in another goroutine: nothing may be added to it afterwards.
func (c *Checker) outcome(t schema.Type) Outcome {
	d := &c.decl
	o := Outcome{Type: t, Types: d.types, Calls: d.calls, Found: d.report.Take(), Missing: d.missing,
		JSONArguments: d.jsonArguments, Leads: d.leads, Lost: d.lost, Volatile: d.volatile}
	d.body.spare.put(c)
	return o
}
