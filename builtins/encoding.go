package builtins

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// encodingFuncs turn values into texts and back.
var encodingFuncs = []*Func{
	{
		Name:    "toJSON",
		Summary: "A value as JSON text.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "anything but assets, archives and resources"}},
		Result:  always(schema.String),
		Example: `fn::toJSON: {name: web, ports: [80, 443]}`,
		Call:    `toJSON({name = "web", ports = [80, 443]})`,
		Gives:   `"{\"name\":\"web\",\"ports\":[80,443]}"`,
		Since:   "0.1.0", Rule: "L6.18", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := value.JSON(args[0])
			if err != nil {
				return value.Null, blame(0, "%s", err)
			}
			return text, nil
		},
	},
	{
		Name:    "fromJSON",
		Summary: "The value that a JSON text describes.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the JSON"}},
		Result:  always(schema.Any),
		Example: `fn::fromJSON: '{"name": "web", "ports": [80, 443]}'`,
		Call:    `fromJSON("{\"name\": \"web\", \"ports\": [80, 443]}")`,
		Gives:   `{"name": "web", "ports": [80, 443]}`,
		Since:   "0.1.0", Rule: "L10.C4",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			v, err := value.FromJSON(str(args[0]))
			if err != nil {
				return value.Null, blameText(0, str(args[0]), "text: is not JSON, %s", err)
			}
			return v, nil
		},
	},
	{
		Name:    "toYAML",
		Summary: "A value as YAML text.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "anything but assets, archives and resources"}},
		Result:  always(schema.String),
		Example: `fn::toYAML: {ports: [80, 443], tls: true}`,
		Call:    `toYAML({ports = [80, 443], tls = true})`,
		Gives:   `"ports:\n  - 80\n  - 443\ntls: true\n"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := yamlText(args[0])
			if err != nil {
				return value.Null, blame(0, "%s", err)
			}
			return value.String(text), nil
		},
	},
	{
		Name:    "fromYAML",
		Summary: "The value that a YAML text describes.",
		Params: []Param{{Name: "text", Type: schema.String,
			Doc: "one YAML document; nothing in it is interpolated or called"}},
		Result:  always(schema.Any),
		Example: `fn::fromYAML: "ports: [80, 443]\ntls: true\n"`,
		Call:    `fromYAML("ports: [80, 443]\ntls: true\n")`,
		Gives:   `{"ports": [80, 443], "tls": true}`,
		Since:   "0.1.0", Rule: "L10.C4",
		Eval: func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
			v, err := env.ParseYAML(str(args[0]))
			if err != nil {
				return value.Null, &Error{Arg: 0, Reason: "text: is not YAML", Detail: err.Error()}
			}
			return v, nil
		},
	},
	{
		Name:    "fromCSV",
		Aliases: []string{"csvDecode"},
		Summary: "The lines of a CSV text as a list of maps, with the names from its first line.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the CSV, with commas; the first line names the columns"}},
		Result:  always(&schema.Array{Item: &schema.Map{Item: schema.String}}),
		Example: `fn::fromCSV: "name,port\nweb,80\napi,8080\n"`,
		Call:    `fromCSV("name,port\nweb,80\napi,8080\n")`,
		Gives:   `[{"name": "web", "port": "80"}, {"name": "api", "port": "8080"}]`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			rows, repeated, err := functions.CSV(str(args[0]))
			switch {
			case errors.Is(err, functions.ErrHeader):
				return value.Null, blame(0, "text: has no header line")
			case err != nil:
				return value.Null, &Error{Arg: 0, Reason: "text: is not CSV", Detail: err.Error()}
			case repeated:
				return value.Null, blame(0, "text: two columns have the same name")
			}
			return value.List(rows...), nil
		},
	},
	{
		Name:    "urlEncode",
		Summary: "A string encoded for the query of a URL.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to encode"}},
		Result:  always(schema.String),
		Example: `fn::urlEncode: a b&c`,
		Call:    `urlEncode("a b&c")`,
		Gives:   `"a+b%26c"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: text(url.QueryEscape),
	},
	{
		Name:    "urlDecode",
		Summary: "The string that urlEncode encoded.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to decode"}},
		Result:  always(schema.String),
		Example: `fn::urlDecode: a+b%26c`,
		Call:    `urlDecode("a+b%26c")`,
		Gives:   `"a b&c"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := url.QueryUnescape(str(args[0]))
			if err != nil || !utf8.ValidString(text) {
				return value.Null, blameText(0, str(args[0]), "text: is not URL-encoded")
			}
			return value.String(text), nil
		},
	},
	{
		Name:    "toBase64",
		Summary: "The bytes of a string in Base64, standard alphabet with padding.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to encode"}},
		Result:  always(schema.String),
		Example: `fn::toBase64: hello`,
		Call:    `toBase64("hello")`,
		Gives:   `"aGVsbG8="`,
		Since:   "0.1.0", Rule: "L6.20", Portable: true,
		Eval: digest(base64.StdEncoding.EncodeToString),
	},
	{
		Name:    "fromBase64",
		Summary: "The string whose bytes a Base64 text describes.",
		Params: []Param{{Name: "text", Type: schema.String,
			Doc: "standard alphabet with padding; the decoded bytes must be UTF-8"}},
		Result:  always(schema.String),
		Example: `fn::fromBase64: aGVsbG8=`,
		Call:    `fromBase64("aGVsbG8=")`,
		Gives:   `"hello"`,
		Since:   "0.1.0", Rule: "L6.20", Portable: true,
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			decoded, err := base64.StdEncoding.DecodeString(str(args[0]))
			if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
				return value.Null, blameText(0, str(args[0]), "text: is not Base64 (fault at byte %d)", int64(at))
			}
			if err != nil {
				return value.Null, blameText(0, str(args[0]), "text: is not Base64")
			}
			if !utf8.Valid(decoded) {
				return value.Null, blameText(0, str(args[0]), "text: the decoded bytes are not UTF-8")
			}
			return value.String(string(decoded)), nil
		},
	},
	{
		Name:    "toString",
		Summary: "A string, number or boolean as a string, in the form that it has inside of a longer string.",
		Params:  []Param{{Name: "value", Type: schema.Any, Doc: "a string, number, boolean or null"}},
		Result:  always(schema.String),
		Example: `fn::toString: 8080`,
		Call:    `toString(8080)`,
		Gives:   `"8080"`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			text, err := value.Text(args[0])
			if err != nil {
				return value.Null, blame(0, "value: %s", err)
			}
			return text, nil
		},
	},
	{
		Name:    "toNumber",
		Summary: "The number written in a string.",
		Params:  []Param{{Name: "value", Type: scalar, Doc: "a string such as 8080, -1.5 or 1e6, or a number"}},
		Result:  always(schema.Number),
		Example: `fn::toNumber: "8080"`,
		Call:    `toNumber("8080")`,
		Gives:   `8080`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if args[0].Is(value.KindNumber) {
				return args[0], nil
			}
			text := strings.TrimSpace(str(args[0]))
			// The reader of JSON accepts decimal numbers only, without underscores, hexadecimal digits or infinities.
			v, err := value.FromJSON(strings.TrimPrefix(text, "+"))
			if err != nil || !v.Is(value.KindNumber) || !args[0].Is(value.KindString) {
				return value.Null, blameText(0, text, "value: is not a number")
			}
			return v, nil
		},
	},
	{
		Name:    "toBool",
		Summary: "The boolean written in a string.",
		Params:  []Param{{Name: "value", Type: scalar, Doc: "the text true or false, in any case, or a boolean"}},
		Result:  always(schema.Bool),
		Example: `fn::toBool: "true"`,
		Call:    `toBool("true")`,
		Gives:   `true`,
		Since:   "0.1.0", Rule: "L10.C7",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			if args[0].Is(value.KindBool) {
				return args[0], nil
			}
			switch text := str(args[0]); strings.ToLower(text) {
			case "true":
				return value.Bool(true), nil
			case "false":
				return value.Bool(false), nil
			default:
				if n, ok := args[0].AsNumber(); ok {
					text = strconv.FormatFloat(n, 'g', -1, 64)
				}
				return value.Null, blameText(0, text, "value: must be true or false")
			}
		},
	},
}
