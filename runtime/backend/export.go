package backend

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// ExportVersion is Export of an earlier state, which only a service has by its number; 0 is the present one.
func (b *Backend) ExportVersion(ctx context.Context, r Ref, version int, open state.Opener, w io.Writer) error {
	h, ok := b.hosted()
	switch {
	case version == 0:
		return b.Export(ctx, r, open, w)
	case !ok:
		return errors.New("only a service has earlier states by their numbers; those of this backend are in .pulumi/history")
	case version < 0:
		return errors.New("--version takes a number from 1")
	}
	r, err := h.owned(ctx, r)
	if err != nil {
		return err
	}
	s, err := h.version(ctx, r, version, open)
	if err != nil {
		return err
	}
	return export(s, open, w)
}

// Export writes what stack export prints (F5.17). With a nil open, secrets stay sealed as they are; else they are
// shown. Nothing is written of a state that cannot be read.
func (b *Backend) Export(ctx context.Context, r Ref, open state.Opener, w io.Writer) error {
	loaded, err := b.Load(ctx, r, open)
	if err != nil {
		return err
	}
	return export(loaded.Snapshot, open, w)
}

func export(s *state.Snapshot, open state.Opener, w io.Writer) error {
	form := state.Shown()
	if open == nil {
		form = state.Sealed(nil)
	}
	text, err := state.EncodeExport(s, form)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Overview describes one stack in a list of stacks.
type Overview struct {
	Resources, Pending int
	Updated            time.Time // when the last operation ended, or the state was written; zero before there was any
}

// Overview describes a stack. Its errors are the errors of Load.
func (b *Backend) Overview(ctx context.Context, r Ref) (Overview, error) {
	if known, ok := b.listed[r]; ok {
		return Overview{Resources: known.Resources, Updated: known.Updated}, nil
	}
	loaded, err := b.Load(ctx, r, nil)
	if err != nil {
		return Overview{}, err
	}
	s := loaded.Snapshot
	o := Overview{Resources: len(s.Resources), Pending: len(s.Pending)}
	if o.Resources+o.Pending > 0 {
		o.Updated = s.Manifest.Time
	}
	o.Updated = b.LastUpdate(ctx, r, o.Updated)
	return o, nil
}

// LastUpdate returns when the last operation ended on a stack whose state was written at that time: one that changes
// nothing leaves the state as it is.
func (b *Backend) LastUpdate(ctx context.Context, r Ref, written time.Time) time.Time {
	last, _ := b.History(ctx, r, 2) // what cannot be read has the time of the state
	for _, record := range last {
		if ended := time.Unix(record.EndTime, 0); record.EndTime > 0 && ended.After(written) { // one may still run
			return ended
		}
	}
	return written
}
