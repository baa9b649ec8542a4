package eval

import (
	"math"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// numberNote records the first number in a text that Pulumi's host would write differently, such as a million as 1e+06
// (L5.15): the text may be the name of an existing resource.
type numberNote struct {
	mu     sync.Mutex // guards the rest
	at     diag.Range // of the first in the text, so that the message does not depend on the schedule
	number float64
	secret bool
}

// see examines a part of a text.
func (n *numberNote) see(v value.Value, rng diag.Range) {
	number, ok := v.AsNumber()
	if !ok || value.FormatNumber(number) == stockText(number) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at.IsZero() || rng.Start < n.at.Start {
		n.at, n.number, n.secret = rng, number, v.IsSecret()
	}
}

// stockText formats a number like Pulumi's host, with Go's shortest form.
func stockText(number float64) string { return strconv.FormatFloat(number, 'g', -1, 64) }

// tell adds the message, if there is one.
func (n *numberNote) tell(dst *notes) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at.IsZero() {
		return
	}
	ours, theirs := value.FormatNumber(n.number), stockText(n.number)
	if n.secret {
		ours, theirs = "in digits", "with an exponent"
	}
	detail := "a name or ID that was made with it by Pulumi's host differs; this is reported once for the whole program"
	if whole := n.number == math.Trunc(n.number); whole && !n.secret {
		detail = "write " + theirs +
			" in the text to keep a name that Pulumi's host has made; this is reported once for the whole program"
	}
	dst.add(diag.Diagnostic{Severity: diag.Info, Code: diag.BadNumber, Subject: n.at, Detail: detail,
		Summary: "the number becomes " + ours + ", in Pulumi's own host it becomes " + theirs})
}
