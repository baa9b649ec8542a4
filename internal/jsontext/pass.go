package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The functions in this file read JSON text in place and decode only what the caller asks for; skipping a member scans
// its bytes once. They check only as much of the grammar as they need to find the ends of values; decoding checks the
// rest. They do not trust the text: a fault that they find is an error.

// ErrTruncated is returned if a text ends in the middle of a value.
var ErrTruncated = errors.New("the text ends too early")

// SkipSpace returns the offset of the first byte at or after i that is not white space, or len(text).
func SkipSpace(text []byte, i int) int {
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

// structural marks the bytes that matter when a list or an object is skipped.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// Passage is the state of skipping one value. With it, skipping can resume when more of the text has arrived.
type Passage struct {
	At     int // offset from the start of the value
	Depth  int // number of open lists and objects
	Quoted bool
}

// Advance resumes skipping in text, which starts with the value and extends the text of the previous call. It reports
// whether the value is complete; if it is, the value ends at p.At. A number or word is complete only if another byte
// follows it.
func (p *Passage) Advance(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if c := text[0]; c != '"' && c != '{' && c != '[' {
		for p.At < len(text) && text[p.At] != ',' && text[p.At] != '}' && text[p.At] != ']' && text[p.At] > ' ' {
			p.At++
		}
		return p.At < len(text)
	}
	for p.At < len(text) {
		if p.Quoted {
			n := bytes.IndexByte(text[p.At:], '"')
			if n < 0 {
				p.At = len(text)
				return false
			}
			p.At += n + 1
			backslashes := 0
			for text[p.At-2-backslashes] == '\\' {
				backslashes++
			}
			p.Quoted = backslashes%2 == 1
		} else {
			c := text[p.At]
			p.At++
			if !structural[c] {
				continue
			}
			switch c {
			case '"':
				p.Quoted = true
				continue
			case '{', '[':
				p.Depth++
				continue
			default:
				p.Depth--
			}
		}
		if p.Depth == 0 && !p.Quoted {
			return true
		}
	}
	return false
}

// ValueEnd returns the offset after the value that starts at i. A number or word may end with the text.
func ValueEnd(text []byte, i int) (int, error) {
	if i >= len(text) {
		return 0, ErrTruncated
	}
	var p Passage
	switch ended := p.Advance(text[i:]); {
	case p.At == 0:
		return 0, fmt.Errorf("a value is missing at byte %d", i)
	case !ended && (p.Depth > 0 || p.Quoted || text[i] == '"'):
		return 0, ErrTruncated
	}
	return i + p.At, nil
}

// EachMember calls fn for every member of an object, in the order of the text. White space around the object is
// allowed, and null counts as an empty object. EachMember returns the first error, including those of fn.
func EachMember(raw []byte, fn func(key string, value []byte) error) error {
	return each(raw, "{}", "an object", func(i int) (int, error) {
		if i >= len(raw) {
			return 0, ErrTruncated
		}
		if raw[i] != '"' {
			return 0, fmt.Errorf("expected the name of a member at byte %d", i)
		}
		end, err := ValueEnd(raw, i)
		if err != nil {
			return 0, err
		}
		key, err := StringOf(raw[i:end])
		if err != nil {
			return 0, err
		}
		if i = SkipSpace(raw, end); i >= len(raw) || raw[i] != ':' {
			return 0, fmt.Errorf("expected a colon after the name %q", key)
		}
		i = SkipSpace(raw, i+1)
		if end, err = ValueEnd(raw, i); err != nil {
			return 0, err
		}
		return end, fn(key, raw[i:end])
	})
}

// EachItem calls fn for every item of a list; null counts as an empty list. It returns the first error, including those
// of fn.
func EachItem(raw []byte, fn func(value []byte) error) error {
	return each(raw, "[]", "a list", func(i int) (int, error) {
		end, err := ValueEnd(raw, i)
		if err != nil {
			return 0, err
		}
		return end, fn(raw[i:end])
	})
}

// each reads the comma-separated parts between two brackets. part reads the part at i and returns the offset after it.
func each(raw []byte, brackets, what string, part func(i int) (end int, err error)) error {
	i := SkipSpace(raw, 0)
	if IsNull(raw[i:]) {
		return nil
	}
	if i >= len(raw) || raw[i] != brackets[0] {
		return errors.New("expected " + what)
	}
	i = SkipSpace(raw, i+1)
	if i < len(raw) && raw[i] == brackets[1] {
		return onlySpace(raw, i+1)
	}
	for {
		end, err := part(i)
		if err != nil {
			return err
		}
		i = SkipSpace(raw, end)
		switch {
		case i >= len(raw):
			return ErrTruncated
		case raw[i] == brackets[1]:
			return onlySpace(raw, i+1)
		case raw[i] != ',':
			return fmt.Errorf("expected a comma between the parts of %s, at byte %d", what, i)
		}
		i = SkipSpace(raw, i+1)
	}
}

func onlySpace(raw []byte, i int) error {
	if i = SkipSpace(raw, i); i < len(raw) {
		return fmt.Errorf("there is text after the end, at byte %d", i)
	}
	return nil
}

// IsNull reports whether a value is null, ignoring white space around it.
func IsNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// StringOf decodes a string. It returns an empty string for null.
func StringOf(raw []byte) (string, error) {
	if IsNull(raw) {
		return "", nil
	}
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : n-1]), nil
	}
	s := New(string(raw), Options{})
	if s.Next() == '"' {
		text := s.Text()
		if s.End(); s.Err == nil {
			return text, nil
		}
	}
	return "", errors.New("expected a string")
}

// BoolOf decodes true and false. It returns false for null.
func BoolOf(raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, errors.New("expected true or false")
}

// ScalarOf decodes a string, a number or a boolean to a string, float64 or bool. It returns nil for null.
func ScalarOf(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, ErrTruncated
	}
	switch raw[0] {
	case '"':
		return StringOf(raw)
	case 't', 'f':
		return BoolOf(raw)
	case 'n':
		if IsNull(raw) {
			return nil, nil
		}
	default:
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return nil, errors.New("expected a string, a number or a boolean")
}

// StringsOf decodes a list of strings.
func StringsOf(raw []byte) ([]string, error) {
	var list []string
	err := EachItem(raw, func(item []byte) error {
		s, err := StringOf(item)
		list = append(list, s)
		return err
	})
	return list, err
}
