package value

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// JSON returns the result of fn::toJSON for v (L6.18): a string with the marks of v and everything inside it, unknown
// if any part of v is. Keys are ascending, numbers have the fewest digits, null is kept, and <, > and & are escaped as
// by other hosts. It returns an error for NaN, infinities, assets, archives, resources and strings that are not UTF-8.
func JSON(v Value) (Value, error) {
	if v.ContainsUnknown() {
		return UnknownFrom(KindString, v), nil
	}
	text, err := AppendJSON(nil, v)
	if err != nil {
		return Null, err
	}
	result := String(string(text)).DependingOn(v.AllDeps()...)
	if v.ContainsSecret() {
		result = result.Secret()
	}
	return result, nil
}

// AppendJSON appends the JSON of v to dst, including the plaintext of secrets: callers must keep the result safe. It
// returns an error for unknown values.
func AppendJSON(dst []byte, v Value) ([]byte, error) {
	if !v.IsKnown() {
		return dst, fmt.Errorf("a value that is not known yet has no JSON form")
	}
	var err error
	switch p := v.payload.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, p), nil
	case float64:
		return appendJSONNumber(dst, p)
	case string:
		return appendJSONString(dst, p)
	case []Value:
		dst = append(dst, '[')
		for i, item := range p {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = AppendJSON(dst, item); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case *fields:
		dst = append(dst, '{')
		for i, key := range p.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendJSONString(dst, key); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
			if dst, err = AppendJSON(dst, p.values[i]); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case *ResourceRef:
		return dst, fmt.Errorf("a resource has no JSON form; use one of its properties, such as .id")
	}
	return dst, fmt.Errorf("%s has no JSON form", articles[v.Kind()])
}

func appendJSONNumber(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, fmt.Errorf("JSON has no %s", strconv.FormatFloat(f, 'g', -1, 64))
	}
	return jsontext.AppendNumber(dst, f), nil
}

func appendJSONString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, fmt.Errorf("a text that is not UTF-8 has no JSON form; use fn::toBase64")
	}
	return jsontext.AppendString(dst, s, true), nil
}

// maxJSONDepth bounds the nesting, so that a text cannot exhaust the stack.
const maxJSONDepth = 10_000

// FromJSON parses a JSON text. Strings keep their bytes, numbers become doubles, and the last of several equal keys
// wins. Errors contain the position but nothing of the text, which may be secret.
func FromJSON(text string) (Value, error) {
	v, _, err := InexactJSON(text)
	return v, err
}

// InexactJSON is FromJSON. It also returns the first integer of the text whose digits no double keeps; empty
// for none.
func InexactJSON(text string) (v Value, integer string, err error) {
	d := jsonReader{jsontext.New(text, jsontext.Options{MaxDepth: maxJSONDepth, Secret: true})}
	v = d.value()
	d.End()
	if fault, ok := errors.AsType[*jsontext.Error](d.Err); ok {
		return Null, "", fmt.Errorf("line %d, column %d: %s", fault.Line, fault.Column, fault.Problem)
	}
	return v, d.Inexact, nil
}

type jsonReader struct{ *jsontext.Scanner }

func (d jsonReader) value() Value {
	switch d.Next() {
	case '{':
		var entries []Entry
		d.Object(func(key string) { entries = append(entries, Entry{key, d.value()}) })
		return MapOf(entries...)
	case '[':
		items := []Value{}
		d.List(func() { items = append(items, d.value()) })
		return List(items...)
	case '"':
		return String(d.Text())
	case 't', 'f':
		return Bool(d.Bool())
	case 'n':
		d.Null()
		return Null
	}
	return Number(d.Number())
}
