package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// checkpoint is the part of a state with the resources of providers.
type checkpoint struct {
	resources []*resource
	byURN     map[string]*resource
}

// readState reads a checkpoint in one pass, with properties converted directly from JSON to protobuf.
func readState(path string) *checkpoint {
	c := &checkpoint{byURN: map[string]*resource{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c
	}
	check(err)
	_, list, _ := bytes.Cut(text, []byte(`"resources":`))
	s := scanner{jsontext.NewDecoder(bytes.NewBuffer(list), jsontext.AllowDuplicateNames(true))}
	needs := map[*resource][]string{}
	s.each(func() {
		r := &resource{}
		start := s.InputOffset()
		s.each(func() {
			switch s.string() {
			case "urn":
				r.urn = s.string()
			case "type":
				r.typ = s.string()
			case "id":
				r.id = s.string()
			case "inputs":
				r.inputs = s.fields(make(message, 0, 768))
			case "outputs":
				r.outputs = s.fields(make(message, 0, 768))
			case "dependencies":
				s.each(func() { needs[r] = append(needs[r], s.string()) })
			default:
				check(s.SkipValue())
			}
		})
		if r.id != "" && !strings.HasPrefix(r.typ, "pulumi:") {
			r.name = r.urn[strings.LastIndex(r.urn, "::")+2:]
			r.text = bytes.TrimLeft(list[start:s.InputOffset()], ", \n")
			c.byURN[r.urn], c.resources = r, append(c.resources, r)
		}
	})
	for r, urns := range needs {
		for _, urn := range urns {
			need := c.byURN[urn]
			need.users = append(need.users, r)
		}
	}
	return c
}

// write writes the state durably and atomically.
func (c *checkpoint) write(path string) {
	b := append(make([]byte, 0, 2048*len(c.resources)+128), `{"version":3,"checkpoint":{"latest":{"resources":[`...)
	for _, r := range c.resources {
		b = append(append(b, r.text...), ',')
	}
	write(path, append(bytes.TrimSuffix(b, []byte(",")), "]}}}\n"...))
}

func write(path string, text []byte) {
	f := must(os.CreateTemp(filepath.Dir(path), "floor-"))
	must(f.Write(text))
	check(errors.Join(f.Sync(), f.Close(), os.Rename(f.Name(), path)))
	dir := must(os.Open(filepath.Dir(path)))
	check(errors.Join(dir.Sync(), dir.Close()))
}

// append writes the record of a resource in a state.
func (r *resource) append(b []byte) []byte {
	const parent, by = "urn:pulumi:dev::generated::pulumi:pulumi:Stack::generated-dev",
		"urn:pulumi:dev::generated::pulumi:providers:noop::default::31274138-bdfa-43fc-b9dc-0a3e419141b1"
	b = fmt.Appendf(b, `{"urn":%q,"custom":true,"id":%q,"type":%q,"parent":%q,"provider":%q,"inputs":`, r.urn, r.id,
		r.typ, parent, by)
	b = append(appendStruct(append(appendStruct(b, r.inputs), `,"outputs":`...), r.outputs), `,"dependencies":[`...)
	for i, need := range r.needs {
		b = fmt.Appendf(b, `%.*s%q`, min(i, 1), ",", need.urn)
	}
	return append(b, "]}"...)
}

// scanner reads JSON that a program wrote: a fault in it is a panic.
type scanner struct{ *jsontext.Decoder }

// each reads a list or an object; one reads an item of it.
func (s scanner) each(one func()) {
	must(s.ReadToken())
	for k := s.PeekKind(); k != ']' && k != '}'; k = s.PeekKind() {
		one()
	}
	must(s.ReadToken())
}

func (s scanner) string() string { return must(s.ReadToken()).String() }

// fields reads an object as a google.protobuf.Struct.
func (s scanner) fields(m message) message {
	s.each(func() {
		open, entry, value := m.entry(s.string())
		m = s.value(open).end(value).end(entry)
	})
	return m
}

func (s scanner) value(m message) message {
	switch s.PeekKind() {
	case '{':
		m, start := m.begin(structField)
		return s.fields(m).end(start)
	case '[':
		m, list := m.begin(listField)
		s.each(func() {
			open, start := m.begin(1)
			m = s.value(open).end(start)
		})
		return m.end(list)
	case '"':
		return m.text(stringField, s.string())
	case '0':
		return m.number(must(strconv.ParseFloat(s.string(), 64)))
	case 'n':
		must(s.ReadToken())
		return m.bool(nullField, false)
	}
	return m.bool(boolField, must(s.ReadToken()).Bool())
}
