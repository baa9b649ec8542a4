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
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// stringFuncs make and take apart texts.
var stringFuncs = []*Func{
	{
		Name:    "join",
		Summary: "The items of a list as one string, with a delimiter between them.",
		Params: []Param{
			{Name: "delimiter", Type: &schema.Optional{Elem: schema.String},
				Doc: "the string between two items; null for none"},
			{Name: "items", Type: &schema.Array{Item: scalar}, Doc: "strings, numbers or booleans"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::join: ["-", [eu, west, 1]]`,
		Call:    `join("-", ["eu", "west", 1])`,
		Gives:   `"eu-west-1"`,
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
		Summary: "The parts of a string between occurrences of a delimiter.",
		Params: []Param{
			{Name: "delimiter", Type: schema.String, Doc: "the delimiter; an empty one separates every character"},
			{Name: "text", Type: schema.String, Doc: "the string to split"},
		},
		Shape:   Positional,
		Result:  always(textList),
		Example: `fn::split: [",", "a,b,c"]`,
		Call:    `split(",", "a,b,c")`,
		Gives:   `["a", "b", "c"]`,
		Since:   "0.1.0", Rule: "L6.12", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			delimiter, text := str(args[0]), str(args[1])
			if text == "" {
				return value.List(value.String("")), nil // also for an empty delimiter (L6.12)
			}
			return value.Strings(strings.Split(text, delimiter)), nil
		},
	},
	{
		Name:    "replace",
		Summary: "A string with every occurrence of one string replaced by another.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to change"},
			{Name: "old", Type: schema.String, Doc: "what to look for; not a pattern, not empty"},
			{Name: "new", Type: schema.String, Doc: "the replacement"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::replace: [web_server_1, _, "-"]`,
		Call:    `replace("web_server_1", "_", "-")`,
		Gives:   `"web-server-1"`,
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
		Aliases: []string{"trimSpace"},
		Summary: "A string without white space at its ends, or without the characters given.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to trim"},
			{Name: "characters", Type: schema.String, Doc: "the characters to remove; white space when left out",
				Optional: true},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::trim: ["  hello "]`,
		Call:    `trim("  hello ")`,
		Gives:   `"hello"`,
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
		Summary: "A string in lower case.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to change"}},
		Result:  always(schema.String),
		Example: `fn::lower: Web-1`,
		Call:    `lower("Web-1")`,
		Gives:   `"web-1"`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: text(strings.ToLower),
	},
	{
		Name:    "upper",
		Summary: "A string in upper case.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to change"}},
		Result:  always(schema.String),
		Example: `fn::upper: Web-1`,
		Call:    `upper("Web-1")`,
		Gives:   `"WEB-1"`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: text(strings.ToUpper),
	},
	{
		Name:    "substr",
		Summary: "A part of a string, counted in characters as readers see them.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to cut from"},
			{Name: "offset", Type: schema.Integer, Doc: "0-based index of the first character; a negative one counts from " +
				"the end"},
			{Name: "length", Type: schema.Integer, Doc: "how many characters; to the end when left out or -1", Optional: true},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::substr: [e83c5163316f89bf, 0, 7]`,
		Call:    `substr("e83c5163316f89bf", 0, 7)`,
		Gives:   `"e83c516"`,
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
		Summary: "A string with each verb replaced by an argument.",
		Params: []Param{
			{Name: "format", Type: schema.String,
				Doc: "the string; %s is a string, %d a whole number, %05d one padded with zeros, %f a number with six decimals " +
					"(%.2f: two), %x a whole number or string in hexadecimal, %% a percent sign"},
			{Name: "arguments", Type: scalar, Doc: "one for each verb"},
		},
		Variadic: true,
		Shape:    Positional,
		Result:   always(schema.String),
		Example:  `fn::format: ["%s-%03d", web, 7]`,
		Call:     `format("%s-%03d", "web", 7)`,
		Gives:    `"web-007"`,
		Since:    "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			return format(str(args[0]), args[1:])
		},
	},
	{
		Name:    "chomp",
		Summary: "A string without the line breaks at its end.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to change"},
		},
		Result:  always(schema.String),
		Example: `fn::chomp: "hello\n\n"`,
		Call:    `chomp("hello\n\n")`,
		Gives:   `"hello"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: text(functions.Chomp),
	},
	{
		Name:    "trimPrefix",
		Summary: "A string without a given prefix.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to change"},
			{Name: "prefix", Type: schema.String, Doc: "the prefix to remove, if the string has it"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::trimPrefix: [v1.2.3, v]`,
		Call:    `trimPrefix("v1.2.3", "v")`,
		Gives:   `"1.2.3"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: textAnd(func(s, prefix string) value.Value { return value.String(strings.TrimPrefix(s, prefix)) }),
	},
	{
		Name:    "trimSuffix",
		Summary: "A string without a given suffix.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to change"},
			{Name: "suffix", Type: schema.String, Doc: "the suffix to remove, if the string has it"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::trimSuffix: [index.html, .html]`,
		Call:    `trimSuffix("index.html", ".html")`,
		Gives:   `"index"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: textAnd(func(s, suffix string) value.Value { return value.String(strings.TrimSuffix(s, suffix)) }),
	},
	{
		Name:    "startsWith",
		Summary: "Whether a string starts with another.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to test"},
			{Name: "prefix", Type: schema.String, Doc: "the prefix"},
		},
		Shape:   Positional,
		Result:  always(schema.Bool),
		Example: `fn::startsWith: [feature/login, feature/]`,
		Call:    `startsWith("feature/login", "feature/")`,
		Gives:   `true`,
		Since:   "0.1.0", Rule: "D6",
		Eval: textAnd(func(s, prefix string) value.Value { return value.Bool(strings.HasPrefix(s, prefix)) }),
	},
	{
		Name:    "endsWith",
		Summary: "Whether a string ends with another.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to test"},
			{Name: "suffix", Type: schema.String, Doc: "the suffix"},
		},
		Shape:   Positional,
		Result:  always(schema.Bool),
		Example: `fn::endsWith: [logo.png, .svg]`,
		Call:    `endsWith("logo.png", ".svg")`,
		Gives:   `false`,
		Since:   "0.1.0", Rule: "D6",
		Eval: textAnd(func(s, suffix string) value.Value { return value.Bool(strings.HasSuffix(s, suffix)) }),
	},
	{
		Name:    "indent",
		Summary: "A string with spaces before every line but the first.",
		Params: []Param{
			{Name: "spaces", Type: schema.Integer, Doc: "how many spaces, from 0 to 1000"},
			{Name: "text", Type: schema.String, Doc: "the string to change"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::indent: [2, "a:\n- b\n- c"]`,
		Call:    `indent(2, "a:\n- b\n- c")`,
		Gives:   `"a:\n  - b\n  - c"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			indented, ok := functions.Indent(str(args[1]), clampInt(args[0]))
			if !ok {
				return value.Null, blame(0, "spaces: must be from 0 to %d", functions.MostIndent)
			}
			return value.String(indented), nil
		},
	},
	{
		Name:    "title",
		Summary: "A string with a capital letter at the start of every word.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string to change"},
		},
		Result:  always(schema.String),
		Example: `fn::title: hello world`,
		Call:    `title("hello world")`,
		Gives:   `"Hello World"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: text(func(s string) string {
			return functions.Title(s, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '\''
			})
		}),
	},
	{
		Name:    "repeat",
		Summary: "A string repeated several times.",
		Params: []Param{
			{Name: "text", Type: schema.String, Doc: "the string"},
			{Name: "times", Type: schema.Integer, Doc: "how often"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::repeat: [ab, 3]`,
		Call:    `repeat("ab", 3)`,
		Gives:   `"ababab"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			n := clampInt(args[1])
			if n < 0 || n*len(str(args[0])) > 1<<24 {
				return value.Null, blame(1, "times: must not be negative, and the result at most 16 MiB")
			}
			return value.String(strings.Repeat(str(args[0]), n)), nil
		},
	},
	{
		Name:    "formatList",
		Summary: "A list of strings that fn::format makes from the items of lists.",
		Params: []Param{
			{Name: "format", Type: schema.String, Doc: "the string with verbs, see fn::format"},
			{Name: "arguments", Type: &schema.Union{Members: []schema.Type{schema.String, schema.Number, schema.Bool,
				&schema.Array{Item: scalar}}},
				Doc: "one for each verb: a list gives every text its own item, anything else is the same for all; the lists have " +
					"equal lengths"},
		},
		Variadic: true,
		Shape:    Positional,
		Result:   always(textList),
		Example:  `fn::formatList: ["%s.%s", [www, api], example.com]`,
		Call:     `formatList("%s.%s", ["www", "api"], "example.com")`,
		Gives:    `["www.example.com", "api.example.com"]`,
		Since:    "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
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
	},
}

// text is a function of one text that gives a text.
func text(of func(string) string) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		return value.String(of(str(args[0]))), nil
	}
}

// textAnd is a function of two texts.
func textAnd(of func(text, other string) value.Value) evalFunc {
	return func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		return of(str(args[0]), str(args[1])), nil
	}
}

// str is an argument whose parameter is a text.
func str(v value.Value) string { s, _ := v.AsString(); return s }

// clampInt is a whole number as an int, moved into the range of 32 bits, which is more than any text has characters.
func clampInt(v value.Value) int {
	f, _ := v.AsNumber()
	return int(max(-1<<31, min(f, 1<<31-1)))
}

func joined(texts []string) value.Value { return value.String(strings.Join(texts, "")) }

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
