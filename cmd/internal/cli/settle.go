package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// settleHelp is the help of --settle-pending.
const settleHelp = "what became of creations whose run was cut off: forget (they did not happen), retry (create again, whatever happened), " +
	"or <urn>=<id> (it made the object with this ID); may come several times"

// verdicts say what became of pending creations, by URN: the ID to adopt, or nothing to forget. With an empty URN, one
// says it of all others. They come from --settle-pending and from answers.
type verdicts struct {
	of    map[urn.URN]string
	rest  bool // all others are forgotten
	retry bool // and what is created again may be there twice
}

// verdictsOf reads --settle-pending. Pending tells where a URN ends: names may have equals signs in them.
func verdictsOf(flags []string, pending []state.Operation) (verdicts, error) {
	v := verdicts{of: map[urn.URN]string{}}
	for _, text := range flags {
		switch text {
		case "forget":
			v.rest = true
			continue
		case "retry":
			v.rest, v.retry = true, true
			continue
		}
		if !strings.HasPrefix(text, "urn:") || !strings.Contains(text, "=") {
			return v, withCode(codeUsage, "--settle-pending takes forget, retry or <urn>=<id>, not %q", text)
		}
		for _, op := range pending {
			if id, found := strings.CutPrefix(text, string(op.Resource.URN)+"="); found {
				v.of[op.Resource.URN] = id
			}
		}
	}
	return v, nil
}

// settle brings a state up to date with what became of operations that an earlier run left in flight: it reads what was
// being updated or deleted, and takes somebody's word for what was being created. Without that it stops, rather than
// create a second object beside one that nobody knows of.
func (p *pipeline) settle(ctx context.Context, base *state.Snapshot, op operation) (*state.Snapshot, error) {
	switch {
	case len(base.Pending) == 0:
		return base, nil
	case op.kind == refreshOperation.kind: // which reads everything
		return p.settleRefresh(ctx, base)
	}
	tell := !p.told
	if p.told = true; tell {
		p.tellPending(base.Pending)
	}
	undecided := engine.Undecided(base)
	v, err := verdictsOf(p.options.settlePending, undecided)
	if err != nil {
		return nil, err
	}
	for _, o := range undecided {
		u := o.Resource.URN
		if _, said := v.of[u]; said {
			continue
		}
		if id, said := p.answers[u]; said {
			v.of[u] = id
			continue
		}
		switch {
		case v.rest:
			v.of[u] = ""
		case p.document:
			fmt.Fprintln(p.app.streams.Err, "warning: what became of these creations is not known; `up` will want to know it (see --settle-pending)")
			return base, nil
		case !p.app.interactive():
			return nil, p.unsettled(undecided)
		default:
			if v.of[u], err = p.askPending(u); err != nil {
				return nil, err
			}
			p.answers[u] = v.of[u]
		}
	}
	o := engine.Options{Base: base}
	p.describe(&o)
	next, settled, err := engine.Settle(ctx, o, v.of)
	if err != nil {
		return nil, err
	}
	if tell {
		p.tellSettled(settled, v)
	}
	return next, nil
}

// begin is the state of a session with what an earlier run left in flight settled, in the file too.
func (p *pipeline) begin(ctx context.Context, session *backend.Session, op operation) (*state.Snapshot, error) {
	base := session.Base()
	next, err := p.settle(ctx, base, op)
	if err != nil || next == base {
		return base, err
	}
	return next, session.Settle(ctx, next)
}

func (p *pipeline) tellPending(ops []state.Operation) {
	out := p.app.streams.Err
	fmt.Fprintln(out, "An earlier run was cut off in the middle of:")
	for _, op := range ops {
		fmt.Fprintf(out, "  * %s %s\n", op.Kind, op.Resource.URN)
	}
}

func (p *pipeline) tellSettled(settled []engine.Settled, v verdicts) {
	out := p.app.streams.Err
	for _, s := range settled {
		text := ""
		switch s.Ending {
		case engine.EndedThere:
			text = "was read, and is there"
		case engine.EndedGone:
			text = "was read, and is gone"
		case engine.EndedAdopted:
			text = fmt.Sprintf("was read, and is taken into the state under the ID %q", orID(s.Resource.ID, v.of[s.Resource.URN]))
		case engine.EndedNothing:
			text = "has left nothing behind"
		case engine.EndedForgot:
			text = "is taken as not created"
			if v.retry {
				text = "will be created again; if the first creation succeeded after all, what it made is left without a manager"
			}
		}
		fmt.Fprintf(out, "  %s %s\n", s.Resource.URN, text)
	}
}

func orID(id, other string) string {
	if id != "" {
		return id
	}
	return other
}

// unsettled ends a command that nobody has told what became of creations.
func (p *pipeline) unsettled(ops []state.Operation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "it is not known what became of %s: the run was cut off before the provider answered", count(len(ops), "creation"))
	for _, op := range ops {
		fmt.Fprintf(&b, "\n  * %s", op.Resource.URN)
	}
	b.WriteString("\nLook whether they exist, and run again with --settle-pending '<urn>=<id>' for each that does and --settle-pending forget for the rest;\n" +
		"or with --settle-pending retry to create them again without looking. Nothing was changed.")
	return withCode(codePending, "%s", b.String())
}

// askPending asks a person for the ID of what a creation has made.
func (p *pipeline) askPending(u urn.URN) (id string, err error) {
	out := p.app.streams.Err
	fmt.Fprintf(out, "Was %s created? Enter its ID to take it into the state, `no` if it does not exist, or nothing to stop: ", u)
	line, err := p.app.answer()
	switch line = strings.TrimSpace(line); {
	case err != nil || line == "":
		return "", errDeclined
	case line == "no":
		return "", nil
	}
	return line, nil
}
