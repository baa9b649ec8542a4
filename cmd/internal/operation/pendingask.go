package operation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
)

func (w *pendingWork) tellPending(ops []state.Operation) {
	out := w.out
	fmt.Fprintln(out, "An earlier run was interrupted during:")
	for _, op := range ops {
		fmt.Fprintf(out, "  * %s %s\n", op.Kind, op.Resource.URN)
	}
}

func (w *pendingWork) tellResolved(resolved []engine.Resolution) {
	out := w.out
	for _, s := range resolved {
		text := ""
		switch s.Ending {
		case engine.EndedThere:
			text = "was read, and exists"
		case engine.EndedGone:
			text = "was read, and does not exist any more"
		case engine.EndedAdopted:
			text = fmt.Sprintf("was read, and is now in the state with the ID %q", s.ID)
		case engine.EndedNothing:
			text = "changed nothing outside of the state"
		case engine.EndedForgot:
			text = "counts as not created"
		case engine.EndedAgain:
			text = "will be created again with the recorded inputs; if the first creation succeeded, its object " +
				"stays and nothing manages it"
		case engine.EndedOpen:
			text = "stays in the state: it is not known whether it exists"
		}
		fmt.Fprintf(out, "  %s %s\n", s.Resource.URN, text)
	}
}

// unresolved ends a command that nobody has told what became of creations.
func (w *pendingWork) unresolved(ops []state.Operation) error {
	return console.WithCode(console.CodePending, "%s\nNothing was changed.", w.advice(ops))
}

// unresolvedAfter returns the error of a destroy that had to leave pending creations whose outcome is unknown.
func (w *pendingWork) unresolvedAfter() error {
	return console.WithCode(console.CodePending, "%s\nEverything else was destroyed.", w.advice(w.kept))
}

func (w *pendingWork) advice(ops []state.Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the outcome of %s is not known: the run was interrupted before the provider answered",
		diag.Count(len(ops), "creation"))
	for _, op := range ops {
		fmt.Fprintf(&b, "\n  * %s%s", op.Resource.URN, w.recordedAs(op.Resource))
	}
	b.WriteString(
		"\nFind out whether they exist, and run again with --settle-pending '<urn>=<id>' for each that does and " +
			"--settle-pending forget for the rest;\n" +
			"or with --settle-pending retry to create them again in any case.")
	return b.String()
}

// askAll asks a person what became of creations: of several, first whether none of them happened.
func (w *pendingWork) askAll(ops []state.Operation, op Operation) error {
	out := w.out
	if len(ops) > 1 {
		fmt.Fprintf(out, "The outcome of %s is not known:\n", diag.Count(len(ops), "creation"))
		for _, op := range ops {
			fmt.Fprintf(out, "  * %s%s\n", op.Resource.URN, w.recordedAs(op.Resource))
		}
		fmt.Fprint(out, "Enter `none` if none of them exists, `each` to answer for each, or nothing to stop: ")
		line, err := w.console.Prompt().Answer()
		switch line = strings.TrimSpace(line); {
		case err == nil && line == "none":
			for _, op := range ops {
				w.answers[op.Resource.URN] = engine.Decision{}
			}
			return nil
		case err == nil && line == "each":
		default:
			return console.ErrDeclined
		}
	}
	for _, o := range ops {
		word, err := w.askPending(o.Resource, op.Kind == destroyOperation.Kind)
		if err != nil {
			return err
		}
		w.answers[o.Resource.URN] = word
	}
	return nil
}

// askPending asks the user for the ID of the object that a creation has made. With keep, the creation may stay
// pending.
func (w *pendingWork) askPending(r *state.Resource, keep bool) (engine.Decision, error) {
	out := w.out
	ways := "`no` if it does not exist"
	if keep {
		ways += ", `later` to destroy everything else"
	}
	fmt.Fprintf(out, "Was %s%s created? Enter its ID to add it to the state, %s, or nothing to stop: ", r.URN,
		w.recordedAs(r), ways)
	line, err := w.console.Prompt().Answer()
	switch line = strings.TrimSpace(line); {
	case err != nil || line == "":
		return engine.Decision{}, console.ErrDeclined
	case line == "no":
		return engine.Decision{}, nil
	case keep && line == "later":
		return engine.Decision{Keep: true}, nil
	}
	return engine.Decision{ID: line}, nil
}

// recordedAs tells by which recorded inputs one can find what a creation may have made; empty when there are none.
func (w *pendingWork) recordedAs(r *state.Resource) string {
	inputs := namingInputs(r)
	if len(inputs) == 0 {
		return ""
	}
	return w.hide(" (" + strings.Join(inputs, ", ") + ")")
}

// namingInputs are the inputs of a resource that are most likely to name the object: first those whose text has the
// resource's own name in it, as automatic names have, then those whose key says that it is a name or a place. Without
// any of these it is the first plain texts. Secrets are left out.
func namingInputs(r *state.Resource) []string {
	type candidate struct {
		text string
		rank int
	}
	const at = 3 // from here on nothing says that it is a name
	var found []candidate
	for i, key := range r.Inputs.Keys() {
		v := r.Inputs.At(i)
		text, isText := v.AsString()
		if !isText || text == "" || v.IsSecret() || strings.HasPrefix(key, "__") || len(text) > 80 {
			continue
		}
		lower, rank := strings.ToLower(key), at
		switch {
		case strings.Contains(text, r.URN.Name()):
			rank = 0
		case strings.HasSuffix(lower, "name"), lower == "bucket", lower == "title", lower == "path", lower == "key":
			rank = 1
		case strings.HasSuffix(lower, "id"), lower == "region", lower == "location", lower == "zone", lower == "project":
			rank = 2
		}
		found = append(found, candidate{key + ": " + value.String(text).String(), rank})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	var list []string
	for _, c := range found {
		if c.rank == at && len(list) > 0 && found[0].rank < at || len(list) == 4 {
			break
		}
		list = append(list, c.text)
	}
	return list
}
