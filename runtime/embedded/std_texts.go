package embedded

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/value"
)

func stdTexts() map[string]formula {
	return map[string]formula{
		"lower":     always1(strings.ToLower),
		"upper":     always1(strings.ToUpper),
		"trimspace": always1(strings.TrimSpace),
		"chomp":     always1(func(s string) string { return strings.TrimRight(s, "\r\n") }),
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
			return textList(strings.Split(textArg(args, "text"), textArg(args, "separator"))), nil
		},
		"join": func(args value.Value) (value.Value, error) {
			parts, err := textsOf(listArg(args, "input"))
			return value.String(strings.Join(parts, textArg(args, "separator"))), err
		},
		"indent": func(args value.Value) (value.Value, error) {
			n, err := whole(args, "spaces")
			if err != nil || n < 0 || n > 1000 {
				return value.Null, errors.New("spaces must be a whole number from 0 to 1000")
			}
			return value.String(strings.ReplaceAll(textArg(args, "input"), "\n", "\n"+strings.Repeat(" ", n))), nil
		},
		"substr": substring,
		"title":  always1(titled),
	}
}

// substring counts in characters; a negative offset counts from the end, and a length of -1 means all the rest.
func substring(args value.Value) (value.Value, error) {
	runes := []rune(textArg(args, "input"))
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
		return value.Null, fmt.Errorf("the input has %d characters, and from %d on there are not %d", len(runes), offset,
			length)
	}
	return value.String(string(runes[offset : offset+length])), nil
}

// titled makes the first letter of each word large. Words end at anything that is no letter, digit or underscore.
func titled(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		begins := !inside
		inside = r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r > unicode.MaxASCII && !unicode.IsSpace(r)
		if begins {
			return unicode.ToTitle(r)
		}
		return r
	}, s)
}
