package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
)

// An index says where in a schema's text each definition stands, so that a program pays for the definitions it names and
// not for the size of the schema. It is made by one pass over the text and kept in a file beside it (file.go).
//
//	magic, length of the head, head in JSON, records and texts of each table, checksum of all this
//
// The records of a table are sorted by the lower-case form of their tokens, in schema order where that is equal, so that
// they are found by halving, without decoding the table. Records of the definitions of a section point into the schema's
// text and hold a checksum of the definition; those of modules and aliases point at records of the section.

// ErrDamaged says that an index, or a schema's text, is not what it was when the index was made.
var ErrDamaged = errors.New("the schema's file has changed or is damaged")

const (
	indexMagic = "yamlhost schema index 1\n"
	recordSize = 4 + 4 + 8 + 4 + 4 + 4
)

type (
	indexHead struct {
		Stamp        string // of the text, as the file has it
		Size         int64  // of the text
		Name         string
		Version      string          `json:",omitempty"`
		Description  string          `json:",omitempty"`
		DownloadURL  string          `json:",omitempty"`
		Allowed      []string        `json:",omitempty"`
		ModuleFormat string          `json:",omitempty"`
		Provider     json.RawMessage `json:",omitempty"`
		Config       json.RawMessage `json:",omitempty"`
		Tables       [tables]indexTable
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
	text   string // the token, or what leads to it
	offset uint64 // of the definition in the schema's text; the place of a record in its section for modules and aliases
	length uint32
	sum    uint32
	order  uint32 // in the schema
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

// BuildIndex makes the index of a schema that Parse has read from data. stamp tells this text from others of its file.
func BuildIndex(p *Package, data []byte, stamp string) ([]byte, error) {
	head := indexHead{Stamp: stamp, Size: int64(len(data)), Name: p.Name, Version: p.Version, Description: p.Description,
		DownloadURL: p.DownloadURL, Allowed: p.AllowedPackageNames, Provider: p.provider, Config: p.config}
	if p.moduleFormat != nil {
		head.ModuleFormat = p.moduleFormat.String()
	}
	var all [tables][]record
	for i, s := range []section{p.types, p.resources, p.functions} {
		records, err := recordsOf(s, data)
		if err != nil {
			return nil, err
		}
		sortRecords(records) // before others point at them
		all[i] = records
	}
	if p.moduleFormat != nil {
		for table, section := range map[int]int{resourceModuleTable: resourceTable, functionModuleTable: functionTable} {
			for i, r := range all[section] {
				if key, ok := moduleKey(r.text, p.moduleFormat); ok {
					all[table] = append(all[table], record{text: key, offset: uint64(i), order: r.order})
				}
			}
			sortRecords(all[table])
		}
	}
	places := make(map[string]int, len(all[resourceTable]))
	for i, r := range all[resourceTable] {
		places[r.text] = i
	}
	for alias, token := range aliasesIn(p.resources) {
		all[aliasTable] = append(all[aliasTable], record{text: alias, offset: uint64(places[token])})
	}
	sortRecords(all[aliasTable])
	size := 0
	for i, records := range all {
		head.Tables[i] = indexTable{Records: size, Count: len(records), Texts: size + len(records)*recordSize}
		for _, r := range records {
			head.Tables[i].TextSize += len(r.text)
		}
		size = head.Tables[i].Texts + head.Tables[i].TextSize
	}
	headText, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("index package schema: %w", err)
	}
	index := make([]byte, 0, len(indexMagic)+8+len(headText)+size)
	index = append(index, indexMagic...)
	index = binary.LittleEndian.AppendUint32(index, uint32(len(headText)))
	index = append(index, headText...)
	for _, records := range all {
		index = appendTable(index, records)
	}
	return binary.LittleEndian.AppendUint32(index, crc32.Checksum(index, checksums)), nil
}

func recordsOf(s section, data []byte) ([]record, error) {
	records := make([]record, 0, len(s.list()))
	for i, token := range s.list() {
		raw, _, err := s.get(token)
		if err != nil {
			return nil, err
		}
		// The definitions are slices of data that reach to its end: where one begins is what it lacks of the capacity.
		at := cap(data) - cap(raw)
		if at < 0 || at > len(data)-len(raw) || len(raw) == 0 || &data[at] != &raw[0] {
			return nil, errors.New("index package schema: the package was read from another text")
		}
		records = append(records, record{token, uint64(at), uint32(len(raw)), crc32.Checksum(raw, checksums), uint32(i)})
	}
	return records, nil
}

func sortRecords(records []record) {
	keys := make(map[string]string, len(records))
	for _, r := range records {
		keys[r.text] = strings.ToLower(r.text)
	}
	slices.SortFunc(records, func(a, b record) int {
		if c := strings.Compare(keys[a.text], keys[b.text]); c != 0 {
			return c
		}
		return int(a.order) - int(b.order)
	})
}

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

// OpenIndexed makes a Package of an index and of the text that it is about, of which only what is asked for is read, when
// it is asked for. text must be safe for concurrent use. The error wraps ErrDamaged when the index is not whole, or is not
// that of a text with this stamp and size; a definition that has changed since is told so when it is asked for.
func OpenIndexed(index []byte, text io.ReaderAt, size int64, stamp string) (*Package, error) {
	return openIndexed(index, text, size, stamp, func() {})
}

// openIndexed is OpenIndexed that calls damaged when a definition turns out to have changed.
func openIndexed(index []byte, text io.ReaderAt, size int64, stamp string, damaged func()) (*Package, error) {
	end := len(index) - 4
	start := len(indexMagic) + 4
	if end < start || !bytes.HasPrefix(index, []byte(indexMagic)) ||
		binary.LittleEndian.Uint32(index[end:]) != crc32.Checksum(index[:end], checksums) {
		return nil, ErrDamaged
	}
	length := int(binary.LittleEndian.Uint32(index[start-4:]))
	var head indexHead
	if length > end-start || json.Unmarshal(index[start:start+length], &head) != nil || head.Size != size || head.Stamp != stamp {
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
	resources := &indexedSection{table: opened[resourceTable], modules: opened[resourceModuleTable], text: text, size: size, damaged: damaged}
	p := newPackage(
		&indexedSection{table: opened[typeTable], modules: &table{}, text: text, size: size, damaged: damaged}, resources,
		&indexedSection{table: opened[functionTable], modules: opened[functionModuleTable], text: text, size: size, damaged: damaged})
	p.Name, p.Version, p.Description, p.DownloadURL = head.Name, head.Version, head.Description, head.DownloadURL
	p.AllowedPackageNames, p.provider, p.config = head.Allowed, head.Provider, head.Config
	if err := p.setModuleFormat(head.ModuleFormat); err != nil {
		return nil, ErrDamaged
	}
	p.aliases = make(map[string]string, opened[aliasTable].count)
	for i := range opened[aliasTable].count {
		r := opened[aliasTable].at(i)
		if r.offset < uint64(resources.table.count) {
			p.aliases[r.text] = resources.table.at(int(r.offset)).text
		}
	}
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

// at is a record; the zero record where the table is not what it should be.
func (t *table) at(i int) record {
	raw := t.records[i*recordSize:]
	text, ok := part(t.texts, int(binary.LittleEndian.Uint32(raw)), int(binary.LittleEndian.Uint32(raw[4:])))
	if !ok {
		return record{}
	}
	return record{text: string(text), offset: binary.LittleEndian.Uint64(raw[8:]), length: binary.LittleEndian.Uint32(raw[16:]),
		sum: binary.LittleEndian.Uint32(raw[20:]), order: binary.LittleEndian.Uint32(raw[24:])}
}

// find is the place of the first record whose text is lower in lower case, and whether there is one.
func (t *table) find(lower string) (int, bool) {
	low, high := 0, t.count
	for low < high {
		middle := (low + high) / 2
		if strings.ToLower(t.at(middle).text) < lower {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < t.count && strings.ToLower(t.at(low).text) == lower
}

// indexedSection is a section by its index.
type indexedSection struct {
	table   *table
	modules *table
	text    io.ReaderAt
	size    int64
	damaged func()

	once   sync.Once
	tokens []string
}

var _ section = (*indexedSection)(nil)

func (s *indexedSection) exact(token string) (record, bool) {
	lower := strings.ToLower(token)
	i, found := s.table.find(lower)
	for ; found && i < s.table.count; i++ {
		r := s.table.at(i)
		if r.text == token {
			return r, true
		}
		found = strings.ToLower(r.text) == lower
	}
	return record{}, false
}

func (s *indexedSection) has(token string) bool {
	_, found := s.exact(token)
	return found
}

func (s *indexedSection) get(token string) ([]byte, bool, error) {
	r, found := s.exact(token)
	if !found {
		return nil, false, nil
	}
	if r.offset > uint64(s.size) || uint64(r.length) > uint64(s.size)-r.offset {
		s.damaged()
		return nil, true, ErrDamaged
	}
	raw := make([]byte, r.length)
	if n, err := s.text.ReadAt(raw, int64(r.offset)); n < len(raw) {
		if errors.Is(err, io.EOF) {
			s.damaged()
			err = ErrDamaged
		}
		return nil, true, err
	}
	if crc32.Checksum(raw, checksums) != r.sum {
		s.damaged()
		return nil, true, ErrDamaged
	}
	return raw, true, nil
}

func (s *indexedSection) list() []string {
	s.once.Do(func() {
		if s.table.count > 0 {
			s.tokens = make([]string, s.table.count)
		}
		for i := range s.table.count {
			if r := s.table.at(i); int(r.order) < len(s.tokens) {
				s.tokens[r.order] = r.text
			}
		}
	})
	return s.tokens
}

func (s *indexedSection) fold(lower string) (string, bool) {
	i, found := s.table.find(lower)
	if !found {
		return "", false
	}
	return s.table.at(i).text, true
}

func (s *indexedSection) byModule(key string) (string, bool) {
	i, found := s.modules.find(key)
	if !found {
		return "", false
	}
	r := s.modules.at(i)
	if r.offset >= uint64(s.table.count) {
		return "", false
	}
	return s.table.at(int(r.offset)).text, true
}
