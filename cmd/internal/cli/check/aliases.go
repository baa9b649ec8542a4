package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// stackURNs holds the URNs of the resources of one stack.
type stackURNs struct {
	stack string
	urns  map[urn.URN]bool
}

// aliasesOf reports the aliases in the program at target that no stack of its project needs any more.
func aliasesOf(ctx context.Context, a *console.Console, target string, program *check.Program) (diag.Diagnostics,
	error) {
	ws, err := a.OpenTarget(target, a.Looking())
	// Without a name there are no stacks, and the check reports the missing name.
	if err != nil || ws.Project.Name.Text == "" {
		return nil, err
	}
	stacks, err := stacksOf(ctx, a, ws.Project)
	return unneededAliases(program, stacks), err
}

// stacksOf reads the states of all stacks of a project, and returns those that have resources. Secrets stay sealed.
func stacksOf(ctx context.Context, a *console.Console, p *project.Project) ([]stackURNs, error) {
	b, err := a.Backends().Open(p)
	if err != nil {
		return nil, err
	}
	refs, err := b.Stacks(ctx, p.Name.Text)
	if err != nil {
		return nil, err
	}
	var stacks []stackURNs
	for _, ref := range refs {
		loaded, err := b.Load(ctx, ref, nil)
		if err != nil {
			return nil, fmt.Errorf("read the state of %s to find its aliases: %w", ref, err)
		}
		s := stackURNs{ref.Stack, map[urn.URN]bool{}}
		for _, r := range loaded.Snapshot.Resources {
			// A resource that waits for its deletion has been replaced; its URN is that of the one in use.
			if !r.Delete && r.Type != urn.RootStackType {
				s.urns[r.URN] = true
			}
		}
		// An empty stack would make every alias necessary, since it has no resource under the present name.
		if len(s.urns) > 0 {
			stacks = append(stacks, s)
		}
	}
	return stacks, nil
}

// unneededAliases reports the resources of a program whose aliases are unnecessary because every stack has the resource
// under its present name. It skips resources with forEach and those in components.
func unneededAliases(program *check.Program, stacks []stackURNs) (found diag.Diagnostics) {
	for _, n := range program.Nodes {
		if n.Resource == nil || n.Resource.Decl.Options.Aliases == nil || len(stacks) == 0 {
			continue
		}
		needed := false
		for _, s := range stacks {
			// A URN contains the stack, so it is made anew for each.
			own, ok := urnOf(program, n, s.stack)
			needed = needed || !ok || !s.urns[own]
		}
		if needed {
			continue
		}
		d := diag.Diagnostic{Severity: diag.Warning, Subject: n.Resource.Decl.Options.Aliases.Key.Range,
			Summary: fmt.Sprintf("`%s` no longer needs its aliases", n.Name),
			Detail:  fmt.Sprintf("%s of the project here has it under its present name", everyStack(len(stacks)))}
		if edit, ok := removal(n.Resource.Decl); ok {
			d.Fixes = []diag.Fix{{Label: "Remove the aliases", Edits: []diag.Edit{edit}}}
		}
		found.Add(d)
	}
	return found
}

// everyStack names n stacks in a sentence.
func everyStack(n int) string {
	if n == 1 {
		return "the only stack"
	}
	return fmt.Sprintf("each of the %d stacks", n)
}

// urnOf returns the URN of a resource in a stack. ok is false if the program text alone does not determine it.
func urnOf(program *check.Program, n *check.Node, stack string) (urn.URN, bool) {
	var parent urn.URN
	// The keys of instances are values, and the names of their resources follow from those.
	if n.Resource.Decl.ForEach != nil {
		return "", false
	}
	if option := n.Resource.Decl.Options.Parent; option != nil {
		// A parent that is computed, or a member of something, is only known in a run.
		access, ok := option.Value.(*ast.Access)
		if !ok || len(access.Steps) > 0 {
			return "", false
		}
		ref := program.Ref(access)
		if ref.Kind != check.RefNode || ref.Node.Resource == nil {
			return "", false
		}
		if parent, ok = urnOf(program, ref.Node, stack); !ok {
			return "", false
		}
	}
	return urn.New(stack, program.Name, parent, n.Resource.Token, n.Resource.LogicalName), true
}

// removal returns the edit that removes the aliases of a resource, together with `options` if nothing else is in it. It
// returns false if the text is not laid out simply enough for that.
func removal(decl *ast.Resource) (diag.Edit, bool) {
	option := decl.Options.Aliases
	src := option.Key.Range.Source
	text := string(src.Text())
	start, end := int(option.Key.Range.Start), int(option.Value.Range().End)
	cut := func(start, end int) (diag.Edit, bool) {
		return diag.Edit{Range: diag.NewRange(src, start, end)}, true
	}
	before, after := strings.TrimRight(text[:start], " \t\r\n"), strings.TrimLeft(text[end:], " \t\r\n")
	// In flow style, where the options stand on one line with commas between them, a comma goes with the entry. An
	// entry that stands alone between braces is left to the user: what remains would be an empty map.
	switch {
	case strings.HasPrefix(after, ","):
		after = strings.TrimLeft(after[1:], " \t\r\n")
		return cut(start, len(text)-len(after))
	case strings.HasSuffix(before, ","):
		return cut(len(before)-1, end)
	case strings.HasSuffix(before, "{"):
		return diag.Edit{}, false
	}
	line := func(i int) (int, bool) { // returns the start of i's line, and whether only blanks precede i
		from := strings.LastIndexByte(text[:i], '\n') + 1
		return from, strings.TrimLeft(text[from:i], " ") == ""
	}
	// From here on in block style: whole lines are removed, if nothing else stands on them.
	from, alone := line(start)
	to := end + strings.IndexByte(text[end:]+"\n", '\n')
	if !alone || strings.TrimSpace(text[end:to]) != "" {
		return diag.Edit{}, false
	}
	to = min(to+1, len(text))
	// If no line of the same depth follows, aliases was the only option, and `options:` goes with it.
	next := strings.TrimLeft(text[to:], "\n")
	deeper := func(line string, indent int) bool {
		return len(line)-len(strings.TrimLeft(line, " ")) >= indent && strings.TrimSpace(line) != ""
	}
	if key, ok := strings.CutSuffix(before, "options:"); ok && !deeper(next, start-from) {
		if first, alone := line(len(key)); alone {
			return cut(first, to)
		}
	}
	return cut(from, to)
}
