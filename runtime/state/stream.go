package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// ErrNotStreamed says that a state file is not of the shape that can be read piece by piece. Reading it as a whole
// gives the answer, or says what is wrong with it.
var ErrNotStreamed = errors.New("the state cannot be read in parts")

// Summary is the content of a state file without its resources.
type Summary struct {
	Time      time.Time // when it was written
	Resources int
	Pending   int
}

// Summarize counts the parts of a state file, reading it piece by piece. It checks the text only as far as it needs
// to find the parts. Its errors are ErrNotStreamed, and r's.
func Summarize(r io.Reader) (Summary, error) {
	var s Summary
	f, err := readPieces(r, func([]byte) error { s.Resources++; return nil },
		func([]byte) error { s.Pending++; return nil }, false)
	if err != nil {
		return Summary{}, err
	}
	head, err := f.head()
	if err != nil {
		return Summary{}, err
	}
	s.Time = head.Manifest.Time
	return s, nil
}

// StreamExport writes what EncodeExport would of a state file, with its secrets sealed as they are. It reads the file
// twice, one resource at a time, and writes nothing before it has read the file once to its end without a fault and
// sound has agreed. It fails with ErrNotStreamed and the errors of sound, open and w; faults of the state are
// ErrNotStreamed too.
func StreamExport(w io.Writer, open func() (io.Reader, error), sound func() error) error {
	features := map[string]bool{}
	bytesSeen := false
	seen := func(d *decoder, r *Resource) error {
		d.End()
		if d.Err != nil || r == nil {
			return ErrNotStreamed
		}
		r.features(features)
		bytesSeen = bytesSeen || d.bytes
		return nil
	}
	read := func(resource, operation func([]byte) error) (*pieces, error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		return readPieces(file, resource, operation, true)
	}
	f, err := read(func(raw []byte) error {
		d := pieceDecoder(raw)
		return seen(&d, d.resource())
	}, func(raw []byte) error {
		d := pieceDecoder(raw)
		return seen(&d, d.operation().Resource)
	})
	if err != nil {
		return err
	}
	head, err := f.head()
	if err != nil {
		return err
	}
	if err := sound(); err != nil {
		return err
	}
	head.ByteStrings = head.ByteStrings || bytesSeen
	around, err := encodeDeployment(head, Sealed(nil), func(_ *encoder, own []string) {
		for _, name := range own {
			features[name] = true
		}
	})
	if err != nil {
		return err
	}
	return writeExport(w, head, around, sortedFeatures(features), read)
}

func pieceDecoder(raw []byte) decoder { return decoder{Scanner: newScanner(string(raw)), blind: true} }

// indents of an export.
const exportIndent = "    "

// writeExport writes the members around the lists, and in their place the lists.
func writeExport(w io.Writer, s *Snapshot, around []byte, features []string,
	read func(resource, operation func([]byte) error) (*pieces, error)) error {
	out := &indenter{w: bufio.NewWriterSize(w, 1<<16), fresh: true}
	e := encoder{}
	e.version(s, features)
	head := append(append([]byte{'{'}, e.buf...), '}')
	out.text("{")
	if err := jsontext.EachMember(head, func(key string, raw []byte) error {
		out.member(1, key, raw)
		return out.err
	}); err != nil {
		return err
	}
	out.key(1, "deployment")
	out.text("{")
	out.fresh = true
	err := jsontext.EachMember(around, func(key string, raw []byte) error {
		if key == "metadata" { // the lists come before it
			if err := out.lists(read); err != nil {
				return err
			}
		}
		out.member(2, key, raw)
		return out.err
	})
	if err != nil {
		return err
	}
	out.text("\n" + exportIndent + "}\n}\n")
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// indenter writes JSON in the manner of json.Indent. The first fault stays in err.
type indenter struct {
	w     *bufio.Writer
	buf   bytes.Buffer
	fresh bool // nothing was written into the object or list yet
	err   error
}

func (o *indenter) text(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

// line begins a line inside of depth objects and lists.
func (o *indenter) line(depth int) {
	if !o.fresh {
		o.text(",")
	}
	o.fresh = false
	o.text("\n")
	for range depth {
		o.text(exportIndent)
	}
}

func (o *indenter) key(depth int, name string) {
	o.line(depth)
	o.text(string(appendString(nil, name, false)) + ": ")
}

func (o *indenter) member(depth int, name string, raw []byte) {
	o.key(depth, name)
	o.value(depth, raw)
}

func (o *indenter) value(depth int, raw []byte) {
	if o.err != nil {
		return
	}
	o.buf.Reset()
	if o.err = json.Indent(&o.buf, raw, exportIndents[:depth*len(exportIndent)], exportIndent); o.err == nil {
		_, o.err = o.w.Write(o.buf.Bytes())
	}
}

const exportIndents = exportIndent + exportIndent + exportIndent

// lists writes the resources and the pending operations, where there are any.
func (o *indenter) lists(read func(resource, operation func([]byte) error) (*pieces, error)) error {
	open := ""
	var scratch []byte
	item := func(list string, encode func(dst []byte) ([]byte, error)) (err error) {
		if list != open {
			o.closeList(open)
			o.key(2, list)
			o.text("[")
			open, o.fresh = list, true
		}
		if scratch, err = encode(scratch[:0]); err != nil {
			return err
		}
		o.line(3)
		o.value(3, scratch)
		return o.err
	}
	_, err := read(func(raw []byte) error {
		d := pieceDecoder(raw)
		return item("resources", func(dst []byte) ([]byte, error) { return AppendResource(dst, d.resource(), Sealed(nil)) })
	}, func(raw []byte) error {
		d := pieceDecoder(raw)
		return item("pending_operations", func(dst []byte) ([]byte, error) {
			return AppendOperation(dst, d.operation(),
				Sealed(nil))
		})
	})
	o.closeList(open)
	return err
}

func (o *indenter) closeList(open string) {
	if open != "" {
		o.fresh = false
		o.text("\n" + exportIndents[:2*len(exportIndent)] + "]")
	}
}

// pieces are a state file without its two lists.
type pieces struct {
	text []byte // the file with nothing in them
}

// head is the snapshot without what is in its lists.
func (p *pieces) head() (*Snapshot, error) {
	c, err := DecodeCheckpoint(p.text, nil)
	if err != nil || c.Snapshot == nil {
		return nil, ErrNotStreamed
	}
	return c.Snapshot, nil
}

// readPieces reads a state file and hands over each resource and each pending operation, whose text counts until the
// next one; with keep unset there is no text.
func readPieces(r io.Reader, resource, operation func([]byte) error, keep bool) (*pieces, error) {
	s := &stream{r: bufio.NewReaderSize(r, 1<<16)}
	p := &pieces{}
	lists := 0
	list := func(each func([]byte) error) func(string) error {
		return func(string) error {
			p.text = append(p.text, "[]"...)
			return s.list(func() error {
				if err := s.value(keep); err != nil {
					return err
				}
				return each(s.text)
			})
		}
	}
	members := map[string]map[string]func(string) error{}
	object := func(path string) func(string) error {
		return func(string) error {
			p.text = append(p.text, '{')
			first := true
			err := s.object(func(key string) error {
				if !first {
					p.text = append(p.text, ',')
				}
				first = false
				p.text = append(append(p.text, s.text...), ':') // as it is written, so that head checks it
				if inside := members[path][key]; inside != nil && s.next() != 'n' {
					return inside(key)
				}
				if err := s.value(true); err != nil {
					return err
				}
				p.text = append(p.text, s.text...)
				return nil
			})
			p.text = append(p.text, '}')
			return err
		}
	}
	once := func(number int, read func(string) error) func(string) error {
		return func(key string) error {
			if lists != number-1 { // an export has them in this order, and a list that is there twice is for others to check
				return ErrNotStreamed
			}
			lists = number
			return read(key)
		}
	}
	members["checkpoint"] = map[string]func(string) error{"latest": object("latest")}
	members[""] = map[string]func(string) error{"checkpoint": object("checkpoint")}
	members["latest"] = map[string]func(string) error{
		"resources":          once(1, list(resource)),
		"pending_operations": func(key string) error { lists = max(lists, 1); return once(2, list(operation))(key) },
	}
	if err := object("")(""); err != nil {
		return nil, err
	}
	if s.next() != 0 || s.err != io.EOF {
		return nil, ErrNotStreamed
	}
	return p, nil
}

// stream reads JSON without having all of it.
type stream struct {
	r    *bufio.Reader
	text []byte // the last value that was kept
	err  error  // of r, or io.EOF
}

// fault is why the text does not go on as it should.
func (s *stream) fault() error {
	if s.err != nil && s.err != io.EOF {
		return fmt.Errorf("read the state: %w", s.err)
	}
	return ErrNotStreamed
}

// next is the next byte that is no blank, which stays unread; 0 at the end.
func (s *stream) next() byte {
	for {
		chunk, err := s.r.Peek(1)
		if err != nil {
			s.err = err
			return 0
		}
		switch c := chunk[0]; c {
		case ' ', '\t', '\n', '\r':
			_, _ = s.r.Discard(1) // it was peeked at
		default:
			return c
		}
	}
}

// expect reads a byte of the JSON text that has to come next.
func (s *stream) expect(c byte) error {
	if s.next() != c {
		return s.fault()
	}
	_, _ = s.r.Discard(1) // it was peeked at
	return nil
}

// object calls member for each member, whose value it has to read.
func (s *stream) object(member func(key string) error) error {
	return s.items('{', '}', func() error {
		if s.next() != '"' {
			return s.fault()
		}
		if err := s.value(true); err != nil {
			return err
		}
		key, err := jsontext.StringOf(s.text)
		if err != nil {
			return ErrNotStreamed
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(key)
	})
}

// list calls item for each item, which it has to read.
func (s *stream) list(item func() error) error { return s.items('[', ']', item) }

func (s *stream) items(open, end byte, item func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if s.next() == end {
		return s.expect(end)
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if s.next() != ',' {
			return s.expect(end)
		}
		if err := s.expect(','); err != nil {
			return err
		}
	}
}

// value passes over a value, and keeps its text if that is asked for.
func (s *stream) value(keep bool) error {
	s.text = s.text[:0]
	var p passing
	for s.next(); ; {
		if _, err := s.r.Peek(1); err != nil {
			s.err = err
			return s.fault()
		}
		chunk, _ := s.r.Peek(s.r.Buffered()) // what is there can be peeked at
		n, done := p.pass(chunk)
		if keep {
			s.text = append(s.text, chunk[:n]...)
		}
		if _, _ = s.r.Discard(n); done { // it was peeked at
			return nil
		}
	}
}

// passing is how far a value has been passed over.
type passing struct {
	depth                   int
	begun, quoted, odd, ask bool // odd: an odd number of backslashes came last; ask: a number or a word
}

// pass goes on over a piece of the text, and returns how much of it belongs to the value and whether that ends there.
func (p *passing) pass(chunk []byte) (n int, done bool) {
	for i := 0; i < len(chunk); {
		if p.quoted {
			j := bytes.IndexByte(chunk[i:], '"')
			segment := chunk[i:]
			if j >= 0 {
				segment = chunk[i : i+j]
			}
			if k := len(bytes.TrimRight(segment, `\`)); k > 0 {
				p.odd = (len(segment)-k)%2 == 1
			} else {
				p.odd = p.odd != (len(segment)%2 == 1)
			}
			if j < 0 {
				return len(chunk), false
			}
			i += j + 1
			if p.odd {
				p.odd = false
				continue
			}
			p.quoted = false
			if p.depth == 0 {
				return i, true
			}
			continue
		}
		switch c := chunk[i]; c {
		case '"':
			p.quoted, p.odd = true, false
		case '{', '[':
			p.depth++
		case '}', ']':
			if p.ask {
				return i, true
			}
			if p.depth--; p.depth <= 0 {
				return i + 1, true
			}
		case ',', ' ', '\t', '\n', '\r':
			if p.ask {
				return i, true
			}
		default:
			p.ask = p.ask || !p.begun
		}
		p.begun = true
		i++
	}
	return len(chunk), false
}
