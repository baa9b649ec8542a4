package operation

import (
	"fmt"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// lossHolds refuses an operation that may create what exists already: a repair has continued with a part of a journal
// or with an older copy of the state, and nobody has looked since. A plan alone only warns.
func (p *Pipeline) lossHolds(op Operation, document bool) error {
	if op.Kind == refreshOperation.Kind || op.Kind == destroyOperation.Kind || p.options.AcceptLoss {
		return nil
	}
	loss, err := p.Stack.Backend.Loss(p.Stack.Ref)
	if err != nil || loss == nil {
		return err
	}
	text := lossText(p.Console, loss) + "\nLook for these objects, and import them with `yamlhost import`. Then run " +
		"`yamlhost refresh`, or pass --accept-loss"
	if document || op.Kind == "import" {
		fmt.Fprintf(p.Console.Streams.Err, "warning: %s\n", text)
		return nil
	}
	return console.WithCode(console.CodePending, "nothing was created, because it may exist already: %s", text)
}

// lossEnds forgets the loss after a refresh of the whole stack, or when the user has accepted it.
func (p *Pipeline) lossEnds(session *backend.Session, op Operation, result *engine.Result) error {
	s := &p.options.Scope
	looked := op.Kind == refreshOperation.Kind && !result.Failed && !result.Canceled && !result.Terminated &&
		len(s.targets)+len(s.excludes) == 0
	accepted := p.options.AcceptLoss && op.Kind == updateOperation.Kind
	if !looked && !accepted {
		return nil
	}
	loss, err := p.Stack.Backend.Loss(p.Stack.Ref)
	if err != nil || loss == nil {
		return err
	}
	if looked {
		fmt.Fprintln(p.Console.Streams.Err, "warning: "+lossText(p.Console, loss)+
			"\nThe refresh has read what the state has; it cannot find these. `up` creates again what the state lacks.")
	}
	return session.ForgetLoss()
}

// lossText describes what a repair has lost and what is still known of it.
func lossText(a *console.Console, loss *backend.Loss) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a repair of %s has ", loss.Time.Format(time.RFC3339))
	if loss.Command == "" {
		b.WriteString("put an older copy of the state back:")
	} else {
		fmt.Fprintf(&b, "lost records of the journal of an earlier %s:", loss.Command)
	}
	for _, m := range loss.Missing {
		b.WriteString("\n  it is not known " + m)
	}
	for _, path := range loss.Aside {
		b.WriteString("\n  kept for inspection: " + a.Short(path))
	}
	return b.String()
}
