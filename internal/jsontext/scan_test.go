package jsontext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "line 1, column 1 (byte 0): the text ends where a value is expected",
		"{\n  \"a\": nope}":    `line 2, column 8 (byte 9): found 'n' where a value is expected`,
		`{"a" 1}`:              `line 1, column 6 (byte 5): found '1' where ":" is expected`,
		"[1,2":                 `line 1, column 5 (byte 4): the text ends where "," or "]" is expected`,
		"[[[[1]]]]":            "line 1, column 5 (byte 4): lists and objects are nested more than 3 deep",
		`"a`:                   "line 1, column 1 (byte 0): the string that begins here has no end",
		`"\u12"`:               "line 1, column 2 (byte 1): this is not an escape sequence of a string",
		"1e999":                "line 1, column 1 (byte 0): the number is too large",
		"1 2":                  "line 1, column 3 (byte 2): there is more text after the value",
		"\"a\nb\"":             "line 1, column 3 (byte 2): a string contains a control character",
		`{"a":1,"b":[true,x]}`: `line 1, column 18 (byte 17): found 'x' where a value is expected`,
	} {
		s := New(text, Options{MaxDepth: 3})
		read(s)
		s.End()
		require.EqualError(t, s.Err, want)
		secret := New(text, Options{MaxDepth: 3, Secret: true})
		read(secret)
		secret.End()
		require.Error(t, secret.Err)
		require.NotContains(t, secret.Err.Error(), "found", "nothing of the text is shown")
	}
}

// read reads a value in the representation of encoding/json.
func read(s *Scanner) any {
	switch s.Next() {
	case '{':
		m := map[string]any{}
		s.Object(func(key string) { m[key] = read(s) })
		return m
	case '[':
		l := []any{}
		s.List(func() { l = append(l, read(s)) })
		return l
	case '"':
		return s.Text()
	case 't', 'f':
		return s.Bool()
	case 'n':
		s.Null()
		return nil
	}
	return s.Number()
}

// passed decodes the same value with EachMember and EachItem.
func passed(raw []byte) (v any, err error) {
	switch raw[0] {
	case '{':
		m := map[string]any{}
		err = EachMember(raw, func(key string, raw []byte) (err error) { m[key], err = passed(raw); return err })
		return m, err
	case '[':
		l := []any{}
		err = EachItem(raw, func(raw []byte) error {
			item, err := passed(raw)
			l = append(l, item)
			return err
		})
		return l, err
	}
	return ScalarOf(raw)
}

// FuzzScanner compares the validity, the values and their ends with the standard library.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5,"x\u0000"],"b":{}}`, `"\ud83d\ude00\ud83d"`, `-0`, ` [1e21 , 1e-7]`,
		`{"a":1,"a":2}`, "\"\xff\"", `"\\\""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "[")+strings.Count(text, "{") > 5000 {
			return
		}
		var want any
		wrong := json.Unmarshal([]byte(text), &want)
		s := New(text, Options{MaxDepth: 10_000})
		got := read(s)
		s.End()
		require.Equal(t, wrong == nil, s.Err == nil, "%v, %v", wrong, s.Err)
		if wrong != nil {
			return
		}
		if utf8.ValidString(text) { // otherwise the standard library replaces bytes
			require.Equal(t, want, got)
		}
		require.True(t, json.Valid(New(text, Options{MaxDepth: 10_000}).Raw()))
		skipped, err := passed([]byte(strings.TrimSpace(text)))
		require.NoError(t, err)
		if utf8.ValidString(text) {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(skipped))
		}
	})
}
