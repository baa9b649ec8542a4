package embedded

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func stdTexts() map[string]formula {
	return map[string]formula{
		"lower":     always1(strings.ToLower),
		"upper":     always1(strings.ToUpper),
		"trimspace": always1(strings.TrimSpace),
		"chomp":     always1(functions.Chomp),
		"strrev": always1(func(s string) string {
			runes := []rune(s)
			slices.Reverse(runes)
			return string(runes)
		}),
		"urlencode":  always1(url.QueryEscape),
		"basename":   always1(filepath.Base),
		"dirname":    always1(filepath.Dir),
		"trim":       withText("cutset", func(s, set string) value.Value { return value.String(strings.Trim(s, set)) }),
		"trimprefix": withText("prefix", func(s, p string) value.Value { return value.String(strings.TrimPrefix(s, p)) }),
		"trimsuffix": withText("suffix", func(s, p string) value.Value { return value.String(strings.TrimSuffix(s, p)) }),
		"startswith": withText("prefix", func(s, p string) value.Value { return value.Bool(strings.HasPrefix(s, p)) }),
		"endswith":   withText("suffix", func(s, p string) value.Value { return value.Bool(strings.HasSuffix(s, p)) }),
		"split": func(args value.Value) (value.Value, error) {
			return value.Strings(strings.Split(lookupString(args, "text"), lookupString(args, "separator"))), nil
		},
		"join": func(args value.Value) (value.Value, error) {
			parts, err := textsOf(listArg(args, "input"))
			return value.String(strings.Join(parts, lookupString(args, "separator"))), err
		},
		"indent": func(args value.Value) (value.Value, error) {
			n, err := whole(args, "spaces")
			indented, ok := functions.Indent(lookupString(args, "input"), n)
			if err != nil || !ok {
				return value.Null, fmt.Errorf("spaces must be a whole number from 0 to %d", functions.MostIndent)
			}
			return value.String(indented), nil
		},
		"substr": substring,
		"title":  always1(titled),
	}
}

// substring counts in characters. A negative offset counts from the end, and a length of -1 means to the end.
func substring(args value.Value) (value.Value, error) {
	runes := []rune(lookupString(args, "input"))
	offset, err := whole(args, "offset")
	if err != nil {
		return value.Null, err
	}
	length, err := whole(args, "length")
	if err != nil {
		return value.Null, err
	}
	if offset < 0 {
		offset += len(runes)
	}
	if length == -1 {
		length = len(runes) - offset
	}
	if offset < 0 || length < 0 || offset > len(runes) || offset+length > len(runes) {
		return value.Null, fmt.Errorf("an offset of %d and a length of %d lead out of the input, whose length is %d",
			offset, length, len(runes))
	}
	return value.String(string(runes[offset : offset+length])), nil
}

// titled capitalizes the first letter of each word. Words consist of letters, digits, underscores and all characters
// outside ASCII except spaces.
func titled(s string) string {
	return functions.Title(s, func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r > unicode.MaxASCII && !unicode.IsSpace(r)
	})
}
