package backend

import (
	"errors"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// recoverObjects brings the state up to what the chains say that other runs have left, which the lock has fenced off.
// The state is written anew even if they say nothing: one of them may have passed its last guard and be about to
// replace the state that it knows, which must therefore not be there any more.
func (b stackJournal) recoverObjects(h *heldLock, file stored, salvage bool) (*Recovery, stored, error) {
	if len(h.left) == 0 {
		return nil, file, nil
	}
	for {
		out, next, err := b.recoverOnto(h, file, salvage)
		if errors.Is(err, ErrChanged) { // that was it
			if err := h.lease.renew(); err != nil {
				return nil, file, h.explain(err)
			}
			if file, err = b.current(); err != nil {
				return nil, file, err
			}
			continue
		}
		if err != nil {
			return nil, file, err
		}
		return out.unlessEmpty(), next, b.chainsOf(b.ref).noteAllMerged(h)
	}
}

// recoverOnto is one attempt of recoverObjects on the state as it was read. Its error wraps ErrChanged when another run
// has written the state in the meantime, which it can do once.
func (b stackJournal) recoverOnto(h *heldLock, file stored, salvage bool) (out *Recovery, _ stored, err error) {
	var unmerged []*links // that hold a journal which a state to come has to be known to
	for _, l := range h.left {
		data, err := l.journal()
		if err != nil {
			return nil, file, err
		}
		found, err := b.replay(file, data, salvage)
		switch {
		case err != nil:
			return nil, file, err
		case found == nil:
			continue
		case found.Foreign:
			if err := b.putAside(found, "the journal", "foreign", data); err != nil {
				return nil, file, err
			}
		case out == nil || out.snapshot == nil:
			unmerged = append(unmerged, l)
		}
		if found.damaged() && !found.Foreign {
			if err := b.putAside(found, "the journal", "damaged", data); err != nil {
				return nil, file, err
			}
		}
		if err := b.noteLoss(found); err != nil {
			return nil, file, err
		}
		if out == nil || found.snapshot != nil {
			out = found
		}
	}
	var recovered *state.Snapshot
	if out != nil {
		recovered = out.snapshot
	}
	p, err := b.packRecovered(file, recovered)
	if err != nil {
		return nil, file, err
	}
	piece, err := journal.CoveredPiece(p.identity)
	if err != nil {
		return nil, file, err
	}
	for _, l := range unmerged {
		if err := b.chainsOf(b.ref).append(h, l, piece); err != nil {
			return nil, file, h.explain(err)
		}
	}
	if err := h.guard(); err != nil {
		return nil, file, err
	}
	next, err := b.put(p, file)
	return out, next, err
}
