package builtins

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// stringFuncs make and take apart texts.
var stringFuncs = []*Func{
	{
		Name:    "join",
		Summary: "The items of a list as one text, with a delimiter between them.",
		Params: []Param{
			{Name: "delimiter", Type: &schema.Optional{Elem: schema.String}, Doc: "what stands between two items; null for nothing"},
			{Name: "items", Type: &schema.Array{Item: scalar}, Doc: "strings, numbers or booleans"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::join: ["-", [eu, west, "${number}"]]`,
		Since:   "0.1.0", Rule: "L6.10", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	},
	{
		Name:    "split",
		Summary: "The parts of a text between occurrences of a delimiter.",
		Params: []Param{
			{Name: "delimiter", Type: schema.String, Doc: "what separates the parts; an empty one separates every character"},
			{Name: "text", Type: schema.String, Doc: "the text to take apart"},
		},
		Shape:   Positional,
		Result:  always(textList),
		Example: `fn::split: [",", "a,b,c"]`,
		Since:   "0.1.0", Rule: "L6.12", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			delimiter, text := str(args[0]), str(args[1])
			if text == "" {
				return value.List(value.String("")), nil // also for an empty delimiter (L6.12)
			}
			return textItems(strings.Split(text, delimiter)), nil
		},
	},
	{
		Name:    "replace",
		Summary: "A text with every occurrence of one text replaced by another.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the text to change"},
			{Name: "old", Type: schema.String, Doc: "what to look for; not a pattern, not empty"},
			{Name: "new", Type: schema.String, Doc: "what to put in its place"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::replace: ["${name}", "_", "-"]`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if str(args[1]) == "" {
				return value.Null, blame(1, "old: must not be empty")
			}
			return value.String(strings.ReplaceAll(str(args[0]), str(args[1]), str(args[2]))), nil
		},
	},
	{
		Name:    "trim",
		Summary: "A text without white space at its ends, or without the characters given.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the text to trim"},
			{Name: "characters", Type: schema.String, Doc: "the characters to remove; white space when left out", Optional: true},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::trim: ["${line}"]`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if args[1].IsNull() {
				return value.String(strings.TrimSpace(str(args[0]))), nil
			}
			return value.String(strings.Trim(str(args[0]), str(args[1]))), nil
		},
	},
	{
		Name:    "lower",
		Summary: "A text in lower case.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the text to change"}},
		Result:  always(schema.String),
		Example: `fn::lower: ${name}`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return value.String(strings.ToLower(str(args[0]))), nil
		},
	},
	{
		Name:    "upper",
		Summary: "A text in upper case.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the text to change"}},
		Result:  always(schema.String),
		Example: `fn::upper: ${name}`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return value.String(strings.ToUpper(str(args[0]))), nil
		},
	},
	{
		Name:    "substr",
		Summary: "A part of a text, counted in characters as readers see them.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the text to cut from"},
			{Name: "offset", Type: schema.Integer, Doc: "0-based place of the first character; negative counts from the end"},
			{Name: "length", Type: schema.Integer, Doc: "how many characters; to the end when left out or -1", Optional: true},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::substr: ["${commit}", 0, 7]`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	},
	{
		Name:    "format",
		Summary: "A text with arguments put in the places that verbs mark.",
		Params: []Param{
			{Name: "format", Type: schema.String, Doc: "the text; %s is a text, %d a whole number, %05d one padded with zeros, %f a number with six decimals (%.2f: two), %x a whole number or text in hexadecimal, %% a percent sign"},
			{Name: "arguments", Type: scalar, Doc: "one for each verb"},
		},
		Variadic: true,
		Shape:    Positional,
		Result:   always(schema.String),
		Example:  `fn::format: ["%s-%03d", "${name}", 7]`,
		Since:    "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return format(str(args[0]), args[1:])
		},
	},
}

func str(v value.Value) string { s, _ := v.AsString(); return s }

// clampInt is a whole number as an int, moved into the range of 32 bits, which is more than any text has characters.
func clampInt(v value.Value) int {
	f, _ := v.AsNumber()
	return int(max(-1<<31, min(f, 1<<31-1)))
}

func textItems(texts []string) value.Value {
	items := make([]value.Value, len(texts))
	for i, text := range texts {
		items[i] = value.String(text)
	}
	return value.List(items...)
}

// graphemes are the characters of a text as readers see them: Unicode's grapheme clusters (L6.16).
func graphemes(s string) []string {
	clusters, err := textseg.AllTokens([]byte(s), textseg.ScanGraphemeClusters)
	if err != nil { // the splitter has no errors of its own
		return strings.Split(s, "")
	}
	texts := make([]string, len(clusters))
	for i, c := range clusters {
		texts[i] = string(c)
	}
	return texts
}

// format fills in a format text. The verbs are a closed set, so that Go's own are never promised to users.
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
