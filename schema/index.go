package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"sort"
	"strings"
	"sync"
)

// An index has the position of each definition in a schema's text, so that a program pays only for the definitions that
// it uses. It is built in one pass over the text (indexer.go) and stored in a file beside it (file.go).
//
//	magic, length of the head, head in JSON, records and texts of each table, checksum of all this
//
// The records of a table are sorted by the lower-case form of their tokens, in schema order where that is equal, for
// binary search without decoding the table. Records of the definitions of a section point into the schema's text and
// hold a checksum of the definition; records of modules and aliases point at records of the section.

// ErrDamaged is returned when an index, or a schema's text, has changed since the index was built.
var ErrDamaged = errors.New("the schema's file has changed or is damaged")

const (
	indexMagic = "yamlhost schema index 2\n"
	recordSize = 4 + 4 + 8 + 4 + 4 + 4
)

type (
	indexHead struct {
		Stamp       string // of the file with the text
		Size        int64  // of the text
		Name        string
		Version     string   `json:",omitempty"`
		Description string   `json:",omitempty"`
		DownloadURL string   `json:",omitempty"`
		Allowed     []string `json:",omitempty"`
		Provider    []byte   `json:",omitempty"` // its text, not decoded
		Config      []byte   `json:",omitempty"` // the same
		Tables      [tables]indexTable
	}
	// indexTable is the place of a table in the bytes behind the head.
	indexTable struct{ Records, Count, Texts, TextSize int }
)

// The tables of an index.
const (
	typeTable = iota
	resourceTable
	functionTable
	resourceModuleTable
	functionModuleTable
	aliasTable
	tables
)

// record is an entry of a table.
type record struct {
	text string // the token, module or alias
	// of the definition in the schema's text; the place of a record in its section for modules and aliases
	offset uint64
	length uint32
	sum    uint32
	order  uint32 // in the schema
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

func appendTable(index []byte, records []record) []byte {
	offset := 0
	for _, r := range records {
		index = binary.LittleEndian.AppendUint32(index, uint32(offset))
		index = binary.LittleEndian.AppendUint32(index, uint32(len(r.text)))
		index = binary.LittleEndian.AppendUint64(index, r.offset)
		index = binary.LittleEndian.AppendUint32(index, r.length)
		index = binary.LittleEndian.AppendUint32(index, r.sum)
		index = binary.LittleEndian.AppendUint32(index, r.order)
		offset += len(r.text)
	}
	for _, r := range records {
		index = append(index, r.text...)
	}
	return index
}

// openIndexed returns a Package for an index and its text, which reads definitions from the text on demand. text must
// be safe for concurrent use. The error wraps ErrDamaged if the index is incomplete, or does not belong to a text with
// this stamp and size. If a definition turns out to have changed, its reader gets an error, and damaged is called.
func openIndexed(index []byte, text io.ReaderAt, size int64, stamp string, damaged func()) (*Package, error) {
	end := len(index) - 4
	start := len(indexMagic) + 4
	if end < start || !bytes.HasPrefix(index, []byte(indexMagic)) ||
		binary.LittleEndian.Uint32(index[end:]) != crc32.Checksum(index[:end], checksums) {
		return nil, ErrDamaged
	}
	length := int(binary.LittleEndian.Uint32(index[start-4:]))
	var head indexHead
	if length > end-start || json.Unmarshal(index[start:start+length], &head) != nil || head.Size != size ||
		head.Stamp != stamp {
		return nil, ErrDamaged
	}
	body := index[start+length : end]
	var opened [tables]*table
	for i, place := range head.Tables {
		if place.Count < 0 || place.Count > len(body)/recordSize {
			return nil, ErrDamaged
		}
		t := &table{count: place.Count}
		var ok bool
		if t.records, ok = part(body, place.Records, place.Count*recordSize); !ok {
			return nil, ErrDamaged
		}
		if t.texts, ok = part(body, place.Texts, place.TextSize); !ok {
			return nil, ErrDamaged
		}
		opened[i] = t
	}
	p := &Package{Name: head.Name, Version: head.Version, Description: head.Description, DownloadURL: head.DownloadURL,
		AllowedPackageNames: head.Allowed, provider: head.Provider, config: head.Config, aliases: opened[aliasTable]}
	section := func(tbl, modules *table) section {
		part := &indexedSection{table: tbl, modules: modules, text: text, size: size, damaged: func() {
			p.damaged.Store(true)
			damaged()
		}}
		part.tokens = sync.OnceValue(part.list)
		return newSection(part)
	}
	p.types = section(opened[typeTable], &table{})
	p.resources = section(opened[resourceTable], opened[resourceModuleTable])
	p.functions = section(opened[functionTable], opened[functionModuleTable])
	return p, nil
}

func part(body []byte, offset, size int) ([]byte, bool) {
	if offset < 0 || size < 0 || offset > len(body) || size > len(body)-offset {
		return nil, false
	}
	return body[offset : offset+size], true
}

// table is a table of an index, read in place.
type table struct {
	records, texts []byte
	count          int
}

// at returns a record; the zero record if the table is damaged.
func (t *table) at(i int) record {
	raw := t.records[i*recordSize:]
	text, ok := part(t.texts, int(binary.LittleEndian.Uint32(raw)), int(binary.LittleEndian.Uint32(raw[4:])))
	if !ok {
		return record{}
	}
	return record{text: string(text), offset: binary.LittleEndian.Uint64(raw[8:]),
		length: binary.LittleEndian.Uint32(raw[16:]),
		sum:    binary.LittleEndian.Uint32(raw[20:]), order: binary.LittleEndian.Uint32(raw[24:])}
}

// find returns the index of the first record whose text in lower case is lower, and whether there is one.
func (t *table) find(lower string) (int, bool) {
	return sort.Find(t.count, func(i int) int { return strings.Compare(lower, strings.ToLower(t.at(i).text)) })
}

// exact returns the record of a text, and whether there is one.
func (t *table) exact(text string) (record, bool) {
	lower := strings.ToLower(text)
	i, found := t.find(lower)
	for ; found && i < t.count; i++ {
		r := t.at(i)
		if r.text == text {
			return r, true
		}
		found = strings.ToLower(r.text) == lower
	}
	return record{}, false
}

// indexedSection is a section of one index.
type indexedSection struct {
	table   *table
	modules *table
	text    io.ReaderAt
	size    int64
	damaged func()
	tokens  func() []string // list, once
}

// read reads the definition of a record of the table.
func (s *indexedSection) read(r record) ([]byte, error) {
	if r.offset > uint64(s.size) || uint64(r.length) > uint64(s.size)-r.offset {
		s.damaged()
		return nil, ErrDamaged
	}
	raw := make([]byte, r.length)
	if n, err := s.text.ReadAt(raw, int64(r.offset)); n < len(raw) {
		s.damaged()
		if errors.Is(err, io.EOF) {
			err = ErrDamaged
		}
		return nil, err
	}
	if crc32.Checksum(raw, checksums) != r.sum {
		s.damaged()
		return nil, ErrDamaged
	}
	return raw, nil
}

func (s *indexedSection) list() []string {
	if s.table.count == 0 {
		return nil
	}
	tokens := make([]string, s.table.count)
	for i := range tokens {
		if r := s.table.at(i); int(r.order) < len(tokens) {
			tokens[r.order] = r.text
		}
	}
	return tokens
}

// token returns the token of a record of modules or aliases.
func (s *indexedSection) token(r record) (string, bool) {
	if r.offset >= uint64(s.table.count) {
		return "", false
	}
	return s.table.at(int(r.offset)).text, true
}
