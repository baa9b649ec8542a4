package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/value/urn"
)

// requirePresent is the error for targets and excludes that the state does not have, for operations that know everything
// there is from the state (E4.103).
func requirePresent(s *plan.Scope, olds *olds) error {
	for _, u := range slices.Concat(s.Targets.Exact, s.Excludes.Exact) {
		if olds.byURN[u] == nil && !slices.ContainsFunc(olds.entries, func(e *entry) bool { return e.resource.URN == u }) {
			return fmt.Errorf("no resource named '%s' found%s", u, nearest(u, olds))
		}
	}
	return nil
}

// nearest is a hint at the URN that was perhaps meant.
func nearest(u urn.URN, olds *olds) string {
	names := make([]string, len(olds.entries))
	for i, e := range olds.entries {
		names[i] = string(e.resource.URN)
	}
	if near := diag.Suggest(string(u), names); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}

// checkTargets reports exact targets that are nowhere, which ends the operation (E4.103).
func (d *Deployment) checkTargets(p plan.Patterns) error {
	d.mu.Lock()
	missing := p.Missing(func(u urn.URN) bool { return d.resources[u] != nil || d.olds.byURN[u] != nil || d.renamed[u] != "" })
	d.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Target '%s' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			text += " Did you forget to escape $ in your shell?"
		}
		d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: text + nearest(u, d.olds)})
	}
	return d.bail()
}
