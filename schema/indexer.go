package schema

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// BuildIndex builds the index of a schema in one pass over its text, with one definition in memory at a time. stamp
// distinguishes this text from other versions of its file. The error is a fault of the schema, as in Parse, or that of
// reading.
func BuildIndex(text io.Reader, stamp string) ([]byte, error) {
	return buildIndex(&stream{from: text, held: make([]byte, 0, window)}, stamp)
}

func buildIndex(text *stream, stamp string) ([]byte, error) {
	b := &indexer{text: text}
	if err := b.read(); err != nil {
		return nil, fmt.Errorf("read package schema: %w", err)
	}
	index, err := b.index(stamp)
	if err != nil {
		return nil, fmt.Errorf("index package schema: %w", err)
	}
	return index, nil
}

// indexer collects the records of an index during the pass.
type indexer struct {
	head     indexHead
	format   *regexp.Regexp // of modules; nil for the default, the whole of the middle part
	text     *stream
	sections [3]definitions // by table
}

// definitions are a section's definitions in schema order.
type definitions struct {
	records []record
	aliases [][]string // of resources, by record
}

func (b *indexer) read() error {
	sections := map[string]int{"types": typeTable, "resources": resourceTable, "functions": functionTable}
	head := readers{
		"name":                stringInto(&b.head.Name),
		"version":             stringInto(&b.head.Version),
		"description":         stringInto(&b.head.Description),
		"pluginDownloadURL":   stringInto(&b.head.DownloadURL),
		"allowedPackageNames": stringsInto(&b.head.Allowed),
		"provider":            rawInto(&b.head.Provider),
		"config":              rawInto(&b.head.Config),
		"meta":                b.readMeta,
	}
	err := b.text.members(func(key string) error {
		if table, isSection := sections[key]; isSection {
			if err := b.readSection(table); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			return nil
		}
		raw, _, err := b.text.value()
		if err != nil {
			return err
		}
		return head.read(key, bytes.Clone(raw))
	})
	if err == nil {
		err = b.text.nothingMore()
	}
	if err == nil && b.head.Name == "" {
		err = errors.New("it has no name")
	}
	return err
}

func (b *indexer) readMeta(raw []byte) error {
	var format string
	err := decodeFields(raw, readers{"moduleFormat": stringInto(&format)})
	if err != nil || format == "" || format == "(.*)" {
		return err
	}
	if b.format, err = regexp.Compile(format); err != nil {
		return errors.New("the module format is not a regular expression")
	}
	return nil
}

// readSection reads a section. As in Parse, the last of equal sections and of equal tokens wins.
func (b *indexer) readSection(table int) error {
	var d definitions
	places := make(map[string]int)
	err := b.text.members(func(token string) error {
		raw, offset, err := b.text.value()
		if err != nil {
			return err
		}
		if len(raw) > math.MaxInt32 {
			return fmt.Errorf("%s: its definition is too long", token)
		}
		place, twice := places[token]
		if !twice {
			place = len(d.records)
			places[token] = place
			d.records = append(d.records, record{text: token, order: uint32(place)})
			d.aliases = append(d.aliases, nil)
		}
		r := &d.records[place]
		r.offset, r.length, r.sum = uint64(offset), uint32(len(raw)), crc32.Checksum(raw, checksums)
		if table == resourceTable {
			d.aliases[place] = aliasNames(raw)
		}
		return nil
	})
	b.sections[table] = d
	return err
}

// index encodes the collected records.
func (b *indexer) index(stamp string) ([]byte, error) {
	head := b.head
	head.Stamp, head.Size = stamp, b.text.offset()
	var all [tables][]record
	for i, section := range b.sections {
		all[i] = sorted(section.records) // before others point at them
	}
	if b.format != nil {
		for table, section := range map[int]int{resourceModuleTable: resourceTable,
			functionModuleTable: functionTable} {
			for i, r := range all[section] {
				if key, ok := moduleKey(r.text, b.format); ok {
					all[table] = append(all[table], record{text: key, offset: uint64(i), order: r.order})
				}
			}
			all[table] = sorted(all[table])
		}
	}
	all[aliasTable] = b.aliases(all[resourceTable])
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
		return nil, err
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

// aliases returns the records of old tokens, which point at the records of resources. The first resource in schema
// order that claims a token gets it.
func (b *indexer) aliases(resources []record) []record {
	places := make([]int, len(resources))
	for i, r := range resources {
		places[r.order] = i
	}
	var records []record
	for order, names := range b.sections[resourceTable].aliases {
		for _, name := range names {
			records = append(records, record{text: name, offset: uint64(places[order]), order: uint32(order)})
		}
	}
	return slices.CompactFunc(sorted(records), func(a, b record) bool { return a.text == b.text })
}

// sorted returns records in the order of a table.
func sorted(records []record) []record {
	type keyed struct {
		lower string
		record
	}
	list := make([]keyed, len(records))
	for i, r := range records {
		list[i] = keyed{strings.ToLower(r.text), r}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(strings.Compare(a.lower, b.lower), cmp.Compare(a.order, b.order))
	})
	result := make([]record, len(records))
	for i, k := range list {
		result[i] = k.record
	}
	return result
}
