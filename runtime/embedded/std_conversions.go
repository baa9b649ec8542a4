package embedded

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func (s standard) conversions() map[string]formula {
	return map[string]formula{
		"base64encode": always1(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"base64decode": fromText(func(s string) (string, error) {
			data, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return "", errors.New("the input is not base64")
			}
			return string(data), nil
		}),
		"base64gzip": fromText(func(s string) (string, error) {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, err := w.Write([]byte(s))
			return base64.StdEncoding.EncodeToString(b.Bytes()), errors.Join(err, w.Close())
		}),
		"csvdecode": csvDecode,
		"tostring":  toText,
		"jsonencode": func(args value.Value) (value.Value, error) {
			text, err := value.JSON(args.Get("input"))
			return text, err
		},
		"jsondecode": func(args value.Value) (value.Value, error) {
			v, inexact, err := value.InexactJSON(lookupString(args, "input"))
			if err != nil {
				return value.Null, fmt.Errorf("the input is not JSON: %w", err)
			}
			s.warnInexact("jsondecode", inexact != "")
			return v, nil
		},
		"tobool": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			s, _ := v.AsString()
			switch {
			case v.Is(value.KindBool) || v.IsNull():
				return v, nil
			case s == "true" || s == "false":
				return value.Bool(s == "true"), nil
			}
			return value.Null, errors.New("only true, false, \"true\" and \"false\" are booleans")
		},
		"tonumber": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			if v.Is(value.KindNumber) || v.IsNull() {
				return v, nil
			}
			input, text := v.AsString()
			f, err := strconv.ParseFloat(input, 64)
			if !text || err != nil || strings.ContainsFunc(input, func(r rune) bool {
				return unicode.IsLetter(r) && r != 'e' &&
					r != 'E' || r == '_'
			}) {
				return value.Null, errors.New("the input is not a number")
			}
			s.warnInexact("tonumber", value.LosesDigits(input))
			return finite(f)
		},
	}
}

func csvDecode(args value.Value) (value.Value, error) {
	rows, _, err := functions.CSV(lookupString(args, "input"))
	switch {
	case errors.Is(err, functions.ErrHeader):
		return value.Null, errors.New("the input has no header line")
	case err != nil:
		return value.Null, fmt.Errorf("the input is not CSV: %w", err)
	}
	return value.List(rows...), nil
}

// toText converts a scalar to text; null stays null.
func toText(args value.Value) (value.Value, error) {
	v := args.Get("input")
	if v.IsNull() {
		return value.Null, nil
	}
	text, err := scalarText(v)
	return value.String(text), err
}

func scalarText(v value.Value) (string, error) {
	if s, ok := v.AsString(); ok {
		return s, nil
	}
	if f, ok := v.AsNumber(); ok {
		return value.FormatNumber(f), nil
	}
	if b, ok := v.AsBool(); ok {
		return strconv.FormatBool(b), nil
	}
	return "", errors.New("only a string, a number or a boolean can become a string")
}
