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

// requirePresent reports whether the state has all targets and excludes, and ends the operation if not. It serves
// operations whose resources all come from the state (E4.103).
func (t *targets) requirePresent() bool {
	for _, u := range slices.Concat(t.scope.Targets.Exact, t.scope.Excludes.Exact) {
		if !t.table.Prior.Present(u) {
			_ = t.failures.abort("", "", fmt.Sprintf("no resource named '%s' found%s", u, t.nearest(u)))
			return false
		}
	}
	return t.check(t.scope.Targets, t.scope.Excludes) == nil
}

// check ends the operation with an error if URNs in lists are unknown or globs match no known URN (E4.103): a name that
// the user misspelt must not select nothing, or exclude nothing, without a word.
func (t *targets) check(lists ...plan.Patterns) error {
	found := true
	fail := func(text string) {
		found = false
		t.report.message(operationFailed("", "", text))
	}
	for _, p := range lists {
		for _, u := range p.Missing(t.table.Known) {
			text := fmt.Sprintf("Target '%s' could not be found in the stack.", u)
			if !strings.Contains(string(u), "$") {
				text += " Did you forget to escape $ in your shell?"
			}
			fail(text + t.nearest(u))
		}
		for _, glob := range p.Unmatched(t.table.Some) {
			hint := t.nearestName(glob)
			if hint == "" {
				hint = ". `yamlhost stack --show-urns` lists the URNs."
			}
			fail(fmt.Sprintf("No resource of the stack matches '%s'%s", glob, hint))
		}
	}
	if found {
		return nil
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

// nearestName returns a hint with the most similar name of a resource, or "".
func (t *targets) nearestName(text string) string {
	if strings.ContainsAny(text, "*:") {
		return ""
	}
	var names []string
	for _, known := range t.table.Prior.URNs() {
		names = append(names, known.Name())
	}
	if near := diag.Suggest(text, names); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}

// scopeOptions returns the options that determine the scope of an operation.
func scopeOptions(o *Options) plan.ScopeOptions {
	return plan.ScopeOptions{Targets: o.Targets, Excludes: o.Excludes, Replace: o.Replace,
		TargetDependents: o.TargetDependents, ExcludeDependents: o.ExcludeDependents,
		ExcludeProtected: o.ExcludeProtected, Base: o.Base.Resources}
}
