package operation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func (w *pendingWork) tellPending(ops []state.Operation) {
	fmt.Fprintln(w.out, "An earlier run was interrupted during:")
	for _, op := range ops {
		fmt.Fprintf(w.out, "  * %s %s\n", op.Kind, op.Resource.URN)
	}
}

func (w *pendingWork) tellResolved(resolved []engine.Resolution) {
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
		case engine.EndedAbsent:
			text = fmt.Sprintf("was read, and does not exist under the ID %q: it counts as not created", s.ID)
		case engine.EndedForgot:
			text = "counts as not created"
		case engine.EndedAgain:
			text = "will be created again with the recorded inputs; if the first creation succeeded, its object " +
				"stays and nothing manages it"
		case engine.EndedOpen:
			text = "stays in the state: it is not known whether it exists"
		}
		fmt.Fprintf(w.out, "  %s %s\n", s.Resource.URN, text)
	}
}

// unresolved ends a command that nobody has told what became of creations. done is what it did nevertheless.
func (w *pendingWork) unresolved(ops []state.Operation, done string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "the outcome of %s is not known: the run was interrupted before the provider answered",
		diag.Count(len(ops), "creation"))
	readable := 0
	for _, op := range ops {
		fmt.Fprintf(&b, "\n  * %s%s", op.Resource.URN, w.recordedAs(op.Resource))
		if engine.DerivedID(w.base, op.Resource) != "" {
			readable++
		}
	}
	if readable > 0 {
		them := "them"
		if readable < len(ops) {
			them = fmt.Sprintf("%d of them", readable)
		}
		fmt.Fprintf(&b, "\nRun again with --settle-pending read: the provider reads the IDs that follow from the inputs of %s. "+
			"What exists was created by the interrupted run, unless the names were taken before.\nOr find", them)
	} else {
		b.WriteString("\nFind")
	}
	b.WriteString(
		" out whether they exist, and run again with --settle-pending '<urn>=<id>' for each that does and " +
			"--settle-pending forget for the rest;\nor with --settle-pending retry to create them again in any case.\n")
	return console.WithCode(console.CodePending, "%s%s", b.String(), done)
}

// askAll asks a person what became of creations: of several, first whether none of them happened.
func (w *pendingWork) askAll(ops []state.Operation, op Operation) error {
	out := w.out
	if len(ops) > 1 {
		fmt.Fprintf(out, "The outcome of %s is not known:\n", diag.Count(len(ops), "creation"))
		for _, op := range ops {
			fmt.Fprintf(out, "  * %s%s\n", op.Resource.URN, w.recordedAs(op.Resource))
		}
		ways, ids := "", map[urn.URN]string{}
		for _, op := range ops {
			if id := engine.DerivedID(w.base, op.Resource); id != "" {
				ids[op.Resource.URN] = id
				ways = "`read` to read the IDs that follow from the inputs, "
			}
		}
		fmt.Fprintf(out, "Enter `none` if none of them exists, `each` to answer for each, %sor nothing to stop: ", ways)
		line, err := w.console.Prompt().Answer()
		switch line = strings.TrimSpace(line); {
		case err == nil && line == "none":
			for _, op := range ops {
				w.answers[op.Resource.URN] = engine.Decision{}
			}
			return nil
		case err == nil && line == "read" && ways != "":
			ops = slices.DeleteFunc(slices.Clone(ops), func(op state.Operation) bool {
				id, follows := ids[op.Resource.URN]
				if follows {
					w.answers[op.Resource.URN] = engine.Decision{ID: id, Look: true}
				}
				return follows
			})
		case err == nil && line == "each":
		default:
			return console.ErrDeclined
		}
	}
	for _, o := range ops {
		decision, err := w.askPending(o.Resource, op.Kind == destroyOperation.Kind)
		if err != nil {
			return err
		}
		w.answers[o.Resource.URN] = decision
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

// recordedAs lists the recorded inputs that identify the object of an unfinished creation; empty when there are none.
func (w *pendingWork) recordedAs(r *state.Resource) string {
	inputs := namingInputs(r)
	if len(inputs) == 0 {
		return ""
	}
	return w.hide(" (" + strings.Join(inputs, ", ") + ")")
}

// namingInputs are the inputs of a resource that are most likely to name the object: first those whose text has the
// resource's own name in it, as automatic names have, then those whose key says that it is a name or a place, also
// inside of maps such as the metadata of Kubernetes. Without any of these it is the first plain texts. Secrets are left
// out.
func namingInputs(r *state.Resource) []string {
	found := namesIn(nil, "", r.Inputs, r.URN.Name(), 0)
	slices.SortStableFunc(found, func(a, b namingInput) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.depth, b.depth))
	})
	var list []string
	for _, c := range found {
		if c.rank == anyText && len(list) > 0 && found[0].rank < anyText || len(list) == 4 {
			break
		}
		list = append(list, c.text)
	}
	return list
}

// namingInput is an input that may tell which object a resource is; the lower its rank, the more likely.
type namingInput struct {
	text        string
	rank, depth int
}

const (
	anyText    = 3 // the rank from which on nothing says that it is a name
	namesDepth = 3 // how deep maps are looked through
)

// namesIn appends the texts of a map that may name an object, with their paths.
func namesIn(found []namingInput, path string, inputs value.Value, name string, depth int) []namingInput {
	for i, key := range inputs.Keys() {
		v := inputs.At(i)
		if strings.HasPrefix(key, "__") || v.IsSecret() {
			continue
		}
		if v.Is(value.KindMap) && depth < namesDepth {
			found = namesIn(found, path+key+".", v, name, depth+1)
			continue
		}
		text, isText := v.AsString()
		if !isText || text == "" || len(text) > 80 {
			continue
		}
		rank := rankOfKey(strings.ToLower(key))
		switch {
		case depth > 0 && rank == anyText:
			continue // such as a label, which many objects share
		case strings.Contains(text, name):
			rank = 0
		}
		found = append(found, namingInput{path + key + ": " + value.String(text).String(), rank, depth})
	}
	return found
}

// rankOfKey returns how likely a key, in lower case, names or locates an object.
func rankOfKey(key string) int {
	switch {
	case strings.HasSuffix(key, "name"), key == "bucket", key == "title", key == "path", key == "key":
		return 1
	case strings.HasSuffix(key, "id"), key == "region", key == "location", key == "zone", key == "project",
		key == "namespace":
		return 2
	}
	return anyText
}
