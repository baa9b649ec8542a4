package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
)

// targets refuses operations on resources that do not exist. It is safe for concurrent use.
type targets struct {
	*core
	scope *plan.Scope
}

// requirePresent reports whether the state has all exact targets and excludes, and ends the operation if not. It serves
// operations whose resources all come from the state (E4.103).
func (t *targets) requirePresent() bool {
	for _, u := range slices.Concat(t.scope.Targets.Exact, t.scope.Excludes.Exact) {
		if !t.table.Prior.Present(u) {
			_ = t.failures.abort("", "", fmt.Sprintf("no resource named '%s' found%s", u, t.nearest(u)))
			return false
		}
	}
	return true
}

// check ends the operation with an error if exact targets in p are unknown (E4.103).
func (t *targets) check(p plan.Patterns) error {
	missing := p.Missing(t.table.Known)
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Target '%s' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			text += " Did you forget to escape $ in your shell?"
		}
		t.report.message(operationFailed("", "", text+t.nearest(u)))
	}
	return t.abort()
}

// nearest returns a hint with the most similar URN, or "".
func (t *targets) nearest(u urn.URN) string {
	var names []string
	for _, known := range t.table.Prior.URNs() {
		names = append(names, string(known))
	}
	if near := diag.Suggest(string(u), names); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}

// scopeOptions returns the options that determine the scope of an operation.
func scopeOptions(o *Options) plan.ScopeOptions {
	return plan.ScopeOptions{Targets: o.Targets, Excludes: o.Excludes, Replace: o.Replace,
		TargetDependents: o.TargetDependents, ExcludeDependents: o.ExcludeDependents, ExcludeProtected: o.ExcludeProtected,
		Base: o.Base.Resources}
}
