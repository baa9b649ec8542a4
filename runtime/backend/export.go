package backend

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// Export writes what stack export prints (F5.17). With a nil open, secrets stay sealed as they are; else they are
// shown. A state file that is as it should be, with nothing beside it, is not held in memory as a whole. Nothing is
// written of a state that cannot be read.
func (b *Backend) Export(ctx context.Context, r Ref, open state.Opener, w io.Writer) error {
	if open == nil {
		if err := b.stateOf(r).stream(w); !errors.Is(err, state.ErrNotStreamed) {
			return err
		}
	}
	loaded, err := b.Load(ctx, r, open)
	if err != nil {
		return err
	}
	form := state.Shown()
	if open == nil {
		form = state.Sealed(nil)
	}
	text, err := state.EncodeExport(loaded.Snapshot, form)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// stream prints what Export prints, and fails with state.ErrNotStreamed for what has to be read as a whole.
func (b stackState) stream(w io.Writer) error {
	path, err := b.alone()
	if err != nil {
		return err
	}
	file, err := b.disk.Open(path) // once: another one may take its name meanwhile
	if err != nil {
		return state.ErrNotStreamed
	}
	defer file.Close()
	var check checksumReader
	return state.StreamExport(w, func() (io.Reader, error) {
		check = checksumReader{Reader: file}
		_, err := file.Seek(0, io.SeekStart)
		return &check, err
	}, func() error {
		if !check.sound() {
			return state.ErrNotStreamed
		}
		return nil
	})
}

// alone finds the state file of a stack that has no journal beside it; else the error is state.ErrNotStreamed.
func (b stackState) alone() (path string, err error) {
	if left, err := b.journalOf(b.ref).data(); err != nil || left != nil {
		return "", state.ErrNotStreamed
	}
	if path, err = b.locate(); err != nil {
		return "", state.ErrNotStreamed
	}
	return path, nil
}

// Overview describes one stack in a list of stacks.
type Overview struct {
	Resources, Pending int
	Updated            time.Time // when the last operation ended, or the state was written; zero before there was any
}

// Overview reads and checks only the parts of a stack that it returns. Its errors are the errors of Load.
func (b *Backend) Overview(ctx context.Context, r Ref) (Overview, error) {
	o, err := b.stateOf(r).overview()
	if errors.Is(err, state.ErrNotStreamed) {
		loaded, failed := b.Load(ctx, r, nil)
		if failed != nil {
			return Overview{}, failed
		}
		s := loaded.Snapshot
		o, err = Overview{len(s.Resources), len(s.Pending), s.Manifest.Time}, nil
	}
	if err != nil {
		return Overview{}, err
	}
	if o.Resources+o.Pending == 0 {
		o.Updated = time.Time{}
	}
	o.Updated = b.LastUpdate(ctx, r, o.Updated)
	return o, nil
}

// LastUpdate returns when the last operation ended on a stack whose state was written at that time: one that changes
// nothing leaves the state as it is.
func (b *Backend) LastUpdate(ctx context.Context, r Ref, written time.Time) time.Time {
	if last, err := b.History(ctx, r, 1); err == nil && len(last) > 0 {
		if ended := time.Unix(last[0].EndTime, 0); ended.After(written) {
			return ended
		}
	}
	return written
}

// overview reads what Overview tells, and fails with state.ErrNotStreamed where the state cannot be read in parts.
func (b stackState) overview() (Overview, error) {
	path, err := b.alone()
	if err != nil {
		return Overview{}, err
	}
	file, err := b.disk.Open(path)
	if err != nil {
		return Overview{}, state.ErrNotStreamed
	}
	defer file.Close()
	s, err := state.Summarize(file)
	if err != nil {
		return Overview{}, state.ErrNotStreamed
	}
	return Overview{s.Resources, s.Pending, s.Time}, nil
}

// checksumReader compares a state file with its checksum while it is read.
type checksumReader struct {
	io.Reader
	sum  uint32 // of everything before last
	last []byte // the end, where the checksum would be
}

func (s *checksumReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.last = append(s.last, p[:n]...)
	if more := len(s.last) - checksumLength; more > 0 {
		s.sum = crc32.Update(s.sum, castagnoli, s.last[:more])
		s.last = append(s.last[:0], s.last[more:]...)
	}
	return n, err
}

// sound reports whether what was read to its end has the right checksum, or none.
func (s *checksumReader) sound() bool {
	return bytes.Equal(s.last, checksumText(s.sum)) || !bytes.Contains(s.last, []byte("crc32c"))
}
