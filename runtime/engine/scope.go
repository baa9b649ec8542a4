package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/value/urn"
)

// missingFromState is the error for targets and excludes that the state does not have, for operations that know
// everything there is from the state (E4.103).
func (d *Deployment) missingFromState() error {
	for _, u := range slices.Concat(d.scope.Targets.Exact, d.scope.Excludes.Exact) {
		if !d.table.Present(u) {
			return fmt.Errorf("no resource named '%s' found%s", u, d.nearest(u))
		}
	}
	return nil
}

// nearest is a hint at the URN that was perhaps meant.
func (d *Deployment) nearest(u urn.URN) string {
	var names []string
	for _, known := range d.table.URNs() {
		names = append(names, string(known))
	}
	if near := diag.Suggest(string(u), names); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}

// checkTargets reports exact targets that are nowhere, which ends the operation (E4.103).
func (d *Deployment) checkTargets(p plan.Patterns) error {
	missing := p.Missing(d.table.Known)
	if len(missing) == 0 {
		return nil
	}
	for _, u := range missing {
		text := fmt.Sprintf("Target '%s' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			text += " Did you forget to escape $ in your shell?"
		}
		d.report.message(Message{Severity: diag.Error, Code: diag.OperationFailed, Text: text + d.nearest(u)})
	}
	return d.bail()
}
