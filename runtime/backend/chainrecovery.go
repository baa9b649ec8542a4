package backend

import (
	"errors"
	"fmt"
	"path"

	"github.com/yamlhost/yamlhost/runtime/journal"
)

// journalInChains is what there is of a journal in a store: at most one chain holds something that is not in the state
// yet, the newest that is not settled.
func (b stackJournal) journalInChains() ([]byte, error) {
	folders, err := b.chains()
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	lease, _, err := b.locksOf(b.ref).readLease()
	if err != nil && !errors.As(err, new(*CorruptError)) {
		return nil, err
	}
	for i := len(folders) - 1; i >= 0 && generationOf(folders[i]) > lease.Settled; i-- {
		l, err := b.readChain(folders[i])
		if err != nil {
			return nil, err
		}
		if l.settled() {
			continue
		}
		if data, _, err := l.journal(); err != nil || data != nil {
			return data, err
		}
	}
	return nil, nil
}

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
			if file, err = b.current(b.ref); err != nil {
				return nil, file, err
			}
			continue
		}
		if err != nil {
			return nil, file, err
		}
		return out.unlessEmpty(), next, b.settleAll(h)
	}
}

func (b stackJournal) recoverOnto(h *heldLock, file stored, salvage bool) (out *Recovery, _ stored, err error) {
	var unsettled []*links // that hold a journal which a state to come has to be known to
	for _, l := range h.left {
		data, _, err := l.journal()
		if err != nil {
			return nil, file, err
		}
		found, err := b.settle(file, data, salvage)
		switch {
		case err != nil:
			return nil, file, err
		case found == nil:
			continue
		case found.Foreign:
			if err := b.putAside(found, data, "foreign"); err != nil {
				return nil, file, err
			}
		case out == nil || out.snapshot == nil:
			unsettled = append(unsettled, l)
		}
		if found.damaged() && !found.Foreign {
			if err := b.putAside(found, data, "damaged"); err != nil {
				return nil, file, err
			}
		}
		if out == nil || found.snapshot != nil {
			out = found
		}
	}
	p, err := b.packRecovered(file, out.recovered())
	if err != nil {
		return nil, file, err
	}
	piece, err := journal.CoveredPiece(p.identity)
	if err != nil {
		return nil, file, err
	}
	for _, l := range unsettled {
		if err := b.appendTo(h, l, piece); err != nil {
			return nil, file, h.explain(err)
		}
	}
	if err := h.guard(); err != nil {
		return nil, file, err
	}
	next, err := b.putState(b.ref, p, file)
	return out, next, err
}

// putAside keeps a journal that is not used, or not all of it.
func (b stackJournal) putAside(found *Recovery, data []byte, why string) error {
	aside := path.Join(b.workFolder(b.ref), fmt.Sprintf("%d.%s", b.o.Now().UnixNano(), why))
	if _, err := b.objects.put(aside, data, Condition{}); err != nil {
		return &FileError{Doing: "set the journal aside in", Path: aside, Err: err}
	}
	found.Aside = append(found.Aside, aside)
	return nil
}

// settleAll notes of what others have left that it is settled.
func (b stackJournal) settleAll(h *heldLock) error {
	for _, l := range h.left {
		if err := b.settleChain(h, l); err != nil {
			return h.explain(err)
		}
	}
	if len(h.left) == 0 {
		return nil
	}
	h.left = nil
	return h.explain(h.lease.settle())
}
