package backend

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Loss records that a repair has continued with a part of a journal, or with an older copy of the state: objects may
// exist that the state does not know of. It stays beside the state, in a file of its own, until somebody has looked
// for them.
type Loss struct {
	Time    time.Time `json:"time"`
	Command string    `json:"command,omitempty"` // whose journal it was; empty if only a copy was put back
	Missing []string  `json:"missing"`           // what can still be told of the missing part
	Aside   []string  `json:"aside,omitempty"`
}

func (b stackState) lossFile() string {
	return filepath.Join(b.root, "stacks", b.ref.Project, b.ref.Stack+".yamlhost-loss")
}

// Loss returns what an earlier repair of a stack's journal has lost; nil if nothing.
func (b *Backend) Loss(r Ref) (*Loss, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		b = h.mirror(r)
	}
	l := &Loss{}
	if found, err := b.readJSON("read what a repair has lost from", b.stateOf(r).lossFile(), l); !found {
		return nil, err
	}
	return l, nil
}

// ForgetLoss removes the record of a loss, which somebody has dealt with.
func (s *Session) ForgetLoss() error { return s.state.setLoss(nil) }

// noteLoss makes durable that a journal was used in part, before the state is written from it. It adds to an earlier
// loss that nobody has dealt with.
func (b stackState) noteLoss(found *Recovery) error {
	return b.addLoss(found.Header.Command, found.Missing, found.Aside)
}

// noteCopy makes durable that a copy replaces the state, before it does. was is the state that it replaces; nil if that
// cannot be read or is gone. A copy that differs from the state in nothing but a mended bit loses nothing.
func (b stackState) noteCopy(p *Previous, was *state.Snapshot, aside string) error {
	if p.Mended {
		return nil
	}
	missing := []string{fmt.Sprintf("what was done after %s, when the copy was written that is the state now",
		p.Written.UTC().Format(time.RFC3339))}
	kept := map[urn.URN]bool{}
	copied, err := (stored{path: p.Path, raw: p.data, identity: journal.IdentityOf(p.data)}).decode(nil)
	if err != nil {
		return err
	}
	for _, r := range snapshotOf(copied).Resources {
		kept[r.URN] = true
	}
	if was != nil {
		for _, r := range was.Resources {
			if r.Custom && r.ID != "" && !kept[r.URN] {
				missing = append(missing, fmt.Sprintf("whether %s exists, with the ID %s: only the other state has it",
					r.URN, r.ID))
			}
		}
	}
	var files []string
	if aside != "" {
		files = append(files, aside)
	}
	return b.addLoss("", missing, files)
}

// addLoss adds to the record of what repairs have lost; nothing missing adds nothing.
func (b stackState) addLoss(command string, missing, aside []string) error {
	if len(missing) == 0 {
		return nil
	}
	l, err := (&Backend{files: b.files}).Loss(b.ref)
	if err != nil {
		return err
	}
	if l == nil {
		l = &Loss{}
	}
	l.Time, l.Command = b.o.Now().UTC(), cmp.Or(command, l.Command)
	for _, m := range missing { // an attempt may be repeated
		if !slices.Contains(l.Missing, m) {
			l.Missing = append(l.Missing, m)
		}
	}
	l.Aside = append(l.Aside, aside...)
	return b.setLoss(l)
}

// setLoss writes the record of a loss, or removes it if l is nil.
func (b stackState) setLoss(l *Loss) error {
	if l == nil {
		return b.remove("remove", b.lossFile())
	}
	return b.writeJSON("write what the repair has lost to", b.lossFile(), l)
}
