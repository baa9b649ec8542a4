package builtins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// stringEvals are the functions on strings.
var stringEvals = map[string]evalFunc{
	"join": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		delimiter, _ := args[0].AsString()
		items, _ := args[1].AsList()
		texts := make([]string, len(items))
		for i, item := range items {
			text, err := value.Text(item)
			if err != nil {
				return value.Null, blame(1, "item %d: %s", i, err)
			}
			texts[i], _ = text.AsString()
		}
		return value.String(strings.Join(texts, delimiter)), nil
	},
	"split": textAnd(func(delimiter, text string) value.Value {
		if text == "" {
			return value.List(value.String("")) // also for an empty delimiter (L6.12)
		}
		return value.Strings(strings.Split(text, delimiter))
	}),
	"replace": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		if str(args[1]) == "" {
			return value.Null, blame(1, "old: must not be empty")
		}
		return value.String(strings.ReplaceAll(str(args[0]), str(args[1]), str(args[2]))), nil
	},
	"trim": gives(func(args []value.Value) value.Value {
		if args[1].IsNull() {
			return value.String(strings.TrimSpace(str(args[0])))
		}
		return value.String(strings.Trim(str(args[0]), str(args[1])))
	}),
	"lower": text(strings.ToLower),
	"upper": text(strings.ToUpper),
	"substr": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		characters := graphemes(str(args[0]))
		offset := clampInt(args[1])
		if offset < 0 {
			offset = max(0, offset+len(characters))
		}
		end := len(characters)
		offset = min(offset, end)
		if !args[2].IsNull() {
			switch length := clampInt(args[2]); {
			case length >= 0:
				end = min(offset+length, end)
			case length != -1:
				return value.Null, blame(2, "length: must not be negative, except -1 for the rest")
			}
		}
		return value.String(strings.Join(characters[offset:end], "")), nil
	},
	"format": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		return format(str(args[0]), args[1:])
	},
	"chomp":      text(functions.Chomp),
	"trimPrefix": textAnd(func(s, prefix string) value.Value { return value.String(strings.TrimPrefix(s, prefix)) }),
	"trimSuffix": textAnd(func(s, suffix string) value.Value { return value.String(strings.TrimSuffix(s, suffix)) }),
	"startsWith": textAnd(func(s, prefix string) value.Value { return value.Bool(strings.HasPrefix(s, prefix)) }),
	"endsWith":   textAnd(func(s, suffix string) value.Value { return value.Bool(strings.HasSuffix(s, suffix)) }),
	"indent": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		indented, ok := functions.Indent(str(args[1]), clampInt(args[0]))
		if !ok {
			return value.Null, blame(0, "spaces: must be from 0 to %d", functions.MostIndent)
		}
		return value.String(indented), nil
	},
	"title": text(func(s string) string {
		return functions.Title(s, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '\''
		})
	}),
	"repeat": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		n := clampInt(args[1])
		if n < 0 || n*len(str(args[0])) > 1<<24 {
			return value.Null, blame(1, "times: must not be negative, and the result at most 16 MiB")
		}
		return value.String(strings.Repeat(str(args[0]), n)), nil
	},
	"formatList": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		rows, err := functions.Rows(args[1:])
		if uneven, ok := errors.AsType[*functions.LengthError](err); ok {
			return value.Null, blame(uneven.Arg+1, "arguments: %s", uneven)
		}
		texts := make([]value.Value, len(rows))
		for i, row := range rows {
			if texts[i], err = format(str(args[0]), row); err != nil {
				return value.Null, err
			}
		}
		return value.List(texts...), nil
	},
}

// text returns the body of a function from a string to a string.
func text(convert func(string) string) evalFunc {
	return gives(func(args []value.Value) value.Value { return value.String(convert(str(args[0]))) })
}

// textAnd returns the body of a function of two strings.
func textAnd(convert func(text, other string) value.Value) evalFunc {
	return gives(func(args []value.Value) value.Value { return convert(str(args[0]), str(args[1])) })
}

// str returns the string in v, or an empty string if v is not a string.
func str(v value.Value) string { s, _ := v.AsString(); return s }

// clampInt returns a whole number as an int, clamped to 32 bits, which is enough for the length of any text.
func clampInt(v value.Value) int {
	f, _ := v.AsNumber()
	return int(max(-1<<31, min(f, 1<<31-1)))
}

// graphemes returns the grapheme clusters of a text: the characters as readers perceive them (L6.16).
func graphemes(s string) []string {
	if isSimple(s) {
		return strings.Split(s, "")
	}
	clusters, err := textseg.AllTokens([]byte(s), textseg.ScanGraphemeClusters)
	if err != nil { // cannot happen: the splitter never returns an error
		return strings.Split(s, "")
	}
	texts := make([]string, len(clusters))
	for i, c := range clusters {
		texts[i] = string(c)
	}
	return texts
}

// countGraphemes returns the number of grapheme clusters.
func countGraphemes(s string) int {
	if isSimple(s) {
		return len(s)
	}
	return len(graphemes(s))
}

// isSimple reports whether every byte of s is a grapheme cluster. That is the case for ASCII without a carriage return,
// which forms a single cluster with a following line feed.
func isSimple(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == '\r' {
			return false
		}
	}
	return true
}

// format formats args according to layout. It supports a fixed set of verbs, so that the rest of Go's verbs is not part
// of the language.
func format(layout string, args []value.Value) (value.Value, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			b.WriteByte(layout[i])
			continue
		}
		start := i
		for i++; i < len(layout) && strings.IndexByte("0123456789.-+", layout[i]) >= 0; i++ {
		}
		if i == len(layout) {
			return value.Null, blame(0, "format: ends within a verb; a percent sign is written %%%%")
		}
		flags, verb := layout[start:i], layout[i]
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		if strings.IndexByte("sdfx", verb) < 0 {
			r, _ := utf8.DecodeRuneInString(layout[i:])
			return value.Null, blame(0, "format: there is no verb %%%c; the verbs are %%s %%d %%f %%x %%%%", r)
		}
		if len(flags) > 8 {
			return value.Null, blame(0, "format: width and precision may have seven digits together")
		}
		if next == len(args) {
			return value.Null, blame(0, "format: has more verbs than there are arguments")
		}
		arg := args[next]
		next++
		text, err := formatVerb(flags, verb, arg)
		if err != nil {
			return value.Null, blame(next, "arguments: %s", err)
		}
		b.WriteString(text)
		if b.Len() > 1<<24 {
			return value.Null, blame(0, "format: the result is too long")
		}
	}
	if next < len(args) {
		return value.Null, blame(next+1, "arguments: there is no verb for argument %d", next+1)
	}
	return value.String(b.String()), nil
}

func formatVerb(flags string, verb byte, arg value.Value) (string, error) {
	n, isNumber := arg.AsNumber()
	whole, isWhole := arg.AsInt()
	switch {
	case verb == 's':
		text, err := value.Text(arg)
		return fmt.Sprintf(flags+"s", str(text)), err
	case verb == 'f' && isNumber:
		return fmt.Sprintf(flags+"f", n), nil
	case verb == 'd' && isWhole:
		return fmt.Sprintf(flags+"d", whole), nil
	case verb == 'x' && isWhole:
		return fmt.Sprintf(flags+"x", whole), nil
	case verb == 'x' && arg.Is(value.KindString):
		return fmt.Sprintf(flags+"x", str(arg)), nil
	}
	wants := map[byte]string{'f': "a number", 'd': "a whole number", 'x': "a whole number or a string"}[verb]
	return "", fmt.Errorf("%%%c takes %s, not %s", verb, wants, kindPhrase(arg.Kind()))
}
