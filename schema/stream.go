package schema

import (
	"errors"
	"fmt"
	"io"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// stream reads a JSON text sequentially and buffers one value at a time, so that the text may be much larger than the
// memory. It accepts the grammar of jsontext.EachMember.
type stream struct {
	from io.Reader
	held []byte // buffered text, from the current value on
	pos  int    // position in held of the next byte
	at   int64  // offset of held in the text
	end  error  // error of from; io.EOF at the end of the text, and from the start if held is the whole text
}

// window is the initial size of the buffer in bytes; longer values make it grow.
const window = 256 << 10

// more reads more text and reports whether there was any. It drops the text before pos, which invalidates slices of
// held.
func (s *stream) more() bool {
	if s.end != nil {
		return false
	}
	kept := copy(s.held, s.held[s.pos:])
	s.at, s.pos, s.held = s.at+int64(s.pos), 0, s.held[:kept]
	if kept == cap(s.held) {
		s.held = append(make([]byte, 0, 2*kept), s.held...)
	}
	for s.end == nil && len(s.held) == kept {
		var n int
		n, s.end = s.from.Read(s.held[kept:cap(s.held)])
		s.held = s.held[:kept+n]
	}
	return len(s.held) > kept
}

// next skips space and returns the next byte without consuming it; ok is false at the end of the text.
func (s *stream) next() (c byte, ok bool) {
	for {
		if s.pos = jsontext.SkipSpace(s.held, s.pos); s.pos < len(s.held) {
			return s.held[s.pos], true
		}
		if !s.more() {
			return 0, false
		}
	}
}

// offset returns the byte offset of the current position in the text.
func (s *stream) offset() int64 { return s.at + int64(s.pos) }

// truncated returns the reader's error, or jsontext.ErrTruncated if the text ended too early.
func (s *stream) truncated() error {
	if s.end != nil && !errors.Is(s.end, io.EOF) {
		return s.end
	}
	return jsontext.ErrTruncated
}

// value consumes the next value. raw is valid until the next call of a method of the stream.
func (s *stream) value() (raw []byte, offset int64, err error) {
	if _, ok := s.next(); !ok {
		return nil, 0, s.truncated()
	}
	var p jsontext.Passage
	for !p.Advance(s.held[s.pos:]) {
		if !s.more() {
			if p.Depth > 0 || p.Quoted || p.At == 0 || s.held[s.pos] == '"' || !errors.Is(s.end, io.EOF) {
				return nil, 0, s.truncated()
			}
			break
		}
	}
	if p.At == 0 {
		return nil, 0, fmt.Errorf("a value is missing at byte %d", s.offset())
	}
	raw, offset = s.held[s.pos:s.pos+p.At], s.offset()
	s.pos += p.At
	return raw, offset, nil
}

// members calls fn for each member of the next object; fn consumes the member's value. null counts as an empty
// object.
func (s *stream) members(fn func(key string) error) error {
	switch c, ok := s.next(); {
	case ok && c == 'n':
		if raw, _, err := s.value(); err != nil || !jsontext.IsNull(raw) {
			return errors.Join(err, errors.New("expected an object"))
		}
		return nil
	case !ok && !errors.Is(s.end, io.EOF):
		return s.end
	case !ok || c != '{':
		return errors.New("expected an object")
	}
	s.pos++
	if c, ok := s.next(); ok && c == '}' {
		s.pos++
		return nil
	}
	for {
		if c, ok := s.next(); !ok {
			return s.truncated()
		} else if c != '"' {
			return fmt.Errorf("expected the name of a member at byte %d", s.offset())
		}
		raw, _, err := s.value()
		if err != nil {
			return err
		}
		key, err := jsontext.StringOf(raw)
		if err != nil {
			return err
		}
		if c, ok := s.next(); !ok {
			return s.truncated()
		} else if c != ':' {
			return fmt.Errorf("expected a colon after the name %q", key)
		}
		s.pos++
		if err := fn(key); err != nil {
			return err
		}
		c, ok := s.next()
		s.pos++
		switch {
		case !ok:
			return s.truncated()
		case c == '}':
			return nil
		case c != ',':
			return fmt.Errorf("expected a comma after the member %q", key)
		}
	}
}

// nothingMore returns an error unless only space is left.
func (s *stream) nothingMore() error {
	if _, ok := s.next(); ok {
		return fmt.Errorf("there is text after the end, at byte %d", s.offset())
	}
	if !errors.Is(s.end, io.EOF) {
		return s.end
	}
	return nil
}
