package operation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// SettleHelp is the help of --settle-pending.
const SettleHelp = "what became of creations whose run was cut off: forget (they did not happen), retry (create " +
	"again with the same inputs, " +
	"whatever happened), or <urn>=<id> (it made the object with this ID); may come several times"

// settleWords are what --settle-pending says of pending creations: of some by URN, and of all others if others is set.
type settleWords struct {
	by     map[urn.URN]engine.Word
	others *engine.Word
}

// CheckSettleFlags refuses values of --settle-pending that mean nothing, whatever is pending.
func CheckSettleFlags(flags []string) error {
	general := ""
	for _, text := range flags {
		switch {
		case text == "forget" || text == "retry":
			if general != "" && general != text {
				return console.WithCode(console.CodeUsage,
					"--settle-pending takes either forget or retry for everything that has no word of its own, not both")
			}
			general = text
		case !strings.HasPrefix(text, "urn:") || !strings.Contains(text, "="):
			return console.WithCode(console.CodeUsage, "--settle-pending takes forget, retry or <urn>=<id>, not %q", text)
		}
	}
	return nil
}

// settleWordsOf reads --settle-pending. unfinished tells where a URN ends, for names may have equals signs in them;
// what names none of them is an error, for else a misspelt URN would have its object created a second time.
func settleWordsOf(flags []string, unfinished []state.Operation) (settleWords, error) {
	w := settleWords{by: map[urn.URN]engine.Word{}}
	if err := CheckSettleFlags(flags); err != nil {
		return w, err
	}
	for _, text := range flags {
		switch text {
		case "forget", "retry":
			w.others = &engine.Word{Retry: text == "retry"}
			continue
		}
		u, id := urn.URN(""), ""
		for _, op := range unfinished {
			if rest, found := strings.CutPrefix(text, string(op.Resource.URN)+"="); found && len(op.Resource.URN) > len(u) {
				u, id = op.Resource.URN, rest
			}
		}
		if u == "" {
			return w, unknownPending(text, unfinished)
		}
		if earlier, twice := w.by[u]; twice && earlier.ID != id {
			return w, console.WithCode(console.CodeUsage, "--settle-pending gives %s two IDs, %q and %q", u, earlier.ID, id)
		}
		w.by[u] = engine.Word{ID: id}
	}
	return w, nil
}

// unknownPending refuses a word about something that is not pending.
func unknownPending(text string, unfinished []state.Operation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "--settle-pending %q names no creation that an earlier run has left open", text)
	if len(unfinished) == 0 {
		b.WriteString("; there is none")
	} else {
		b.WriteString("; these are open:")
		for _, op := range unfinished {
			fmt.Fprintf(&b, "\n  * %s", op.Resource.URN)
		}
	}
	b.WriteString("\nNothing was changed.")
	return console.WithCode(console.CodeUsage, "%s", b.String())
}

// settle brings a state up to date with what became of operations that an earlier run left in flight: it reads what was
// being updated or deleted, and takes a person's word for what was being created. Without that it stops, rather than
// create a second object beside one that nobody knows of; a destruction goes on and leaves it pending.
func (p *Pipeline) settle(ctx context.Context, base *state.Snapshot, op Operation) (*state.Snapshot, error) {
	words, err := settleWordsOf(p.options.SettlePending, engine.Unfinished(base))
	switch {
	case err != nil:
		return nil, err
	case len(base.Pending) == 0:
		return base, nil
	case op.Kind == refreshOperation.Kind: // which reads everything
		return p.settleRefresh(ctx, base)
	}
	tell := !p.told
	if p.told = true; tell {
		p.tellPending(base.Pending)
	}
	var open []state.Operation
	for _, o := range engine.Undecided(base) {
		u := o.Resource.URN
		if _, said := words.by[u]; said {
			continue
		}
		if word, answered := p.answers[u]; answered {
			words.by[u] = word
		} else if words.others != nil {
			words.by[u] = *words.others
		} else {
			open = append(open, o)
		}
	}
	switch {
	case len(open) == 0:
	case p.document:
		fmt.Fprintln(p.Console.Streams.Err,
			"warning: what became of these creations is not known; `up` will want to know it (see --settle-pending)")
		return base, nil
	case !p.options.unasked && p.Console.Interactive():
		if err := p.askAllPending(open, op); err != nil {
			return nil, err
		}
		for _, o := range open {
			words.by[o.Resource.URN] = p.answers[o.Resource.URN]
		}
	case op.Kind == destroyOperation.Kind:
		for _, o := range open {
			words.by[o.Resource.URN] = engine.Word{Keep: true}
		}
	default:
		return nil, p.unsettled(open)
	}
	o := engine.Options{Base: base}
	p.describe(&o)
	next, settled, err := engine.Settle(ctx, o, words.by)
	if err != nil {
		return nil, err
	}
	p.retry, p.kept = nil, nil
	for _, s := range settled {
		switch s.Ending {
		case engine.EndedAgain:
			p.retry = append(p.retry, s.Resource.URN)
		case engine.EndedOpen:
			p.kept = append(p.kept, s.Operation)
		}
	}
	if tell {
		p.tellSettled(settled)
	}
	return next, nil
}

// begin is the state of a session with what an earlier run left in flight settled, in the file too.
func (p *Pipeline) begin(ctx context.Context, session *backend.Session, op Operation) (*state.Snapshot, error) {
	base := session.Base()
	next, err := p.settle(ctx, base, op)
	if err != nil || next == base {
		return base, err
	}
	return next, session.Settle(ctx, next)
}

func (p *Pipeline) tellPending(ops []state.Operation) {
	out := p.Console.Streams.Err
	fmt.Fprintln(out, "An earlier run was cut off in the middle of:")
	for _, op := range ops {
		fmt.Fprintf(out, "  * %s %s\n", op.Kind, op.Resource.URN)
	}
}

func (p *Pipeline) tellSettled(settled []engine.Settled) {
	out := p.Console.Streams.Err
	for _, s := range settled {
		text := ""
		switch s.Ending {
		case engine.EndedThere:
			text = "was read, and is there"
		case engine.EndedGone:
			text = "was read, and is gone"
		case engine.EndedAdopted:
			text = fmt.Sprintf("was read, and is taken into the state under the ID %q", s.ID)
		case engine.EndedNothing:
			text = "has left nothing behind"
		case engine.EndedForgot:
			text = "is taken as not created"
		case engine.EndedAgain:
			text = "will be created again with the recorded inputs; if the first creation succeeded after all, what it made " +
				"is left without a manager"
		case engine.EndedOpen:
			text = "is left as it is: nobody knows whether it exists"
		}
		fmt.Fprintf(out, "  %s %s\n", s.Resource.URN, text)
	}
}

// unsettled ends a command that nobody has told what became of creations.
func (p *Pipeline) unsettled(ops []state.Operation) error {
	return console.WithCode(console.CodePending, "%s\nNothing was changed.", p.pendingAdvice(ops))
}

// unsettledAfter ends a destruction that had to leave creations pending of which nobody knows whether they happened.
func (p *Pipeline) unsettledAfter(ops []state.Operation) error {
	return console.WithCode(console.CodePending, "%s\nEverything else was destroyed.", p.pendingAdvice(ops))
}

func (p *Pipeline) pendingAdvice(ops []state.Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "it is not known what became of %s: the run was cut off before the provider answered",
		console.Count(len(ops), "creation"))
	for _, op := range ops {
		fmt.Fprintf(&b, "\n  * %s%s", op.Resource.URN, p.recordedAs(op.Resource))
	}
	b.WriteString(
		"\nLook whether they exist, and run again with --settle-pending '<urn>=<id>' for each that does and " +
			"--settle-pending forget for the rest;\n" +
			"or with --settle-pending retry to create them again without looking.")
	return b.String()
}

// askAllPending asks a person what became of creations: of several, first whether none of them happened.
func (p *Pipeline) askAllPending(ops []state.Operation, op Operation) error {
	out := p.Console.Streams.Err
	if len(ops) > 1 {
		fmt.Fprintf(out, "It is not known what became of %s:\n", console.Count(len(ops), "creation"))
		for _, op := range ops {
			fmt.Fprintf(out, "  * %s%s\n", op.Resource.URN, p.recordedAs(op.Resource))
		}
		fmt.Fprint(out, "Enter `none` if none of them happened, `each` to be asked about each, or nothing to stop: ")
		line, err := p.Console.Answer()
		switch line = strings.TrimSpace(line); {
		case err == nil && line == "none":
			for _, op := range ops {
				p.answers[op.Resource.URN] = engine.Word{}
			}
			return nil
		case err == nil && line == "each":
		default:
			return console.ErrDeclined
		}
	}
	for _, o := range ops {
		word, err := p.askPending(o.Resource, op.Kind == destroyOperation.Kind)
		if err != nil {
			return err
		}
		p.answers[o.Resource.URN] = word
	}
	return nil
}

// askPending asks a person for the ID of what a creation has made. With keep, it may stay pending.
func (p *Pipeline) askPending(r *state.Resource, keep bool) (engine.Word, error) {
	out := p.Console.Streams.Err
	ways := "`no` if it does not exist"
	if keep {
		ways += ", `later` to destroy everything else"
	}
	fmt.Fprintf(out, "Was %s%s created? Enter its ID to take it into the state, %s, or nothing to stop: ", r.URN,
		p.recordedAs(r), ways)
	line, err := p.Console.Answer()
	switch line = strings.TrimSpace(line); {
	case err != nil || line == "":
		return engine.Word{}, console.ErrDeclined
	case line == "no":
		return engine.Word{}, nil
	case keep && line == "later":
		return engine.Word{Keep: true}, nil
	}
	return engine.Word{ID: line}, nil
}

// recordedAs tells by which recorded inputs one can find what a creation may have made; empty when there are none.
func (p *Pipeline) recordedAs(r *state.Resource) string {
	inputs := namingInputs(r)
	if len(inputs) == 0 {
		return ""
	}
	return p.stage.secrets().Hide(" (" + strings.Join(inputs, ", ") + ")")
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
