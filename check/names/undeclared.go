package names

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// undeclaredName collects the uses of an undeclared name for one diagnostic.
type undeclaredName struct {
	first   diag.Range
	related []diag.Related
	hasArgs bool // some use is where `args` is declared
	// forResource reports whether some use is in a place for resources only, so that the name is no configuration.
	forResource bool
}

// undeclared collects the names that a body uses and does not declare, and reports them once everything is linked: each
// name once, for what else may be meant depends on the whole text.
type undeclared struct {
	scope    *Scope
	names    map[string]*undeclaredName
	missing  []string      // unknown names that probably belong to entries without a name
	prefixes []*ast.Access // accesses that begin with the name of a section
	slips    map[int]bool  // indexes in file.Slips whose entries something refers to
	near     *diag.Names   // declared; nil until asked for
	folded   []byte        // the text in lower case; nil until asked for
}

// note records the use of an undeclared name, unless the finding on another fault covers it. A name that the parser has
// lost with a broken line, and one below a misspelt section, would be a second finding for that fault.
func (u *undeclared) note(root ast.Literal) {
	if slices.Contains(u.scope.file.Lost, root.Value) {
		return
	}
	for i := range u.scope.file.Slips {
		if slices.Contains(u.scope.file.Slips[i].Names, root.Value) {
			u.slips[i] = true
			return
		}
	}
	if known := u.names[root.Value]; known != nil {
		known.related = append(known.related, diag.Related{Range: root.Range, Message: "it is used here too"})
		return
	}
	u.names[root.Value] = &undeclaredName{first: root.Range}
}

// noteResourcePlaces marks undeclared names in places for resources only, so that they are no configuration.
func (u *undeclared) noteResourcePlaces() {
	if len(u.names) == 0 {
		return
	}
	var note func(e ast.Expr)
	note = func(e ast.Expr) {
		switch e := e.(type) {
		// Only where the value is the name itself: in a call or a condition, a name may be anything.
		case *ast.Access:
			if wrong := u.names[e.Root.Value]; wrong != nil {
				wrong.forResource = true
			}
		case *ast.List:
			for _, item := range e.Items {
				note(item)
			}
		case *ast.Map:
			for _, entry := range e.Entries {
				note(entry.Value)
			}
		}
	}
	for _, decl := range u.scope.file.Resources {
		for _, spec := range ast.OptionSpecs() {
			if field := spec.In(&decl.Options); field != nil && *field != nil && (spec.Shape == ast.ResourceOption ||
				spec.Shape == ast.ResourcesOption) {
				note((*field).Value)
			}
		}
	}
}

// isNameless reports whether an unknown name probably belongs to an entry without a name, which was reported before
// (Y117). The first unknown names do, as many as there are such entries. Which of the unknown names it is cannot be
// told, and reporting all of them would bury the one fault. The answer is kept: a name that was excused once is excused
// everywhere.
func (u *undeclared) isNameless(name string) bool {
	if slices.Contains(u.missing, name) {
		return true
	}
	if len(u.missing) >= u.scope.file.Nameless {
		return false
	}
	u.missing = append(u.missing, name)
	return true
}

// report reports each undeclared name once, in the order of the text. The hints are in the order of certainty: a word
// of another tool, a near name, the forms of other languages, and at last where such names are declared.
func (u *undeclared) report(ctx context.Context) {
	names := slices.Collect(maps.Keys(u.names))
	u.reportPrefixes()
	u.noteResourcePlaces()
	start := func(name string) int { return u.scope.Start(u.names[name].first) }
	slices.SortStableFunc(names, func(a, b string) int { return start(a) - start(b) })
	for i, name := range names {
		if ctx.Err() != nil {
			return
		}
		near := slices.DeleteFunc(u.nearNames(name, i), func(other string) bool {
			n := u.scope.Lookup(other)
			return n != nil && inside(u.names[name].first, n) // a value does not refer to itself
		})
		hint := findings.DidYouMean(near)
		// An entry without a name can only be meant by what can be a name.
		if configName().MatchString(name) && u.isNameless(name) {
			continue
		}
		severity := diag.Error
		root, _, _ := strings.Cut(name, "::") // AWS::Region
		advice := phrasebook.Root(root)
		switch {
		case advice != "" && diag.Meant(name, near) == "" && !(name == "self" && u.names[name].hasArgs):
			hint, near = advice, nil
		case hint != "":
		case strings.Contains(name, ":-"):
			key, fallback, _ := strings.Cut(name, ":-")
			hint = "write the default in the declaration: `config: {" + key + ": {default: " + fallback +
				"}}`, and read the value as `${" + key + "}`"
		case name == "self" && u.names[name].hasArgs:
			hint = "what a transform changes is `args`: write `${args.properties.NAME}`, or `${args.arguments.NAME}` for a call"
		case name == eachName:
			hint = "`each` is the instance of a resource with `forEach`; every field of the resource may use it, except `forEach`"
		case possibleKey().MatchString(name):
			hint = "the stack has no such configuration key; set it with: yamlhost config set " + name + " VALUE"
		case phrasebook.Operator(name) != "":
			hint = phrasebook.Operator(name)
		case isFunction(name):
			hint = "a function of that name is called: write `" + name + "(…)`, or declare the name"
		case u.scope.file.Pack:
			hint = "a policy reads `resource`, `args`, `resources` for the whole stack, `config`, `pulumi`, and the variables of " +
				"its pack"
		case u.scope.Program.InComponent:
			hint = "declare it under inputs, variables or resources of the component"
		case u.scope.options.ConfigKnown && configName().MatchString(name):
			hint = "declare it under variables, resources or config, or set it for the stack: yamlhost config set " + name +
				" VALUE"
		default:
			hint = "declare it under variables, resources or config"
		}
		if len(near) == 0 && shellName().MatchString(name) {
			hint = findings.Sentences(hint, "a variable of the shell is written `$"+name+"` or `$${"+name+"}`")
		}
		if u.mayBeConfiguration(name, near) && !u.names[name].forResource {
			severity = diag.Warning
			if u.scope.options.ConfigOpen {
				hint = findings.Sentences(hint, "or it comes from an environment of the stack, which could not be opened here")
			} else {
				hint = findings.Sentences(hint,
					"or, if it is configuration that a stack sets, check with that stack: yamlhost check --stack NAME")
			}
		}
		wrong := u.names[name]
		d := diag.Diagnostic{Severity: severity, Code: diag.Undeclared, Subject: wrong.first,
			Summary: findings.Shown(name) + " is not declared", Detail: hint, Related: wrong.related}
		u.mendName(&d, name, diag.Meant(name, near), wrong, i < maxSearches)
		u.scope.report.Add(d)
	}
}

// shellName matches the usual names of variables of the environment.
var shellName = lazyregexp.New(`^[A-Z][A-Z0-9_]+$`)

// sectionPrefixes are the roots that precede names in other tools.
var sectionPrefixes = []string{"resources", "resource", "config", "configuration", "variables", "variable", "var",
	"vars", "local", "locals", "param", "params", "parameters", "inputs"}

// prefixed reports whether an access begins with a section and continues with a name declared in it, and records it.
func (u *undeclared) prefixed(e *ast.Access) bool {
	if len(e.Steps) == 0 || e.Steps[0].IsIndex || u.scope.declared[e.Root.Value] != nil ||
		u.scope.declared[e.Steps[0].Name] == nil ||
		!slices.Contains(sectionPrefixes, e.Root.Value) && !u.namesType(e) {
		return false
	}
	if _, set := u.scope.options.Config[u.scope.fullKey(e.Root.Value)]; set {
		return false
	}
	u.prefixes = append(u.prefixes, e)
	return true
}

// namesType reports whether an access names a resource as Terraform does, by type and name: random_password.pw.
func (u *undeclared) namesType(e *ast.Access) bool {
	return strings.Contains(e.Root.Value, "_") && u.scope.Lookup(e.Steps[0].Name).Kind == program.ResourceNode
}

// reportPrefixes reports accesses that begin with a section or a type: each prefix once, with all of its uses.
func (u *undeclared) reportPrefixes() {
	first := make(map[string]int)
	var found diag.Diagnostics
	for _, e := range u.prefixes {
		prefix, name := e.Root.Value, e.Steps[0].Name
		rng := e.Root.Range
		edit := diag.Edit{Range: diag.Range{Source: rng.Source, Start: rng.Start, End: e.Steps[0].Range.Start + 1}}
		plainly := edit.Range.Text() == prefix+"."
		i, again := first[prefix]
		if !again {
			i = len(found)
			first[prefix] = i
			without := "section"
			if !slices.Contains(sectionPrefixes, prefix) {
				without = "type"
			}
			found.Add(diag.Diagnostic{Code: diag.Undeclared, Subject: rng, Summary: findings.Shown(prefix) + " is not declared",
				Detail: "a name is written without its " + without + ": write `${" + findings.DescribeSteps(name, e.Steps[1:]) + "}`"})
		} else {
			found[i].Related = append(found[i].Related, diag.Related{Range: rng, Message: "it is used here too"})
		}
		if d := &found[i]; plainly && (!again || len(d.Fixes) > 0) {
			if len(d.Fixes) == 0 {
				d.Fixes = []diag.Fix{{Label: "Leave " + findings.Quote(prefix+".") + " out"}}
			}
			d.Fixes[0].Edits = append(d.Fixes[0].Edits, edit)
		} else {
			d.Fixes = nil
		}
	}
	u.scope.report.Add(found...)
}

// reportSlips reports sections with a misspelt key: an error that replaces those of all references into the section, or
// a warning if there are none, since other hosts ignore such keys (L1.17).
func (u *undeclared) reportSlips() {
	for i, slip := range u.scope.file.Slips {
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownKey, Subject: slip.Key.Range,
			Detail:  findings.DidYouMean([]string{slip.Meant}),
			Summary: "unknown key " + findings.Shown(slip.Key.Value) + " in the program; it is ignored",
			Fixes:   findings.Replace(slip.Key.Range, slip.Key.Value, slip.Meant)}
		if u.slips[i] {
			// Something refers to what is in the section, and so it was meant to be read.
			d.Severity, d.Summary = diag.Error, "unknown key "+findings.Shown(slip.Key.Value)+" in the program"
		}
		u.scope.report.Add(d)
	}
}

// maxSearches bounds the undeclared names that are compared with all others; the rest is compared only with names that
// differ in one character.
const maxSearches = 100

// nearNames returns the declared names that the i-th undeclared name may mean.
func (u *undeclared) nearNames(name string, i int) []string {
	if i < maxSearches {
		return diag.Suggest(name, u.declaredNames())
	}
	// Built once for all names past the limit.
	if u.near == nil {
		u.near = diag.NewNames(u.declaredNames())
	}
	return u.near.Near(name)
}

// mendName adds a fix to the finding on an undeclared name if meant certainly is the same name. If the declaration has
// other uses, the undeclared uses are misspelt; if it has none and the undeclared name has several, the declaration is
// misspelt. Between one use and its declaration the rest of the text decides, if search is set. A wrong fix is worse
// than none, since editors apply fixes of a whole file at once: where the text leaves a doubt, the finding names both
// possibilities and has no fix.
func (u *undeclared) mendName(d *diag.Diagnostic, name, meant string, wrong *undeclaredName, search bool) {
	n := u.scope.Lookup(meant)
	if meant == "" || n == nil && meant != packages.BuiltinName {
		return
	}
	uses := []diag.Range{wrong.first}
	for _, use := range wrong.related {
		uses = append(uses, use.Range)
	}
	misspelt := false // the declaration
	// Nothing uses the declaration, and so either of the two may be the wrong one.
	if n != nil && u.scope.refCounts[n.SourceIndex] == 0 {
		here, there := 0, 0 // other occurrences in the text
		if search {
			here, there = u.wordCount(name)-len(uses), u.wordCount(meant)-1
		}
		switch {
		// The text has the used spelling elsewhere, say in a comment or a title, and the declared one nowhere.
		case here > 0 && there == 0:
			misspelt = true
		case there > 0 && here == 0:
		case len(uses) > 1:
			misspelt = true
		default:
			d.Detail = "did you mean " + findings.Quote(meant) + "? If not, its declaration is misspelt"
			d.Related = append(d.Related, diag.Related{Range: n.Range, Message: findings.Quote(meant) + " is declared here"})
			return
		}
	}
	if misspelt {
		d.Fixes = findings.Replace(n.Range, meant, name)
		if len(d.Fixes) > 0 {
			// the name of a resource or a key of the stack would change
			d.Fixes[0].Guess = n.Kind != program.VariableNode
		}
		d.Detail = "the declaration of " + findings.Quote(meant) + " looks misspelt: nothing uses it by that name"
		d.Related = append(d.Related, diag.Related{Range: n.Range, Message: findings.Quote(meant) + " is declared here"})
		return
	}
	if !findings.Plain(meant) {
		return
	}
	fix := diag.Fix{Label: "Write " + findings.Quote(meant), Guess: !u.surelyNames(name, meant)}
	for _, use := range uses { // all of them or none
		rng, written := use.Word(name)
		if !written {
			return
		}
		fix.Edits = append(fix.Edits, diag.Edit{Range: rng, Text: meant})
	}
	d.Fixes = []diag.Fix{fix}
}

// surelyNames reports whether an undeclared name is a misspelling of a declared one and nothing else: a name with other
// digits may be of a declaration that was left out, and one with dashes a subtraction. For instance, web2 where only
// web1 is declared, or total-used, which in other languages is a difference.
func (u *undeclared) surelyNames(name, meant string) bool {
	digits := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
	}
	parts := strings.Split(name, "-")
	subtraction := len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool {
		return part != digits(part) && u.scope.declared[part] == nil
	})
	return digits(name) == digits(meant) && !subtraction
}

// wordCount returns how often a word occurs in the text, alone or in longer words, in any capitals.
func (u *undeclared) wordCount(word string) int {
	if u.scope.file.Source == nil {
		return 0
	}
	if u.folded == nil {
		u.folded = bytes.ToLower(u.scope.file.Source.Text())
	}
	return bytes.Count(u.folded, []byte(strings.ToLower(word)))
}

// inside reports whether a range lies in the declaration of a node.
func inside(rng diag.Range, n *program.Node) bool {
	whole := n.Declared()
	return whole.Source == rng.Source && whole.Start <= rng.Start && rng.End <= whole.End
}

// mayBeConfiguration reports whether a name that the program does not declare is the full key of a configuration value
// that no stack file sets (L2.35): there is no stack, and the name is not certainly a misspelling. A name without a
// namespace that no stack file sets is an error, unless a stack has an environment that could not be opened. `check`
// without a stack must not fail for programs that only read what their stacks set.
func (u *undeclared) mayBeConfiguration(name string, near []string) bool {
	options := u.scope.options
	return (options.ConfigOpen || !options.ConfigKnown && strings.Contains(name, ":")) && !u.scope.Program.InComponent &&
		configName().MatchString(name) &&
		!slices.ContainsFunc(near, func(other string) bool { return diag.Surely(name, other) })
}

// possibleKey matches a name that can be the key of a configuration value although no stack file of the project sets
// it: a namespace, a colon and a name, or both with `config` between them.
var possibleKey = lazyregexp.New(`^[\w\x{80}-\x{10FFFF}][\w\x{80}-\x{10FFFF}-]*(:config)?:[\w\x{80}-\x{10FFFF}]` +
	`[\w\x{80}-\x{10FFFF}-]*$`)

var configName = lazyregexp.New(`^[A-Za-z_][\w-]*(:[A-Za-z_][\w-]*)?$`)

func (u *undeclared) declaredNames() []string {
	return append(slices.Collect(maps.Keys(u.scope.declared)), packages.BuiltinName)
}

func isFunction(name string) bool { _, ok := builtins.Lookup(name); return ok }
