package operation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// pendingWork holds the operations that an earlier run left in flight, and the decisions about them so far: an answer
// that the user gave for a plan also counts for the operation that follows.
type pendingWork struct {
	console  *console.Console
	out      io.Writer
	options  *PendingOptions
	scope    *scopeOptions
	document bool                // only a plan, without questions
	hide     func(string) string // masks secrets in a text
	// resolve reads the objects that may exist, and applies decisions about the others.
	resolve func(ctx context.Context, base *state.Snapshot, decisions map[urn.URN]engine.Decision) (*state.Snapshot,
		[]engine.Resolution, error)

	base     *state.Snapshot             // in which they are
	readsIDs bool                        // without --settle-pending, IDs that follow from inputs are read
	answers  map[urn.URN]engine.Decision // of the user about pending creations
	retry    []urn.URN                   // pending creations to repeat
	kept     []state.Operation           // pending creations that a destruction has to leave pending
	told     bool                        // pending operations were reported
}

// begin resolves the pending operations of an earlier run, also in the file, and returns the state of the session.
func (w *pendingWork) begin(ctx context.Context, session *backend.Session, op Operation) (*state.Snapshot, error) {
	base := session.Base()
	next, err := w.resolveAll(ctx, base, op)
	if err != nil || next == base {
		return base, err
	}
	return next, session.ResolvePending(ctx, next)
}

// resolveAll resolves the pending operations of an earlier run: it reads resources with pending updates and deletions,
// and applies the user's decisions about creations. Without a decision it returns an error, so that no second object is
// created beside an unknown one; a destruction continues and leaves the creation pending.
func (w *pendingWork) resolveAll(ctx context.Context, base *state.Snapshot, op Operation) (*state.Snapshot, error) {
	w.base = base
	decisions, err := pendingAnswersOf(w.options.ResolvePending, engine.PendingCreations(base))
	switch {
	case err != nil:
		return nil, err
	case len(base.Pending) == 0:
		return base, nil
	case op.Kind == refreshOperation.Kind: // a refresh reads everything
		return w.resolveForRefresh(ctx, base)
	}
	tell := !w.told
	if w.told = true; tell {
		w.tellPending(base.Pending)
	}
	var open []state.Operation
	for _, o := range engine.Undecided(base) {
		u := o.Resource.URN
		if _, decided := decisions.by[u]; decided {
			continue
		}
		if decision, answered := w.answers[u]; answered {
			decisions.by[u] = decision
		} else if decisions.others != nil {
			decisions.by[u] = *decisions.others
		} else if id := engine.DerivedID(base, o.Resource); id != "" &&
			(decisions.read || w.readsIDs && len(w.options.ResolvePending) == 0) {
			decisions.by[u] = engine.Decision{ID: id, Inspect: true}
		} else {
			open = append(open, o)
		}
	}
	switch {
	case len(open) == 0:
	case w.document:
		fmt.Fprintln(w.out,
			"warning: the outcome of these creations is not known; `up` will ask for it (see --settle-pending)")
		return base, nil
	case !w.options.unasked && w.console.Interactive():
		if err := w.askAll(open, op); err != nil {
			return nil, err
		}
		for _, o := range open {
			decisions.by[o.Resource.URN] = w.answers[o.Resource.URN]
		}
	case op.Kind == destroyOperation.Kind:
		for _, o := range open {
			decisions.by[o.Resource.URN] = engine.Decision{Keep: true}
		}
	default:
		return nil, w.unresolved(open, "Nothing was changed.")
	}
	next, resolved, err := w.resolve(ctx, base, decisions.by)
	if err != nil {
		return nil, err
	}
	w.retry, w.kept = nil, nil
	for _, s := range resolved {
		switch s.Ending {
		case engine.EndedAgain:
			w.retry = append(w.retry, s.Resource.URN)
		case engine.EndedOpen:
			w.kept = append(w.kept, s.Operation)
		}
	}
	if tell {
		w.tellResolved(resolved)
	}
	return next, nil
}

// resolveForRefresh applies decisions about pending creations before a refresh: those that happened are read by the
// given ID and added to the state, others are forgotten or stay pending (E6.42).
func (w *pendingWork) resolveForRefresh(ctx context.Context, base *state.Snapshot) (*state.Snapshot, error) {
	s := w.scope
	named := map[urn.URN]string{}
	for i := 0; i+1 < len(s.importPendingCreates); i += 2 {
		named[urn.URN(s.importPendingCreates[i])] = s.importPendingCreates[i+1]
	}
	decisions := map[urn.URN]engine.Decision{}
	var decided, open []state.Operation
	var ask []state.Operation
	undecided := map[urn.URN]bool{}
	for _, op := range engine.Undecided(base) {
		u := op.Resource.URN
		undecided[u] = true
		_, found := named[u]
		if _, answered := w.answers[u]; !found && !answered && !s.clearPendingCreates && !s.skipPendingCreates {
			ask = append(ask, op)
		}
	}
	if len(ask) > 0 && w.console.Interactive() && !w.document {
		if err := w.askAll(ask, refreshOperation); err != nil {
			return nil, err
		}
	}
	for _, op := range base.Pending {
		u := op.Resource.URN
		id, said := named[u]
		answer, answered := w.answers[u]
		switch {
		case op.Kind != state.Creating:
			continue // a refresh reads these anyway
		case said:
			decisions[u] = engine.Decision{ID: id}
		case s.clearPendingCreates:
			decisions[u] = engine.Decision{}
		case answered:
			decisions[u] = answer
		case !s.skipPendingCreates && !undecided[u]: // such objects live in the state: no question
		default:
			open = append(open, op)
			continue
		}
		decided = append(decided, op)
	}
	for _, op := range decided {
		delete(named, op.Resource.URN)
	}
	for u := range named {
		return nil, console.WithCode(console.CodeBadUsage,
			"--import-pending-creates: there is no interrupted creation of '%s'", u)
	}
	if len(open) > 0 && !s.skipPendingCreates {
		fmt.Fprintf(w.out,
			"warning: the outcome of %s is not known; use --import-pending-creates for those that happened, "+
				"--clear-pending-creates to forget them\n", diag.Count(len(open), "interrupted creation"))
	}
	if len(decided) == 0 {
		return base, nil
	}
	asked := *base
	asked.Pending = decided
	next, resolved, err := w.resolve(ctx, &asked, decisions)
	if err != nil {
		return nil, err
	}
	w.tellResolved(resolved)
	after := *next
	after.Pending = open
	return &after, nil
}

// ResolvePendingHelp is the help of --settle-pending.
const ResolvePendingHelp = "the outcome of interrupted creations: forget (nothing was created), retry (create " +
	"again with the same inputs in any case), read (the provider reads each ID that follows from the inputs: " +
	"what exists was created), or <urn>=<id> (the object with this ID was created); may be repeated"

// pendingAnswers holds the decisions of --settle-pending about pending creations: about some by URN, and about all
// others if others is set.
type pendingAnswers struct {
	by     map[urn.URN]engine.Decision
	others *engine.Decision
	read   bool // reads all others whose IDs follow from their inputs
}

// checkResolvePending returns an error for invalid values of --settle-pending.
func checkResolvePending(flags []string) error {
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

// pendingAnswersOf reads --settle-pending. A URN may contain equals signs, so the URNs of pending determine where it
// ends. Any other URN is an error: if it were ignored, its object could be created a second time.
func pendingAnswersOf(flags []string, pending []state.Operation) (pendingAnswers, error) {
	w := pendingAnswers{by: map[urn.URN]engine.Decision{}}
	if err := checkResolvePending(flags); err != nil {
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

// unknownPending returns an error for a decision about a creation that is not pending.
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

func (w *pendingWork) tellPending(ops []state.Operation) {
	fmt.Fprintln(w.out, "An earlier run was interrupted during:")
	for _, op := range ops {
		fmt.Fprintf(w.out, "  * %s %s\n", op.Kind, op.Resource.URN)
	}
}

func (w *pendingWork) tellResolved(resolved []engine.Resolution) {
	for _, s := range resolved {
		text := strings.ReplaceAll(endings[s.Ending], "{ID}", strconv.Quote(s.ID))
		fmt.Fprintf(w.out, "  %s %s\n", s.Resource.URN, text)
	}
}

// endings describe how pending operations were resolved; {ID} stands for the object's ID.
var endings = map[engine.Ending]string{
	engine.EndedThere:   "was read, and exists",
	engine.EndedGone:    "was read, and does not exist any more",
	engine.EndedAdopted: "was read, and is now in the state with the ID {ID}",
	engine.EndedNothing: "changed nothing outside of the state",
	engine.EndedAbsent:  "was read, and does not exist under the ID {ID}: it counts as not created",
	engine.EndedForgot:  "counts as not created",
	engine.EndedAgain: "will be created again with the recorded inputs; if the first creation succeeded, its object " +
		"stays and nothing manages it",
	engine.EndedOpen: "stays in the state: it is not known whether it exists",
}

// unresolved returns the error for creations without a decision. done describes what the command did nevertheless.
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
			"--settle-pending forget for the rest;\nor with --settle-pending retry to create them again: one that exists " +
			"then stays, and nothing manages it.\n")
	return console.WithCode(console.CodePending, "%s%s", b.String(), done)
}

// askAll asks the user about the outcome of creations. If there are several, it first asks whether none of them
// happened.
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
					w.answers[op.Resource.URN] = engine.Decision{ID: id, Inspect: true}
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

// askPending asks the user for the ID of the object of a creation. With keep, the creation may stay pending.
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

// recordedAs lists the recorded inputs that identify the object of a pending creation; empty if there are none.
func (w *pendingWork) recordedAs(r *state.Resource) string {
	inputs := namingInputs(r)
	if len(inputs) == 0 {
		return ""
	}
	return w.hide(" (" + strings.Join(inputs, ", ") + ")")
}

// namingInputs returns the inputs of a resource that are most likely to name the object: first texts that contain the
// resource's own name, like automatic names, then those whose key means a name or a location, also inside of maps such
// as the metadata of Kubernetes; else the first plain texts. Secrets are left out.
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

// namingInput is an input that may identify the object of a resource; a lower rank is more likely.
type namingInput struct {
	text        string
	rank, depth int
}

const (
	anyText    = 3 // from this rank on, nothing indicates a name
	namesDepth = 3 // how deep maps are searched
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
