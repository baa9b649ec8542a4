package check

import (
	"context"
	"io/fs"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are what Check needs to know besides the text.
type Options struct {
	Project string // the project's name: the namespace of configuration keys without one
	// Schemas finds packages. Without it the types of resources and functions stay unknown, and none is reported missing.
	Schemas schema.Loader
	// Packages are the packages that the project declares (L1.H), in the order of their files.
	Packages []schema.Descriptor
	// Config is the stack's configuration by full key, <namespace>:<name>.
	Config map[string]ConfigText
	// ConfigKnown tells whether Config is that of a stack. Without one, missing values are not reported.
	ConfigKnown bool
	// StackKeys are the full keys that some stack of the project sets. They matter when there is no stack.
	StackKeys []string
	// Local are packages of components that are used by path (L7.31).
	Local      []LocalPackage
	ProgramDir string
	// RootDir is the project's directory. With RestrictPaths no path may lead out of it; with AllowEnv the program may read
	// environment variables that it does not list.
	RootDir                 string
	RestrictPaths, AllowEnv bool
	// Stat looks for files that programs name; nil when there is no file system at hand.
	Stat func(path string) (fs.FileInfo, error)
	// Bundle makes the code of dynamic types; nil where nobody does, which leaves their sources unread.
	Bundle Bundler
}

// ConfigText is a configuration value as the stack has it (L2.3).
type ConfigText struct {
	Text    string // scalars as they are, lists and maps as JSON
	Secret  bool
	Project bool // given by the project file, not by the stack

	// Structured tells that the value is a list or a map, which a text may look like (L2.34).
	Structured bool
	Key        diag.Range // of the key in the stack's settings file; zero when not known
}

// Check finds out what a program means. The Program is usable whatever the diagnostics say, but only one without errors
// may be evaluated, and none of a context that is cancelled: then the rest is not looked at. Every fault is reported once, and what follows from it is not (D7).
func Check(ctx context.Context, file *ast.File, opts Options) (*Program, diag.Diagnostics) {
	c := newChecker(ctx, file, opts)
	c.findDynamic()
	bodies := append(c.findComponents(), c)
	for _, body := range bodies {
		body.declare()
		body.findDefaultProviders()
	}
	c.loadPackages(bodies)
	for _, body := range bodies {
		body.link()
	}
	if ctx.Err() != nil { // names are linked in part only
		return c.program, *c.sink
	}
	for _, body := range c.usersLast(bodies) {
		body.order()
		body.checkNodes()
		body.checkOutputs()
	}
	c.reportMissingPackages()
	c.warnUnread()
	return c.program, *c.sink
}

// checker is one run of Check over one body: that of the program, or that of a component. What bodies share are pointers
// and maps. It is used by one goroutine.
type checker struct {
	ctx     context.Context
	opts    Options
	file    *ast.File
	program *Program
	sink    *diag.Diagnostics

	declared map[string]*Node // configuration, resources and variables by name (L3.1)
	byKey    map[string]*Node // configuration by full key, declared or not
	all      []*Node          // in source order: configuration, resources, variables; then undeclared configuration

	undeclared map[string]*undeclaredName
	prefixes   []*ast.Access // that name a section before a name
	slips      map[int]bool  // those of file.Slips that something refers into
	uses       map[*Node]int // by name
	names      *diag.Names   // declared; nil until asked for
	folded     []byte        // the text in lower case; nil until asked for

	component  *Component // whose body this is; nil for the program's own
	components *components
	dynamic    map[string]*Dynamic // in all spellings of the token
	packages   *packages
	defaults   map[string]*Node // the default provider of each package
	// namedVersions are the first mention of each package with a version, for those without one, as with Pulumi's host (L7.21).
	namedVersions map[string]use
	cyclic        map[*Node]bool
	fromResource  map[*Node]bool // variables, as far as asked (L8.18)
	// partFromResource are parts of variables, as far as asked.
	partFromResource map[ast.Expr]bool
	each             *Node // the resource with forEach that is being linked
	inHook           bool  // the command of a hook is being linked
	eachTaken        bool  // it has been reported that the program has another use for the name
	locals           map[*ast.Local]schema.Type
	suggestMemo      map[suggestKey][]string
	notedTexts       map[*Node]bool // what noteTexts has looked at
	resourceKeys     map[urnKey]*Node
}

func newChecker(ctx context.Context, file *ast.File, opts Options) *checker {
	size := 0
	if file.Source != nil {
		size = len(file.Source.Text()) / 24 // about one expression for so many bytes
	}
	name := opts.Project
	if name == "" {
		name = file.Name.Text()
	}
	opts.Project = name
	return &checker{
		ctx:  ctx,
		opts: opts,
		file: file,
		sink: new(diag.Diagnostics),
		program: &Program{
			File:    file,
			Name:    name,
			refs:    make(map[*ast.Access]Ref, size/4),
			calls:   make(map[*ast.Call]*Call),
			types:   make(map[ast.Expr]schema.Type, size),
			schemas: opts.Schemas,
		},
		components:   &components{byToken: make(map[string]*Component), namespaces: make(map[string][]*Component)},
		dynamic:      make(map[string]*Dynamic),
		packages:     &packages{loaded: make(map[string]*loadedPackage)},
		declared:     make(map[string]*Node, len(file.Config)+len(file.Variables)+len(file.Resources)),
		byKey:        make(map[string]*Node),
		undeclared:   make(map[string]*undeclaredName),
		slips:        make(map[int]bool),
		uses:         make(map[*Node]int),
		defaults:     make(map[string]*Node),
		cyclic:       make(map[*Node]bool),
		fromResource: make(map[*Node]bool),

		partFromResource: make(map[ast.Expr]bool),
		locals:           make(map[*ast.Local]schema.Type),
		suggestMemo:      make(map[suggestKey][]string),
		resourceKeys:     make(map[urnKey]*Node, len(file.Resources)),
	}
}

// checkNodes gives every node its type, each behind what it needs.
func (c *checker) checkNodes() {
	for _, n := range c.program.Nodes {
		if c.ctx.Err() != nil {
			return // whoever asked for it wants no answer any more
		}
		switch n.Kind {
		case ConfigNode:
			c.checkConfig(n)
		case VariableNode:
			n.Type = c.infer(n.Variable.Value)
		case ResourceNode:
			c.checkResource(n)
		}
		if c.cyclic[n] && n.Kind != ResourceNode {
			n.Type = schema.Invalid
		}
	}
	if e := c.file.RequiredVersion; e != nil {
		c.infer(e)
		c.fit(e, schema.String, &place{what: "pulumi.requiredVersion", strict: true})
	}
}

func (c *checker) checkOutputs() {
	if c.ctx.Err() != nil {
		return
	}
	c.checkHooks()
	for _, o := range c.program.Outputs {
		o.Type = c.infer(o.Decl.Value)
	}
	c.reportReservedKeys()
}
