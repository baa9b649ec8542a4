package backend

import (
	"context"
	"errors"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// begin is Backend.Begin. The copy of the stack is locked first, so that operations of this machine do not compete;
// then what an earlier one has left is sent. So the state goes on from what the service has, or this machine knows
// better.
func (h hosted) begin(ctx context.Context, r Ref, o BeginOptions) (_ *Session, err error) {
	if h.b.o.Copies == "" {
		return nil, errors.New("there is no home folder to keep the results of an operation in while they are sent")
	}
	b := h.mirror(r)
	held, err := b.locksOf(r).lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.release())
		}
	}()
	kept, err := h.keptOf(r)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if err := h.endKept(ctx, r, kept); err != nil {
			return nil, err
		}
	}
	about := o.Record
	if about == nil {
		about = &Record{Kind: o.Command}
	}
	update, err := h.b.service.Begin(ctx, r, about, false)
	if err != nil {
		return nil, err
	}
	s, err := h.open(ctx, b, r, o, held, update, kept)
	if err != nil {
		return nil, errors.Join(err, update.Complete(context.WithoutCancel(ctx), "failed"))
	}
	return s, nil
}

// endKept ends the operation that an earlier process has begun, unless it has ended already.
func (h hosted) endKept(ctx context.Context, r Ref, kept *keptUpdate) error {
	update, err := h.b.service.Resume(r, kept.Ticket)
	if err != nil {
		return nil // what cannot be resumed has ended, or ends with its lease
	}
	if err = update.Complete(ctx, "failed"); errors.As(err, new(*LockLostError)) {
		return nil
	}
	return err
}

// open reads the state of an operation that has begun.
func (h hosted) open(ctx context.Context, b *Backend, r Ref, o BeginOptions, held *heldLock, update Update,
	kept *keptUpdate) (*Session, error) {
	exported, err := h.b.service.Export(ctx, r, 0)
	if err != nil {
		return nil, err
	}
	tools := newTools(b.schedule, held.fenced.stateOf(r), held, o)
	continues := kept != nil && update.Facts().Version-1-update.Facts().Skipped == kept.Version
	if continues {
		there, err := tools.state.exists()
		if continues = there; err != nil {
			return nil, err
		}
	}
	if !continues { // a journal that is there does not fit any more, which load reports
		if err := tools.state.copyDown(exported); err != nil {
			return nil, err
		}
	}
	if err := tools.state.keep(update); err != nil {
		return nil, err
	}
	held.remote = &remote{update: update, url: h.b.PublicURL(), kept: b.journalOf(r).journalFile(), ref: r,
		sealer: tools.sealer, renewed: func() { _ = b.stateOf(r).keep(update) }} // else the next run waits for the lease
	s, err := tools.load()
	if err != nil {
		return nil, held.explain(err)
	}
	// What the service has must be what the session goes on from. Pending creations are begun there anew, so that the
	// journal can end them.
	creating := func(op state.Operation) bool { return op.Kind == state.Creating }
	if continues || update.Facts().Journal && slices.ContainsFunc(s.base.Pending, creating) {
		if err := held.remote.write(s.base, false); err != nil {
			return nil, err
		}
		s.beginFrom(s.base)
	}
	s.watched = watch(update, false)
	held.remote.renewer.start(update.Facts().Renewal, held.remote.renew)
	return s, nil
}
