package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The functions here read JSON text in place, without decoding what nobody asked for: a member that is passed over costs
// one look at its bytes. They check as much of the grammar as they need to find where things end; decoding checks the
// rest. Text is never trusted: every fault is an error.

var errTruncated = errors.New("the text ends too early")

// maxTypeDepth bounds how deep type specifications may nest in each other.
const maxTypeDepth = 64

func skipSpace(text []byte, i int) int {
	for i < len(text) {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// structural tells the bytes at which skipping a container has to stop.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// passage is how far a value has been passed over, so that it can be gone on with when more of the text is at hand.
type passage struct {
	at     int // offset from the start of the value
	depth  int // of lists and objects
	quoted bool
}

// advance goes on over text, which starts with the value and was shorter when it was last called, and reports whether the
// value ends in it: at p.at. Numbers and words end at what follows them, or where the text does.
func (p *passage) advance(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if c := text[0]; c != '"' && c != '{' && c != '[' {
		for p.at < len(text) && text[p.at] != ',' && text[p.at] != '}' && text[p.at] != ']' && text[p.at] > ' ' {
			p.at++
		}
		return p.at < len(text)
	}
	for p.at < len(text) {
		if p.quoted {
			n := bytes.IndexByte(text[p.at:], '"')
			if n < 0 {
				p.at = len(text)
				return false
			}
			p.at += n + 1
			backslashes := 0
			for text[p.at-2-backslashes] == '\\' {
				backslashes++
			}
			p.quoted = backslashes%2 == 1
		} else {
			c := text[p.at]
			p.at++
			if !structural[c] {
				continue
			}
			switch c {
			case '"':
				p.quoted = true
				continue
			case '{', '[':
				p.depth++
				continue
			default:
				p.depth--
			}
		}
		if p.depth == 0 && !p.quoted {
			return true
		}
	}
	return false
}

// valueEnd is the offset behind the value that starts at i.
func valueEnd(text []byte, i int) (int, error) {
	if i >= len(text) {
		return 0, errTruncated
	}
	var p passage
	switch ended := p.advance(text[i:]); {
	case p.at == 0:
		return 0, fmt.Errorf("a value is missing at byte %d", i)
	case !ended && (p.depth > 0 || p.quoted || text[i] == '"'):
		return 0, errTruncated
	}
	return i + p.at, nil
}

// eachMember calls fn for every member of an object in the order of the text. raw may have white space around it; null
// counts as an empty object.
func eachMember(raw []byte, fn func(key string, value []byte) error) error {
	i := skipSpace(raw, 0)
	if isNull(raw[i:]) {
		return nil
	}
	if i >= len(raw) || raw[i] != '{' {
		return errors.New("expected an object")
	}
	i = skipSpace(raw, i+1)
	if i < len(raw) && raw[i] == '}' {
		return onlySpace(raw, i+1)
	}
	for {
		if i >= len(raw) {
			return errTruncated
		}
		if raw[i] != '"' {
			return fmt.Errorf("expected the name of a member at byte %d", i)
		}
		end, err := valueEnd(raw, i)
		if err != nil {
			return err
		}
		key, err := stringOf(raw[i:end])
		if err != nil {
			return err
		}
		i = skipSpace(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			return fmt.Errorf("expected a colon behind the name %q", key)
		}
		i = skipSpace(raw, i+1)
		if end, err = valueEnd(raw, i); err != nil {
			return err
		}
		if err := fn(key, raw[i:end]); err != nil {
			return err
		}
		i = skipSpace(raw, end)
		switch {
		case i >= len(raw):
			return errTruncated
		case raw[i] == '}':
			return onlySpace(raw, i+1)
		case raw[i] != ',':
			return fmt.Errorf("expected a comma behind the member %q", key)
		}
		i = skipSpace(raw, i+1)
	}
}

// eachItem calls fn for every item of a list; null counts as an empty list.
func eachItem(raw []byte, fn func(value []byte) error) error {
	i := skipSpace(raw, 0)
	if isNull(raw[i:]) {
		return nil
	}
	if i >= len(raw) || raw[i] != '[' {
		return errors.New("expected a list")
	}
	i = skipSpace(raw, i+1)
	if i < len(raw) && raw[i] == ']' {
		return onlySpace(raw, i+1)
	}
	for {
		end, err := valueEnd(raw, i)
		if err != nil {
			return err
		}
		if err := fn(raw[i:end]); err != nil {
			return err
		}
		i = skipSpace(raw, end)
		switch {
		case i >= len(raw):
			return errTruncated
		case raw[i] == ']':
			return onlySpace(raw, i+1)
		case raw[i] != ',':
			return errors.New("expected a comma between the items of a list")
		}
		i = skipSpace(raw, i+1)
	}
}

func onlySpace(raw []byte, i int) error {
	if i = skipSpace(raw, i); i < len(raw) {
		return fmt.Errorf("there is text behind the end, at byte %d", i)
	}
	return nil
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// stringOf decodes a string; null is the empty one.
func stringOf(raw []byte) (string, error) {
	if isNull(raw) {
		return "", nil
	}
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : n-1]), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errors.New("expected a string")
	}
	return s, nil
}

func boolOf(raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, errors.New("expected true or false")
}

// scalarOf decodes a string, a number or a boolean; nil for null.
func scalarOf(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, errTruncated
	}
	switch raw[0] {
	case '"':
		return stringOf(raw)
	case 't', 'f':
		return boolOf(raw)
	case 'n':
		if isNull(raw) {
			return nil, nil
		}
	default:
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return nil, errors.New("expected a string, a number or a boolean")
}

func stringsOf(raw []byte) ([]string, error) {
	var list []string
	err := eachItem(raw, func(item []byte) error {
		s, err := stringOf(item)
		list = append(list, s)
		return err
	})
	return list, err
}

// stringInto, boolInto and stringsInto are readers for decodeFields.
func stringInto(dst *string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = stringOf(raw); return err }
}

func boolInto(dst *bool) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = boolOf(raw); return err }
}

func stringsInto(dst *[]string) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = stringsOf(raw); return err }
}

func scalarInto(dst *any) func([]byte) error {
	return func(raw []byte) (err error) { *dst, err = scalarOf(raw); return err }
}

func rawInto(dst *[]byte) func([]byte) error {
	return func(raw []byte) error {
		if !isNull(raw) {
			*dst = raw
		}
		return nil
	}
}
