package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// pendingCreations holds the operations that an earlier run left pending, and the creations among them that this
// operation repeats. It is immutable.
type pendingCreations struct {
	base       *state.Snapshot
	retry      []urn.URN // Options.Retry
	restricted bool      // the operation has targets or excludes, so it does not apply the whole program
	dryRun     bool
	report     *reporter
}

// warn reports the operations that an earlier run left pending (E6.40), except those that are about to be retried.
func (p *pendingCreations) warn() {
	open := slices.DeleteFunc(slices.Clone(p.base.Pending), p.retries)
	if p.dryRun || len(open) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %s from previous deployment.\n",
		diag.Count(len(open), "pending operation"))
	for _, op := range open {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Kind)
	}
	b.WriteString(
		"These resources are in an unknown state because the earlier operation was interrupted while it waited " +
			"for changes to complete. Run `refresh` to find out what exists, and `refresh " +
			"--clear-pending-creates` to forget creations that did not happen.")
	p.report.message(Message{Severity: diag.Warning, Text: b.String()})
}

// retries reports whether an operation is a creation that this operation repeats.
func (p *pendingCreations) retries(op state.Operation) bool {
	return op.Kind == state.Creating && slices.Contains(p.retry, op.Resource.URN)
}

// recorded returns the resource record with which an earlier creation began if this operation repeats that creation,
// and nil otherwise.
func (p *pendingCreations) recorded(u urn.URN) *state.Resource {
	if !slices.Contains(p.retry, u) {
		return nil
	}
	for _, op := range p.base.Pending {
		if op.Kind == state.Creating && op.Resource.URN == u {
			return op.Resource
		}
	}
	return nil
}

// withoutRetried removes the retried creations from the pending operations of s after a full run of the program: a
// creation that the program did not repeat is no longer wanted.
func (p *pendingCreations) withoutRetried(s *state.Snapshot) *state.Snapshot {
	if s == nil || p.restricted || !slices.ContainsFunc(s.Pending, p.retries) {
		return s
	}
	next := *s
	next.Pending = slices.DeleteFunc(slices.Clone(s.Pending), p.retries)
	return &next
}
