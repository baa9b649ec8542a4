package operation

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// SettlePendingHelp is the help of --settle-pending.
const SettlePendingHelp = "the outcome of interrupted creations: forget (nothing was created), retry (create " +
	"again with the same inputs in any case), read (the provider reads each ID that follows from the inputs: " +
	"what exists was created), or <urn>=<id> (the object with this ID was created); may be repeated"

// pendingAnswers holds the decisions of --settle-pending about pending creations: about some by URN, and about all
// others if others is set.
type pendingAnswers struct {
	by     map[urn.URN]engine.Decision
	others *engine.Decision
	read   bool // all others whose IDs follow from their inputs are read
}

// CheckSettlePending refuses values of --settle-pending that mean nothing, whatever is pending.
func CheckSettlePending(flags []string) error {
	general := ""
	for _, text := range flags {
		switch {
		case text == "forget" || text == "retry" || text == "read":
			if general != "" && general != text {
				return console.WithCode(console.CodeUsage,
					"--settle-pending takes one of forget, retry and read for all creations without an ID, not several")
			}
			general = text
		case !strings.HasPrefix(text, "urn:") || !strings.Contains(text, "="):
			return console.WithCode(console.CodeUsage, "--settle-pending takes forget, retry, read or <urn>=<id>, not %q", text)
		}
	}
	return nil
}

// pendingAnswersOf reads --settle-pending. A URN may have equals signs in it, so where it ends is found by the URNs of
// pending. A URN that is none of them is an error: were it passed over, its object would be created a second time.
func pendingAnswersOf(flags []string, pending []state.Operation) (pendingAnswers, error) {
	w := pendingAnswers{by: map[urn.URN]engine.Decision{}}
	if err := CheckSettlePending(flags); err != nil {
		return w, err
	}
	for _, text := range flags {
		switch text {
		case "read":
			w.read = true
			continue
		case "forget", "retry":
			w.others = &engine.Decision{Retry: text == "retry"}
			continue
		}
		u, id := urn.URN(""), ""
		for _, op := range pending {
			if rest, found := strings.CutPrefix(text, string(op.Resource.URN)+"="); found && len(op.Resource.URN) > len(u) {
				u, id = op.Resource.URN, rest
			}
		}
		if u == "" {
			return w, unknownPending(text, pending)
		}
		if earlier, twice := w.by[u]; twice && earlier.ID != id {
			return w, console.WithCode(console.CodeUsage, "--settle-pending gives %s two IDs, %q and %q", u, earlier.ID, id)
		}
		w.by[u] = engine.Decision{ID: id}
	}
	return w, nil
}

// unknownPending refuses a word about something that is not pending.
func unknownPending(text string, pending []state.Operation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "--settle-pending %q names no interrupted creation of an earlier run", text)
	if len(pending) == 0 {
		b.WriteString("; there is none")
	} else {
		b.WriteString("; these are open:")
		for _, op := range pending {
			fmt.Fprintf(&b, "\n  * %s", op.Resource.URN)
		}
	}
	b.WriteString("\nNothing was changed.")
	return console.WithCode(console.CodeUsage, "%s", b.String())
}
