package check

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are the inputs of Check besides the text.
type Options struct {
	Project string // the project's name: the namespace of configuration keys without one
	// Schemas finds packages. If it is nil, the types of resources and functions stay unknown, and none is reported as
	// missing.
	Schemas schema.Loader
	// Packages are the packages that the project declares (L1.H), in the order of their files.
	Packages []schema.Descriptor
	// Config is the stack's configuration by full key, <namespace>:<name>.
	Config map[string]ConfigText
	// ConfigKnown reports whether Config is the configuration of a stack. Without a stack, missing values are not
	// reported.
	ConfigKnown bool
	// StackKeys are the full keys that some stack of the project sets. They matter when there is no stack.
	StackKeys []string
	// KindsUnknown reports whether definitions of Kubernetes kinds could not be read, which the caller reports. A kind
	// without a schema may be one of those.
	KindsUnknown bool
	// Local are the packages of components used by path (L7.31).
	Local      []LocalPackage
	ProgramDir string
	// RootDir is the project's directory. With RestrictPaths no path may lead out of it; with AllowEnv the program may
	// read environment variables that it does not list.
	RootDir                 string
	RestrictPaths, AllowEnv bool
	// Untrusted reports whether the program is not trusted: then no absolute path may lead out of RootDir either, and
	// no environment variable may be read.
	Untrusted bool
	// MayReadStack returns an error for a stack whose outputs the program may not read; nil allows all.
	MayReadStack func(name string) error
	// Stat looks for files that programs name; nil when there is no file system available. Stat, MayReadStack, Bundle and
	// Handler may be called from several goroutines at the same time.
	Stat func(path string) (fs.FileInfo, error)
	// Previous is the result of an earlier check of the program: unchanged parts are reused, so that a check after an
	// edit costs little more than what has changed. It does not change the result. It may be nil.
	Previous *Program
	// Bundle builds the code of dynamic types; if nil, their sources are not read.
	Bundle Bundler
	// Handler reports faults of a source file that fn::bundle packs; if nil, there is no such check.
	Handler func(ctx context.Context, dir string, r HandlerSource) ([]BundleFault, error)

	batch int // least number of declarations for a goroutine; 0 for the default
}

// ConfigText is a configuration value of the stack (L2.3).
type ConfigText struct {
	Text    string // scalars as they are, lists and maps as JSON
	Secret  bool
	Project bool // given by the project file, not by the stack

	// Structured reports whether the value is a list or a map, which a text may look like (L2.34).
	Structured bool
	// Unread reports whether the value is a secret that was not decrypted: Text is empty and the value unknown.
	Unread bool
	Key    diag.Range // of the key in the stack's settings file; zero when not known
}

// Check resolves the names of a program and infers its types. The Program can be read even if there are errors. It may
// be evaluated only if no diagnostic is an error and ctx was not cancelled, since a cancelled Check stops early. Each
// fault is reported once, without the faults that merely follow from it (D7).
func Check(ctx context.Context, file *ast.File, opts Options) (*Program, diag.Diagnostics) {
	program, found := check(ctx, file, opts)
	if ctx.Err() == nil {
		found = append(slices.Clip(found), unwrittenOrder(program)...)
	}
	return program, found
}

// check is Check without the findings about the program as a whole.
func check(ctx context.Context, file *ast.File, opts Options) (*Program, diag.Diagnostics) {
	r := newRun(ctx, file, opts)
	opts.Previous = nil
	r.records = make(records,
		len(file.Config)+len(file.Variables)+len(file.Resources)+len(file.Outputs)+len(file.Hooks))
	main := r.body(file, opts)
	dynamic := dynamicTypes{report: r.loose, bundle: opts.Bundle, byToken: r.dynamic}
	dynamic.find(ctx, file, opts)
	main.program.Dynamic = dynamic.all
	bodies := append(main.findComponents(), main)
	for _, b := range bodies {
		b.remembered = r.memory.body(b.component)
		b.resourceKeys = make(map[urnKey]*Node, len(b.file.Resources))
		b.declare()
		b.recognize()
		b.findDefaultProviders()
	}
	main.loadPackages(bodies)
	for _, b := range bodies {
		b.link()
	}
	if ctx.Err() != nil { // only some of the names are linked
		main.program.inputsOf = func(string) *schema.Object { return nil }
		return main.program, r.loose.All()
	}
	hasLoop := false
	for _, b := range usersLast(r.loose, bodies) {
		b.order()
		b.checkNodes()
		b.checkOutputs()
		b.carryOver()
		hasLoop = hasLoop || b.hasLoop
	}
	if ctx.Err() == nil {
		main.checkTransforms(bodies)
		main.checkPolicies()
	}
	for _, b := range bodies {
		b.noteWritten()
	}
	main.program.inputsOf = main.knownInputs(bodies)
	main.reportMissingPackages()
	main.warnUnread()
	found := r.withoutFollowUps(file, bodies, r.remarks.all(r.loose.All()))
	r.forget(bodies)
	if !hasLoop && ctx.Err() == nil {
		main.program.left = r.leave(file, opts, bodies)
	}
	return main.program, found
}

// run is the state of one Check, shared by the bodies of a program and its components. Several goroutines check nodes;
// fields without a mutex are written by one goroutine only.
type run struct {
	loose      *findings.Reporter // of findings about the program as a whole, or several declarations
	ctx        context.Context
	schemas    schema.Loader // nil without schemas
	components *components
	dynamic    map[string]*Dynamic // in all spellings of the token
	packages   *packages
	unnamed    bool // some entry of the text has no name (Y117)
	records    records
	remarks    remarks
	entered    pieces[record]
	refs       pieces[Ref]
	extents    map[*ast.Access]diag.Range // ranges of the expressions that continue an access
	spare      sync.Pool                  // of *places
	memory     *memory                    // of an earlier check; may be nil
	previous   records                    // of that check
}

func newRun(ctx context.Context, file *ast.File, opts Options) *run {
	r := &run{
		loose:      findings.NewReporter(),
		ctx:        ctx,
		schemas:    opts.Schemas,
		unnamed:    file.Nameless > 0,
		components: &components{byToken: make(map[string]*Component), namespaces: make(map[string][]*Component)},
		dynamic:    make(map[string]*Dynamic),
		packages:   &packages{loaded: make(map[string]*loadedPackage), missing: make(map[*loadedPackage][]diag.Range)},
		extents:    make(map[*ast.Access]diag.Range),
		spare:      sync.Pool{New: func() any { return new(places) }},
		memory:     recall(file, opts),
	}
	if r.memory != nil {
		r.previous = opts.Previous.records
	}
	return r
}

// enter creates the record of a declaration.
func (r *run) enter(unit *ast.Unit) *record {
	record := &r.entered.next(1)[0]
	record.refs = r.refs.next(len(unit.Accesses))
	r.records[unit] = record
	return record
}

// body holds the declarations of a program or a component, which see only each other.
type body struct {
	resolver
	resourceKeys map[urnKey]*Node
	cyclic       map[*Node]bool
	hasLoop      bool        // some node or component depends on itself: no earlier result is reused
	changed      bool        // something was checked anew
	batch        int         // least number of nodes for a goroutine
	remembered   *remembered // of an earlier check; nil for nothing
	written      []ast.Expr  // the arguments of fn::toJSON, in the order of evaluation

	origins origins
}

// origins memoizes which values come from resources (L8.18). mu guards it.
type origins struct {
	mu    sync.Mutex
	parts map[ast.Expr]bool // of variables, or all of their values
}

func (r *run) body(file *ast.File, opts Options) *body {
	if opts.Project == "" {
		opts.Project = file.Name.Text()
	}
	program := &Program{File: file, Name: opts.Project, records: r.records, schemas: opts.Schemas}
	return &body{cyclic: make(map[*Node]bool), batch: cmp.Or(opts.batch, usualBatch),
		origins:      origins{parts: make(map[ast.Expr]bool)},
		resourceKeys: make(map[urnKey]*Node),
		resolver: resolver{choices: make(map[choiceKey]*choice),
			linker: linker{
				scope: scope{run: r, opts: opts, file: file, nodes: nodes{byKey: make(map[string]*Node)},
					undeclared: make(map[string]*undeclaredName), slips: make(map[int]bool)},
				program: program, defaults: make(map[string]*Node)}}}
}

// checkNodes gives every node its type, in the order of dependencies.
func (c *body) checkNodes() {
	c.hasLoop = c.hasLoop || len(c.cyclic) > 0 || c.program.Deferring
	if c.hasLoop {
		check := c.checkNode
		if c.program.Deferring {
			ahead := ahead{body: c, checked: make(map[*Node]bool), typed: make(map[*Node]bool)}
			check = ahead.inOrder
		}
		for _, n := range c.program.Nodes {
			if c.ctx.Err() == nil { // else the caller has cancelled
				check(n)
			}
		}
	} else {
		c.checkLevels()
	}
	if c.ctx.Err() != nil {
		return
	}
	if e := c.file.RequiredVersion; e != nil {
		c.checkUnit(c.file.Unit, func(j *declChecker) { j.operand(e, schema.String, "pulumi.requiredVersion") })
	}
}

// checkUnit checks the declaration of a unit that is neither a node nor an output.
func (c *body) checkUnit(unit *ast.Unit, check func(j *declChecker)) {
	j := c.checkerOf(unit)
	check(j)
	c.handOver(unit, j.seal(nil, schema.Invalid, given{}))
}

func (c *body) checkNode(n *Node) { c.recordNode(n, c.analyzeNode(n)) }

// analysis is the outcome of the check of a node.
type analysis struct {
	*outcome
	anew bool // no earlier check has left it
}

// analyzeNode checks a node after its dependencies. Nodes that do not depend on each other may be analyzed at the same
// time: it writes to nothing but the node and its record.
func (c *body) analyzeNode(n *Node) analysis {
	unit := n.unit()
	var before given
	if n.Kind == ResourceNode {
		c.refreshComponent(n)
		before = givenFor(n)
	}
	v := c.takeOver(unit, n)
	anew := v == nil
	if anew {
		j := c.checkerOf(unit)
		switch n.Kind {
		case ConfigNode:
			j.checkConfig(n)
			j.value, j.text = n.Config.Value, n.Config.Text
		case VariableNode:
			n.Type = j.infer(n.Variable.Value)
		case ResourceNode:
			j.checkResource(n)
			n.Type = j.instancesType(n)
			j.reportReservedKeys(n.Resource.Decl)
		}
		v = j.seal(n, n.Type, before)
		v.stamp = c.stamped(n)
	}
	n.Type, n.stamp = v.typ, v.stamp
	if n.Kind == ConfigNode {
		n.Config.Value, n.Config.Text = v.value, v.text
	}
	if c.cyclic[n] && n.Kind != ResourceNode {
		n.Type = schema.Invalid
	}
	return analysis{v, anew}
}

// recordNode puts what was found out about a node into the program. It is called in the order of evaluation, which is
// of the findings.
func (c *body) recordNode(n *Node, j analysis) {
	if j.anew {
		c.keep(n.unit(), j.outcome)
	}
	c.handOver(n.unit(), j.outcome)
	if n.Kind == ResourceNode {
		c.checkURN(n)
	}
}

// keep keeps an outcome with the declaration's record.
func (c *body) keep(unit *ast.Unit, v *outcome) {
	c.changed = true
	if r := c.records.of(unit); r != nil {
		r.outcome = v
	}
}

// handOver hands over what was found out about the declaration of a unit.
func (c *body) handOver(unit *ast.Unit, v *outcome) {
	c.remarks.outcomes.Add(v.found...)
	c.written = append(c.written, v.jsonArguments...)
	for _, l := range v.leads {
		c.extents[l.from] = l.to
	}
	for _, use := range v.missing {
		c.missingPackage(use.pkg, use.at)
	}
}

func (c *body) checkOutputs() {
	if c.ctx.Err() != nil {
		return
	}
	for _, h := range c.program.Hooks {
		c.checkUnit(h.Decl.Unit, func(j *declChecker) { j.checkHook(h) })
	}
	for _, m := range c.file.Messages {
		c.checkUnit(m.Unit, func(j *declChecker) { j.checkMessage(m) })
	}
	for _, o := range c.program.Outputs {
		c.checkOutput(o)
	}
}

func (c *body) checkOutput(o *Output) {
	v := c.takeOver(o.Decl.Unit, nil)
	if v == nil {
		j := c.checkerOf(o.Decl.Unit)
		t := j.infer(o.Decl.Value)
		j.reservedOutput(o.Decl)
		v = j.seal(nil, t, given{})
		c.keep(o.Decl.Unit, v)
	}
	o.Type = v.typ
	c.handOver(o.Decl.Unit, v)
}

// noteWritten looks at the arguments of fn::toJSON.
func (c *body) noteWritten() {
	notes := textNotes{report: c.loose, program: c.program, config: c.opts.Config, noted: make(map[*Node]bool)}
	for _, argument := range c.written {
		notes.noteTexts(argument)
	}
}
