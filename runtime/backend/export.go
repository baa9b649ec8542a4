package backend

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// Export writes what stack export prints (F5.17), of the present state with version 0, or of an earlier one, which only a
// service has by its number. With a nil open, secrets stay sealed as they are; else they are shown. Nothing is written of
// a state that cannot be read.
func (b *Backend) Export(ctx context.Context, r Ref, version int, open state.Opener, w io.Writer) error {
	var s *state.Snapshot
	h, ok := b.hosted()
	switch {
	case version == 0:
		loaded, err := b.Load(ctx, r, open)
		if err != nil {
			return err
		}
		s = loaded.Snapshot
	case !ok:
		return errors.New("only a service has earlier states by their numbers; those of this backend are in .pulumi/history")
	case version < 0:
		return errors.New("--version takes a number from 1")
	default:
		r, err := b.named(ctx, r)
		if err == nil {
			s, err = h.version(ctx, r, version, open)
		}
		if err != nil {
			return err
		}
	}
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
