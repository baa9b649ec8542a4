package names

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// linkHooks resolves the names in the commands of hooks. A hook is no node: nothing refers to it but options, by a
// plain text, and it runs in the engine beside a resource.
func (l *linker) linkHooks() {
	for _, decl := range l.scope.file.Hooks {
		h := &program.Hook{Decl: decl}
		l.linkUnit(nil, &h.Needs, decl.Unit, surroundings{args: schema.Any})
		l.scope.Program.Hooks = append(l.scope.Program.Hooks, h)
		// The first hook of a name is the one that is meant.
		if name := decl.Name.Value; l.hooks[name] == nil {
			l.hooks[name] = h
		}
	}
}

// linkHooksOf adds the dependencies of a resource's hooks to the resource. Whatever the command reads must be known
// when the resource is registered.
func (l *linker) linkHooksOf(n *program.Node) {
	program.EachHook(&n.Resource.Decl.Options, func(_, name *ast.String) {
		if h := l.hooks[name.Value]; h != nil {
			for _, edge := range h.Needs {
				// The range is that of the name in the option: a cycle is reported where the resource asks for the
				// hook.
				n.Needs = append(n.Needs, program.Edge{To: edge.To, Range: name.Range()})
			}
		}
	})
}

// checkHooks reports options that name hooks that do not exist, and hooks that are named for errors and for other
// kinds. It also sets Hook.OnError, which decides what the command is given, and so goes over every option that can
// name a hook.
func (l *linker) checkHooks() {
	if l.scope.Program.InComponent {
		return // they are reported where they are
	}
	others := make(map[*program.Hook]bool) // hooks of other kinds than errors
	check := func(o *ast.Options) {
		program.EachHook(o, func(kind, name *ast.String) {
			h := l.hooks[name.Value]
			switch {
			case h == nil:
				l.reportNoHook(name)
				return
			case kind.Value == program.OnError:
				h.OnError = true
			default:
				others[h] = true
			}
			if h.OnError && others[h] {
				l.scope.report.Errorf(diag.WrongKind, name.Range(), "declare two hooks with the same command",
					"the hook `%s` cannot be an error hook and a hook of another kind", name.Value)
			}
		})
	}
	for _, decl := range l.scope.file.Resources {
		check(&decl.Options)
		for _, t := range decl.Options.Transforms {
			check(&t.Options)
		}
	}
	for _, t := range l.scope.file.Transforms {
		check(&t.Options)
	}
}

// reportNoHook reports a hook that is not declared, unless the name may have been lost in a line that the parser could
// not read.
func (l *linker) reportNoHook(name *ast.String) {
	var names []string
	for _, known := range l.scope.Program.Hooks {
		names = append(names, known.Decl.Name.Value)
	}
	near := findings.DidYouMean(diag.Suggest(name.Value, names))
	if !slices.Contains(l.scope.file.Lost, name.Value) && !l.scope.Nameless(name.Value) {
		l.scope.report.Errorf(diag.Undeclared, name.Range(), near, "there is no hook `%s`", name.Value)
	}
}
